"""Replay a receipt: ask again on what it stood on, and compare what comes back."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any

from seed.assemble import Wanted
from seed.errors import SidecarError
from seed.git.candidates import candidates_at
from seed.git.tree import has_object
from sidecar.base import base_from_json
from sidecar.provider import Provider
from sidecar.receipt import first_difference, query_of
from sidecar.session import Progress

_REPLAY_SECONDS = 600.0


@dataclass(frozen=True, slots=True)
class Verified:
    """The outcome of a replay: "same", "differs: <what>" or "cannot replay: <what is missing>"."""

    outcome: str
    detail: str = ""

    @property
    def same(self) -> bool:
        """Tell whether the receipt replays."""
        return self.outcome == "same"


def verify(provider: Provider, receipt: Mapping[str, Any], progress: Progress | None = None) -> Verified:
    """Replay a receipt in this repository; any commit with the same knowledge tree serves.

    Works after the store was deleted: what is missing is seeded again. Never raises for a receipt of another
    machine: what cannot be replayed is said.
    """
    if receipt.get("shareable_of"):
        return Verified("cannot replay: the question's text (this is the shareable form, which holds its hash)")
    if receipt.get("kind") == "address":
        return _address_again(provider, receipt, progress)
    repo = provider.session.repo
    tree = str(receipt["knowledge_tree"])
    if tree and not has_object(repo, tree):
        return Verified(f"cannot replay: the knowledge tree {tree[:12]} of commit {str(receipt['commit'])[:12]}")
    gone = [ref for ref, oid in receipt["candidates"] if not has_object(repo, oid)]
    if gone:
        return Verified(f"cannot replay: the candidate branch {gone[0]}")
    found = candidates_at(repo, str(receipt["commit"]), [(ref, oid) for ref, oid in receipt["candidates"]])
    want = Wanted(str(receipt["commit"]), tree, tuple(found))
    try:
        replayed = _ask_again(provider, receipt, want, progress)
    except SidecarError as exc:
        return Verified(f"cannot replay: {exc.message}")
    return _compare(receipt, replayed)


def _address_again(provider: Provider, receipt: Mapping[str, Any], progress: Progress | None) -> Verified:
    """Ask the sessions that a receipt stood on once more, as they are now; later ones are left out."""
    from sidecar.asking import Asking, returned

    if receipt.get("outside"):
        return Verified("cannot replay: the question's vector, which was made elsewhere")
    given, kept = receipt["arguments"], provider.addresser.history.archive
    asked = Asking(receipt["question"], given["limit"], given["scheme"], tuple(receipt["sessions"]), _REPLAY_SECONDS)
    try:
        told = provider.addresser.answer(asked, progress=progress)
        moved = any(kept.resolve(name).digest != digest for name, digest in receipt["sessions"].items())
    except SidecarError as exc:
        return Verified(f"cannot replay: {exc.message}")
    before, after = receipt["returned"], returned(told)
    if (receipt["verdict"], before) == (told["verdict"], after):
        return Verified("same")
    cause = "sessions" if moved else "model" if receipt["embedder"] != told["embedder"] else "floor or provider"
    return Verified(f"differs: {cause}", f"returned then {_ids(before)}, now {_ids(after)}")


def _ask_again(
    provider: Provider, receipt: Mapping[str, Any], want: Wanted, progress: Progress | None
) -> dict[str, Any]:
    query = query_of(receipt)
    second = provider.meaning.needs_second(query)
    view = provider.session.view(want, second=second, budget=_REPLAY_SECONDS, progress=progress)
    moment = datetime.fromisoformat(str(receipt["time"])).astimezone(UTC)
    view = replace(view, base=base_from_json(receipt.get("base")))
    _, body = provider.answer(query, view, moment, workspace=str(receipt.get("workspace", "")))
    return body


def _compare(receipt: Mapping[str, Any], replayed: Mapping[str, Any]) -> Verified:
    keys = ("returned", "verdict")
    if all(receipt.get(key) == replayed.get(key) for key in keys):
        return Verified("same")
    cause = first_difference(receipt, replayed)
    before, after = receipt.get("returned", []), replayed.get("returned", [])
    return Verified(f"differs: {cause}", f"returned then {_ids(before)}, now {_ids(after)}")


def _ids(returned: list[list[str]]) -> str:
    return ", ".join(ident for _, ident, _ in returned) or "nothing"
