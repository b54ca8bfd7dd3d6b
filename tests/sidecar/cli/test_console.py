from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from ..conftest import TOY, record  # noqa: TID252 - test folders have no absolute names

Commit = Callable[..., str]
WORDS = "naïve 資料庫 🦀 “quotes” \u0081 done"
QUESTION = "naïve 資料庫 🦀"
READING: tuple[tuple[str, ...], ...] = (
    ("recall", QUESTION), ("recall", "decision-1", "--detail", "brief"), ("list", "--status", "all"),
    ("show", "decision-1"), ("why", "資料/庫.py"), ("context", QUESTION), ("check",), ("audit",), ("candidates",),
    ("conflicts", "scan"), ("conflicts", "list"), ("graph", "decision-1"), ("graph", "stats"), ("receipts", "list"),
    ("doctor", "--all"), ("hooks", "status"), ("gc", "--dry-run"), ("review", "HEAD~1..HEAD"), ("seed",),
    ("transcript", "list"), ("show", "沒有"), ("recall", "--path", "資料/庫.py", "x"), ("renumber", "沒有"),
    ("new", "decision", WORDS), ("propose", "記錄.yaml"),
)  # fmt: skip
NO_JSON = {"new"}


@pytest.mark.slow
def test_a_narrow_console_never_ends_in_a_traceback(repository: Path, commit: Commit) -> None:
    """With a console that lacks characters every command prints escapes for them, and its JSON stays JSON."""
    commit({"knowledge/policy.yaml": TOY})
    files = record("decision-1", f"Orders {WORDS}", f"Orders are {WORDS}.", paths=["資料/庫.py"], tags=["標籤"])
    commit(files | record("decision-2", f"Orders {WORDS} too", f"Orders are {WORDS}."), f"Add {WORDS}")
    (repository / "記錄.yaml").write_text(f"kind: fact\ntitle: It is {QUESTION}\nbody: So.\n", encoding="utf-8")
    environment = {**os.environ, "PYTHONIOENCODING": "cp1252", "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    for words in READING:
        for extra in ([], ["--json"]):
            command = [sys.executable, "-P", "-m", "sidecar", *words, *extra, "--repo", str(repository)]
            done = subprocess.run(command, cwd=repository, capture_output=True, env=environment, check=False)
            said = done.stdout.decode("cp1252") + done.stderr.decode("cp1252")
            assert "Traceback" not in said, f"{words}: {said}"
            assert done.returncode in (0, 1, 2), words
            if extra and done.stdout and words[0] not in NO_JSON:
                json.loads(done.stdout)
