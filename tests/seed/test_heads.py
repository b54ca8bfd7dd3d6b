from __future__ import annotations

import numpy as np
import pytest

from seed.heads import Heads, pack, revise
from seed.record import Record
from seed.snapshot import Head


def head(n: int, title: str = "T") -> Head:
    return Head(
        Record(f"d-{n}", "decision", f"{title}\u2028\n{n}", "accepted"), f"knowledge/{n:04}.yaml", f"b{n}", "accepted"
    )


HEADS = [head(n) for n in range(500)]


def test_heads_come_back_as_they_were_packed() -> None:
    """By number, from the end, as a slice and one after the other, line ends in a title included."""
    packed = pack(HEADS)
    assert (len(packed), packed[0], packed[-1], packed[7:9]) == (500, HEADS[0], HEADS[-1], (HEADS[7], HEADS[8]))
    assert list(packed) == HEADS
    assert packed == HEADS
    assert packed != HEADS[:-1]
    with pytest.raises(IndexError):
        packed[500]
    assert list(pack([])) == []


def test_one_change_makes_one_block() -> None:
    """All blocks but that of the changed head are the very same bytes."""
    packed = pack(HEADS)
    order = np.arange(500)
    order[250] = 500
    changed = revise(packed, [head(250, "Other")], order)
    assert changed[250].record.title.startswith("Other")
    same = sum(one is other for one, other in zip(packed.blocks, changed.blocks, strict=True))
    assert same == len(packed.blocks) - 1 > 3


def test_a_removed_head_leaves_the_other_blocks() -> None:
    """Blocks end where the paths say, so that what follows a gap is cut as before."""
    packed = pack(HEADS)
    gone: Heads = revise(packed, [], np.array([n for n in range(500) if n != 100]))
    assert list(gone) == HEADS[:100] + HEADS[101:]
    assert len({id(block) for block in packed.blocks} - {id(block) for block in gone.blocks}) == 1
