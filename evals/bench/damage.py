"""Kinds of damage and obstacles, each made once on a fresh project: what is promised is checked, not just survived."""

from __future__ import annotations

import errno
import os
import shutil
import sqlite3
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from evals.bench.faults import forked
from evals.bench.project import Project, ask, losses, made
from evals.bench.soak import Tally
from seed.errors import EmbedderError
from seed.git.command import run_git
from seed.store.lock import exclusive
from seed.store.paths import kept_folder, store_folder

Make = Callable[[Project, Path], None]
HEALED = "the next answer is right, from Git"
TOLD = "one clear line, and nothing is touched"
LAST = "an answer from the last snapshot that says it is stale, in bounded time"


@dataclass(frozen=True, slots=True)
class Kind:
    """One kind of damage: how it is made, what is promised, and the check that returns what was lost."""

    name: str
    how: str
    promised: str
    check: Callable[[Project, Path], list[str]]


def _healed(make: Make) -> Callable[[Project, Path], list[str]]:
    def check(project: Project, store: Path) -> list[str]:
        make(project, store)
        return losses(project)

    return check


def _bytes(offset: int, data: bytes) -> Make:
    def make(_: Project, store: Path) -> None:
        with (store / "store.db").open("r+b") as stream:
            stream.seek(offset)
            stream.write(data)

    return make


def _sql(statement: str) -> Make:
    def make(_: Project, store: Path) -> None:
        with closing(sqlite3.connect(store / "store.db")) as database:
            database.execute(statement)
            database.commit()

    return make


def _vectors(act: Callable[[Path], object]) -> Make:
    def make(project: Project, store: Path) -> None:
        for path in store.glob("*.f32"):
            act(path)
        project.commit()

    return make


def _git(*arguments: str) -> Make:
    def make(project: Project, _: Path) -> None:
        run_git(arguments, project.folder)

    return make


def _reset(project: Project, _: Path) -> None:
    project.commit()
    ask(project.folder)
    run_git(["reset", "-q", "--hard", "HEAD~1"], project.folder)
    project.edition -= 1


def _gone(project: Project, _: Path) -> None:
    """Let the seeded commit vanish altogether: amended, its reflog expired, collected."""
    run_git(["reset", "-q", "--hard"], project.folder)
    run_git(["commit", "-q", "--amend", "-m", "Another"], project.folder)
    run_git(["reflog", "expire", "--expire=now", "--all"], project.folder)
    run_git(["gc", "-q", "--prune=now"], project.folder)


def _newer(project: Project, store: Path) -> list[str]:
    _sql("PRAGMA user_version=99")(project, store)
    before = (store / "store.db").read_bytes()
    told = str(forked(lambda: ask(project.folder)).returned)
    same = (store / "store.db").read_bytes() == before
    return [] if "newer" in told and same else [f"{told}, untouched: {same}"]


def _locked(project: Project, store: Path) -> list[str]:
    project.commit()
    with exclusive(store / "seeding.lock", 1.0):
        start = time.monotonic()
        answer = ask(project.folder, budget=1.0)
        spent = time.monotonic() - start
    late = ["it hung"] if spent > 5 else []  # noqa: PLR2004 - five times its budget
    return late + ([] if answer["stale"] and "holds" in answer["degraded"] else [str(answer)]) + losses(project)


def _receipts_locked(project: Project, _: Path) -> list[str]:
    repo = project.repo
    with closing(sqlite3.connect(kept_folder(repo.name, repo.common) / "receipts.db")) as database:
        database.execute("BEGIN IMMEDIATE")
        answer = ask(project.folder)
    return ([] if not answer["receipt"] and answer["texts"] else [str(answer)]) + losses(project)


@contextmanager
def _patched(holder: Any, name: str, value: Any) -> Iterator[None]:  # noqa: ANN401 - any module and function
    real = getattr(holder, name)
    setattr(holder, name, value)
    try:
        yield
    finally:
        setattr(holder, name, real)


def _full_disk(project: Project, _: Path) -> list[str]:
    def full(*_: object) -> int:
        raise OSError(errno.ENOSPC, "No space left on device")

    project.commit()
    with _patched(os, "write", full):
        answer = ask(project.folder)
    return ([] if answer["texts"] and answer["degraded"] else [str(answer)]) + losses(project)


class _Full(sqlite3.Connection):
    """A database on a disk without room: nothing can be added to it."""

    def execute(self, sql: str, *rest: Any) -> sqlite3.Cursor:  # noqa: ANN401 - as sqlite3's
        if sql.startswith("INSERT"):
            raise sqlite3.OperationalError("database or disk is full")
        return super().execute(sql, *rest)


def _full_database(project: Project, _: Path) -> list[str]:
    real = sqlite3.connect
    project.commit()
    with _patched(sqlite3, "connect", lambda *args, **keys: real(*args, **keys, factory=_Full)):
        answer = ask(project.folder)
    right = answer["stale"] and "full" in answer["degraded"] and not answer["receipt"]
    return ([] if right else [str(answer)]) + losses(project)


def _model_fails(project: Project, _: Path) -> list[str]:
    from seed.embed.base import ToyEmbedder

    def gone(*_: object) -> Any:  # noqa: ANN401 - raises
        raise EmbedderError("the model was taken away", "put it back")

    project.commit()
    with _patched(ToyEmbedder, "question", gone):
        answer = ask(project.folder)
    return ([] if answer["texts"] and answer["degraded"] and not answer["stale"] else [str(answer)]) + losses(project)


def _home_is_a_file(project: Project, _: Path) -> list[str]:
    home = project.folder.parent / "file"
    home.write_text("no folder")
    real, os.environ["SIDECAR_HOME"] = os.environ["SIDECAR_HOME"], str(home)
    try:
        told = str(forked(lambda: ask(project.folder)).returned)
    finally:
        os.environ["SIDECAR_HOME"] = real
    return ([] if "StoreError" in told and "writable" in told else [told]) + losses(project)


KINDS = (
    Kind("store.db is garbage", "overwritten with text", HEALED, _healed(lambda _, s: _garbage(s / "store.db"))),
    Kind("store.db is empty", "truncated to 0", HEALED, _healed(lambda _, s: os.truncate(s / "store.db", 0))),
    Kind("store.db has lost its header", "first 100 bytes zeroed", HEALED, _healed(_bytes(0, bytes(100)))),
    Kind("store.db is damaged inside", "two pages overwritten", HEALED, _healed(_bytes(4096, b"\xff" * 8192))),
    Kind("store.db is gone", "file deleted", HEALED, _healed(lambda _, s: _remove(s / "store.db"))),
    Kind("the store is gone", "folder deleted", HEALED, _healed(lambda _, s: shutil.rmtree(s))),
    Kind("a snapshot is garbage", "its heads overwritten", HEALED, _healed(_sql("UPDATE snapshots SET heads = x'00'"))),
    Kind("parsed records are garbage", "overwritten", HEALED, _healed(_sql("UPDATE blobs SET parsed = '{'"))),
    Kind("planes are gone", "rows deleted", HEALED, _healed(_sql("DELETE FROM planes"))),
    Kind("vectors are gone", "file deleted", HEALED, _healed(_vectors(Path.unlink))),
    Kind("vectors are cut off", "half of the file", HEALED, _healed(_vectors(lambda p: os.truncate(p, 300)))),
    Kind("vectors are empty", "truncated to 0", HEALED, _healed(_vectors(lambda p: os.truncate(p, 0)))),
    Kind("the store is newer", "its format raised", TOLD, _newer),
    Kind("the seeding lock is held", "by a live process", LAST, _locked),
    Kind("receipts are locked", "by a transaction", "an answer that says it is not stored", _receipts_locked),
    Kind("the disk is full for vectors", "ENOSPC from write", "an answer by words that says so", _full_disk),
    Kind("the disk is full for the store", "SQLITE_FULL", LAST, _full_database),
    Kind("the model does not load", "it raises", "an answer by words that says so", _model_fails),
    Kind("SIDECAR_HOME is a file", "set so", TOLD, _home_is_a_file),
    Kind("HEAD is amended", "git commit --amend", HEALED, _healed(_git("commit", "-q", "--amend", "-m", "x"))),
    Kind("HEAD goes back", "git reset --hard HEAD~1", HEALED, _healed(_reset)),
    Kind("HEAD is detached", "git checkout --detach", HEALED, _healed(_git("checkout", "-q", "-f", "--detach"))),
    Kind("refs are packed", "git pack-refs --all", HEALED, _healed(_git("pack-refs", "--all"))),
    Kind("objects are packed", "git gc --prune=now", HEALED, _healed(_git("gc", "-q", "--prune=now"))),
    Kind("the seeded commit is collected", "amend, expire, gc", HEALED, _healed(_gone)),
)


def _garbage(path: Path) -> None:
    path.write_bytes(b"this is no database " * 500)


def _remove(path: Path) -> None:
    for suffix in ("", "-wal", "-shm"):
        path.with_name(path.name + suffix).unlink(missing_ok=True)


def every(base: Path, tally: Tally) -> None:
    """Make every kind of damage once, each on a project of its own."""
    for number, kind in enumerate(KINDS):
        project = made(base / str(number))
        project.commit()
        project.acknowledged.add(ask(project.folder)["receipt"])
        repo = project.repo
        run_git(["reset", "-q", "--hard"], project.folder)
        try:
            found = kind.check(project, store_folder(repo.name, repo.common))
        except Exception as exc:  # noqa: BLE001 - nothing but what is promised may come out
            found = [f"{type(exc).__name__}: {exc}"]
        tally.count(kind.name, found)
