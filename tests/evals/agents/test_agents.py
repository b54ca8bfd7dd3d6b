from __future__ import annotations

import asyncio
from dataclasses import replace
from pathlib import Path

import pytest

from evals.agents import policy
from evals.agents.policy import Call, Told, choose
from evals.bench.agents import Outcome, make, work


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    place = tmp_path / "asked"
    place.mkdir()
    make(place)
    return place


def right(outcomes: list[Outcome]) -> int:
    return sum(one.wanted == one.called for one in outcomes)


@pytest.mark.model
def test_an_agent_that_only_reads_the_list_of_tools_calls_the_right_one(folder: Path) -> None:
    """From `tools/list` and the instructions alone the right tool is found, with all it needs, and takes the call."""
    outcomes = asyncio.run(work(folder))
    assert right(outcomes) >= 20, [one for one in outcomes if one.wanted != one.called]
    assert [one for one in outcomes if one.wanted == one.called and not one.complete] == []
    assert [one.error for one in outcomes if one.error] == []


@pytest.mark.slow
@pytest.mark.model
def test_it_is_the_descriptions_that_lead_it(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With each tool described as its neighbour is, and its own name hidden, the same agent is lost."""

    def mixed(task: str, tools: list[Told], instructions: str, embed: policy.Embed) -> Call:
        del instructions
        texts = [*(tool.says for tool in tools[1:]), tools[0].says]
        return choose(task, [replace(t, says=text) for t, text in zip(tools, texts, strict=True)], "", embed)

    monkeypatch.setattr("evals.bench.agents.choose", mixed)
    assert right(asyncio.run(work(folder))) <= 12


def test_arguments_are_made_from_what_their_schema_says() -> None:
    """Paths, days, ids and budgets go where the schema asks for them; nothing is made up."""
    schema = {
        "properties": {
            "task": {"type": "string"}, "paths": {"type": "array", "description": "files or folders it touches"},
            "after": {"type": "string", "description": "YYYY-MM-DD, inclusive"},
            "before": {"type": "string", "description": "YYYY-MM-DD, inclusive"},
            "budget": {"type": "integer", "description": "tokens"}, "cursor": {"type": "string"},
        },
        "required": ["task"],
    }  # fmt: skip
    text = "Look at src/store.py since 2026-02-01 in 800 tokens"
    expected = {"task": text, "paths": ["src/store.py"], "after": "2026-02-01", "budget": 800}
    assert policy.fill(text, schema) == expected
