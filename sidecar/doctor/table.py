"""How a check is written down: its name, its function, and what it has to have to look at anything."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Literal

from sidecar.doctor.finding import Severity
from sidecar.doctor.patient import Patient

Said = tuple[Severity, str, str]
"""What a check says, once or several times: severity, evidence, and the step that mends it or ""."""


@dataclass(frozen=True, slots=True)
class Check:
    """One check. ``needs`` is what must be open for it; a ``deep`` one takes longer and is left out unless asked."""

    name: str
    look: Callable[[Patient], Iterable[Said]]
    needs: Literal["", "repository", "store"] = "repository"
    deep: bool = False
