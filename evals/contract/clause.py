"""One clause of the contract with its negative control, and how a memory is run through all of them."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from evals.contract.memory import RECORDS, Memory
from seed.errors import SidecarError

Call = Callable[[], Any]
Bend = Callable[[Call, Memory, tuple[Any, ...]], Any]
"""How a control bends one method: from (the call as it would be, the memory, its arguments) to what comes back."""


class BrokenClauseError(AssertionError):
    """A memory does not keep a clause; the text says what was seen."""


@dataclass(frozen=True, slots=True)
class Clause:
    """One sentence of the contract, the check that a memory keeps it, and a lie that the check must catch.

    ``check`` gets a memory that holds `RECORDS` and raises `BrokenClauseError`; ``method`` is bent by ``bend`` for
    the control.
    """

    name: str
    text: str
    check: Callable[[Memory], None]
    method: str
    bend: Bend


@dataclass(frozen=True, slots=True)
class Outcome:
    """What one clause gave: kept or why not, and whether its control was caught."""

    name: str
    text: str
    kept: bool
    why: str
    control_caught: bool


class Bent:
    """A memory one of whose methods lies."""

    def __init__(self, memory: Memory, method: str, bend: Bend) -> None:
        self._memory, self._method, self._bend = memory, method, bend

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401 - any method of the memory
        real = getattr(self._memory, name)
        if name != self._method:
            return real
        return lambda *arguments: self._bend(lambda: real(*arguments), self._memory, arguments)


def require(condition: object, seen: object) -> None:
    """Raise `BrokenClauseError` with what was seen unless the condition holds."""
    if not condition:
        raise BrokenClauseError(f"seen: {seen!r}"[:500])


def refused(call: Call) -> str:
    """Return the text of the refusal of a call. Raises `BrokenClauseError` when it was not refused."""
    try:
        seen = call()
    except SidecarError as exc:
        require(exc.fix, str(exc))
        return str(exc)
    raise BrokenClauseError(f"not refused, but answered: {seen!r}"[:500])


def run(make: Callable[[], Memory], clauses: Iterable[Clause]) -> list[Outcome]:
    """Run a memory through clauses: ``make`` gives a fresh, empty one for each check and for each control.

    A control is caught when the clause breaks on a memory that lies in one method and is otherwise the same.
    """
    return [_outcome(make, clause) for clause in clauses]


def _outcome(make: Callable[[], Memory], clause: Clause) -> Outcome:
    why = _broken(_filled(make), clause)
    bent: Any = Bent(_filled(make), clause.method, clause.bend)
    return Outcome(clause.name, clause.text, not why, why, bool(_broken(bent, clause)))


def _filled(make: Callable[[], Memory]) -> Memory:
    memory = make()
    memory.write(RECORDS)
    return memory


def _broken(memory: Memory, clause: Clause) -> str:
    try:
        clause.check(memory)
    except (BrokenClauseError, SidecarError) as exc:
        return str(exc) or "broken"
    except (
        KeyError,
        TypeError,
        IndexError,
        AttributeError,
        ValueError,
    ) as exc:  # a reply that lacks what the contract names
        return f"the reply is not as the contract says: {exc}"
    return ""
