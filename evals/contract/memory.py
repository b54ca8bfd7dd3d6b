"""What a memory has to offer to be run through the contract, and the records that the clauses speak of."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

from sidecar.query import Query

Reply = dict[str, Any]
Values = Mapping[str, Any]


class Memory(Protocol):
    """A memory under test. What cannot be meant raises `seed.errors.SidecarError`; the clock stands at `TODAY`."""

    def write(self, records: Sequence[Values]) -> None:
        """Add or change records as a reviewer's merge does: from now on they are the accepted state."""

    def recall(self, query: Query) -> Reply:
        """Answer a query in full detail, with a receipt."""

    def show(self, ident: str) -> Reply:
        """Return one record whatever its status, as ``{"record", "lineage", ...}``."""

    def propose(self, record: Values) -> Reply:
        """Keep a record as a candidate and return its id."""

    def revise(self, ident: str, change: Values) -> Reply:
        """Change a candidate; for an accepted record say where it is filed."""

    def forget(self, ident: str, reason: str) -> Reply:
        """Withdraw a candidate; for an accepted record say where it is filed."""

    def receipt(self, ident: str) -> Reply:
        """Return a stored receipt."""

    def verify(self, ident: str) -> str:
        """Replay a receipt: ``same``, ``differs: ...`` or ``cannot replay: ...``."""


TODAY = "2026-11-29"
QUESTION = "Where are orders kept?"
TIED = "How do parcels travel?"
UNANSWERED = "Which zeppelin, painted green, circled that volcano before breakfast?"
SECRET = "ghp_" + "a1B2c3D4e5" * 3 + "F6g7H8"
"""Made up, in the form of a hosting service's token."""


def _record(ident: str, title: str, **keys: Any) -> dict[str, Any]:  # noqa: ANN401 - values of a record
    kind = ident.split("-", 1)[0]
    base = {"id": ident, "kind": kind, "title": title, "status": "accepted", "date": "2026-01-02"}
    return {**base, "body": f"{title}.\n", **keys}


RECORDS: tuple[dict[str, Any], ...] = (
    _record("decision-0000", "Orders are kept in Redis"),
    _record("decision-0001", "Orders are kept in SQLite", supersedes=["decision-0000"], tags=["storage", "orders"]),
    _record("decision-0002", "Orders are kept in MongoDB", status="rejected"),
    _record("decision-0003", "Orders are kept in a ledger", status="proposed"),
    _record("decision-0004", "Orders are kept in a spreadsheet", status="approved by Ada"),
    _record("decision-0005", "Orders are kept in a cupboard", valid_until="2026-11-28"),
    _record("decision-0006", "Orders are kept in a vault", valid_until=TODAY, tags=["orders"]),
    _record("fact-0001", "Orders are kept for ten years", status="verified", tags=["orders", "law"],
            refutes=["fact-0002"]),
    _record("fact-0002", "Orders are kept for one year", status="verified"),
    _record("finding-0001", "Orders are kept without an index", tags=["todo", "orders"]),
    _record("history-0001", "Orders were kept on paper, orders kept nowhere else"),
    _record("decision-0021", "Parcels travel by bike", date="2026-02-01"),
    _record("decision-0022", "Parcels travel by bike", date="2026-03-01"),
    _record("decision-0020", "Parcels travel by bike", date="2026-02-01"),
    _record("decision-0030", "Colours come from one palette", tags=["design"]),
    _record("decision-0031", "Buttons have round corners", tags=["design"]),
)  # fmt: skip
PROPOSAL: dict[str, Any] = {
    "kind": "decision",
    "title": "Orders are kept in a blockchain",
    "body": "Orders are kept in a blockchain.\n",
    "status": "accepted",
    "trust": "user_confirmed",
    "supersedes": ["decision-0001"],
}
