"""Look at a server without changing it: what the doctor says of it."""

from __future__ import annotations

import time
from contextlib import suppress

import psycopg

from seed.errors import SidecarError
from seed.store.address import Address, shown
from seed.store.engine import Seen
from seed.store.paths import STORE_FORMAT
from seed.store.postgres.connect import Database
from seed.store.postgres.migrate import version
from seed.store.postgres.records import MINE
from seed.store.postgres.schema import VERSION
from seed.store.postgres.server import Connection, refused


def look(address: Address, repository: str, key: str) -> Seen:
    """Return what a server says of itself and of a repository's snapshot ``key``. Raises `StoreError`."""
    database = Database(address)
    try:
        start = time.monotonic()
        database.primary.first()
        spent = time.monotonic() - start
        with database.borrowed() as connection:
            text, mends = _told(connection, database, repository, key)
    except psycopg.Error as exc:
        raise refused(exc, database.primary) from None
    finally:
        database.close()
    away = tuple(shown(server.url) for server in database.replicas if not _answers(server.url))
    return Seen(f"{shown(address.url)} answers in {spent * 1000:.0f} ms, {text}", mends, away)


def _told(connection: Connection, database: Database, repository: str, key: str) -> tuple[str, str]:
    names = "SELECT current_setting('server_version'), (SELECT extversion FROM pg_extension WHERE extname = 'vector')"
    row = connection.execute(names).fetchone() or ("?", None)
    text = f"PostgreSQL {row[0].split()[0]}, pgvector {row[1] or 'missing'}, workspace {database.workspace}"
    found = version(connection)
    if found != VERSION:
        return f"{text}, tables of version {found} (this sidecar: {VERSION})", (
            "update the sidecar" if found > VERSION else "sidecar seed, as the owner of the database"
        )
    mine = (database.workspace, f"{repository}#{STORE_FORMAT}")
    count = connection.execute(f"SELECT count(*) FROM sidecar.snapshots WHERE {MINE}", mine).fetchone()
    here = connection.execute(f"SELECT 1 FROM sidecar.snapshots WHERE {MINE} AND key = %s", (*mine, key)).fetchone()
    text += f", {repository}: {count[0] if count else 0} snapshots"
    return (f"{text}, HEAD's among them", "") if here else (f"{text}, HEAD's is not there yet", "sidecar seed")


def _answers(url: str) -> bool:
    with suppress(psycopg.Error, SidecarError), psycopg.connect(url, connect_timeout=3) as connection:
        return connection.execute("SELECT pg_is_in_recovery()").fetchone() is not None
    return False
