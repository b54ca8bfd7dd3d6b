"""The receipt: what one recall asked, stood on and returned; content-addressed and chained. Pure."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict, replace
from typing import Any

from seed.errors import SidecarError
from sidecar.query import Query

Receipt = dict[str, Any]


def canonical(value: object) -> str:
    """Return canonical JSON: sorted keys, no spaces, text as UTF-8."""
    return json.dumps(value, sort_keys=True, ensure_ascii=False, separators=(",", ":"))


def identify(body: Mapping[str, Any]) -> str:
    """Return the id of a receipt: the sha256 of its canonical JSON without the id itself."""
    plain = {k: v for k, v in body.items() if k != "id"}
    return "sha256:" + hashlib.sha256(canonical(plain).encode()).hexdigest()


def seal(body: Mapping[str, Any], previous: str) -> Receipt:
    """Return the receipt with its predecessor and its id."""
    full = {**body, "previous": previous}
    return {**full, "id": identify(full)}


def arguments(query: Query) -> dict[str, Any]:
    """Return the arguments of a query as they are kept, without the question and its phrasings."""
    values = asdict(query)
    return {k: list(v) if isinstance(v, tuple) else v for k, v in values.items() if k not in ("question", "also")}


def query_of(receipt: Mapping[str, Any]) -> Query:
    """Return the query that a receipt recorded."""
    known = Query.__dataclass_fields__
    values: dict[str, Any] = {
        k: tuple(v) if isinstance(v, list) else v for k, v in receipt["arguments"].items() if k in known
    }
    return replace(Query(**values), question=receipt["question"], also=tuple(receipt["also"]))


def returned(answer: Mapping[str, Any]) -> list[list[str]]:
    """Return (list, id, blob) of every record an answer named, in order."""
    lists = ("results", "decided_against", "retired", "open_items")
    return [[name, item["id"], item["blob"]] for name in lists for item in answer.get(name, [])]


def shareable(receipt: Receipt) -> Receipt:
    """Return the form without the question's text: its hash, and the hashes of the other phrasings."""
    hidden = {
        **receipt,
        "question": _hash(receipt["question"]),
        "also": [_hash(t) for t in receipt["also"]],
        "shareable_of": receipt["id"],
    }
    return {**hidden, "id": identify(hidden)}


def _hash(text: str) -> str:
    return "sha256:" + hashlib.sha256(text.encode()).hexdigest()


def parse_receipt(text: str, where: str) -> Receipt:
    """Return a receipt from JSON text. Raises `SidecarError` when it is none, or was changed since."""
    try:
        data = json.loads(text)
    except ValueError:
        raise SidecarError(
            f"{where} is not JSON", "give the file that 'sidecar receipts show ID --json' wrote"
        ) from None
    needed = (
        "id",
        "question",
        "also",
        "arguments",
        "knowledge_tree",
        "returned",
        "embedder",
        "policy",
        "time",
        "candidates",
    )
    if not isinstance(data, dict) or any(key not in data for key in needed):
        raise SidecarError(f"{where} is not a receipt", "give the file that 'sidecar receipts show ID --json' wrote")
    if identify(data) != data["id"]:
        raise SidecarError(
            f"{where} was changed after it was written: its id does not match its content",
            "ask for the original",
            code=1,
        )
    return data


def first_difference(receipt: Mapping[str, Any], replay: Mapping[str, Any]) -> str:
    """Return which input explains that a replay differs: model, policy, candidates, provider or records."""
    for key, name in (
        ("embedder", "model"),
        ("policy", "policy"),
        ("candidates", "candidates"),
        ("provider", "provider"),
    ):
        if receipt.get(key) != replay.get(key):
            return name
    return "records"
