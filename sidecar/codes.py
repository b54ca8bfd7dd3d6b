"""Vectors as whole numbers of eight bits, and how far a product of them can be from the product of the vectors. Pure.

With v = s c + e, s the scale, c the code (int8) and e what is left over, and the question q = t b + f likewise,

    q.v - (t b).(s c)  =  f.(s c) + q.e,   at most  |f| |s c| + |q| |e|   in absolute value (Cauchy and Schwarz).

b.c is a sum of whole numbers below 2**31: every processor finds the same, however it adds them up.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from sidecar.plane import LONGEST, Matrix, Vector

MOST = 127
_ROUNDING = 2.0**-24
"""The relative error of one operation on float32, at most."""
_ROWS = 4096
Coded = NDArray[np.int8]
Product = Callable[[Coded, Coded], Vector]


@dataclass(frozen=True, slots=True)
class Codes:
    """The codes (n, d) of vectors, with their ``scales`` (n,) and the length (n,) of what they leave over, at most."""

    values: Coded
    scales: Vector
    rests: Vector


def code(vectors: Matrix) -> Codes:
    """Return the codes of vectors (n, d): the largest part of each becomes 127."""
    found = Codes(np.empty(vectors.shape, np.int8), *np.empty((2, len(vectors)), np.float32))
    for first in range(0, len(vectors), _ROWS):
        at = slice(first, first + _ROWS)
        part = np.asarray(vectors[at], np.float32)
        scales = np.abs(part).max(axis=1, initial=0.0) / np.float32(MOST)
        values = np.rint(part / np.where(scales, scales, 1)[:, np.newaxis])
        np.clip(values, -MOST, MOST, out=values)
        found.values[at], found.scales[at] = values, scales
        values *= scales[:, np.newaxis]
        np.subtract(part, values, out=values)
        # What float32 rounds off must not make it smaller than it is: each product loses at most a share of its part.
        lost = 2 * _ROUNDING * np.sqrt(np.float32(part.shape[1])) * MOST * scales
        found.rests[at] = np.sqrt(np.vecdot(values, values)) * np.float32(1 + part.shape[1] * _ROUNDING) + lost
    return found


@dataclass(frozen=True, slots=True)
class Asked:
    """A question as codes (d,), with its scale, and the most that a product with it is off: ``fixed + slope x rest``.

    Both hold the rounding of float32 too, in the product of the vectors as in what is made of the codes.
    """

    values: Coded
    scale: np.float32
    fixed: float
    slope: float


def asked(question: Vector) -> Asked:
    """Return a question (d,) as codes."""
    coded = code(question[np.newaxis])
    length, left = float(np.linalg.norm(question.astype(np.float64))), float(coded.rests[0])
    # |s c| is at most |v| + |e|; d products are added up, and a dozen operations follow on values below 4.
    rounding = (len(question) + 64) * _ROUNDING * max(length, 1.0) * LONGEST
    return Asked(coded.values[0], coded.scales[0], left * LONGEST + rounding, left + length)


@lru_cache(maxsize=1)
def product() -> Product | None:
    """Return what multiplies codes (n, d) with a question's (d,), as float32; None without a library for it.

    A library is believed once it has found the largest sums as they are.
    """
    try:
        import simsimd
    except ImportError:
        return None

    def multiply(values: Coded, question: Coded) -> Vector:
        found = simsimd.cdist(question[np.newaxis], values, "dot", out_dtype="float32")
        return np.asarray(found, np.float32).reshape(-1)

    return multiply if _right(multiply) else None


def _right(multiply: Product) -> bool:
    """Tell whether a library multiplies right where sums are largest, for dimensions with and without a remainder."""
    for dimension in (1, 31, 64, 383, 768):
        ends = np.where(np.arange(dimension) % 3, MOST, -MOST).astype(np.int8)
        rows = np.stack([ends, -ends, np.full(dimension, -MOST, np.int8), np.arange(dimension).astype(np.int8)])
        wanted = rows.astype(np.int64) @ ends.astype(np.int64)
        if multiply(rows, ends).tolist() != wanted.astype(np.float32).tolist():
            return False
    return True
