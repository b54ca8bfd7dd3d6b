# Everyday commands; `just` alone lists them.
default:
    @just --list

# Install what development needs into the active environment.
setup:
    python -m pip install -e '.[dev]'

# The tests.
test *ARGS:
    python -m pytest {{ARGS}}

# The tests that take minutes: memory, crashes, the wheel, the Inspector, real corpora.
slow:
    python -m pytest -m slow

# Linters and types.
lint:
    ruff check .
    ruff format --check .
    mypy

# Format the code.
format:
    ruff format .
    ruff check --fix .

# The recall gate on this project's own records.
gate:
    sidecar eval evals/questions/own.yaml --gate evals/gates.yaml

# Kill, damage and load the store for some minutes, and rewrite docs/reliability.md from what came of it.
soak *ARGS:
    python -m evals.bench.soak {{ARGS}}
    python -m evals.bench.reliability

# Every figure of speed and memory in one run, kept as JSON for this version; then the charts over the releases.
bench *ARGS:
    python -P -m evals.bench {{ARGS}}
    python -P -m evals.bench.plot

# The pages under docs, with every link checked.
docs:
    mkdocs build --site-dir site

# Fuzz all that reads other people's input, a minute for each target; needs `pip install -e '.[fuzz]'`.
fuzz *ARGS:
    nice -n 15 python -m evals.bench.fuzz {{ARGS}}

# Rewrite the command reference in the README and docs/reference.
reference:
    python -m sidecar.cli.reference

# All that CI runs.
ci:
    bash .ci/run
