"""One evaluation from files to result: the plain run, its controls or models, the gate, the baseline, the repeat."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from evals import inputs, models
from evals.base import Base, load_base, loosened
from evals.compare import compare, load_baseline
from evals.controls import RULES, Setup, remembering, without
from evals.gate import judge
from evals.gates import Gates, load_gates
from evals.labels import relabelled, reviews
from evals.metrics import FIGURES
from evals.questions import QuestionSet, load_questions
from evals.result import Result, comparable, result
from evals.run import isolated, opened, run
from sidecar.session import Progress


@dataclass(frozen=True, slots=True)
class Options:
    """What `sidecar eval` was asked to do; see its help for each."""

    folder: Path
    questions: Path
    statuses: tuple[str, ...] = ()
    gates: Path | None = None
    baseline: Path | None = None
    base: str = ""
    without: tuple[str, ...] = ()
    controls: bool = False
    embedders: tuple[str, ...] = ()
    repeat: int = 1
    store: bool = False
    cache: str = ""


@dataclass(frozen=True, slots=True)
class _Job:
    """The files that were read, and how a run of them answers."""

    options: Options
    questions: QuestionSet
    gates: Gates | None
    base: Base | None
    setup: Setup
    progress: Progress | None

    @property
    def gates_in_force(self) -> Gates | None:
        """Return the base's gates where there are any: a gate is written before the run that it judges."""
        return self.base.gates if self.gates and self.base and self.base.gates else self.gates


def evaluate(options: Options, progress: Progress | None = None) -> Result:
    """Return the result of an evaluation. Raises `SidecarError`, and `QuestionSetError` for a bad set."""
    questions = load_questions(options.questions)
    gates = load_gates(options.gates) if options.gates else None
    baseline = load_baseline(options.baseline) if options.baseline else None
    base = load_base(options.folder, options.base, options.questions, options.gates) if options.base else None
    setup = Setup() if base is None else Setup(adjust=lambda _: base.policy)
    if options.embedders:
        setup = models.only(options.embedders[0], setup)
    for rule in options.without:
        without(rule, setup)  # an unknown rule is told before anything is seeded
    job = _Job(options, questions, gates, base, setup, progress)
    with isolated(reuse=options.store):
        found = _cached(job)
    return found if baseline is None else found | {"comparison": compare(baseline, found)}


def failed(found: Mapping[str, Any]) -> bool:
    """Tell whether an evaluation ends with exit code 1: the gate fell short, or a repeat came out differently."""
    return not found.get("gate", {"passed": True})["passed"] or not found.get("repeat", {"equal": True})["equal"]


def _cached(job: _Job) -> Result:
    """Run, or take the result whose every input is the same; only a named cache folder is ever looked into."""
    if not job.options.cache:
        return _evaluated(job)
    folder = Path(job.options.cache) / "results"
    name = inputs.key(_inputs(job))
    if (held := inputs.load(folder, name)) is not None:
        return held | {"cached": True}
    found = _evaluated(job)
    inputs.save(folder, name, found)
    return found


def _inputs(job: _Job) -> dict[str, str]:
    options = job.options
    names = ("statuses", "without", "controls", "embedders", "repeat", "store")
    arguments = {name: getattr(options, name) for name in names}
    arguments["base"] = job.base.digest if job.base else ""
    gates = job.gates.digest if job.gates else ""
    with opened(options.folder, job.setup) as provider:
        return inputs.inputs(provider, job.setup, questions=job.questions.digest, gates=gates, arguments=arguments)


def _evaluated(job: _Job) -> Result:
    options = job.options
    setup = remembering(job.setup)
    plain = found = _run(job, setup)
    if options.without:
        found = _run(job, _without(options.without, setup), options.without)
        found["plain"] = {name: plain[name] for name in FIGURES}
    if options.repeat > 1:
        found["repeat"] = _repeat(job, found)
    if options.controls:
        found["controls"] = {rule: _control(job, rule, setup, plain) for rule in RULES}
    if len(options.embedders) > 1:
        found["embedders"] = [_model(job, name) for name in options.embedders]
    if job.gates is not None:
        found["gate"] = _gate(job, found)
    return found


def _run(job: _Job, setup: Setup, rules: tuple[str, ...] = ()) -> Result:
    options, questions = job.options, job.questions
    done = run(
        options.folder, questions.questions, setup,
        statuses=options.statuses, cache=options.cache, progress=job.progress,
    )  # fmt: skip
    return result(done, questions.digest, without=rules, statuses=options.statuses)


def _without(rules: tuple[str, ...], setup: Setup) -> Setup:
    for rule in rules:
        setup = without(rule, setup)
    return setup


def _repeat(job: _Job, first: Result) -> dict[str, Any]:
    """Ask everything again through new providers that remember nothing, and name what came out differently."""
    times, rules = job.options.repeat, job.options.without
    wanted = {q["id"]: q for q in comparable(first)["questions"]}
    differs: set[str] = set()
    for _ in range(times - 1):
        again = _run(job, _without(rules, job.setup), rules)
        differs |= {q["id"] for q in again["questions"] if wanted.get(q["id"]) != q}
    return {"times": times, "equal": not differs, "differs": sorted(differs)}


def _control(job: _Job, rule: str, setup: Setup, plain: Result) -> dict[str, Any]:
    """Return what it costs to remove a rule; the gate catches it by a bound that holds with the rule in place."""
    found = _run(job, without(rule, setup), (rule,))
    gates = job.gates_in_force or Gates()
    newly = judge(found, gates).short - judge(plain, gates).short
    figures = {name: found[name] for name in FIGURES}
    return {"figures": figures, "caught_by": sorted(newly), "matters": rule in gates.controls}


def _model(job: _Job, name: str) -> dict[str, Any]:
    setup = models.only(name, job.setup)
    return models.row(name, _run(job, setup), models.passages_per_second(job.options.folder, name, setup))


def _gate(job: _Job, found: Result) -> dict[str, Any]:
    gates = job.gates_in_force or Gates()
    judged = judge(found, gates)
    failures = [*judged.failures, *_missed(found), *_loosened(job)]
    if not found.get("repeat", {"equal": True})["equal"]:
        failures.append(f"repeat: {', '.join(found['repeat']['differs'])} came out differently")
    return {
        "passed": not failures,
        "failures": failures,
        "warnings": list(judged.warnings),
        "spare": judged.spare,
        "digest": gates.digest,
        "from": job.options.base if gates is not job.gates else "file",
    }


def _missed(found: Mapping[str, Any]) -> list[str]:
    return [
        f"control: the gate does not notice that {rule} is missing"
        for rule, control in found.get("controls", {}).items()
        if control["matters"] and not control["caught_by"]
    ]


def _loosened(job: _Job) -> list[str]:
    if job.base is None:
        return []
    with opened(job.options.folder, job.setup) as provider:
        corpus, repo = provider.session.view().corpus, provider.session.repo
    today, options = datetime.now(UTC).date(), job.options
    files = {"questions": options.questions, "gates": options.gates}
    reasons = loosened(job.base, job.questions, job.gates, corpus, repo, files, today)
    return [f"loosened since {options.base}: {reason}" for reason in reasons]


def relabelling(options: Options, progress: Progress | None = None) -> list[dict[str, Any]]:
    """Return the label changes that a reviewer should look at: question, line, expected now, and suggested."""
    questions = load_questions(options.questions)
    asked = [replace(q, statuses=q.statuses or options.statuses) for q in questions.questions]
    words_alone = without("dense", Setup())  # statuses need no vectors
    with isolated(reuse=options.store), opened(options.folder, words_alone) as provider:
        provider.seed(progress=progress)
        stale = reviews(provider.session.view().corpus, asked, datetime.now(UTC).date())
    return [
        {
            "question": question.id,
            "line": question.line,
            "expected": list(question.expected),
            "suggested": list(relabelled(question, stale)),
            "reasons": [str(review) for review in stale if review.question == question.id],
        }
        for question in asked
        if any(review.question == question.id for review in stale)
    ]
