from __future__ import annotations

import asyncio
import os
import sys
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from mcp import Client, StdioServerParameters
from mcp.types import Implementation

from sidecar.answer_schema import edited_schema, proposed_schema

from .conftest import proposal, run


def ask(work: Path, *calls: tuple[str, dict[str, Any]], mode: str = "auto") -> list[Any]:
    """Return the results of tool calls that one client makes of a server process."""
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(p for p in sys.path if p)}
    arguments = ["-P", "-m", "sidecar", "serve", "--repo", str(work)]
    server = StdioServerParameters(command=sys.executable, args=arguments, env=environment)

    async def talk() -> list[Any]:
        who = Implementation(name="careful-agent", version="1")
        async with Client(server, client_info=who, mode=mode, read_timeout_seconds=60) as client:
            return [await client.call_tool(name, arguments) for name, arguments in calls]

    return asyncio.run(talk())


@pytest.mark.parametrize("mode", ["legacy", "2026-07-28"])
def test_the_client_is_named_by_what_it_calls_itself(mode: str, work: Path) -> None:
    """In both protocol eras the proposal names the client and one session; the record's own word is a claim."""
    records = [proposal(proposed_by={"agent": "root", "work": "issue-4"}), proposal(title="Other", body="Other words.")]
    first, second = ask(work, *(("propose_record", {"record": record}) for record in records), mode=mode)
    branches = [one.structured_content["branch"] for one in (first, second)]
    trailers = [run(work, "log", "-1", "--format=%(trailers)", branch).split("\n") for branch in branches]
    assert trailers[0][0] == trailers[1][0] == "Proposed-By: careful-agent"
    assert trailers[0][1] == trailers[1][1]
    assert trailers[0][1].startswith("Session: mcp-")
    assert trailers[0][2] == "Work: issue-4"
    text = run(work, "show", f"{first.structured_content['branch']}:{first.structured_content['path']}")
    assert "claimed: agent root" in text


def test_writing_tools_obey_their_schemas_and_tell_their_faults(work: Path) -> None:
    """Each reply is valid under the published schema and says the same as text; a fault is a tool error of one line."""
    proposed, filed, branch, bad = ask(
        work,
        ("propose_record", {"record": proposal()}),
        ("revise_record", {"id": "decision-0001", "change": {"tags": ["storage"]}}),
        ("forget_record", {"id": "decision-0001", "reason": "unused", "propose": True}),
        ("propose_record", {"record": {"kind": "decision"}}),
    )
    jsonschema.validate(proposed.structured_content, proposed_schema())
    for reply in (filed, branch):
        jsonschema.validate(reply.structured_content, edited_schema())
    assert filed.content[0].text.startswith("memory/file-backed: decision-0001 is at knowledge/decisions/")
    assert proposed.structured_content["branch"] in proposed.content[0].text
    assert bad.is_error
    assert "no title" in bad.content[0].text
    assert "\n" not in bad.content[0].text
    ended, gone = ask(
        work,
        ("revise_record", {"id": proposed.structured_content["id"], "change": {"tags": ["x"]}}),
        ("forget_record", {"id": proposed.structured_content["id"], "reason": "wrong"}),
    )
    for reply in (ended, gone):
        jsonschema.validate(reply.structured_content, edited_schema())
