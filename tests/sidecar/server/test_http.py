from __future__ import annotations

import subprocess
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any
from uuid import uuid4

import httpx2 as httpx
import pytest
from mcp import Client
from mcp.client.streamable_http import streamable_http_client

from seed.store.address import URL, WORKSPACE
from sidecar.loopback import host_names, is_loopback
from sidecar.provider import Provider
from sidecar.replay import verify
from sidecar.server import limit

from ..conftest import TOY, Commit  # noqa: TID252 - as the other tests of this folder's parents do
from .conftest import MODES, SERVE, ask, environment

DISCOVER = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}},
}
ACCEPT = {"Accept": "application/json, text/event-stream", "Content-Type": "application/json"}


@contextmanager
def serving(repo: Path, *options: str) -> Iterator[tuple[str, str]]:
    """Serve over HTTP on a free port; gives (url, token or "")."""
    process = subprocess.Popen(
        [*SERVE, "--http", "--port", "0", "--repo", str(repo), *options],
        stderr=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        text=True,
        env=environment(),
    )
    try:
        assert process.stderr is not None
        token, line = "", process.stderr.readline()
        if line.startswith("token: "):
            token, line = line.removeprefix("token: ").strip(), process.stderr.readline()
        assert line.startswith("serving http://"), line
        yield line.removeprefix("serving ").strip().replace("0.0.0.0", "127.0.0.1"), token  # noqa: S104 - what was bound
    finally:
        process.terminate()
        process.wait(10)


@pytest.fixture
def url(shop: Path) -> Iterator[str]:
    """Return the URL of a server on loopback."""
    with serving(shop) as (found, token):
        assert token == ""
        yield found


def post(url: str, **headers: str) -> httpx.Response:
    """Send the first message of a session."""
    return httpx.post(url, json=DISCOVER, headers={**ACCEPT, **headers})


@pytest.mark.parametrize("mode", MODES)
def test_real_client_gets_answers_over_http(url: str, mode: str) -> None:
    """The SDK's client is answered over HTTP in both protocol eras."""

    async def work(client: Client) -> Any:
        called = await client.call_tool("recall", {"question": "where do orders live"})
        assert not (await client.call_tool("get_record", {"id": "decision-1"})).is_error
        assert (await client.read_resource("sidecar://status")).contents
        return called.structured_content

    assert ask(url, work, mode)["results"][0]["id"] == "decision-1"


def test_web_pages_cannot_reach_the_server(url: str) -> None:
    """Another Host is 421 and another Origin 403, so neither a rebound name nor a page of another site gets through."""
    assert post(url).status_code == 200
    assert post(url, Host="evil.example").status_code == 421
    assert post(url, Origin="http://evil.example").status_code == 403
    assert post(url, Origin="http://localhost:3000").status_code == 200


def test_large_requests_are_refused(url: str) -> None:
    """A request over 1 MiB is 413 before anything reads it."""
    assert httpx.post(url, content=b"x" * (1 << 20) + b"x", headers=ACCEPT).status_code == 413


def test_too_many_requests_are_told_when_to_come_back(shop: Path) -> None:
    """Past the limit of a minute an address gets 429 and the seconds to wait, whatever token it tries."""
    with serving(shop, "--rate-limit", "3", "--token", "sesame") as (url, _):
        assert [post(url, Authorization=f"Bearer {n}").status_code for n in range(2)] == [401, 401]
        assert post(url, Authorization="Bearer sesame").status_code == 200
        refused = post(url, Authorization="Bearer sesame")
        assert refused.status_code == 429
        assert 15 <= int(refused.headers["Retry-After"]) <= 20
        assert "--rate-limit" in refused.text
    with serving(shop, "--rate-limit", "0") as (url, _):
        assert {post(url).status_code for _ in range(20)} == {200}


def test_a_bucket_refills_steadily_and_each_address_has_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    """A minute's requests may come at once; then one comes as often as the rate says, and others are not held up."""
    now = [0.0]
    buckets = limit.Buckets(6, lambda: now[0])
    assert [buckets.wait("a") for _ in range(7)] == [0] * 6 + [10]
    assert buckets.wait("b") == 0
    now[0] = 9.5
    assert buckets.wait("a") == 1
    now[0] = 10.0
    assert [buckets.wait("a"), buckets.wait("a")] == [0, 10]
    now[0] = 1000.0
    assert [buckets.wait("a") for _ in range(7)] == [0] * 6 + [10]
    monkeypatch.setattr(limit, "MAX_ADDRESSES", 2)
    for name in "bcd":
        buckets.wait(name)
    assert set(buckets._left) == {"c", "d"}


def test_another_address_needs_the_token(shop: Path) -> None:
    """Bound beyond loopback, a token is made and printed, and without it nothing is served."""
    with serving(shop, "--host", "0.0.0.0") as (url, token):  # noqa: S104 - the case under test
        assert len(token) >= 32
        refused = post(url)
        assert refused.status_code == 401
        assert refused.headers["WWW-Authenticate"] == "Bearer"
        assert "Authorization: Bearer" in refused.text
        assert post(url, Authorization=f"Bearer {token}x").status_code == 401
        assert post(url, Authorization=f"Bearer {token}").status_code == 200
        assert post(url, Authorization=f"Bearer {token}", Host="evil.example").status_code == 421

        async def work(client: Client) -> Any:
            return await client.call_tool("recall", {"question": "where do orders live"})

        http = httpx.AsyncClient(headers={"Authorization": f"Bearer {token}"})
        found = ask(streamable_http_client(url, http_client=http), work)
        assert found.structured_content["results"][0]["id"] == "decision-1"


def test_a_given_token_counts_on_loopback_too(shop: Path) -> None:
    """`--token` protects a server on loopback from other users of the machine."""
    with serving(shop, "--token", "sesame") as (url, _):
        assert post(url).status_code == 401
        assert post(url, Authorization="Bearer sesame").status_code == 200


def test_a_taken_port_is_one_clear_line(shop: Path, url: str) -> None:
    """A port that is in use ends in one line that says so, not in a traceback."""
    port = url.rsplit(":", 1)[1].split("/", maxsplit=1)[0]
    done = subprocess.run(
        [*SERVE, "--http", "--port", port, "--repo", str(shop)],
        capture_output=True,
        text=True,
        env=environment(),
        timeout=30,
        check=False,
    )
    assert done.returncode == 2
    assert done.stderr.count("\n") == 1
    assert "choose another --port" in done.stderr


@pytest.mark.parametrize(
    ("host", "expected"),
    [
        ("127.0.0.1", True),
        ("localhost", True),
        ("::1", True),
        ("127.9.9.9", True),
        ("0.0.0.0", False),  # noqa: S104 - nothing is bound here
        ("::", False),
        ("10.0.0.1", False),
        ("localhost.evil.example", False),
        ("", False),
    ],
)
def test_only_loopback_is_loopback(host: str, expected: bool) -> None:
    """Whether a token may be left out is decided by the address, never by how a name begins."""
    assert is_loopback(host) is expected


def test_names_of_a_loopback_server_are_loopback_only() -> None:
    """A server on loopback answers to loopback names and to those that were allowed, and to no other."""
    assert host_names("127.0.0.1") == ("127.0.0.1", "localhost", "[::1]")
    assert host_names("127.0.0.1", ["box.example"])[-1] == "box.example"
    assert "[fe80::1]" in host_names("fe80::1")


@pytest.mark.slow
def test_servers_on_one_database_are_one(
    shop: Path, commit: Commit, postgres_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two servers with clones of their own answer alike, keep one chain of receipts, and either replays the other's."""
    monkeypatch.setenv(URL, postgres_url)
    monkeypatch.setenv(WORKSPACE, f"w-{uuid4().hex[:12]}")
    commit({"knowledge/policy.yaml": TOY + "engine: postgresql\n"})
    clones = [tmp_path / "one" / "shop", tmp_path / "two" / "shop"]
    for clone in clones:
        subprocess.run(["git", "clone", "-q", str(shop), str(clone)], check=True)
        url = "https://example.org/team/shop.git"
        subprocess.run(["git", "remote", "set-url", "origin", url], cwd=clone, check=True)

    async def work(client: Client) -> Any:
        found = await client.call_tool("recall", {"question": "where do orders live", "detail": "full"})
        return found.structured_content

    answers = []
    for number, clone in enumerate(clones):
        monkeypatch.setenv("SIDECAR_HOME", str(tmp_path / f"machine{number}"))
        with serving(clone) as (found, _):
            answers += [ask(found, work), ask(found, work)]
        with closing(Provider(clone)) as provider:
            chain = provider.receipts.chain()
            assert all(verify(provider, receipt).same for receipt in chain)
    kept = [answer.pop("receipt") for answer in answers]
    assert all(receipt["stored"] for receipt in kept)
    assert [receipt["id"] for receipt in chain] == [receipt["id"] for receipt in kept]
    assert [receipt["previous"] for receipt in chain] == ["", *(receipt["id"] for receipt in chain[:-1])]
    assert answers[0] == answers[1] == answers[2] == answers[3]
