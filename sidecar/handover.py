"""From the places of a session that are worth a record to proposals, each with the bytes it rests on; once only."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from seed.errors import SidecarError
from seed.transcript import handed
from seed.transcript.candidates import CORRECTION, DECISION, FIX
from sidecar.history import Document, candidates_document, open_history
from sidecar.propose import propose
from sidecar.quote import one_line

if TYPE_CHECKING:
    from sidecar.draft import Proposer
    from sidecar.provider import Provider

MAX_TITLE = 120
_KINDS = {DECISION: "decision", CORRECTION: "fact", FIX: "finding"}


def hand_over(provider: Provider, name: str, who: Proposer, keys: Sequence[str] = (), budget: float = 2.0) -> Document:
    """Propose a session's candidates that were not handed on yet, or those of them with ``keys``, and remember them.

    What `propose` refuses (a secret, the session's limit) is told with the reason, and can be handed on later. Raises
    `SidecarError` for a key that the session does not have.
    """
    history = open_history(provider.session.folder)
    told = candidates_document(history, name)
    known = {one["key"]: one for one in told["candidates"]}
    if unknown := [key for key in keys if key not in known]:
        raise SidecarError(f"{told['transcript']} has no candidate {unknown[0]}", "see 'sidecar transcript candidates'")
    proposed, refused = [], []
    for one in (known[key] for key in dict.fromkeys(keys or known)):
        if one["handed"]:
            continue
        try:
            done = propose(provider, record_of(one), who, budget=budget)
        except SidecarError as exc:
            refused.append({"key": one["key"], "reason": str(exc)})
            continue
        handed.remember(history.archive, told["transcript"], [one["key"]])
        proposed.append({"key": one["key"], **{part: done[part] for part in ("id", "branch", "commit", "path")}})
    whole = {key: value for key, value in told.items() if key != "candidates"}
    return {**whole, "proposed": proposed, "refused": refused, "already": len(known) - len(proposed) - len(refused)}


def record_of(one: Document) -> dict[str, object]:
    """Return the record that a candidate proposes: what was said, and exactly where."""
    quote = str(one["quote"]).strip()
    related = ", ".join(map(str, one["related_turns"]))
    quoted = "\n".join(f"> {line}" for line in quote.splitlines())
    return {
        "kind": _KINDS[one["kind"]],
        "title": one_line(" ".join(quote.split()), MAX_TITLE),
        "body": f"{quoted}\n\nRelated turns: {related}\n" if related else f"{quoted}\n",
        "tags": ["session", one["kind"]],
        "paths": [path for path in one["paths"] if not path.startswith(("/", "../", "~"))],
        "source": [{key: str(value) for key, value in one["source"].items()}],
    }
