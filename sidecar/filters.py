"""Which records of a snapshot pass the filters of a query. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial

import numpy as np
from numpy.typing import NDArray

from seed.facets import Facet
from sidecar.query import Query, has_tag, in_period, same_path


def passing(query: Query, held: Mapping[str, Facet], workspace: str) -> NDArray[np.bool_]:
    """Return which records (m,) pass every filter but status; each value that records have is asked once."""
    found = np.ones(held["kind"].size, np.bool_)
    if query.kinds:
        found &= held["kind"].records(lambda kind: kind in query.kinds)
    if query.trust:
        found &= held["trust"].records(lambda trust: (trust or "document_extracted") == query.trust)
    if workspace:
        found &= held["workspace"].records(lambda own: own in ("", workspace))
    if query.path:
        found &= held["path"].records(lambda path: same_path(query.path, path))
    if query.after or query.before:
        found &= held["date"].records(lambda date: in_period(date, query.after, query.before))
    for tag in query.tags:
        found &= held["tag"].records(partial(_has, tag))
    return found


def _has(tag: str, own: str) -> bool:
    return has_tag((own,), tag)
