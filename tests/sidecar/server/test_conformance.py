from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest

from .conftest import environment
from .test_http import serving

SUITE = ["npx", "--yes", "-p", "node@22", "-p", "@modelcontextprotocol/conformance@0.1.16", "conformance"]
APPLICABLE = {
    "server-initialize": 1,
    "ping": 1,
    "tools-list": 1,
    "resources-list": 1,
    "prompts-list": 1,
    "server-sse-multiple-streams": 2,
    "dns-rebinding-protection": 2,
}
"""The scenarios that need nothing but a server, with their checks. The others call tools, resources and prompts that a
server made for the suite has, or ask for logging, completion, sampling, elicitation or subscriptions."""
NEEDS_MORE = re.compile(
    r"(logging-|completion-|tools-call-|json-schema-|elicitation-|resources-|prompts-get-|server-sse-p)"
)
pytestmark = [pytest.mark.slow, pytest.mark.skipif(shutil.which("npx") is None, reason="needs npx")]


def conformance(*arguments: str) -> subprocess.CompletedProcess[str]:
    """Run the official suite."""
    done = subprocess.run(
        [*SUITE, *arguments], capture_output=True, text=True, env=environment(), timeout=300, check=False
    )
    if any(word in done.stderr for word in ("ENOTFOUND", "EAI_AGAIN", "ECONNREFUSED", "E404")):
        pytest.skip("the npm registry cannot be reached")
    return done


def test_the_official_suite_passes_where_it_applies(shop: Path) -> None:
    """Every scenario that applies passes over HTTP with all its checks, and no other is left out unnoticed."""
    with serving(shop) as (url, _):
        done = conformance("server", "--url", url, "--suite", "all")
    told = re.findall(r"^. ([\w-]+): (\d+) passed, (\d+) failed$", done.stdout, re.MULTILINE)
    found = {name: (int(passed), int(failed)) for name, passed, failed in told}
    assert {name: found.get(name) for name in APPLICABLE} == {n: (checks, 0) for n, checks in APPLICABLE.items()}
    assert all(name in APPLICABLE or NEEDS_MORE.match(name) for name in found)
