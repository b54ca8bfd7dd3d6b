"""The tools of the review profile that judge contradictions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Literal

from pydantic import Field

from sidecar.server.spec import BUDGET_SECONDS, Reply

if TYPE_CHECKING:
    from sidecar.draft import Proposer
    from sidecar.provider import Provider


def conflicts_scan(
    provider: Provider,
    limit: Annotated[int, Field(ge=1, le=100)] = 20,
) -> Reply:
    """Find pairs of records in force that may contradict each other; read both with get_record and judge."""
    from sidecar.contradictions import scan
    from sidecar.tell_conflicts import scanned

    found = scan(provider, limit=limit, budget=BUDGET_SECONDS)
    return Reply(found, "\n".join(scanned(found)))


def conflicts_record(
    provider: Provider,
    who: Proposer,
    one: Annotated[str, Field(description="record id")],
    other: Annotated[str, Field(description="record id")],
    verdict: Literal["contradicts", "duplicates", "compatible"],
    reason: Annotated[str, Field(description="why, in one sentence")],
) -> Reply:
    """Store what you judged of two records as a candidate finding; it lapses when either changes."""
    from sidecar.contradictions import record
    from sidecar.tell_conflicts import recorded

    done = record(provider, one, other, verdict, reason, who, budget=BUDGET_SECONDS)
    return Reply(done, "\n".join(recorded(done)))
