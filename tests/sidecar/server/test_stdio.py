from __future__ import annotations

import json
import os
import select
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from mcp import Client

from sidecar.server.tools import PROFILES

from .conftest import MODES, SERVE, ask, environment, stdio

INITIALIZE = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {
        "protocolVersion": "2025-11-25",
        "capabilities": {},
        "clientInfo": {"name": "test", "version": "1"},
    },
}
INITIALIZED = {"jsonrpc": "2.0", "method": "notifications/initialized"}


def recall(ident: int) -> dict[str, Any]:
    """Return a call of recall as JSON-RPC."""
    params = {"name": "recall", "arguments": {"question": "where do orders live"}}
    return {"jsonrpc": "2.0", "id": ident, "method": "tools/call", "params": params}


def start(repo: Path, *options: str) -> subprocess.Popen[bytes]:
    """Start a server process on pipes."""
    return subprocess.Popen(
        [*SERVE, "--repo", str(repo), *options],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=environment(),
    )


def lines(*messages: dict[str, Any]) -> bytes:
    """Return messages as lines of JSON."""
    return b"".join(json.dumps(message).encode() + b"\n" for message in messages)


@pytest.mark.parametrize("mode", MODES)
def test_real_client_gets_answers_over_stdio(shop: Path, mode: str) -> None:
    """The SDK's client is answered by a server process in both protocol eras, with all it serves."""

    async def work(client: Client) -> None:
        called = await client.call_tool("recall", {"question": "where do orders live"})
        assert called.structured_content is not None
        assert called.structured_content["results"][0]["id"] == "decision-1"
        assert len((await client.list_tools()).tools) == len(PROFILES["default"])
        shown = (await client.read_resource("record://decision-1")).contents[0].model_dump()
        assert shown["text"].startswith("# decision-1: Orders live in SQLite")
        prompt = await client.get_prompt("check_plan", {"plan": "Move orders to Redis"})
        assert "| Move orders to Redis" in prompt.messages[0].content.model_dump()["text"]
        if mode != "2026-07-28":  # a pinned version skips the exchange that brings them
            assert "find_precedents" in (client.instructions or "")

    ask(stdio(shop), work, mode)


def test_every_byte_on_stdout_is_protocol(shop: Path) -> None:
    """Booting with an empty store and an unreadable record, seeding and answering print nothing but JSON-RPC lines."""
    process = start(shop)
    assert process.stdin is not None
    assert process.stdout is not None
    process.stdin.write(lines(INITIALIZE, INITIALIZED, recall(2)))
    process.stdin.flush()
    replies = [json.loads(process.stdout.readline()), json.loads(process.stdout.readline())]
    process.stdin.close()
    replies += [json.loads(line) for line in process.stdout.read().split(b"\n") if line]
    assert process.wait(10) == 0
    assert {reply["id"] for reply in replies} == {1, 2}
    assert all(reply["jsonrpc"] == "2.0" for reply in replies)
    (answer,) = (reply["result"] for reply in replies if reply["id"] == 2)
    assert answer["structuredContent"]["results"][0]["id"] == "decision-1"


def test_stray_output_misses_the_wire(shop: Path, tmp_path: Path) -> None:
    """What a library prints while a tool runs lands on stderr, never between two messages."""
    noisy = tmp_path / "noisy"
    noisy.mkdir()
    (noisy / "sitecustomize.py").write_text(
        "import sidecar.render as r\nkept = r.render\n"
        "def loud(*a, **k):\n    import os\n    print('noise', flush=True)\n    os.system('echo child noise')\n"
        "    return kept(*a, **k)\nr.render = loud\n"
    )
    env = environment()
    env["PYTHONPATH"] = f"{noisy}{os.pathsep}{env['PYTHONPATH']}"
    process = subprocess.Popen([*SERVE, "--repo", str(shop)], stdin=-1, stdout=-1, stderr=-1, env=env)  # -1: a pipe
    assert process.stdin is not None
    assert process.stdout is not None
    process.stdin.write(lines(INITIALIZE, INITIALIZED, recall(2)))
    process.stdin.flush()
    assert [json.loads(process.stdout.readline())["id"] for _ in range(2)] == [1, 2]
    out, err = process.communicate(timeout=10)
    assert out == b""
    assert b"child noise" in err


def test_every_line_is_answered_and_the_server_lives_on(shop: Path) -> None:
    """Over the wire, too, what cannot be read gets an error at once, and the next call is answered."""
    process = start(shop)
    assert process.stdin is not None
    assert process.stdout is not None
    bad = recall(2)
    bad["params"]["arguments"]["question"] = "half \ud800"
    sent = [*lines(INITIALIZE, INITIALIZED, bad).splitlines(keepends=True), b"hello\n", b"\xff\xfe\n", b"\n", b"[]\n"]
    process.stdin.write(
        b"".join([*sent, b'{"jsonrpc":"2.0","id":7,"method":"ping","params":{"a":"' + b"y" * (5 << 20)])
    )
    process.stdin.write(b'"}}\n' + lines(recall(8)))
    process.stdin.flush()
    replies = [json.loads(process.stdout.readline()) for _ in range(7)]
    process.communicate(timeout=10)
    codes = [(reply["id"], reply.get("error", {}).get("code")) for reply in replies]
    assert codes == [(1, None), (2, -32602), (None, -32700), (None, -32700), (None, -32600), (7, -32600), (8, None)]
    assert process.returncode == 0


@pytest.mark.skipif(sys.platform != "linux", reason="needs a file system that takes any bytes as a name")
def test_a_folder_whose_name_is_no_utf8_is_served(shop: Path) -> None:
    """Bytes of a name that no text can hold come back escaped, in answers and in errors; the server lives on."""
    folder = shop.rename(os.fsdecode(os.fsencode(shop.parent) + b"/caf\xe9"))
    process = start(folder)
    outside = recall(3)
    outside["params"]["arguments"]["repo"] = "/"
    out, _ = process.communicate(lines(INITIALIZE, INITIALIZED, recall(2), outside), timeout=30)
    replies = {reply["id"]: reply["result"] for reply in map(json.loads, out.splitlines())}
    assert replies[2]["structuredContent"]["results"][0]["id"] == "decision-1"
    assert "caf\\udce9, where this server started" in replies[3]["content"][0]["text"]


def test_server_ends_when_stdin_closes(shop: Path) -> None:
    """A client that goes away by closing the pipe leaves no process behind; what it had asked is still answered."""
    process = start(shop)
    out, _ = process.communicate(lines(INITIALIZE, INITIALIZED, recall(2)), timeout=20)
    assert process.returncode == 0
    replies = [json.loads(line) for line in out.splitlines()]
    assert [reply["id"] for reply in replies] == [1, 2]
    assert replies[1]["result"]["structuredContent"]["results"][0]["id"] == "decision-1"


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs POSIX processes")
def test_server_ends_when_its_parent_is_killed(shop: Path, tmp_path: Path) -> None:
    """A client killed with -9 takes the server along, although another process still holds the server's pipe."""
    pid_file = tmp_path / "pid"
    client = (
        "import subprocess, sys, time\n"
        "p = subprocess.Popen(sys.argv[2:], stdin=0, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)\n"
        "open(sys.argv[1], 'w').write(str(p.pid))\ntime.sleep(60)\n"
    )
    held_read, held_write = os.pipe()  # this test holds the writing end, so the server never sees the end of input
    parent = subprocess.Popen(
        [sys.executable, "-c", client, str(pid_file), *SERVE, "--repo", str(shop)], stdin=held_read, env=environment()
    )
    os.close(held_read)
    os.write(held_write, lines(INITIALIZE))
    server = _wait_for(lambda: int(pid_file.read_text() or 0) if pid_file.exists() else 0)
    time.sleep(2.5)  # the server is up and has looked at its parent more than once
    assert _alive(server)
    parent.send_signal(signal.SIGKILL)
    parent.wait(5)
    assert _wait_for(lambda: not _alive(server))
    os.close(held_write)


def _alive(pid: int) -> bool:
    try:
        state = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rsplit(")", 1)[1].split()[0]
    except FileNotFoundError:
        return False
    return state != "Z"


def _wait_for(condition: Any, seconds: float = 10) -> Any:
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if found := condition():
            return found
        time.sleep(0.05)
    return condition()


def test_initialize_needs_no_repository_and_touches_nothing(tmp_path: Path, private_home: Path) -> None:
    """The reply to initialize comes before store, repository or model are looked at: none of them need exist."""
    (tmp_path / "nowhere").mkdir()
    process = start(tmp_path / "nowhere")
    out, _ = process.communicate(lines(INITIALIZE), timeout=20)
    assert json.loads(out)["result"]["serverInfo"]["name"] == "sidecar"
    assert not private_home.exists()


def test_initialize_loads_nothing_heavy() -> None:
    """Building the server imports neither NumPy nor pygit2 nor a model runtime."""
    code = (
        "import sys; from pathlib import Path;"
        "from sidecar.server.app import build; from sidecar.server.desk import Desk;"
        "from sidecar.server.tools import chosen; build(Desk(Path('.')), chosen(('default',)));"
        "print([m for m in ('numpy', 'pygit2', 'onnxruntime', 'fastembed', 'sqlite3') if m in sys.modules])"
    )
    done = subprocess.run(
        [sys.executable, "-P", "-c", code], capture_output=True, text=True, check=True, env=environment()
    )
    assert done.stdout.strip() == "[]"


def test_a_call_is_cancelled_over_the_wire(shop: Path) -> None:
    """After a cancelled call the server goes on to answer, and the cancelled call itself is never answered."""
    process = start(shop)
    assert process.stdin is not None
    assert process.stdout is not None
    cancel = {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 2, "reason": "enough"}}
    process.stdin.write(lines(INITIALIZE, INITIALIZED, recall(2), cancel, recall(3)))
    process.stdin.flush()
    seen = [json.loads(process.stdout.readline())["id"] for _ in range(2)]
    assert seen == [1, 3]
    ready, _, _ = select.select([process.stdout], [], [], 0.5)
    assert not ready
    process.communicate(timeout=10)
