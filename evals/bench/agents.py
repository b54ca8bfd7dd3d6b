"""Let the scripted agent work through its tasks over MCP, and see whether it calls the right tool, and usably.

Run with ``python -m evals.bench.agents`` (``--json`` for all of it). The repository is made afresh; the vectors of the
shipped models stand for an agent that reads the list of tools.
"""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
import tempfile
from dataclasses import asdict, dataclass
from functools import cache
from pathlib import Path
from typing import Any

from evals.agents.policy import Call, Told, choose
from seed.embed.choose import choose as embedders
from seed.policy import Policy
from seed.yamltext import parse_list
from sidecar.server.local import connected

RECORDS = {
    "decision-0001": ("Temperatures are kept in degrees Celsius", "accepted", "Only a page converts the unit."),
    "decision-0002": ("Logs are formatted as JSON lines", "accepted", "One object a line, with a time zone."),
    "adr-0003": ("Readings are stored in one SQLite file", "accepted", "One station writes once a minute."),
}


@dataclass(frozen=True, slots=True)
class Outcome:
    """One task: what a person would call, what the agent called, whether the needed arguments were given and taken."""

    task: str
    wanted: str
    called: str
    arguments: dict[str, Any]
    complete: bool
    error: str


def tasks() -> list[dict[str, Any]]:
    """Return the tasks as the file has them."""
    found = [one.value for one in parse_list((Path(__file__).parents[1] / "agents" / "tasks.yaml").read_bytes())]
    return [one for one in found if isinstance(one, dict)]


async def work(folder: Path) -> list[Outcome]:
    """Return the outcome of every task, asked over MCP of a server that this process runs for ``folder``."""
    english, other = (cache(model.question) for model in embedders(Policy()))
    found = []
    async with connected(folder) as client:
        tools = [Told(t.name, t.description or "", t.input_schema) for t in (await client.list_tools()).tools]
        candidate = ""
        for one in tasks():
            text = str(one["task"]).replace("CANDIDATE", candidate)
            call = choose(text, tools, client.instructions or "", english if text.isascii() else other)
            reply = await client.call_tool(call.tool, call.arguments)
            if call.tool == "propose_record" and not reply.is_error and not candidate:
                candidate = str((reply.structured_content or {})["id"])
            found.append(_outcome(one, call, reply))
    return found


def _outcome(one: dict[str, Any], call: Call, reply: Any) -> Outcome:  # noqa: ANN401 - the SDK's result
    complete = all(name in call.arguments for name in one["needs"])
    error = reply.content[0].text if reply.is_error else ""
    return Outcome(one["task"], one["tool"], call.tool, call.arguments, complete, error)


def make(folder: Path) -> None:
    """Make the repository that the tasks speak of."""
    (folder / "knowledge").mkdir()
    for ident, (title, status, body) in RECORDS.items():
        head = f"id: {ident}\nkind: {ident.partition('-')[0]}\ntitle: {title}\nstatus: {status}\n"
        text = f"{head}date: 2026-03-01\nbody: {body}\n"
        (folder / "knowledge" / f"{ident}.yaml").write_text(text, encoding="utf-8")
    for words in (["init", "-q", "-b", "main"], ["add", "-A"], ["commit", "-qm", "Knowledge"]):
        subprocess.run(["git", "-c", "user.name=A", "-c", "user.email=a@localhost", *words], cwd=folder, check=True)  # noqa: S603, S607


def main() -> None:
    """Print how many tasks ended in the right tool, with all arguments, and without an error."""
    with tempfile.TemporaryDirectory() as name:
        make(Path(name))
        outcomes = asyncio.run(work(Path(name)))
    if "--json" in sys.argv:
        print(json.dumps([asdict(one) for one in outcomes], ensure_ascii=False, indent=1))
        return
    for one in outcomes:
        mark = "+" if one.wanted == one.called and one.complete and not one.error else "-"
        print(f"{mark} {one.called:17} (a person: {one.wanted}) {one.task[:80]} {one.error[:100]}")
    right = [one for one in outcomes if one.wanted == one.called]
    usable = [one for one in right if one.complete and not one.error]
    print(f"right tool {len(right)} of {len(outcomes)}, usable call {len(usable)} of {len(right)}")


if __name__ == "__main__":
    main()
