from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import urllib.request
from http.cookiejar import CookieJar
from pathlib import Path

import pytest

from sidecar.cli import main
from sidecar.loopback import bind


def test_the_address_that_is_printed_opens_the_pages(shop: Path) -> None:
    """`--json` gives the address with its token; it answers there, and an interrupt ends it without a traceback."""
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(p for p in sys.path if p)}
    command = [
        sys.executable,
        "-P",
        "-m",
        "sidecar",
        "explore",
        "--json",
        "--no-open",
        "--port",
        "0",
        "--repo",
        str(shop),
    ]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment
    ) as server:
        assert server.stdout is not None
        told = json.loads(server.stdout.readline())
        assert told["url"].startswith("http://127.0.0.1:")
        assert told["repo"] == str(shop)
        opener = urllib.request.build_opener(
            urllib.request.HTTPCookieProcessor(CookieJar()), urllib.request.ProxyHandler({})
        )
        with opener.open(told["url"], timeout=30) as answer:
            assert "Orders live in SQLite" in answer.read().decode()
        server.send_signal(signal.SIGINT)
        _, errors = server.communicate(timeout=30)
    assert (server.returncode, errors) == (0, "")


def test_a_port_that_is_taken_is_said(shop: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A port that cannot be had ends in one line that says what to do."""
    with bind("127.0.0.1", 0) as taken:
        port = taken.getsockname()[1]
        assert main(["explore", "--no-open", "--port", str(port), "--repo", str(shop)]) == 2
    assert "choose another --port" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("options", "told"),
    [(["--repo", "nowhere"], "nowhere"), (["--results", "nowhere"], "nowhere"), (["--port", "99999"], "99999")],
)
def test_wrong_options_are_one_line(options: list[str], told: str, capsys: pytest.CaptureFixture[str]) -> None:
    """A folder that is no repository, results that are not there, and an impossible port are told in one line."""
    assert main(["explore", "--no-open", *options]) == 2
    errors = capsys.readouterr().err
    assert told in errors
    assert errors.count("\n") == 1
