"""Labels against the records as they stand: an expected record that no longer answers makes its label out of date."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date

from evals.questions import Question
from sidecar.corpus import Corpus
from sidecar.query import Query

_TAKEN_OVER = ("superseded_by", "refuted_by")


@dataclass(frozen=True, slots=True)
class Review:
    """A label that needs review: the question, the expected record, its status ("gone" without one), successors."""

    question: str
    line: int
    record: str
    status: str
    successors: tuple[str, ...]

    def __str__(self) -> str:
        """Return the reason in one line."""
        instead = f", {' and '.join(self.successors)} in its place" if self.successors else ""
        label = f"{self.question} (line {self.line}) expects {self.record}"
        return f"label needs review: {label}, which is {self.status}{instead}"


def reviews(corpus: Corpus, questions: Sequence[Question], today: date) -> tuple[Review, ...]:
    """Return the expected records that can no longer come back under the statuses their question asks for."""
    doors: dict[tuple[str, ...], set[int]] = {}
    found = []
    for question in questions:
        if question.statuses not in doors:
            admitted = corpus.admit(Query(statuses=question.statuses), today)
            doors[question.statuses] = {*admitted.results.tolist(), *admitted.against.tolist()}
        answers = doors[question.statuses]
        for ident in question.expected:
            held = corpus.ordinals(ident)
            if answers.isdisjoint(held):
                status = corpus.status(held[0], today) if held else "gone"
                found.append(Review(question.id, question.line, ident, status, _successors(corpus, ident, answers)))
    return tuple(found)


def relabelled(question: Question, found: Sequence[Review]) -> tuple[str, ...]:
    """Return the expected ids that a reviewer would write: successors in the place of records that were retired."""
    mine = {review.record: review.successors for review in found if review.question == question.id}
    return tuple(dict.fromkeys(new for ident in question.expected for new in mine.get(ident, (ident,))))


def _successors(corpus: Corpus, ident: str, answers: set[int]) -> tuple[str, ...]:
    """Return the records that answer in the place of one, along the chain of supersession."""
    found: dict[str, None] = {}
    waiting, seen = [ident.casefold()], set()
    while waiting:
        current = waiting.pop()
        if current in seen:
            continue
        seen.add(current)
        for ordinal in corpus.ordinals(current):
            for link in corpus.heads[ordinal].lineage:
                if link.relation not in _TAKEN_OVER:
                    continue
                if not answers.isdisjoint(corpus.ordinals(link.id)):
                    found[link.id] = None
                else:
                    waiting.append(link.id.casefold())
    return tuple(found)
