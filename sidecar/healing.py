"""A damaged store is no reason to fail: it is set aside, rebuilt from Git, and asked again."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Concatenate, ParamSpec, Protocol, TypeVar

from seed.errors import DamagedStoreError
from sidecar.session import Session

P = ParamSpec("P")
R = TypeVar("R")


class _HasSession(Protocol):
    session: Session


H = TypeVar("H", bound=_HasSession)


def healed(method: Callable[Concatenate[H, P], R]) -> Callable[Concatenate[H, P], R]:
    """Run a method of a provider; where the store proves damaged on the way, start it anew and run it once more."""

    @wraps(method)
    def inner(self: H, /, *args: P.args, **kwargs: P.kwargs) -> R:
        try:
            return method(self, *args, **kwargs)
        except DamagedStoreError:
            self.session.start_anew()
            return method(self, *args, **kwargs)

    return inner
