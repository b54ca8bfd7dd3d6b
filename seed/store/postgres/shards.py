"""Split the tables of a database by workspace over several servers, with nothing but PostgreSQL's own postgres_fdw.

Every table becomes partitioned by workspace: a named workspace lies on the server that is given for it, every other
one stays here. The servers hold the same tables as any database of ours; whoever asks, asks this one.
"""

from __future__ import annotations

from collections.abc import Mapping

from psycopg import sql

from seed.store.postgres.schema import TABLES, guard
from seed.store.postgres.server import Connection

_FETCH = {"extensions": "vector", "fetch_size": "5000", "batch_size": "500", "keep_connections": "on"}


def split(connection: Connection, servers: Mapping[str, Mapping[str, str]], places: Mapping[str, str]) -> None:
    """Make a database that was set up and holds no rows yet the one that spreads them, in one transaction.

    ``servers`` maps a name to the options of postgres_fdw (host, port, dbname, user), ``places`` a workspace to the
    name of its server. Each of these databases was opened by the sidecar once, so that it has the tables.
    """
    with connection.transaction():
        connection.execute("CREATE EXTENSION IF NOT EXISTS postgres_fdw")
        for name, options in servers.items():
            user = {key: value for key, value in options.items() if key in ("user", "password")}
            rest = {key: value for key, value in options.items() if key not in user} | _FETCH
            connection.execute(
                sql.SQL("CREATE SERVER {} FOREIGN DATA WRAPPER postgres_fdw OPTIONS ({})").format(
                    sql.Identifier(name), _options(rest)
                )
            )
            connection.execute(
                sql.SQL("CREATE USER MAPPING FOR PUBLIC SERVER {} OPTIONS ({})").format(
                    sql.Identifier(name), _options(user)
                )
            )
        for table in TABLES:
            _spread(connection, table, places)


def _options(options: Mapping[str, str]) -> sql.Composed:
    return sql.SQL(", ").join(
        sql.SQL("{} {}").format(sql.Identifier(key), sql.Literal(value)) for key, value in options.items()
    )


def _spread(connection: Connection, table: str, places: Mapping[str, str]) -> None:
    here = f"{table}_here"
    connection.execute(f"ALTER TABLE sidecar.{table} RENAME TO {here}")
    connection.execute(
        f"CREATE TABLE sidecar.{table} (LIKE sidecar.{here} INCLUDING DEFAULTS INCLUDING STORAGE)"
        " PARTITION BY LIST (workspace)"
    )
    connection.execute(f"ALTER TABLE sidecar.{table} ATTACH PARTITION sidecar.{here} DEFAULT")
    connection.execute(guard(table))
    for workspace, server in places.items():
        connection.execute(
            sql.SQL(
                "CREATE FOREIGN TABLE sidecar.{} PARTITION OF sidecar.{} FOR VALUES IN ({}) SERVER {}"
                " OPTIONS (schema_name 'sidecar', table_name {})"
            ).format(
                sql.Identifier(f"{table}_{workspace}"),
                sql.Identifier(table),
                sql.Literal(workspace),
                sql.Identifier(server),
                sql.Literal(table),
            )
        )
