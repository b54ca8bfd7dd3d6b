"""What was asked, what came back, and whether it still does."""

from __future__ import annotations

import json
from typing import Any

from sidecar.quote import one_line
from sidecar.web.given import Given, pages
from sidecar.web.reader import Look, NotHereError, Page, Reader

_SIZE = 50
_LISTS = {"results": "Results", "decided_against": "Decided against", "retired": "No longer in force then",
          "open_items": "Open items"}  # fmt: skip
_VERDICTS = {"match": "good", "weak": "wait", "none": ""}


def page(reader: Reader, given: Given) -> Page:
    """Return a page of receipts, newest first."""
    receipts = reader.provider.receipts
    shown = pages(given, total := receipts.count(), _SIZE)
    rows = [_row(receipt) for receipt in receipts.newest(_SIZE, shown["start"])]
    return Page("receipts.html", "Receipts", {"given": given, "rows": rows, "pages": shown, "total": total})


def _row(receipt: dict[str, Any]) -> dict[str, Any]:
    ids = list(dict.fromkeys(str(entry[1]) for entry in receipt.get("returned", []) if len(entry) > 1))
    return {
        "id": receipt["id"],
        "short": receipt["id"].removeprefix("sha256:")[:12],
        "time": str(receipt.get("time", ""))[:16].replace("T", " "),
        "question": one_line(str(receipt.get("question", "")), 200),
        "also": [one_line(str(text), 200) for text in receipt.get("also", [])],
        "verdict": receipt.get("verdict", ""),
        "colour": _VERDICTS.get(receipt.get("verdict", ""), ""),
        "ids": ids,
        "filters": _filters(receipt.get("arguments", {})),
        "sessions": receipt.get("kind") == "address",
    }


def _filters(arguments: dict[str, Any]) -> str:
    """Return the filters a question came with, as words."""
    plain = ("limit", "cursor", "listing", "scheme")
    given = {key: value for key, value in arguments.items() if value and key not in plain}
    return "; ".join(f"{key} {', '.join(map(str, v)) if isinstance(v, list) else v}" for key, v in given.items())


def one(reader: Reader, given: Given) -> Page:
    """Return one receipt; with ``replay`` it is asked again. Raises `SidecarError` where there is none of that id."""
    look = reader.look()
    found = look.provider.receipts.get(given.name)
    if len(found) != 1:
        reason = "several receipts begin with" if found else "there is no receipt"
        raise NotHereError(f"{reason} {one_line(given.name, 80)!r}", "see the list of receipts")
    receipt = found[0]
    return Page("receipt.html", f"Receipt {_row(receipt)['short']}", {
        "given": given,
        "row": _row(receipt),
        "receipt": receipt,
        "lists": _returned(look, receipt),
        "outcome": _replay(look, receipt) if given["replay"] else None,
        "text": json.dumps(receipt, indent=2, ensure_ascii=False),
    })  # fmt: skip


def _returned(look: Look, receipt: dict[str, Any]) -> list[tuple[str, list[dict[str, Any]]]]:
    """Return what came back, list by list, and how each record stands today."""
    found: dict[str, list[dict[str, Any]]] = {}
    for name, ident, blob in receipt.get("returned", []) if receipt.get("kind") != "address" else []:
        now = look.named(str(ident))
        found.setdefault(_LISTS.get(name, str(name)), []).append(
            {**now, "changed": bool(now["blob"]) and now["blob"] != blob}
        )
    return list(found.items())


def _replay(look: Look, receipt: dict[str, Any]) -> dict[str, Any]:
    """Ask again on what the receipt stood on; no new receipt is left."""
    from sidecar.replay import verify

    outcome = verify(look.provider, receipt)
    colour = "good" if outcome.same else "wait" if outcome.outcome.startswith("cannot") else "bad"
    return {"text": outcome.outcome, "detail": outcome.detail, "colour": colour}
