from __future__ import annotations

import asyncio
from collections.abc import Callable
from datetime import date
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from mcp import Client

from sidecar import conflicts, contradictions
from sidecar.cli import COMMANDS, main
from sidecar.corpus import NOTHING_HELD, Admitted, Corpus
from sidecar.provider import Provider
from sidecar.query import Query
from sidecar.server.app import build
from sidecar.server.desk import Desk
from sidecar.server.tools import PROFILES, chosen
from sidecar.web.app import APART, PAGES

from .conftest import CANARY
from .web.conftest import serving

READING_COMMANDS = {
    "recall": ["where", "do", "orders", "live"],
    "show": ["decision-1"],
    "list": [],
    "why": ["shop/checkout.py"],
    "conflicts": ["scan"],
    "context": ["where do orders live", "--path", "shop/checkout.py"],
    "graph": ["decision-1"],
    "export": ["json", "-"],
}
OTHER_COMMANDS = {
    "seed": "writes the store and counts",
    "audit": "gives ids, dates and paths of what the door lets through, never a word of a record",
    "check": "validates files, whatever their status",
    "new": "writes a file",
    "renumber": "writes files",
    "receipts": "looks at receipts; a replay goes through recall",
    "calibrate": "asks probes, gives a number",
    "import": "writes files",
    "hooks": "writes hooks",
    "gc": "drops rows and counts them",
    "backup": "writes a file of receipts, transcripts and branches",
    "restore": "takes receipts, transcripts and branches from a file",
    "doctor": "tells the state of files and counts, and of no record more than its path and fault",
    "transcript": "keeps and reads sessions, which are no records",
    "serve": "its tools are enumerated below",
    "explore": "its pages are enumerated below",
    "schema": "gives schemas",
    "completion": "prints a script for a shell",
    "init": "writes files; the first question that it asks goes through recall",
    "propose": "writes a candidate; its hints go through recall",
    "candidates": "lists what is not reviewed, marked as such",
    "promote": "writes a branch",
    "withdraw": "ends a branch",
    "done": "writes a branch",
    "review": "compares two commits, whatever the status, and gives ids",
}
READING_TOOLS: dict[str, dict[str, Any]] = {
    "recall": {"question": "where do orders live"},
    "find_precedents": {"task": "volcano", "paths": ["shop/checkout.py"]},
    "query_decisions": {},
    "get_record": {"id": "decision-1"},
    "conflicts_scan": {},
    "assemble_context": {"task": "volcano", "paths": ["shop/checkout.py"]},
    "search_graph": {"about": "decision-1"},
}
OTHER_TOOLS: dict[str, str] = {
    "context_capture": "keeps sessions, which are no records",
    "context_segment": "counts segments of a session",
    "context_address": "finds bytes of sessions",
    "context_read": "reads bytes of sessions",
    "context_anchors": "tells what a session's compactions removed",
    "context_segment_export": "gives texts of sessions",
    "context_attach_vectors": "keeps vectors of sessions",
    "propose_record": "writes a candidate; its hints go through recall",
    "revise_record": "writes a branch, or says where the file is",
    "forget_record": "writes a branch, or says where the file is",
    "conflicts_record": "writes a candidate that names two records by their ids",
    "list_candidates": "lists what is not reviewed, marked as such; what is near goes through recall",
}
READING_RESOURCES = {"record://{id}": "record://decision-1"}
OTHER_RESOURCES = {"sidecar://status": "counts and identities", "sidecar://schemas": "gives schemas"}
READING_PAGES = {
    "/": "/",
    "/records": "/records?q=orders",
    "/record/{name:path}": "/record/decision-1",
    "/timeline": "/timeline",
    "/graph": "/graph?about=decision-1",
    "/candidates": "/candidates",
    "/candidate/{name:path}": "/candidate/CANDIDATE",
    "/contradictions": "/contradictions",
    "/receipt/{name:path}": "/receipt/RECEIPT",
}
OTHER_PAGES = {
    "/receipts": "gives questions, and ids of records",
    "/gate": "gives figures of an evaluation, and ids of records",
    "/health": "tells the state of files and counts",
}
Surface = Callable[[Path], str]


@pytest.fixture(autouse=True)
def _any_two_may_conflict(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let a scan for contradictions show whatever it takes, so that it can be seen where from."""
    monkeypatch.setattr(conflicts, "CLOSE", -1.0)
    monkeypatch.setattr(conflicts, "subject", lambda *_: "anything")


def _shut(monkeypatch: pytest.MonkeyPatch) -> None:
    """Shut the one door: nothing is let through."""
    none = np.empty(0, np.intp)

    def admit(_: Corpus, _query: Query, _today: date, *_rest: Any, **_keys: Any) -> Admitted:
        return Admitted(none, none, NOTHING_HELD, none)

    monkeypatch.setattr(Corpus, "admit", admit)
    monkeypatch.setattr(Corpus, "standing", lambda *_: ())


def _call(repo: Path, name: str, arguments: dict[str, Any]) -> str:
    async def run() -> str:
        async with Client(build(desk, chosen(tuple(PROFILES)))) as client:
            return (await client.call_tool(name, arguments)).model_dump_json()

    desk = Desk(repo)
    text = asyncio.run(run())
    desk.close()
    return text


def _read(repo: Path, uri: str) -> str:
    async def run() -> str:
        async with Client(build(desk, chosen(tuple(PROFILES)))) as client:
            try:
                return (await client.read_resource(uri)).model_dump_json()
            except Exception as exc:  # noqa: BLE001 - whatever comes out is looked at
                return str(exc)

    desk = Desk(repo)
    text = asyncio.run(run())
    desk.close()
    return text


@pytest.mark.parametrize("command", READING_COMMANDS)
def test_commands_take_records_through_the_door(
    shop: Path, command: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A command that reads records shows them while the door is open, and not a word of them once it is shut."""
    for form in ([], ["--json"]):
        arguments = [command, *READING_COMMANDS[command], "--repo", str(shop), *form]
        assert main(arguments) == 0
        assert CANARY in capsys.readouterr().out
    _shut(monkeypatch)
    for form in ([], ["--json"]):
        main([command, *READING_COMMANDS[command], "--repo", str(shop), *form])
        assert CANARY not in capsys.readouterr().out


@pytest.mark.parametrize("form", ["markdown", "okf", "site"])
def test_exported_folders_take_records_through_the_door(
    shop: Path, tmp_path: Path, form: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An export writes records while the door is open, and not a word of them once it is shut."""

    def words(folder: str) -> str:
        assert main(["export", form, str(tmp_path / folder), "--repo", str(shop)]) == 0
        return "".join(file.read_text(encoding="utf-8") for file in (tmp_path / folder).rglob("*") if file.is_file())

    assert CANARY in words("open")
    _shut(monkeypatch)
    assert CANARY not in words("shut")


@pytest.mark.parametrize("tool", READING_TOOLS)
def test_tools_take_records_through_the_door(shop: Path, tool: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A tool that reads records gives them while the door is open, and not a word of them once it is shut."""
    assert CANARY in _call(shop, tool, READING_TOOLS[tool])
    _shut(monkeypatch)
    assert CANARY not in _call(shop, tool, READING_TOOLS[tool])


@pytest.mark.parametrize("template", READING_RESOURCES)
def test_resources_take_records_through_the_door(shop: Path, template: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A resource that reads records gives them while the door is open, and not a word of them once it is shut."""
    assert CANARY in _read(shop, READING_RESOURCES[template])
    _shut(monkeypatch)
    assert CANARY not in _read(shop, READING_RESOURCES[template])


def test_other_resources_hold_no_record(shop: Path) -> None:
    """A resource that is said to read no records holds not a word of one."""
    assert all(CANARY not in _read(shop, uri) for uri in OTHER_RESOURCES)


@pytest.fixture
def explored(shop: Path) -> dict[str, str]:
    """Return what stands for a name in an address: the shop has a candidate, a receipt, and a scan behind it."""
    provider = Provider(shop)
    done = provider.propose({"kind": "decision", "title": f"Carts too {CANARY}", "body": f"Carts. {CANARY}"})
    receipt = provider.recall(Query(listing=True))["receipt"]["id"]
    contradictions.scan(provider, budget=30)
    provider.close()
    return {"CANDIDATE": done["id"], "RECEIPT": receipt.removeprefix("sha256:")}


def _page(repo: Path, path: str, names: dict[str, str]) -> str:
    for name, value in names.items():
        path = path.replace(name, value)
    with serving(repo) as site:
        return site.get(path).text


@pytest.mark.parametrize("page", READING_PAGES)
def test_pages_take_records_through_the_door(
    shop: Path, page: str, explored: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A page that reads records shows them while the door is open, and not a word of them once it is shut."""
    assert CANARY in _page(shop, READING_PAGES[page], explored)
    _shut(monkeypatch)
    assert CANARY not in _page(shop, READING_PAGES[page], explored)


def test_other_pages_hold_no_record(shop: Path, explored: dict[str, str]) -> None:
    """A page that is said to read no records holds not a word of one."""
    assert all(CANARY not in _page(shop, page, explored) for page in OTHER_PAGES)


def test_every_surface_is_known_here(shop: Path) -> None:
    """A new command, tool or resource has to be named above as reading records or not, or this fails."""
    assert set(COMMANDS) == READING_COMMANDS.keys() | OTHER_COMMANDS.keys()
    served = {spec.name for specs in PROFILES.values() for spec in specs}
    assert served == READING_TOOLS.keys() | OTHER_TOOLS.keys()

    async def listed() -> set[str]:
        async with Client(build(desk, chosen(("default",)))) as client:
            templates = (await client.list_resource_templates()).resource_templates
            resources = (await client.list_resources()).resources
            return {t.uri_template for t in templates} | {str(r.uri) for r in resources}

    desk = Desk(shop)
    assert asyncio.run(listed()) == READING_RESOURCES.keys() | OTHER_RESOURCES.keys()
    desk.close()
    assert PAGES.keys() | APART.keys() == READING_PAGES.keys() | OTHER_PAGES.keys()


def test_a_surface_round_the_door_is_found(shop: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Negative control: a lookup that takes heads past the door still shows a record once it is shut."""
    _shut(monkeypatch)
    monkeypatch.setattr(
        Corpus, "standing", lambda corpus, name, _today: tuple((n, "accepted") for n in corpus.ordinals(name))
    )
    assert CANARY in _call(shop, "get_record", READING_TOOLS["get_record"])
    assert CANARY in _page(shop, READING_PAGES["/record/{name:path}"], {})
