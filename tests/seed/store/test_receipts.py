from __future__ import annotations

import threading
import time
from pathlib import Path
from typing import Any

from seed.store.receipts import Receipts


def sealed(ident: str) -> Any:
    return lambda previous: {"id": f"sha256:{ident}", "time": "2026", "previous": previous, "n": ident}


def test_receipts_form_a_chain(tmp_path: Path) -> None:
    """Each receipt knows the one before it, across reopening."""
    first = Receipts(tmp_path)
    assert first.append(sealed("a")) == ({"id": "sha256:a", "time": "2026", "previous": "", "n": "a"}, True)
    first.close()
    second = Receipts(tmp_path)
    receipt, stored = second.append(sealed("b"))
    assert (receipt["previous"], stored) == ("sha256:a", True)
    assert [r["n"] for r in second.chain()] == ["a", "b"]
    assert [r["n"] for r in second.newest(1)] == ["b"]
    second.close()


def test_a_receipt_is_found_by_the_beginning_of_its_id(tmp_path: Path) -> None:
    """The algorithm's name may be left out; wildcards are no way in; two that fit both come back."""
    receipts = Receipts(tmp_path)
    for ident in ("aa1", "aa2", "bb1"):
        receipts.append(sealed(ident))
    assert [r["n"] for r in receipts.get("sha256:bb")] == ["bb1"]
    assert [r["n"] for r in receipts.get("aa2")] == ["aa2"]
    assert len(receipts.get("aa")) == 2
    assert receipts.get("%1") == receipts.get("b_1") == receipts.get("\udcff") == []
    receipts.close()


def test_a_receipt_that_cannot_be_stored_in_time_goes_out_unstored(tmp_path: Path) -> None:
    """Another writer holds the answer up for 200 ms at the most, and the answer says that nothing was stored."""
    one, two = Receipts(tmp_path), Receipts(tmp_path)
    one.database.execute("BEGIN IMMEDIATE")
    start = time.monotonic()
    receipt, stored = two.append(sealed("a"))
    assert (receipt["previous"], stored) == ("", False)
    assert time.monotonic() - start < 2
    one.database.execute("ROLLBACK")
    assert two.append(sealed("b"))[1]
    assert [r["n"] for r in two.chain()] == ["b"]


def test_receipts_of_several_threads_lose_none(tmp_path: Path) -> None:
    """Appending at once keeps every receipt, each with its own predecessor."""
    receipts = [Receipts(tmp_path) for _ in range(4)]
    for opened in receipts:
        opened.database.execute("PRAGMA busy_timeout=10000")

    def work(number: int) -> None:
        for n in range(5):
            receipts[number].append(sealed(f"{number}-{n}"))

    threads = [threading.Thread(target=work, args=(n,)) for n in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    chain = receipts[0].chain()
    assert len(chain) == 20
    assert [r["previous"] for r in chain] == ["", *(r["id"] for r in chain[:-1])]
