from __future__ import annotations

import json
import os
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from mcp import Client

from evals.bench import early_facts
from seed.git.command import run_git
from sidecar import history
from sidecar.server.app import Sidecar, build
from sidecar.server.desk import Desk
from sidecar.server.local import asker
from sidecar.server.tools import chosen

from .conftest import MODES, ask, stdio

NAMES = [
    "context_capture",
    "context_segment",
    "context_address",
    "context_read",
    "context_anchors",
    "context_segment_export",
    "context_attach_vectors",
    "search_graph",
]
SAID = [
    "The sweeper prunes the cookie jar nightly, after fourteen days, in shop/jar.py.",
    "The acknowledgement is sent before the row is written, so a restart drops it.",
]


def written(folder: Path, cwd: Path, said: list[str] = SAID, name: str = "s1") -> Path:
    rows = [
        {"type": "user", "uuid": f"m{n}", "parentUuid": f"m{n - 1}" if n else None, "sessionId": name, "cwd": str(cwd),
         "message": {"role": "user", "content": text}}
        for n, text in enumerate(said)
    ]  # fmt: skip
    path = folder / f"{name}.jsonl"
    path.write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    return path


@pytest.fixture
def server(shop: Path) -> Iterator[Sidecar]:
    desk = Desk(shop)
    yield build(desk, chosen(("history",)))
    desk.close()


def call(server: Any, name: str, **arguments: Any) -> Any:
    """Return the structured reply, or the text of the error."""

    async def work(client: Client) -> Any:
        return await client.call_tool(name, arguments)

    result: Any = ask(server, work)
    return result.content[0].text if result.is_error else result.structured_content


@pytest.fixture
def kept(server: Sidecar, shop: Path, tmp_path: Path) -> str:
    told = call(server, "context_capture", files=[str(written(tmp_path, shop))])
    return str(told["captured"][0]["id"])


def test_the_profile_is_short_and_flat(server: Sidecar) -> None:
    """The history profile has its eight tools in under 8 kB, with flat strict arguments and named outputs."""

    async def work(client: Client) -> Any:
        return await client.list_tools()

    listed = ask(server, work).model_dump(mode="json", by_alias=True, exclude_none=True)["tools"]
    assert [tool["name"] for tool in listed] == NAMES
    assert len(json.dumps(listed, separators=(",", ":")).encode()) < 8000
    for tool in listed:
        assert tool["inputSchema"]["additionalProperties"] is False
        assert all(of["type"] in {"string", "integer", "array"} for of in tool["inputSchema"]["properties"].values())
        assert all(of == {} for of in tool["outputSchema"]["properties"].values())


@pytest.mark.parametrize("mode", MODES)
def test_a_session_is_kept_found_and_read_over_a_process(shop: Path, tmp_path: Path, mode: str) -> None:
    """Over standard input and output, in both eras: capture, address and read give the bytes of the file."""
    path = written(tmp_path, shop)

    async def work(client: Client) -> Any:
        await client.call_tool("context_capture", {"files": [str(path)]})
        found: Any = await client.call_tool("context_address", {"question": SAID[0]})
        (first, *_) = found.structured_content["results"]
        assert first["text"] in found.content[0].text
        page: Any = await client.call_tool("context_read", {"turns": [first["turn"]]})
        return first, page.structured_content

    first, page = ask(stdio(shop, "--profile", "history"), work, mode)
    line = path.read_bytes().split(b"\n")[first["turn"]]
    assert line[first["start_byte"] : first["end_byte"]].decode() == first["text"]
    assert page["turns"][0]["text"] == SAID[0]


def test_only_sessions_of_this_repository_are_kept(server: Sidecar, shop: Path, tmp_path: Path) -> None:
    """A session that ran elsewhere is refused by the server, kept by one that was started with the flag."""
    other = written(tmp_path, tmp_path / "elsewhere")
    assert "not in" in call(server, "context_capture", files=[str(other)])
    assert "no transcript" in call(server, "context_read", turns=[0])
    desk = Desk(shop, any_session=True)
    assert call(build(desk, chosen(("history",))), "context_capture", files=[str(other)])["captured"]
    desk.close()
    assert "there is no argument" in call(server, "context_capture", files=[str(other)], any_session="true")


def test_a_worktree_and_a_clone_are_this_repository(server: Sidecar, shop: Path, tmp_path: Path) -> None:
    """A session belongs to the repository that its folder is a worktree or a clone of: the first commit tells."""
    run_git(["worktree", "add", "-q", str(tmp_path / "tree")], shop)
    run_git(["clone", "-q", str(shop), str(tmp_path / "clone")], shop)
    for name in ("tree", "clone"):
        told = call(server, "context_capture", files=[str(written(tmp_path, tmp_path / name, name=name))])
        assert told["captured"][0]["complete"] is True


def test_segments_export_and_vectors_go_round(server: Sidecar, kept: str) -> None:
    """Texts go out with an identity; vectors with it come in and answer, with another one they are INCOMPARABLE."""
    assert call(server, "context_segment")["transcript"] == kept
    told = call(server, "context_segment_export", limit=1)
    whole = call(server, "context_segment_export")
    assert (len(told["texts"]), told["next"]) == (1, 1)
    embedder = {"model": "elsewhere", "dimension": 2}
    rows = [{"segment": one["segment"], "vector": [n, 1]} for n, one in enumerate(whole["texts"])]
    head = {"identity": whole["identity"], "embedder": embedder}
    lines = [json.dumps(row) for row in (head, *rows)]
    assert call(server, "context_attach_vectors", lines=lines)["covers"]["segments"] == len(rows)
    vector = json.dumps({"embedder": embedder, "vector": [1, 1]})
    found = call(server, "context_address", question="zzz", vector=vector, limit=1)
    assert found["results"][0]["turn"] == 1
    lines[0] = json.dumps({**head, "embedder": {**embedder, "model": "other"}})
    assert "INCOMPARABLE: model differs" in call(server, "context_attach_vectors", lines=lines)
    assert "vector is no JSON" in call(server, "context_address", question="zzz", vector="[")


def test_the_graph_is_walked_over_mcp(server: Sidecar, kept: str) -> None:
    """search_graph joins a path with the turn that mentions it, and a record with what it supersedes."""
    (edge,) = call(server, "search_graph", about="shop/jar.py")["edges"]
    assert (edge["type"], edge["basis"]["transcript"]) == ("mentions-path", kept)
    assert "supersedes" in {edge["type"] for edge in call(server, "search_graph", about="decision-1")["edges"]}
    assert "use " in call(server, "search_graph", about="decision-1", types=["likes"])


def test_a_question_with_all_loaded_is_answered_at_once(server: Sidecar, kept: str) -> None:
    """Asked again, nothing is loaded anew: a whole query over MCP stays within a tenth of a second, at its best."""
    del kept
    took = []

    async def work(client: Client) -> None:
        for _ in range(6):
            start = time.perf_counter()
            await client.call_tool("context_address", {"question": "who prunes the jar"})
            took.append(time.perf_counter() - start)

    ask(server, work)
    assert min(took[1:]) < 0.1


@pytest.mark.parametrize(
    ("name", "arguments", "expected"),
    [
        ("context_read", {}, "nothing is asked"),
        ("context_read", {"turns": [99]}, "has no turn 99"),
        ("context_read", {"transcript": "nope", "turns": [0]}, "nope"),
        ("context_address", {"question": " "}, "empty"),
        ("context_address", {"question": "x", "scheme": "tight"}, "one of"),
        ("context_anchors", {"generation": 4}, "generation 4"),
        ("context_attach_vectors", {"lines": ["{"]}, "line 1"),
        ("context_attach_vectors", {"file": "nowhere.jsonl"}, "nowhere.jsonl"),
        ("context_capture", {"files": ["nowhere.jsonl"]}, "nowhere.jsonl"),
        ("search_graph", {"about": "nowhere"}, "nowhere"),
    ],
)
def test_bad_arguments_are_one_line(
    server: Sidecar, kept: str, name: str, arguments: dict[str, Any], expected: str
) -> None:
    """What cannot be meant is a tool error of one line that names it."""
    del kept
    text = call(server, name, **arguments)
    assert expected in text
    assert "\n" not in text


# --- early facts -------------------------------------------------------------------------------------------------


def measured(server: Sidecar, work: Any) -> Any:
    async def run(client: Client) -> Any:
        return await work(asker(client))

    return ask(server, run)


@pytest.fixture
def compacted(server: Sidecar, shop: Path, tmp_path: Path) -> int:
    path = tmp_path / "log.jsonl"
    path.write_bytes(early_facts.session(generations=3, turns=8, cwd=str(shop)))
    return int(call(server, "context_capture", files=[str(path)])["captured"][0]["turns"])


def test_every_early_fact_is_found_again_over_mcp(server: Sidecar, compacted: int) -> None:
    """Facts of hidden turns are all found through anchors and read, none by summary or surface, at few tokens."""
    rows = {one.name: one for one in measured(server, lambda read: early_facts.table(read, compacted))}
    of = rows["anchors"].of
    assert of >= 3 * 8 * 2
    assert rows["anchors"].strict == rows["anchors"].normalised == rows["whole replay"].strict == of
    assert rows["last summary"].strict == rows["surface"].strict == 0
    assert rows["anchors"].tokens_a_fact < rows["whole replay"].tokens / 5


def test_without_the_archive_nothing_is_found(server: Sidecar, compacted: int, private_home: Path) -> None:
    """Negative control: with the archive gone, reading says that there is none instead of an answer."""
    (folder,) = private_home.glob("kept/*/transcripts")
    folder.rename(folder.with_name("gone"))
    for name, arguments in (("context_anchors", {}), ("context_read", {"turns": list(range(compacted))})):
        assert "no transcript is archived here" in call(server, name, **arguments)


def test_from_visible_turns_alone_nothing_is_found(server: Sidecar, compacted: int) -> None:
    """Negative control: given only turns that no compaction hid, no early fact is read."""

    async def work(read: Any) -> tuple[int, int]:
        places = (await read("context_anchors", {}))["generations"]
        hidden = {turn for one in places for turn in range(one["turns"][0], one["turns"][1] + 1)}
        texts = {turn: await early_facts.everything(read, [turn]) for turn in range(compacted)}
        facts = early_facts.facts_of(texts, hidden)
        shown = sorted(set(texts) - hidden)
        asked = [await read("context_read", {"turns": shown, "match": fact}) for fact in list(facts)[:10]]
        return len(facts), sum(page["matched"] for page in asked)

    count, matched = measured(server, work)
    assert count > 0
    assert matched == 0


def test_an_unknown_number_says_so(server: Sidecar, compacted: int) -> None:
    """Negative control: a number that the session does not have is named, and nothing is read in its place."""
    del compacted
    assert "has no seq 5" in call(server, "context_read", seqs=[5])


@pytest.mark.parametrize("any_session", [False, True])
@pytest.mark.parametrize("folder", ["/", "OUTSIDE", "UP"])
def test_no_folder_outside_is_searched(
    shop: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, folder: str, any_session: bool
) -> None:
    """Only folders of agents' sessions and of this repository are searched; another is refused unread, in one line."""
    looked: list[Path] = []
    monkeypatch.setattr(history, "with_subagents", lambda path: looked.append(path) or [])
    outside = tmp_path / "outside"
    outside.mkdir()
    named = {"OUTSIDE": outside, "UP": shop / ".." / "outside"}.get(folder, Path(folder))
    desk = Desk(shop, any_session=any_session)
    told = call(build(desk, chosen(("history",))), "context_capture", files=[str(named)])
    desk.close()
    assert "is neither an agent's folder of sessions nor in" in told
    assert "\n" not in told
    assert not looked


def test_agents_folders_and_this_repository_are_searched(
    server: Sidecar, shop: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A folder in the repository, and one where an agent keeps sessions, may be named as a whole."""
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(tmp_path / "agent"))
    for number, folder in enumerate((shop / "notes", tmp_path / "agent" / "projects" / "shop")):
        folder.mkdir(parents=True)
        written(folder, shop, name=f"n{number}")
        assert len(call(server, "context_capture", files=[str(folder)])["captured"]) == 1


def test_a_pipe_is_no_file(server: Sidecar, tmp_path: Path) -> None:
    """What could be read for ever is refused before it is opened: the server answers others in the same thread."""
    os.mkfifo(tmp_path / "pipe")
    for name, arguments in (
        ("context_capture", {"files": [str(tmp_path / "pipe")]}),
        ("context_attach_vectors", {"file": str(tmp_path / "pipe")}),
    ):
        assert "is no file" in call(server, name, **arguments)


def test_past_the_end_is_said(server: Sidecar, kept: str) -> None:
    """Beyond the last byte of what is asked there is no empty page, but a line with the size; the last byte is read."""
    size = call(server, "context_read", turns=[0])["turns"][0]["total"]
    assert call(server, "context_read", turns=[0], offset=size - 1)["turns"][0]["text"] == SAID[0][-1]
    for offset in (size, size + 5000):
        told = call(server, "context_read", transcript=kept, turns=[0], offset=offset)
        assert f"offset {offset} is past the end: what is asked has {size} bytes" in told
    assert "has 0 bytes" in call(server, "context_read", match="zebra", offset=1)
    assert call(server, "context_read", match="zebra")["turns"] == []


@pytest.mark.parametrize("path", ["nul\0", "x" * 5000, "nowhere.jsonl"])
def test_a_file_that_cannot_be_is_named(server: Sidecar, path: str) -> None:
    """Whatever is given as a file, the error says what is wrong with it, and nothing fails inside the server."""
    for name, arguments in (("context_capture", {"files": [path]}), ("context_attach_vectors", {"file": path})):
        told = call(server, name, **arguments)
        assert "failed inside" not in str(told)
        assert path[:80].replace("\0", "") in told.replace("\\x00", "")


@pytest.mark.parametrize(
    ("tool", "arguments", "said"),
    [
        ("context_capture", {"files": [""]}, "is no path"),
        ("context_capture", {"files": ["EMPTY"]}, "no session is in"),
        ("context_read", {"turns": ["a"]}, "list of whole numbers"),
        ("context_read", {"turns": [1], "max_bytes": 1}, "whole number of at least 4"),
        ("context_attach_vectors", {"lines": ["{}"], "file": "x"}, "give one of them"),
    ],
)
def test_wrong_arguments_are_named(
    server: Sidecar, shop: Path, tool: str, arguments: dict[str, Any], said: str
) -> None:
    """What a tool cannot mean is refused in words that name it; nothing is kept or attached."""
    folder = shop / "none"
    folder.mkdir()
    given = {key: [str(folder)] if value == ["EMPTY"] else value for key, value in arguments.items()}
    assert said in call(server, tool, **given)
    assert "no transcript" in call(server, "context_segment")
