"""Tags as labels: how much of a question is said by a record's tags, whole token by whole token. Pure."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from seed.snapshot import Head
from seed.text import STOP_WORDS, is_cjk, stem
from sidecar.query import tag_tokens

_EDGES = re.compile(r"^\W+|\W+$")


class Labels:
    """Which records of a snapshot bear which tag tokens; words meet by their stem, CJK by prefix or suffix."""

    def __init__(self, heads: Sequence[Head]) -> None:
        self._records = len(heads)
        found: dict[str, set[int]] = defaultdict(set)
        for ordinal, head in enumerate(heads):
            for tag in head.record.tags:
                for token in tag_tokens(tag):
                    found[stem(token)].add(ordinal)
        self._bearers = {token: np.array(sorted(bearers), dtype=np.intp) for token, bearers in found.items()}
        self._cjk = tuple(token for token in self._bearers if is_cjk(token))

    def share(self, text: str) -> NDArray[np.float64]:
        """Return the share of a text's words that are tags of each record (m,), 0 to 1."""
        total: NDArray[np.float64] = np.zeros(self._records)
        tokens = [token for raw in tag_tokens(text) if (token := _EDGES.sub("", raw)) and token not in STOP_WORDS]
        for token in tokens if self._bearers else ():
            for bearers in self._of(token):
                total[bearers] += 1
        return total / max(len(tokens), 1)

    def _of(self, token: str) -> list[NDArray[np.intp]]:
        if not is_cjk(token):
            bearers = self._bearers.get(stem(token))
            return [] if bearers is None else [bearers]
        met = {
            n for tag in self._cjk if token.startswith(tag) or token.endswith(tag) for n in self._bearers[tag].tolist()
        }
        return [np.array(sorted(met), dtype=np.intp)] if met else []
