from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from seed.transcript.archive import Archive
from seed.transcript.manifest import Identity
from seed.transcript.reader import Reader

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

CHECKOUT = Path(__file__).parents[3]


def shared_sessions() -> list[Path]:
    """Find real sessions beside the checkout, or beside the folder of its worktrees; none is fine."""
    folders = (CHECKOUT / ".." / "shared", CHECKOUT / ".." / ".." / "shared")
    return sorted(path for folder in folders for path in folder.glob("transcripts/*/*.jsonl"))


@pytest.fixture
def archive(tmp_path: Path) -> Archive:
    return Archive(tmp_path / "kept" / "transcripts")


@pytest.fixture
def keep(archive: Archive) -> Callable[..., Reader]:
    """Store bytes as a session and open it."""

    def _keep(data: bytes, base: str = "generic-one", step: int = 1 << 16) -> Reader:
        pieces: Iterator[bytes] = (data[at : at + step] for at in range(0, len(data), step))
        stored = archive.store(Identity(base, "generic"), pieces, source="s", captured="2026-01-01T00:00:00Z")
        return Reader(archive, stored.manifest)

    return _keep


def jsonl(*rows: object) -> bytes:
    return b"".join(json.dumps(row, ensure_ascii=False).encode("utf-8", "surrogatepass") + b"\n" for row in rows)


def _claude() -> bytes:
    base = {"sessionId": "11aa", "cwd": "/work/app", "version": "2.0.14", "timestamp": "2026-01-01T00:00:00Z"}
    use = {
        "type": "tool_use",
        "id": "toolu_1",
        "name": "Edit",
        "input": {"file_path": "/work/app/seed/db.py"},
    }
    said = {"type": "text", "text": "I will edit seed/db.py"}
    asked = {"role": "user", "content": "Fix it"}
    result = {"type": "tool_result", "tool_use_id": "toolu_1", "content": [{"type": "text", "text": "done"}]}
    return jsonl(
        {"type": "file-history-snapshot", "messageId": "u1", "snapshot": {}},
        {**base, "type": "user", "uuid": "u1", "parentUuid": None, "message": asked},
        {**base, "type": "assistant", "uuid": "a1", "parentUuid": "u1",
         "message": {"id": "msg_1", "role": "assistant", "content": [said]}},
        {**base, "type": "assistant", "uuid": "a2", "parentUuid": "a1",
         "message": {"id": "msg_1", "role": "assistant", "content": [use]}},
        {**base, "type": "user", "uuid": "u2", "parentUuid": "a2", "message": {"content": [result]}},
    )  # fmt: skip


def _codex() -> bytes:
    def row(kind: str, **payload: object) -> dict[str, object]:
        return {"timestamp": "2026-01-01T00:00:00Z", "type": kind, "payload": payload}

    context = [{"type": "input_text", "text": "<environment_context>\n<cwd>/work/app</cwd>"}]
    asked = [{"type": "input_text", "text": "Why does seed/db.py fail?"}]
    patch = "*** Begin Patch\n*** Update File: seed/db.py\n*** End Patch"
    output = '{"output":"seed/db.py: broken\\n","metadata":{"exit_code":1}}'
    arguments = json.dumps({"command": ["apply_patch", patch]})
    return jsonl(
        row("session_meta", id="22bb", cwd="/work/app"),
        row("response_item", type="message", role="user", content=context),
        row("response_item", type="message", role="user", content=asked),
        row("event_msg", type="user_message", message="Why does seed/db.py fail?"),
        row(
            "response_item",
            type="reasoning",
            summary=[{"type": "summary_text", "text": "Look"}],
            content=None,
        ),
        row("response_item", type="function_call", name="shell", arguments=arguments, call_id="call_1"),
        row("response_item", type="function_call_output", call_id="call_1", output=output),
    )


def _copilot() -> bytes:
    def row(kind: str, number: int, **data: object) -> dict[str, object]:
        parent = f"e{number - 1}" if number else None
        return {"type": kind, "data": data, "id": f"e{number}", "timestamp": "2026-01-01", "parentId": parent}

    request = {"toolCallId": "call-1", "name": "shell", "arguments": '{"command":"cat seed/db.py"}'}
    return jsonl(
        row("session.start", 0, sessionId="33cc", context={"cwd": "/work/app"}),
        row("user.message", 1, content="List the files"),
        row("assistant.message", 2, content="Listing", messageId="m1", toolRequests=[request]),
        row(
            "tool.execution_start",
            3,
            toolCallId="call-1",
            toolName="shell",
            arguments={"command": "cat seed/db.py"},
        ),
        row(
            "tool.execution_complete",
            4,
            toolCallId="call-1",
            success=False,
            result={"content": "no such file"},
        ),
    )


def _gemini() -> bytes:
    response = [{"functionResponse": {"id": "c1", "response": {"output": "seed/db.py"}}}]
    call = {
        "id": "c1",
        "name": "run_shell_command",
        "args": {"command": "ls"},
        "result": response,
        "status": "success",
    }
    return jsonl(
        {"sessionId": "44dd", "projectHash": "0b", "startTime": "2026-01-01", "kind": "main"},
        {"id": "g1", "timestamp": "2026-01-01", "type": "user", "content": [{"text": "List files"}]},
        {"$set": {"lastUpdated": "2026-01-02"}},
        {"id": "g2", "timestamp": "2026-01-01", "type": "gemini", "content": "", "toolCalls": [call]},
        {"$set": {"id": "g2", "type": "gemini", "content": "Listed."}},
    )


def _pi() -> bytes:
    call = {"type": "toolCall", "id": "t1", "name": "write", "arguments": {"path": "seed/db.py"}}
    back = {
        "role": "toolResult",
        "toolCallId": "t1",
        "content": [{"type": "text", "text": "ok"}],
        "isError": False,
    }
    return jsonl(
        {"type": "session", "version": 3, "id": "55ee", "timestamp": "2026-01-01", "cwd": "/work/app"},
        {"type": "message", "id": "p1", "parentId": None, "message": {"role": "user", "content": "Write it"}},
        {
            "type": "message",
            "id": "p2",
            "parentId": "p1",
            "message": {"role": "assistant", "content": [call]},
        },
        {"type": "message", "id": "p3", "parentId": "p2", "message": back},
        {"type": "compaction", "id": "p4", "parentId": "p3", "summary": "wrote", "firstKeptEntryId": "p3"},
    )


def _cursor() -> bytes:
    return jsonl(
        {"role": "user", "message": {"content": [{"type": "text", "text": "Look at seed/db.py"}]}},
        {"role": "assistant", "message": {"content": [{"type": "text", "text": "It is fine."}]}},
    )


def _generic() -> bytes:
    call = {
        "id": "c1",
        "type": "function",
        "function": {"name": "read_file", "arguments": '{"path":"seed/db.py"}'},
    }
    return jsonl(
        {"role": "user", "content": "Read it"},
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "c1", "content": "import sqlite3"},
    )


def _eventlog() -> bytes:
    call = {"type": "tool-call", "id": "c1", "name": "write", "arguments": '{"file_path":"seed/db.py"}'}

    def said(text: str) -> list[dict[str, str]]:
        return [{"type": "text", "text": text}]

    hidden = {"compactionId": "k1", "shadowedRange": {"start": 1, "end": 4}, "shadowedSeqs": [1, 2, 4]}
    log = {"turn": 1, "callId": "c1", "name": "write", "arguments": '{"file_path":"seed/db.py"}'}
    done = {"callId": "c1", "content": [{"type": "text", "text": "ok"}], "isError": False}
    return jsonl(
        {"type": "session", "seq": 0, "data": {"id": "66ff", "cwd": "/work/app"}},
        {"type": "user/message", "seq": 1, "time": 1, "data": {"content": said("Write it")}},
        {"type": "assistant/message", "seq": 2, "time": 2, "data": {"message": {"content": [call]}}},
        {"type": "tool/call", "seq": 3, "time": 3, "data": log},
        {"type": "tool/result", "seq": 4, "time": 4, "data": {"message": done}},
        {"type": "compaction/start", "seq": 5, "data": {"compactionId": "k1"}},
        {"type": "compaction/summary", "seq": 6, "data": {**hidden, "summary": said("wrote")}},
        {"type": "compaction/end", "seq": 7, "data": {"compactionId": "k1"}},
    )  # fmt: skip


@pytest.fixture(scope="session")
def sessions() -> dict[str, bytes]:
    """Return one small made session in each format."""
    made = {"claude": _claude, "codex": _codex, "copilot": _copilot, "gemini": _gemini, "pi": _pi}
    made |= {"cursor": _cursor, "generic": _generic, "eventlog": _eventlog}
    return {name: make() for name, make in made.items()}


@pytest.fixture(scope="session")
def rows() -> Callable[..., bytes]:
    """Write rows as JSON lines."""
    return jsonl


@pytest.fixture(scope="session")
def shared() -> list[Path]:
    """Return the real sessions beside the checkout; a test that needs them skips without."""
    found = shared_sessions()
    if not found:
        pytest.skip("there is no ../shared/transcripts")
    return found
