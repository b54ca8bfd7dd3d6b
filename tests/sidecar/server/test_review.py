from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from mcp import Client
from mcp.types import CallToolResult

from sidecar.server.app import Sidecar, build
from sidecar.server.desk import Desk
from sidecar.server.tools import chosen

from ..conftest import TOY, Commit, record  # noqa: TID252 - test folders have no absolute names
from .conftest import ask


@pytest.fixture
def server(repository: Path, commit: Commit) -> Iterator[Sidecar]:
    said, tags = "Checkout waits {} seconds for the payment service", {"tags": ["checkout"]}
    commit(
        {"knowledge/policy.yaml": TOY}
        | record("decision-1", said.format(30), said.format(30), **tags)
        | record("decision-2", said.format(60), said.format(60), **tags)
    )
    desk = Desk(repository)
    yield build(desk, chosen(("default", "review")))
    desk.close()


def call(server: Sidecar, name: str, **arguments: Any) -> CallToolResult:
    async def work(client: Client) -> CallToolResult:
        result = await client.call_tool(name, arguments)
        assert isinstance(result, CallToolResult)
        return result

    return ask(server, work)


def structured(result: CallToolResult) -> dict[str, Any]:
    assert not result.is_error, result.content
    assert result.structured_content is not None
    return result.structured_content


def test_an_agent_finds_judges_and_sees_a_contradiction(server: Sidecar) -> None:
    """Over MCP an agent scans, judges a pair, and every later answer shows the verdict and who judged it."""
    found = structured(call(server, "conflicts_scan"))
    (pair,) = found["pairs"]
    assert (pair["ids"], pair["differs"]) == (["decision-1", "decision-2"], "30 against 60")
    judged = {"one": pair["ids"][0], "other": pair["ids"][1], "reason": "30 against 60 seconds"}
    done = structured(call(server, "conflicts_record", verdict="contradicts", **judged))
    assert structured(call(server, "conflicts_record", verdict="contradicts", **judged))["already"] is True
    answer = structured(call(server, "recall", question="How long does checkout wait for the payment service?"))
    assert {conflict["state"] for result in answer["results"] for conflict in result["conflicts"]} == {"recorded"}
    assert done["id"] in answer["results"][0]["conflicts"][0]["reason"]
    assert structured(call(server, "conflicts_scan"))["pairs"] == []
    pack = structured(call(server, "assemble_context", task="Make checkout wait longer for the payment service"))
    assert [conflict["ids"] for conflict in pack["conflicts"]] == [pair["ids"]]


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        ({"one": "decision-1", "other": "decision-9", "verdict": "contradicts", "reason": "x"}, "sidecar list"),
        ({"one": "decision-1", "other": "decision-2", "verdict": "maybe", "reason": "x"}, "one of contradicts"),
        ({"one": "decision-1", "other": "decision-2", "verdict": "contradicts"}, "'reason' is missing"),
    ],
)
def test_what_cannot_be_meant_is_told(server: Sidecar, arguments: dict[str, str], told: str) -> None:
    """A wrong argument is a tool error that says what to do."""
    result = call(server, "conflicts_record", **arguments)
    assert result.is_error
    assert told in result.content[0].text  # type: ignore[union-attr]
