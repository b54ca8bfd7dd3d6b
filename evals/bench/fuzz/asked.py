"""What is asked by others: commits to seed, questions with every filter, and the arguments of every MCP tool.

Targets as in `evals.bench.fuzz.files`, over a small repository and its store.
"""

from __future__ import annotations

import asyncio
import io
import json
import os
import shutil
import tempfile
from contextlib import closing, redirect_stderr, redirect_stdout
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any

from evals.bench.fuzz import seeds
from evals.bench.fuzz.draw import Draw
from evals.bench.fuzz.files import SPLIT, BrokenPromiseError, Once


@dataclass(slots=True)
class World:
    """A small repository with its home, made anew every so many uses, so that nothing grows without end."""

    base: Path
    every: int
    uses: int = 0
    folder: Path = field(default_factory=Path)

    def renewed(self) -> bool:
        """Count one use, and tell whether the repository is a new one, which has to be opened again."""
        self.uses += 1
        if self.uses % self.every != 1:
            return False
        from seed.git.command import run_git

        if self.folder.name:
            shutil.rmtree(self.folder.parent)
        self.folder = Path(tempfile.mkdtemp(dir=self.base)) / "project"
        self.folder.mkdir()
        os.environ["SIDECAR_HOME"] = str(self.folder.parent / "home")
        for words in ("init -q -b main", "config user.name Fuzz", "config user.email fuzz@localhost"):
            run_git(words.split(), self.folder)
        self.commit({"policy": policy(), "1": seeds.RECORD, "0": seeds.OLD, "f": seeds.FACT})
        return True

    def commit(self, files: dict[str, bytes | None]) -> None:
        """Commit YAML files of knowledge/ straight into the object database; None leaves one out."""
        from seed.git.repository import open_repository
        from seed.git.write import write_commit

        repo = open_repository(self.folder)
        parents = [] if repo.git.head_is_unborn else [str(repo.git.head.target)]
        named = {f"knowledge/{name}.yaml": data for name, data in files.items()}
        done = write_commit(repo, named, "Fuzz", parents=parents)
        repo.git.references.create("refs/heads/main", done, force=True)


def policy() -> bytes:
    """Return a policy with the toy embedder and its floors, so that nothing has to be calibrated."""
    from seed.embed.base import ToyEmbedder
    from seed.embed.choose import projection
    from seed.policy import Policy

    digest = ToyEmbedder(projection=projection(Policy())).identity.digest
    floors = "".join(f"- {{embedder: '{digest}', value: 0, on: {on}}}\n" for on in ("fused", "lexical"))
    return seeds.POLICY + f"floors:\n{floors}".encode()


def snapshots(base: Path) -> Once:
    """Commit a record and a glossary and ask: whatever they hold, the other records answer."""
    from sidecar.provider import Provider
    from sidecar.query import Query

    world = World(base, 300)

    def once(data: bytes) -> None:
        world.renewed()
        record, _, glossary = data.partition(SPLIT)
        world.commit({"x": record, "glossary": glossary or None})
        with closing(Provider(world.folder)) as provider:
            listed = provider.recall(Query(statuses=("all",), listing=True, limit=50), budget=60.0)
            sayable(listed)
            sayable(provider.recall(Query("where do orders live"), budget=60.0))
        if not {"decision-1", "fact-1"} <= {result["id"] for result in listed["results"]}:
            raise BrokenPromiseError("one file hides another", listed)

    return once


def questions(base: Path) -> Once:
    """Questions and listings with every filter."""
    from seed.errors import SidecarError
    from sidecar.provider import Provider
    from sidecar.query import Query

    world = World(base, 3000)
    held: list[Provider] = []

    def once(data: bytes) -> None:
        if world.renewed():
            for provider in held:
                provider.close()
            held[:] = [Provider(world.folder)]
        draw = Draw(data)
        values: dict[str, Any] = {"question": draw.text(), "limit": draw.number(60), "listing": draw.number(2) == 1}
        for one in fields(Query):
            if one.name not in values and draw.number(3) == 1:
                many = isinstance(one.default, tuple)
                values[one.name] = tuple(draw.text() for _ in range(draw.number(4))) if many else draw.text()
        try:
            sayable(held[0].recall(Query(**values), detail=("full", "brief")[draw.number(2)]))
        except SidecarError as exc:
            told(exc)

    return once


def tools(base: Path) -> Once:
    """Arguments of every tool of every profile, through the protocol; no JSON reader lets a lone surrogate in."""
    from seed.errors import SidecarError
    from sidecar.server.app import published
    from sidecar.server.desk import Desk
    from sidecar.server.tools import PROFILES, chosen

    specs = chosen(tuple(PROFILES))
    schemas = {spec.name: published(spec, Desk(base)).parameters["properties"] for spec in specs}
    world, served, names = World(base, 500), Served(), sorted(schemas)

    def once(data: bytes) -> None:
        if world.renewed():
            served.move(world.folder)
        draw = Draw(data, errors="replace")
        name = names[draw.number(len(names))]
        chance = {key: 1 if "default" in of else 3 for key, of in schemas[name].items()}
        given = {key: draw.fitting(of) for key, of in schemas[name].items() if draw.number(3) < chance[key]}
        try:
            sayable(served.ask(name, given), rendered=False)
        except SidecarError as exc:
            told(exc)
            if "failed inside the server" in str(exc):
                raise BrokenPromiseError(f"{name} failed", given, str(exc)) from exc

    return once


@dataclass(slots=True)
class Served:
    """A server in this process, held open by one task, since a client is closed by the task that opened it."""

    loop: asyncio.AbstractEventLoop = field(default_factory=asyncio.new_event_loop)
    over: asyncio.Event = field(default_factory=asyncio.Event)
    task: asyncio.Task[None] | None = None
    asked: Any = None

    def move(self, folder: Path) -> None:
        """Close what is served and serve a folder."""
        if self.task is not None:
            self.over.set()
            self.loop.run_until_complete(self.task)
        self.over = asyncio.Event()
        ready = asyncio.Event()
        self.task = self.loop.create_task(self._serve(folder, ready))
        self.loop.run_until_complete(ready.wait())

    async def _serve(self, folder: Path, ready: asyncio.Event) -> None:
        from sidecar.server.local import asking
        from sidecar.server.tools import PROFILES

        async with asking(folder, *PROFILES, any_session=True) as self.asked:
            ready.set()
            await self.over.wait()

    def ask(self, name: str, arguments: dict[str, Any]) -> Any:  # noqa: ANN401 - JSON
        """Return the reply of a tool; its error is raised as `SidecarError`."""
        return self.loop.run_until_complete(self.asked(name, arguments))


def commands(base: Path) -> Once:
    """Words of commands that read: whatever is typed, it ends in an exit code and at most one line of error."""
    from sidecar.cli import main

    world = World(base, 3000)

    def once(data: bytes) -> None:
        world.renewed()
        draw = Draw(data)
        command = tuple(seeds.COMMANDS)[draw.number(len(seeds.COMMANDS))]
        words = command.split()
        given = [draw.text().replace("\0", "") for _ in range(draw.number(4))]
        for option in seeds.COMMANDS[command].split():
            if draw.number(4) == 1:
                given += [f"--{option}", draw.text().replace("\0", "")]
        out, error = io.TextIOWrapper(io.BytesIO()), io.TextIOWrapper(io.BytesIO())
        with redirect_stdout(out), redirect_stderr(error):
            try:
                code: Any = main([*words, "--repo", str(world.folder), *(["--json"] if draw.number(2) else []), *given])
            except SystemExit as exc:
                code = exc.code
        error.flush()
        said = [line for line in error.buffer.getvalue().decode().split("\n") if not line.startswith("INFO: Instr")]
        if code not in (0, 1, 2) or len(said) > 2:  # noqa: PLR2004 - one line and its end
            raise BrokenPromiseError(f"{words[0]} ended in {code}", given, said)

    return once


def sayable(answer: dict[str, Any], *, rendered: bool = True) -> None:
    """Hold that an answer can be sent: as JSON in UTF-8, and as text of which no character moves a cursor."""
    from sidecar.render import render

    json.dumps(answer, ensure_ascii=False, allow_nan=False).encode()
    for character in render(answer) if rendered else "":
        if character != "\n" and (not character.isprintable() and character in seeds.UNSAFE):
            raise BrokenPromiseError("a character reaches the terminal", character, answer)


def told(exc: Exception) -> None:
    """Hold that a refusal is one bounded line that can be printed."""
    if len(str(exc)) > 20_000 or "\n" in str(exc).strip():  # noqa: PLR2004 - far more than a line needs
        raise BrokenPromiseError("a refusal is not one bounded line", str(exc))
    str(exc).encode()
