from __future__ import annotations

import asyncio
import json
import subprocess
import threading
import time
from pathlib import Path
from typing import Any

import pytest
from mcp import Client

from seed.errors import SidecarError
from seed.transcript.capture import Options
from sidecar import history
from sidecar.provider import Provider
from sidecar.server import desk as module
from sidecar.server import history_tools, tools
from sidecar.server.app import Sidecar
from sidecar.server.desk import Desk

from ..conftest import Commit, record  # noqa: TID252 - test folders have no absolute names
from .conftest import ask

SEED = ("seed", "--quiet")
EMBED = ("transcript", "segment", "--embed", "--scheme", "structural")


def test_all_work_is_done_in_one_thread_one_call_at_a_time(shop: Path) -> None:
    """Concurrent calls run in one thread of their own, in turn: the store's connection belongs to that thread."""
    desk = Desk(shop)
    threads: set[int] = set()
    running = []

    def work(_: Provider) -> int:
        threads.add(threading.get_ident())
        running.append(1)
        time.sleep(0.01)
        assert len(running) == 1
        running.pop()
        return 1

    async def main() -> list[int]:
        return await asyncio.gather(*(desk.run("", work) for _ in range(10)))

    assert asyncio.run(main()) == [1] * 10
    desk.close()
    assert len(threads) == 1
    assert threads != {threading.get_ident()}


def test_a_call_cancelled_while_waiting_never_starts(shop: Path) -> None:
    """A cancelled call that waits its turn is dropped, and the one after it still runs."""
    desk = Desk(shop)
    done: list[str] = []

    def slow(_: Provider) -> None:
        time.sleep(0.3)
        done.append("slow")

    async def main() -> None:
        first = asyncio.create_task(desk.run("", slow))
        second = asyncio.create_task(desk.run("", lambda _: done.append("second")))
        third = asyncio.create_task(desk.run("", lambda _: done.append("third")))
        await asyncio.sleep(0.1)
        second.cancel()
        await asyncio.gather(first, third)

    asyncio.run(main())
    desk.close()
    assert done == ["slow", "third"]


def test_event_loop_stays_free_while_a_tool_works(server: Sidecar, monkeypatch: pytest.MonkeyPatch) -> None:
    """While one call takes long, the list of tools comes at once; a cancelled call does not stop the next one."""
    kept = Provider.recall

    def slow(self: Provider, *arguments: Any, **keys: Any) -> Any:
        time.sleep(0.5)
        return kept(self, *arguments, **keys)

    async def work(client: Client) -> tuple[float, Any]:
        await client.call_tool("get_record", {"id": "decision-1"})  # what is loaded once is loaded
        monkeypatch.setattr(Provider, "recall", slow)
        call = asyncio.create_task(client.call_tool("recall", {"question": "orders"}))
        await asyncio.sleep(0.05)
        before = time.monotonic()
        await client.list_tools(cache_mode="bypass")
        waited = time.monotonic() - before
        call.cancel()
        return waited, await client.call_tool("get_record", {"id": "decision-1"})

    waited, found = ask(server, work)
    assert waited < 0.3
    assert found.structured_content["record"]["id"] == "decision-1"


def test_what_the_budget_cut_short_goes_on_in_the_background(
    shop: Path, commit: Commit, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Past the budget the answer says what is missing, one process seeds on, and later answers cover everything."""
    files: dict[str, str] = {}
    for n in range(40):
        files |= record(
            f"fact-{n + 10}", f"Shelf {n} holds tins", f"Shelf {n} holds {n} tins.", kind="fact", status="verified"
        )
    commit(files, "Many")
    monkeypatch.setattr(tools, "BUDGET_SECONDS", 0.0)
    monkeypatch.setattr(module, "_RESEED_SECONDS", 0.0)
    desk = Desk(shop)

    def recall(provider: Provider) -> dict[str, Any]:
        return tools.recall(provider, "which shelf holds tins").structured

    first = asyncio.run(desk.run("", recall))
    assert "not embedded yet" in first["degraded"]
    (_, process) = desk._working[desk.folder, SEED]
    asyncio.run(desk.run("", recall))
    assert desk._working[desk.folder, SEED][1] is process  # coalesced: one process, however many calls
    assert process.wait(30) == 0
    last = asyncio.run(desk.run("", recall))
    desk.close()
    assert "degraded" not in last


def test_sentences_that_the_budget_left_are_embedded_in_the_background(
    shop: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Past the budget an answer says what it covers, one process embeds the rest, and later answers cover all."""
    rows = [{"role": "user", "content": f"Shelf {n} of the pantry holds {n} tins of good soup."} for n in range(200)]
    kept = tmp_path / "session.jsonl"
    kept.write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    history.capture(history.open_history(shop), kept, "2026-01-01T00:00:00Z", Options())
    monkeypatch.setattr(history_tools, "BUDGET_SECONDS", 0.0)
    desk = Desk(shop)

    def address(provider: Provider) -> dict[str, Any]:
        return history_tools.context_address(provider, "which shelf holds tins").structured

    first = asyncio.run(desk.run("", address))
    assert "sentences are not embedded yet" in first["degraded"]
    assert first["coverage"]["embedded"] < first["coverage"]["said"]
    (_, process) = desk._working[desk.folder, EMBED]
    assert process.wait(60) == 0
    desk._working.clear()
    asyncio.run(desk.run("", lambda provider: history_tools.context_read(provider, turns=[0])))
    assert not desk._working, "only a question that lacked vectors starts a process"
    last = asyncio.run(desk.run("", address))
    desk.close()
    assert "degraded" not in last
    assert last["coverage"]["embedded"] == last["coverage"]["said"]


def test_seeding_goes_on_where_nothing_can_answer_yet(
    shop: Path, commit: Commit, monkeypatch: pytest.MonkeyPatch
) -> None:
    """More new records than the budget allows end in an error that says so, a process reads on, and then it answers."""
    files: dict[str, str] = {}
    for n in range(200):
        files |= record(f"decision-{n + 10}", f"Shelf {n} holds tins", f"Shelf {n} holds {n} tins.")
    commit(files, "Many")
    monkeypatch.setattr(tools, "BUDGET_SECONDS", 0.0)
    desk = Desk(shop)

    def recall(provider: Provider) -> dict[str, Any]:
        return tools.recall(provider, "which shelf holds tins").structured

    with pytest.raises(SidecarError, match=r"64 of 20\d new files are read .* in the background, ask again"):
        asyncio.run(desk.run("", recall))
    (_, process) = desk._working[desk.folder, SEED]
    assert process.wait(60) == 0
    found = asyncio.run(desk.run("", recall))
    desk.close()
    assert found["verdict"] == "match"
    assert "stale" not in found["revision"] or not found["revision"]["stale"]


def test_no_process_is_started_when_nothing_is_missing(shop: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A complete answer starts no process."""
    started: list[Path] = []
    monkeypatch.setattr(Desk, "_go_on", lambda _, folder, *__: started.append(folder))
    desk = Desk(shop)
    asyncio.run(desk.run("", lambda provider: tools.recall(provider, "orders")))
    desk.close()
    assert started == []


def test_few_repositories_are_kept_open(shop: Path, tmp_path: Path) -> None:
    """Asking about many repositories closes those asked longest ago, and each still answers when asked again."""
    folders = []
    for n in range(module.MAX_OPEN + 2):
        folder = tmp_path / "many" / str(n)
        subprocess.run(["git", "clone", "-q", str(shop), str(folder)], check=True)
        folders.append(folder)
    desk = Desk(tmp_path / "many")
    for folder in [*folders, folders[0]]:
        found = asyncio.run(desk.run(str(folder), lambda provider: tools.recall(provider, "orders").structured))
        assert found["revision"]["repository"] == folder.name
    assert len(desk._providers) == module.MAX_OPEN
    desk.close()
