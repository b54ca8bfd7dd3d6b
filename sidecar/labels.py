"""Tags as labels: how much of a question is said by a record's tags, whole token by whole token. Pure."""

from __future__ import annotations

import re

import numpy as np
from numpy.typing import NDArray

from seed.facets import Facet
from seed.text import STOP_WORDS, is_cjk, stem
from sidecar.query import tag_tokens

_EDGES = re.compile(r"^\W+|\W+$")


class Labels:
    """Which records of a snapshot bear which tag tokens; words meet by their stem, CJK by prefix or suffix."""

    def __init__(self, tags: Facet) -> None:
        self._tags = tags
        self._records = tags.size
        self._codes: dict[str, set[int]] = {}
        self._cjk: tuple[str, ...] = ()

    def _bearers(self) -> dict[str, set[int]]:
        """Return token -> codes of the tags that hold it, worked out at the first question."""
        if not self._codes:
            for code, tag in enumerate(self._tags.values):
                for token in tag_tokens(tag):
                    self._codes.setdefault(stem(token), set()).add(code)
            self._cjk = tuple(token for token in self._codes if is_cjk(token))
        return self._codes

    def _owners(self, codes: set[int]) -> NDArray[np.intp]:
        held = self._tags.codes == next(iter(codes)) if len(codes) == 1 else np.isin(self._tags.codes, list(codes))
        return np.unique(self._tags.owners[held]).astype(np.intp)

    def share(self, text: str) -> NDArray[np.float64]:
        """Return the share of a text's words that are tags of each record (m,), 0 to 1."""
        total: NDArray[np.float64] = np.zeros(self._records)
        tokens = [token for raw in tag_tokens(text) if (token := _EDGES.sub("", raw)) and token not in STOP_WORDS]
        for token in tokens if self._bearers() else ():
            for bearers in self._of(token):
                total[bearers] += 1
        return total / max(len(tokens), 1)

    def _of(self, token: str) -> list[NDArray[np.intp]]:
        if not is_cjk(token):
            codes = self._bearers().get(stem(token), set())
        else:
            met = [tag for tag in self._cjk if token.startswith(tag) or token.endswith(tag)]
            codes = set().union(*(self._bearers()[tag] for tag in met))
        return [self._owners(codes)] if codes else []
