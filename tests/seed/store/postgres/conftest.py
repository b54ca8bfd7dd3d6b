from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest

psycopg = pytest.importorskip("psycopg")

from seed.store.address import Address  # noqa: E402 - only where psycopg is installed
from seed.store.postgres.opening import open_store  # noqa: E402
from seed.store.postgres.store import PostgresStore  # noqa: E402

Open = Callable[..., PostgresStore]
REPOSITORY = "example.org/team/project"


@pytest.fixture
def database(postgres_url: str) -> Iterator[str]:
    """Return the address of a fresh, empty database."""
    name = f"d{uuid4().hex[:12]}"
    with psycopg.connect(postgres_url, autocommit=True) as connection:
        connection.execute(f"CREATE DATABASE {name}")
    yield postgres_url.replace("/postgres?", f"/{name}?")
    with psycopg.connect(postgres_url, autocommit=True) as connection:
        connection.execute(f"DROP DATABASE {name} WITH (FORCE)")


@pytest.fixture
def opened(tmp_path: Path) -> Iterator[Open]:
    """Return a function that opens the store of a repository at an address."""
    stores: list[PostgresStore] = []

    def make(url: str, *replicas: str, workspace: str = "shop", repository: str = REPOSITORY) -> PostgresStore:
        stores.append(open_store(Address(url, replicas, workspace), repository, tmp_path / "local"))
        return stores[-1]

    yield make
    for store in stores:
        store.close()


@pytest.fixture
def sql() -> Callable[..., list[Any]]:
    """Return a function that runs one statement at an address and returns its rows."""

    def run(url: str, statement: str, *values: object) -> list[Any]:
        with psycopg.connect(url, autocommit=True) as connection:
            done = connection.execute(statement, values or None)
            return done.fetchall() if done.description else []

    return run
