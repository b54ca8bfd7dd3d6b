"""The layout of section 6 of the design, held by reading the source: no module is imported."""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PACKAGES = ("seed", "sidecar", "evals")
ABOVE = {"seed": (), "sidecar": ("seed",), "evals": ("seed", "sidecar")}
"""What each package may import of the others: evals -> sidecar -> seed."""

PURE = {
    "seed.affected",
    "seed.check",
    "seed.encodable",
    "seed.errors",
    "seed.lifecycle",
    "seed.passages",
    "seed.policy",
    "seed.reader",
    "seed.record",
    "seed.rewrite",
    "seed.snapshot",
    "seed.text",
    "seed.yamltext",
    "seed.embed.identity",
    "seed.importers.exchange",
    "seed.importers.notes",
    "seed.importers.restore",
    "sidecar.answer",
    "sidecar.blocks",
    "sidecar.coded",
    "sidecar.codes",
    "sidecar.corpus",
    "sidecar.cursor",
    "sidecar.exporters.document",
    "sidecar.floor",
    "sidecar.jsonc",
    "sidecar.layout",
    "sidecar.lexical",
    "sidecar.mentions",
    "sidecar.nearness",
    "sidecar.plane",
    "sidecar.query",
    "sidecar.quote",
    "sidecar.rank",
    "sidecar.recall",
    "sidecar.render",
    "sidecar.receipt",
    "sidecar.settle",
    "sidecar.setup.section",
    "sidecar.setup.toml",
    "evals.metrics",
}
INPUT_AND_OUTPUT = {
    "asyncio",
    "fcntl",
    "glob",
    "http",
    "io",
    "logging",
    "os",
    "pathlib",
    "platform",
    "pygit2",
    "random",
    "requests",
    "select",
    "shutil",
    "signal",
    "socket",
    "sqlite3",
    "subprocess",
    "tempfile",
    "threading",
    "time",
    "urllib",
    "click",
    "fastembed",
    "mcp",
    "onnxruntime",
    "platformdirs",
    "rich",
    "importlib",
}
MODULE_LINES = 260
FUNCTION_LINES = 40
LONGER: dict[str, int] = {
    "seed.store.store": 360,  # every SQL statement of the store in one place
    "sidecar.session": 310,  # one repository, open: seeding, freshness and what is loaded belong together
    "sidecar.provider": 460,  # the public API: one short method for each thing that can be asked
    "seed.reader": 290,  # every key of a record, checked in one class
}
"""Modules that may be longer, each with its reason."""
LONGER_FUNCTIONS: dict[str, int] = {}
PROCESSES = {
    "sidecar.pull_request",  # `gh` and `glab`, where they are present
    "sidecar.server.desk",  # our own `sidecar seed` in the background
}
OUTSIDE = {
    "sidecar.doctor.environment",  # names the versions of libraries and uses none of them
    "evals.bench.agents",  # makes the repository that its agent works in
    "evals.bench.early_facts",  # asks the server as a client does
    "evals.bench.load",  # the same
    "evals.bench.project",  # checks from outside that nothing was lost
    "evals.bench.faults",  # breaks what the store wrote
    "evals.bench.damage",  # the same
}


def module_name(file: Path) -> str:
    return ".".join(file.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")


def modules() -> dict[str, Path]:
    files = (file for package in PACKAGES for file in (ROOT / package).rglob("*.py"))
    return {module_name(file): file for file in sorted(files)}


MODULES = modules()


@cache
def tree(name: str) -> ast.Module:
    return ast.parse(MODULES[name].read_text(encoding="utf-8"))


def imported(name: str, node: ast.AST) -> Iterator[str]:
    """Yield the full names that one import statement of a module names."""
    if isinstance(node, ast.Import):
        yield from (alias.name for alias in node.names)
    elif isinstance(node, ast.ImportFrom):
        base = node.module or ""
        if node.level:
            package = name.split(".") if MODULES[name].name == "__init__.py" else name.split(".")[:-1]
            base = ".".join([*package[: len(package) - node.level + 1], *([node.module] if node.module else [])])
        for alias in node.names:
            whole = f"{base}.{alias.name}"
            yield whole if whole in MODULES else base


def imports(name: str, *, lazy: bool = True) -> set[str]:
    """Return what a module imports; without ``lazy`` only what it imports when it is loaded."""
    nodes = ast.walk(tree(name)) if lazy else _at_load(tree(name).body)
    return {target for node in nodes for target in imported(name, node)}


def _at_load(body: list[ast.stmt]) -> Iterator[ast.AST]:
    for node in body:
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            continue
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.dump(node.test):
            continue
        yield node
        for inner in ("body", "orelse", "finalbody", "handlers"):
            yield from _at_load([n for n in getattr(node, inner, []) if isinstance(n, (ast.stmt, ast.excepthandler))])  # type: ignore[misc]


def tops(names: set[str]) -> set[str]:
    return {name.split(".")[0] for name in names}


@pytest.mark.parametrize("name", MODULES)
def test_the_arrow_points_one_way(name: str) -> None:
    """evals may import sidecar and seed, sidecar may import seed, seed none of them."""
    package = name.split(".", maxsplit=1)[0]
    others = tops(imports(name)) & set(PACKAGES) - {package}
    assert others <= set(ABOVE[package])


def test_there_are_no_cycles() -> None:
    """No module reaches itself by what is imported when modules are loaded."""
    graph = {name: {t for t in imports(name, lazy=False) if t in MODULES and t != name} for name in MODULES}
    while True:
        leaves = {name for name, targets in graph.items() if not targets}
        if not leaves:
            break
        graph = {name: targets - leaves for name, targets in graph.items() if name not in leaves}
    assert graph == {}


@pytest.mark.parametrize("name", sorted(PURE))
def test_a_pure_module_has_no_way_in_or_out(name: str) -> None:
    """Records, rules, ranking and answers import nothing that reads, writes, waits or looks at the clock."""
    assert name in MODULES, "a pure module was moved: name its new place here"
    used = imports(name)
    assert tops(used) & INPUT_AND_OUTPUT == set()
    inside = {target for target in used if target.split(".")[0] in PACKAGES}
    assert {
        target for target in inside if target.startswith(("seed.git", "seed.store", "sidecar.cli", "sidecar.server"))
    } == set()


@pytest.mark.parametrize("name", sorted(PURE))
def test_a_pure_module_does_not_ask_for_the_time(name: str) -> None:
    """`now` and `today` come in as arguments."""
    called = {
        node.func.attr
        for node in ast.walk(tree(name))
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute)
    }
    assert called & {"now", "today", "utcnow"} == set()
    names = {
        node.func.id for node in ast.walk(tree(name)) if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)
    }
    assert names & {"open", "input", "print", "exec", "eval"} == set()


@pytest.mark.parametrize(
    ("library", "home"),
    [
        ("pygit2", ("seed.git",)),
        ("sqlite3", ("seed.store",)),
        ("mcp", ("sidecar.server", "evals.bench")),
        ("psycopg", ("seed.store.postgres",)),
        ("psycopg_pool", ("seed.store.postgres",)),
    ],
)
def test_a_library_has_one_home(library: str, home: tuple[str, ...]) -> None:
    """Only seed/git uses pygit2, only seed/store speaks SQL, only sidecar/server (and a benchmark) the MCP SDK."""
    users = {name for name in MODULES if library in tops(imports(name))}
    assert users, "no module uses it any more"
    assert {name for name in users if not name.startswith(home)} <= OUTSIDE


def test_one_module_knows_which_engine_it_is() -> None:
    """Only what opens a store names the modules of an engine; a benchmark may, to set servers up."""
    users = {name for name in MODULES if any(t.startswith("seed.store.postgres") for t in imports(name))}
    outside = {n for n in users if not n.startswith(("seed.store.postgres", "evals.bench"))}
    assert outside == {"seed.store.opening"}


def test_only_git_modules_run_processes() -> None:
    """A process is started by seed/git, by the hooks, and by what is named above; a benchmark may time one."""
    users = {name for name in MODULES if "subprocess" in tops(imports(name))}
    assert {n for n in users if not n.startswith(("seed.git", "sidecar.hooks", "evals.bench"))} <= PROCESSES


def test_only_the_command_line_prints() -> None:
    """No other module writes to the terminal; a benchmark prints its table."""

    def prints(name: str) -> bool:
        return any(
            isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "print"
            for node in ast.walk(tree(name))
        )

    found = {name for name in MODULES if prints(name)}
    assert {name for name in found if not name.startswith(("sidecar.cli", "evals.bench", "evals.commands"))} == set()


@pytest.mark.parametrize("name", MODULES)
def test_modules_stay_small(name: str) -> None:
    """A module has about 250 lines at the most; one that has more says why in the table above."""
    lines = MODULES[name].read_text(encoding="utf-8").count("\n")
    assert lines <= LONGER.get(name, MODULE_LINES)


@pytest.mark.parametrize("name", MODULES)
def test_functions_stay_small(name: str) -> None:
    """A function has at most 40 lines beside its signature and docstring."""
    long = {}
    for node in ast.walk(tree(name)):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            body = node.body[1:] if ast.get_docstring(node) is not None else node.body
            lines = (body[-1].end_lineno or 0) - body[0].lineno + 1 if body else 0
            if lines > LONGER_FUNCTIONS.get(f"{name}.{node.name}", FUNCTION_LINES):
                long[node.name] = lines
    assert long == {}


def test_light_commands_load_nothing_heavy() -> None:
    """What a command imports when it is loaded holds neither numpy nor mcp: they are imported when they are used."""
    heavy = {"numpy", "mcp", "networkx", "onnxruntime", "fastembed", "pydantic"}
    for name in MODULES:
        if name.startswith("sidecar.cli") or name == "evals.commands":
            assert tops(closure(name)) & heavy == set(), name


def closure(name: str) -> set[str]:
    """Return everything that loading a module loads."""
    found: set[str] = set()
    waiting = [name]
    while waiting:
        for target in imports(waiting.pop(), lazy=False) - found:
            found.add(target)
            if target in MODULES:
                waiting.append(target)
    return found


def test_the_test_sees_what_it_should(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Negative control: a module that breaks the rules is seen by each of the readers above."""
    file = tmp_path / "x.py"
    file.write_text("import os.path\nfrom sidecar import provider\n\ndef f():\n    import mcp\n    print(1)\n")
    monkeypatch.setitem(MODULES, "seed.x", file)
    assert imports("seed.x") == {"os.path", "sidecar.provider", "mcp"}
    assert imports("seed.x", lazy=False) == {"os.path", "sidecar.provider"}
    assert tops(imports("seed.x")) & INPUT_AND_OUTPUT == {"os", "mcp"}
    assert "numpy" in tops(closure("sidecar.rank"))
    assert sys.version_info >= (3, 11)
