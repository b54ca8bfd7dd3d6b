from __future__ import annotations

import asyncio
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from mcp import Client

from seed.checker import check_repository
from seed.git.repository import open_repository
from sidecar.candidates import withdraw
from sidecar.hooks.install import install
from sidecar.promote import promote
from sidecar.provider import Provider
from sidecar.query import Query
from sidecar.replay import verify
from sidecar.server.app import build
from sidecar.server.desk import Desk
from sidecar.server.tools import chosen

from .conftest import decision, fingerprint, put, run

Open = Callable[[Path], Provider]
QUESTION = "Does the store keep records in SQLite or in PostgreSQL?"


def over_mcp(folder: Path, tool: str, **arguments: Any) -> dict[str, Any]:
    """Call one tool as an agent's client would, and return its structured content."""
    desk = Desk(folder)

    async def call() -> Any:
        async with Client(build(desk, chosen(("default", "review")))) as client:
            return await client.call_tool(tool, arguments)

    try:
        result = asyncio.run(call())
    finally:
        desk.close()
    assert not result.is_error, result.content
    return dict(result.structured_content)


def ids(answer: dict[str, Any]) -> list[str]:
    return [one["id"] for one in answer["results"]]


def wait_for_seed(provider: Provider) -> None:
    """Wait until another process has published HEAD's snapshot; this one only looks."""
    session, end = provider.session, time.monotonic() + 60
    while not session.store.has(session.wanted().key) and time.monotonic() < end:
        time.sleep(0.05)
    assert session.store.has(session.wanted().key)


def test_from_an_agents_proposal_to_the_answer_after_the_merge(
    clone: Callable[[str], Path], opened: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An agent proposes, a reviewer merges in another clone, a pull reseeds by itself, and the new decision answers."""
    monkeypatch.setenv("PYTHONPATH", ":".join(p for p in sys.path if p))
    agent, reviewer = clone("agent"), clone("reviewer")
    first = over_mcp(agent, "recall", question=QUESTION)
    assert ids(first) == ["decision-0001"]
    receipt = opened(agent).receipts.newest(1)[0]

    before = fingerprint(agent)
    body = "We keep records in PostgreSQL, since two writers need it."
    record = {"kind": "decision", "title": "The store is PostgreSQL", "body": body, "supersedes": ["decision-0001"]}
    made = over_mcp(agent, "propose_record", record=record)
    assert ids(over_mcp(agent, "recall", question=QUESTION)) == ["decision-0001"]
    assert made["id"] in ids(over_mcp(agent, "recall", question=QUESTION, statuses=["candidate"]))
    assert [one["id"] for one in over_mcp(agent, "list_candidates")["candidates"]] == [made["id"]]
    branch = promote(opened(agent), [made["id"]])["branch"]
    assert fingerprint(agent) == before
    run(agent, "push", "-q", "origin", made["branch"], branch)

    run(reviewer, "fetch", "-q")
    run(reviewer, "merge", "-q", "--no-ff", "-m", "Merge the proposal", f"origin/{branch}")
    run(reviewer, "push", "-q", "origin", "main")

    install(open_repository(agent))
    run(agent, "pull", "-q", "--ff-only", "origin", "main")
    provider = opened(agent)
    wait_for_seed(provider)
    answer = provider.recall(Query(QUESTION))
    assert ids(answer) == [made["id"]]
    assert (answer["results"][0]["status"], answer["withheld"]["candidate"]) == ("accepted", 0)
    shown = over_mcp(agent, "get_record", id="decision-0001")
    assert shown["record"]["status"] == "superseded"
    assert shown["lineage"] == [{"relation": "superseded_by", "id": made["id"], "status": "accepted"}]
    assert [touch["subject"] for touch in over_mcp(agent, "get_record", id=made["id"])["history"]] == [
        f"Promote {made['id']}: {record['title']}"
    ]
    assert verify(provider, receipt).outcome == "same"
    assert withdraw(provider, made["id"])["withdrawn"]


@pytest.mark.parametrize(
    "status",
    ["refuted", " REFUTED ", "false, see F-29", "refuted by fact-0029", "disproved", "no longer true"],
)
def test_a_refuted_fact_never_comes_back_by_default(status: str, work: Path, opened: Open) -> None:
    """However a file words that a fact is false, neither a question, nor its id, nor a listing returns it unasked."""
    fact = decision("fact-0018", "The cache is flushed hourly", "The cache is flushed hourly.", status=f'"{status}"')
    put(work, {"knowledge/facts/fact-0018.yaml": fact.replace("kind: decision", "kind: fact")})
    provider = opened(work)
    for query in (Query("When is the cache flushed?"), Query("fact-0018"), Query("", listing=True)):
        assert "fact-0018" not in ids(provider.recall(query))
    assert "fact-0018" in ids(provider.recall(Query("When is the cache flushed?", statuses=("all",))))


def test_a_fact_that_another_refutes_is_gone_too(work: Path, opened: Open) -> None:
    """A fact whose own file still says verified does not answer once a verified one refutes it."""
    old = decision("fact-0018", "The cache is flushed hourly", "Flushed hourly.", status="verified")
    new = decision(
        "fact-0029", "The cache is never flushed", "It only grows.", status="verified", refutes="[fact-0018]"
    )
    files = {"knowledge/facts/fact-0018.yaml": old, "knowledge/facts/fact-0029.yaml": new}
    put(work, {path: text.replace("kind: decision", "kind: fact") for path, text in files.items()})
    answer = opened(work).recall(Query("When is the cache flushed?"))
    assert "fact-0018" not in ids(answer)


def test_ids_that_collide_after_a_clean_merge_fail_check(work: Path) -> None:
    """Two branches that each took the next id merge without a conflict, and check then names both files."""
    run(work, "switch", "-q", "-c", "one")
    put(work, {"knowledge/decisions/a.yaml": decision("decision-0002", "Logs are JSON", "JSON.")})
    run(work, "switch", "-q", "-c", "two", "main")
    put(work, {"knowledge/decisions/b.yaml": decision("decision-0002", "Logs are text", "Text.")})
    run(work, "merge", "-q", "--no-edit", "one")
    done = check_repository(open_repository(work))
    told = {finding.path: finding.reason for finding in done.findings if finding.level == "error"}
    assert done.failed
    assert told == {
        "knowledge/decisions/a.yaml": "id 'decision-0002' is also the id in knowledge/decisions/b.yaml",
        "knowledge/decisions/b.yaml": "id 'decision-0002' is also the id in knowledge/decisions/a.yaml",
    }
