"""The tables, as numbered steps. A step that was released is never changed: what is new gets a number of its own.

Workspace and repository lead every key, so that tables can be partitioned or distributed by workspace as they stand.
There are no foreign keys, no sequences and no conflict targets for the same reason.
"""

from __future__ import annotations

TABLES: dict[str, str] = {
    # Counters of one repository. Whoever numbers passages or rows locks this row first. The generation starts anywhere,
    # so that what a machine keeps of one database never passes for another's.
    "repositories": "next_pid integer NOT NULL DEFAULT 1, segments integer NOT NULL DEFAULT 0,"
    " generation bigint NOT NULL DEFAULT (random() * 1000000000)::bigint, PRIMARY KEY (workspace, repository)",
    "blobs": "oid text NOT NULL, version text NOT NULL, parsed text NOT NULL,"
    " PRIMARY KEY (workspace, repository, oid, version)",
    # Texts are bytes, since text of PostgreSQL cannot hold the character U+0000.
    "passages": "pid integer NOT NULL, sha bytea NOT NULL, length integer NOT NULL, skip integer NOT NULL,"
    " text bytea NOT NULL, PRIMARY KEY (workspace, repository, sha), UNIQUE (workspace, repository, pid)",
    "postings": 'term text COLLATE "C" NOT NULL, segment integer NOT NULL, pids integer[] NOT NULL,'
    " counts smallint[] NOT NULL, PRIMARY KEY (workspace, repository, term, segment)",
    "identities": "identity text NOT NULL, parts text NOT NULL, dimension integer NOT NULL,"
    " next_row integer NOT NULL DEFAULT 0, PRIMARY KEY (workspace, repository, identity)",
    "vectors": "identity text NOT NULL, sha bytea NOT NULL, row integer NOT NULL, v vector NOT NULL,"
    " PRIMARY KEY (workspace, repository, identity, row), UNIQUE (workspace, repository, identity, sha)",
    "snapshots": "key text NOT NULL, number bigint NOT NULL, commit_id text NOT NULL, made timestamptz NOT NULL,"
    " policy text NOT NULL, heads bytea NOT NULL, pids bytea NOT NULL, owners bytea NOT NULL,"
    # members: bit n is set where document n, a passage or a title, belongs to the snapshot.
    " members bytea NOT NULL,"
    " PRIMARY KEY (workspace, repository, key)",
    # members: bit n is set where row n belongs to the snapshot.
    "planes": "key text NOT NULL, identity text NOT NULL, rows bytea NOT NULL, members bytea NOT NULL,"
    " floors text NOT NULL DEFAULT '{}', PRIMARY KEY (workspace, repository, key, identity)",
    "notes": "name text NOT NULL, value text NOT NULL, made timestamptz NOT NULL DEFAULT now(),"
    " PRIMARY KEY (workspace, repository, name)",
    "chains": "receipts bigint NOT NULL DEFAULT 0, last text NOT NULL DEFAULT '', PRIMARY KEY (workspace, repository)",
    "receipts": "number bigint NOT NULL, id text NOT NULL, made text NOT NULL, body text NOT NULL,"
    " PRIMARY KEY (workspace, repository, id), UNIQUE (workspace, repository, number)",
}
"""What every table has beside workspace and repository."""

ACCESS = """
CREATE TABLE sidecar.access (role name NOT NULL, workspace text NOT NULL, PRIMARY KEY (role, workspace));
ALTER TABLE sidecar.access ENABLE ROW LEVEL SECURITY;
CREATE POLICY own ON sidecar.access FOR SELECT USING (role = current_user);
CREATE FUNCTION sidecar.admit(who name, workspaces text[]) RETURNS void LANGUAGE plpgsql AS $$
DECLARE t text;
BEGIN
  EXECUTE format('GRANT USAGE ON SCHEMA sidecar TO %I', who);
  EXECUTE format('GRANT SELECT ON sidecar.access, sidecar.versions TO %I', who);
  FOR t IN SELECT c.relname FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid
           WHERE c.relnamespace = 'sidecar'::regnamespace AND c.relkind IN ('r', 'p') AND a.attname = 'repository'
  LOOP
    EXECUTE format('GRANT SELECT, INSERT, UPDATE, DELETE ON sidecar.%I TO %I', t, who);
  END LOOP;
  INSERT INTO sidecar.access SELECT who, unnest(workspaces) ON CONFLICT DO NOTHING;
END $$;
REVOKE ALL ON FUNCTION sidecar.admit(name, text[]) FROM PUBLIC;
"""
"""admit(role, workspaces) lets a role read and write the rows of these workspaces, and no others."""


def guard(table: str) -> str:
    """Return the statements that show a role the rows of its workspaces alone; the owner of the tables sees all."""
    mine = "workspace = ANY (ARRAY(SELECT a.workspace FROM sidecar.access a WHERE a.role = current_user))"
    return (
        f"ALTER TABLE sidecar.{table} ENABLE ROW LEVEL SECURITY;"
        f" CREATE POLICY tenant ON sidecar.{table} USING ({mine}) WITH CHECK ({mine});"
    )


def _first() -> str:
    made = [
        f"CREATE TABLE sidecar.{name} (workspace text NOT NULL, repository text NOT NULL, {columns});"
        for name, columns in TABLES.items()
    ]
    stored = (
        "ALTER TABLE sidecar.planes ALTER COLUMN members SET STORAGE EXTERNAL;"
        "ALTER TABLE sidecar.snapshots ALTER COLUMN members SET STORAGE EXTERNAL;"
        "CREATE INDEX snapshots_newest ON sidecar.snapshots (workspace, repository, number);"
    )
    return "\n".join([ACCESS, *made, stored, *map(guard, TABLES)])


_SECOND = """
SET LOCAL statement_timeout = 0;
ALTER TABLE sidecar.repositories ADD COLUMN sizes text NOT NULL DEFAULT '{}';
UPDATE sidecar.repositories r SET sizes = held.sizes FROM (
  SELECT workspace, repository, json_object_agg(segment, size)::text AS sizes FROM (
    SELECT workspace, repository, segment, sum(cardinality(pids)) AS size
    FROM sidecar.postings GROUP BY workspace, repository, segment) AS each
  GROUP BY workspace, repository) AS held
WHERE r.workspace = held.workspace AND r.repository = held.repository;
ALTER TABLE sidecar.postings ADD COLUMN documents integer;
DO $$
DECLARE holder text;  -- of a table that is spread over servers, the part that lies here
BEGIN
  SELECT conrelid::regclass::text INTO STRICT holder FROM pg_constraint
  WHERE conname = 'postings_pkey' AND connamespace = 'sidecar'::regnamespace;
  EXECUTE format('ALTER TABLE %s DROP CONSTRAINT postings_pkey,'
    ' ADD CONSTRAINT postings_pkey PRIMARY KEY (workspace, repository, segment, term)', holder);
END $$;
CREATE AGGREGATE sidecar.joined(anycompatiblearray) (SFUNC = array_cat, STYPE = anycompatiblearray);
"""
"""Segments that are written in one go and read to become larger ones, each in a stretch of the key.

sizes: the segments there are and the postings of each, so that what to merge is known without counting. documents: of a
term in a segment, so that its list need not be read to know its length; a row of before has none. joined: lists as one.
"""

MIGRATIONS: tuple[str, ...] = (_first(), _SECOND)
"""Step n brings a database of version n to n + 1."""
VERSION = len(MIGRATIONS)
PREPARE = """
CREATE SCHEMA IF NOT EXISTS sidecar;
CREATE EXTENSION IF NOT EXISTS vector;
CREATE TABLE IF NOT EXISTS sidecar.versions (version integer PRIMARY KEY, made timestamptz NOT NULL DEFAULT now());
"""
