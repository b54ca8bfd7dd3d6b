"""What the model still sees: which turns each compaction took off the surface, and which were never on it."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from seed.transcript.facts import Compaction

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from seed.transcript.marks import Mark

# What hosts of event logs show a model, for those that list no numbers a type could be derived from.
_USUAL = {"user/message", "assistant/message", "tool/result", "system/message", "developer/message"}


@dataclass(frozen=True, slots=True)
class Generation:
    """What one compaction took away. Turns are ordinals; ``first`` and ``last`` bound the hidden ones."""

    number: int
    at: int
    hidden: tuple[int, ...]
    log_only: tuple[int, ...]
    messages: int
    first: int
    last: int
    trigger: str = ""
    tokens: int = 0


@dataclass(frozen=True, slots=True)
class Failed:
    """A compaction that hid nothing, with the reason its host gives or the part that is missing."""

    at: int
    reason: str


@dataclass(frozen=True, slots=True)
class Ledger:
    """Every turn once: on the surface, shadowed (by a generation or a replacement), or log-only.

    ``types`` are the row types a model sees; ``derived`` says that they were concluded from what is ever
    hidden. ``problems`` are contradictions between what the host says and what the session holds.
    """

    generations: tuple[Generation, ...]
    surface: tuple[int, ...]
    shadowed: tuple[int, ...]
    log_only: tuple[int, ...]
    replaced: tuple[int, ...]
    failed: tuple[Failed, ...]
    types: tuple[str, ...]
    derived: bool
    problems: tuple[str, ...]

    def generation_of(self, ordinal: int) -> int:
        """Return the generation whose interval holds a turn, 0 for what no compaction has reached.

        Intervals are asked, not the hidden sets: most rows of a tool call are log-only and never hidden.
        Between two intervals a turn belongs to the later one.
        """
        for one in self.generations:
            if one.first <= ordinal <= one.last:
                return one.number
        return next((one.number for one in self.generations if ordinal <= one.last), 0)


@dataclass(slots=True)
class _Walk:
    """The state while the session is gone through once."""

    marks: Sequence[Mark]
    by_seq: dict[int, int]
    surface: dict[int, None] = field(default_factory=dict)
    hidden: dict[int, int] = field(default_factory=dict)
    replaced: list[int] = field(default_factory=list)
    generations: list[Generation] = field(default_factory=list)
    failed: list[Failed] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)
    open: tuple[int, Compaction] | None = None


def ledger(marks: Iterable[Mark]) -> Ledger:
    """Go through a session and say of every turn whether the model still sees it."""
    every = list(marks)
    types, derived = _visible_types(every)
    aside = any(not one.sidechain for one in every if one.role in {"user", "assistant"} and one.type != "summary")
    shown = [_shown(one, types) and not (one.sidechain and aside) for one in every]
    ends = any(one.compaction and one.compaction.phase == "end" for one in every)
    walk = _Walk(every, {one.seq: one.ordinal for one in reversed(every) if one.seq is not None})
    for one, visible in zip(every, shown, strict=True):
        if one.compaction is not None:
            _compaction(walk, one.ordinal, one.compaction, ends=ends)
        if visible:
            walk.surface[one.ordinal] = None
    if walk.open is not None:
        walk.failed.append(Failed(walk.open[0], "it was begun and never finished"))
    never = [one.ordinal for one, visible in zip(every, shown, strict=True) if not visible]
    result = Ledger(
        generations=tuple(walk.generations),
        surface=tuple(walk.surface),
        shadowed=tuple(sorted(walk.hidden)),
        log_only=tuple(never),
        replaced=tuple(sorted(walk.replaced)),
        failed=tuple(walk.failed),
        types=tuple(sorted({one.type for one, visible in zip(every, shown, strict=True) if visible})),
        derived=derived,
        problems=tuple(walk.problems),
    )
    held = [(ordinal, result.generation_of(ordinal)) for ordinal in never]
    filled = [
        replace(one, log_only=tuple(ordinal for ordinal, number in held if number == one.number))
        for one in result.generations
    ]
    return replace(result, generations=tuple(filled))


def _visible_types(marks: Sequence[Mark]) -> tuple[set[str], bool]:
    """Return the types a model sees where rows do not say so themselves, and whether they were derived."""
    if any(one.visible for one in marks):
        return set(), False
    listed = {seq for one in marks if one.compaction for seq in one.compaction.seqs}
    derived = {one.type for one in marks if one.seq in listed}
    return derived or _USUAL, bool(derived)


def _shown(one: Mark, types: set[str]) -> bool:
    return one.type in types if one.visible is None else one.visible


def _compaction(walk: _Walk, at: int, one: Compaction, *, ends: bool) -> None:
    """Take one row of a compaction; it counts when its last row is there and names no error."""
    if one.phase == "replace":
        for ordinal in [] if walk.open else _named(walk, one):
            if walk.surface.pop(ordinal, 0) is None:
                walk.hidden[ordinal] = 0
                walk.replaced.append(ordinal)
        return
    if one.phase == "start" and walk.open is not None:
        walk.failed.append(Failed(walk.open[0], "another began before it was finished"))
        walk.open = None
    began, known = walk.open or (at, one)
    merged = _merged(known, one)
    last = bool(one.error) or one.phase in {"whole", "end" if ends else "summary"}
    walk.open = None if last else (began, merged)
    if merged.error:
        walk.failed.append(Failed(began, merged.error))
    elif last:
        _hide(walk, began, merged)


def _merged(known: Compaction, more: Compaction) -> Compaction:
    return Compaction(
        phase=more.phase,
        id=known.id or more.id,
        seqs=known.seqs or more.seqs,
        interval=known.interval or more.interval,
        kept_from=known.kept_from or more.kept_from,
        kept_to=known.kept_to or more.kept_to,
        kept_texts=known.kept_texts or more.kept_texts,
        everything=known.everything or more.everything,
        error=known.error or more.error,
        trigger=known.trigger or more.trigger,
        tokens=known.tokens or more.tokens,
    )


def _named(walk: _Walk, one: Compaction) -> list[int]:
    """Return the turns that a compaction names; of an interval of numbers, those on the surface."""
    if one.seqs:
        return [walk.by_seq[seq] for seq in one.seqs if seq in walk.by_seq]
    low, high = one.interval or (0, -1)
    numbers = [(ordinal, walk.marks[ordinal].seq) for ordinal in walk.surface]
    return [ordinal for ordinal, seq in numbers if seq is not None and low <= seq <= high]


def _before(walk: _Walk, began: int, one: Compaction) -> list[int]:
    """Return what is on the surface before a compaction that names nothing, less what it says it kept."""
    kept, inside = set(), False
    prompts = {hash(text) for text in one.kept_texts}
    for ordinal in walk.surface:
        mark = walk.marks[ordinal]
        inside = inside or (bool(one.kept_from) and mark.id == one.kept_from)
        if inside or mark.prompt in prompts:
            kept.add(ordinal)
        if one.kept_to and mark.id == one.kept_to:
            inside = False
    return [ordinal for ordinal in walk.surface if ordinal < began and ordinal not in kept]


def _hide(walk: _Walk, began: int, one: Compaction) -> None:
    number = len(walk.generations) + 1
    named = bool(one.seqs or one.interval)
    if not named and not one.everything:
        walk.failed.append(Failed(began, "it does not say what it hides"))
        return
    wanted = _named(walk, one) if named else _before(walk, began, one)
    _check(walk, number, one, wanted)
    hidden = [ordinal for ordinal in wanted if ordinal in walk.surface]
    if not hidden:
        walk.failed.append(Failed(began, "it hides nothing that was visible"))
        return
    for ordinal in hidden:
        del walk.surface[ordinal]
        walk.hidden[ordinal] = number
    messages = {walk.marks[ordinal].message or ordinal for ordinal in hidden}
    bounds = (min(hidden), max(hidden))
    walk.generations.append(
        Generation(number, began, tuple(hidden), (), len(messages), *bounds, one.trigger, one.tokens)
    )


def _check(walk: _Walk, number: int, one: Compaction, wanted: list[int]) -> None:
    missing = [seq for seq in one.seqs if seq not in walk.by_seq]
    again = [ordinal for ordinal in wanted if ordinal in walk.hidden]
    unseen = [ordinal for ordinal in wanted if ordinal not in walk.surface and ordinal not in walk.hidden]
    for numbers, what in (
        (missing, "numbers that no row has"),
        (again, "turns a second time"),
        (unseen, "turns that were not visible"),
    ):
        if numbers:
            walk.problems.append(f"generation {number}: hides {len(numbers)} {what}, first {numbers[0]}")
