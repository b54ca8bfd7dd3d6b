"""What a tool is to the server: its reply, and how it is published."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

BUDGET_SECONDS = 2.0


@dataclass(frozen=True, slots=True)
class Reply:
    """What a tool returns: one object, and the same facts as text."""

    structured: dict[str, Any]
    text: str


@dataclass(frozen=True, slots=True)
class Spec:
    """One tool as served: function, title, the top-level fields of its reply, and whether it writes."""

    function: Callable[..., Reply]
    title: str
    output: dict[str, Any]
    writes: bool = False

    @property
    def name(self) -> str:
        """Return the tool's name: that of its function."""
        return self.function.__name__


def fields(required: str, optional: str = "") -> dict[str, Any]:
    """Return a schema that names the top-level fields only; `sidecar://schemas` has the whole of it."""
    names = required.split()
    return {"type": "object", "properties": {name: {} for name in names + optional.split()}, "required": names}
