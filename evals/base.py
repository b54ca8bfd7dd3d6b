"""In a pull request the base branch's gates and policy are in force, and what was loosened needs a record."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from pathlib import Path

from evals.gates import Gates, Limit, parse_gates
from evals.labels import relabelled, reviews
from evals.questions import Question, QuestionSet, parse_questions
from seed import seeder
from seed.git.repository import Repository, open_repository, resolve
from seed.git.tree import find, list_files, read_blob, subtree
from seed.policy import Policy
from sidecar.corpus import Corpus
from sidecar.query import by_default


@dataclass(frozen=True, slots=True)
class Base:
    """What stands on the base: its policy, its record files' blobs, its questions and gates (None: no such file)."""

    policy: Policy
    blobs: frozenset[str]
    questions: QuestionSet | None
    gates: Gates | None

    @property
    def digest(self) -> str:
        """Return the sha256 over everything that is taken from the base."""
        parts = (
            self.policy.digest,
            *sorted(self.blobs),
            self.questions and self.questions.digest,
            self.gates and self.gates.digest,
        )
        return "sha256:" + hashlib.sha256("\n".join(str(part) for part in parts).encode()).hexdigest()


def load_base(folder: Path, revision: str, questions: Path, gates: Path | None) -> Base:
    """Read the base's side of a comparison from Git. Raises `SidecarError` for a revision that is not there."""
    repo = open_repository(folder)
    commit = resolve(repo, revision)
    entries = list_files(repo, subtree(repo, commit))
    old_questions = _blob(repo, commit, questions)
    old_gates = _blob(repo, commit, gates) if gates else None
    return Base(
        seeder.read_policy(repo, entries)[0],
        frozenset(entry.blob for entry in entries),
        parse_questions(old_questions, f"{revision}:{questions}") if old_questions is not None else None,
        parse_gates(old_gates, f"{revision}:{gates}") if old_gates is not None else None,
    )


def relative(repo: Repository, path: Path) -> str:
    """Return a path as Git names it: relative to the top of the checkout, with slashes; "" outside of it."""
    try:
        return path.resolve().relative_to(Path(repo.root).resolve()).as_posix()
    except ValueError:
        return ""


def _blob(repo: Repository, commit: str, path: Path) -> bytes | None:
    inside = relative(repo, path)
    entry = find(repo, commit, inside) if inside else None
    return read_blob(repo, entry.blob) if entry else None


def looser_gates(old: Gates, new: Gates) -> Iterator[str]:
    """Yield every way in which new gates ask less than old ones."""
    held = {(x.language, x.figure, x.at_least): x for x in new.limits}
    for limit in old.limits:
        now = held.get((limit.language, limit.figure, limit.at_least))
        if now is None:
            yield f"the bound on {limit.name} is gone"
        elif _asks_less(limit, now):
            yield f"{limit.name} went from {limit.bound:g} to {now.bound:g}"
    for name, least in old.questions.items():
        if new.questions.get(name, 0) < least:
            yield f"the least number of {name} questions went from {least} to {new.questions.get(name, 0)}"
    for rule in old.controls:
        if rule not in new.controls:
            yield f"the control without {rule} is gone"


def _asks_less(old: Limit, new: Limit) -> bool:
    return new.bound < old.bound if old.at_least else new.bound > old.bound


def looser_labels(old: Sequence[Question], new: Sequence[Question], corpus: Corpus, today: date) -> Iterator[str]:
    """Yield every label that asks less than before. A record's successor in its place is no loosening."""
    now = {question.id: question for question in new}
    stale = reviews(corpus, old, today)
    for question in old:
        if question.id not in now:
            yield f"question {question.id} is gone"
        elif reason := _looser(question, now[question.id], relabelled(question, stale)):
            yield f"question {question.id}: {reason}"


def _looser(old: Question, new: Question, renewed: Sequence[str]) -> str:
    if old.texts.items() - new.texts.items():
        return "its wording changed"
    if set(new.expected) != set(renewed) and (not new.expected or not set(new.expected) <= set(old.expected)):
        return f"it expected {', '.join(old.expected) or 'nothing'}, now {', '.join(new.expected) or 'nothing'}"
    for name, was, has in (("forbid", old.forbid, new.forbid), ("above", old.above, new.above)):
        if set(was) - set(has):
            return f"{name} lost an entry"
    return "its statuses changed" if old.statuses != new.statuses else ""


def loosened(
    base: Base, questions: QuestionSet, gates: Gates | None, corpus: Corpus, repo: Repository,
    files: Mapping[str, Path | None], today: date,
) -> list[str]:  # fmt: skip
    """Return what asks less than the base did, unless a new record in force names the changed file in its paths.

    ``files``: "questions" and "gates" -> their paths in the working tree.
    """
    found: dict[str, list[str]] = {}
    if base.questions is not None:
        found["questions"] = list(looser_labels(base.questions.questions, questions.questions, corpus, today))
    if base.gates is not None:
        found["gates"] = list(looser_gates(base.gates, gates or Gates()))
    told = []
    for name, reasons in found.items():
        path = files[name]
        inside = relative(repo, path) if path is not None else ""
        if not _justified(corpus, base, inside, today):
            fix = f"a record in force with {inside or 'the file'} in its paths can say why"
            told += [f"{reason} - {fix}" for reason in reasons]
    return told


def _justified(corpus: Corpus, base: Base, path: str, today: date) -> bool:
    """Tell whether a record in force, added or changed since the base, names a file in its ``paths``."""
    return any(
        head.blob not in base.blobs
        and by_default(corpus.status(n, today), head.record.kind)
        and path in head.record.paths
        for n, head in enumerate(corpus.heads)
    )
