from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from uuid import uuid4

import pytest

from seed.store.address import Address
from seed.store.engine import Chain, Engine
from seed.store.receipts import Receipts
from seed.store.store import Store

ENGINES = ("sqlite", "postgresql")


@pytest.fixture
def workspace() -> str:
    """Return a workspace of this test alone."""
    return f"w-{uuid4().hex[:12]}"


@pytest.fixture(params=ENGINES)
def open_engine(request: pytest.FixtureRequest, tmp_path: Path, workspace: str) -> Iterator[Callable[[], Engine]]:
    """Return a function that opens the store of one repository, each time as another process would."""
    opened: list[Engine] = []

    def make() -> Engine:
        if request.param == "sqlite":
            opened.append(Store(tmp_path / "store"))
        else:
            from seed.store.postgres.opening import open_store

            address = Address(request.getfixturevalue("postgres_url"), (), workspace)
            opened.append(open_store(address, "example.org/team/project", tmp_path / "local"))
        return opened[-1]

    if request.param != "sqlite":
        request.getfixturevalue("postgres_url")
    yield make
    for engine in opened:
        engine.close()


@pytest.fixture
def engine(open_engine: Callable[[], Engine]) -> Engine:
    """Return one open store."""
    return open_engine()


@pytest.fixture(params=ENGINES)
def open_chain(request: pytest.FixtureRequest, tmp_path: Path, workspace: str) -> Iterator[Callable[[], Chain]]:
    """Return a function that opens the receipts of one repository."""
    opened: list[Chain] = []

    def make() -> Chain:
        if request.param == "sqlite":
            opened.append(Receipts(tmp_path / "kept"))
        else:
            from seed.store.postgres.opening import open_receipts

            address = Address(request.getfixturevalue("postgres_url"), (), workspace)
            opened.append(open_receipts(address, "example.org/team/project"))
        return opened[-1]

    if request.param != "sqlite":
        request.getfixturevalue("postgres_url")
    yield make
    for chain in opened:
        chain.close()
