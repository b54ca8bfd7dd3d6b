from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from ..conftest import shop_files  # noqa: TID252 - test folders have no absolute names
from .walk import WALK, Words

PAGE = "# 1. Use oak\n\n## Status\n\nAccepted\n\n- Oak bends.\n"
ROOT = Path(__file__).parents[3]
CALLS = {
    name: entry.right
    for name, entry in WALK.items()
    if (entry.right or not entry.wrong or name in {"list", "check"}) and name != "hooks run"
}
pytestmark = pytest.mark.slow
needs_root = pytest.mark.skipif(os.geteuid() != 0 or not shutil.which("setpriv"), reason="becomes another user")
NOBODY = 65534


@pytest.fixture
def place() -> Iterator[Path]:
    """Return a folder that every user can pass through, with a committed repository in it."""
    folder = Path(tempfile.mkdtemp(prefix="sidecar-walk-"))
    folder.chmod(0o755)
    repo = folder / "repo"
    for path, text in {**shop_files(), "docs/adr/0001-oak.md": PAGE, "docs/notes.md": PAGE}.items():
        file = repo / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    (folder / "session.jsonl").write_text('{"type":"user","uuid":"u1","sessionId":"s1","cwd":"/x"}\n')
    for command in (["init", "-q"], ["add", "-A"], ["commit", "-qm", "first"]):
        subprocess.run(["git", *command], cwd=repo, check=True)
    yield folder
    subprocess.run(["umount", str(folder / "full")], check=False, capture_output=True)
    shutil.rmtree(folder)


def call(
    place: Path, name: str, *, home: str = "home", before: Words = (), stdout: int = subprocess.PIPE
) -> subprocess.CompletedProcess[str]:
    """Run a command of the walk in a process of its own."""
    named = {"repo": place / "repo", "out": place / home / "out", "session": place / "session.jsonl"}
    words = [word.format(**named) for word in CALLS[name]]
    where = [] if name in {"schema", "completion"} else ["--repo", str(place / "repo")]
    environment = {
        **os.environ,
        "SIDECAR_HOME": str(place / home),
        "HOME": str(place),
        "PYTHONPATH": str(ROOT),
        "PYTHONDONTWRITEBYTECODE": "1",
    }
    command = [*before, sys.executable, "-m", "sidecar", *name.split(), *words, *where]
    return subprocess.run(
        command, env=environment, stdout=stdout, stderr=subprocess.PIPE, text=True, check=False, cwd=place, timeout=120
    )


def assert_calm(done: subprocess.CompletedProcess[str]) -> None:
    """No traceback, a documented exit code, and with 2 one line (a report of doctor goes to standard output)."""
    assert done.returncode in {0, 1, 2}, done
    assert "Traceback" not in done.stderr, done
    assert "Exception ignored" not in done.stderr, done
    if done.returncode == 2 and not done.stdout:
        (line,) = done.stderr.strip().split("\n")
        assert line.startswith("sidecar: "), done
        assert " - " in line, done


@pytest.mark.parametrize("name", CALLS)
def test_a_reader_that_went_away_is_no_error(place: Path, name: str) -> None:
    """With a standard output that nobody reads any more (`| head`), a command ends quietly."""
    (place / "home").mkdir()
    reader, writer = os.pipe()
    os.close(reader)
    try:
        done = call(place, name, stdout=writer)
    finally:
        os.close(writer)
    assert done.returncode in ({2} if name == "transcript address" else {0, 1}), done  # it has no session
    assert not [line for line in done.stderr.splitlines() if not line.startswith("sidecar: no transcript")], done


@needs_root
@pytest.mark.parametrize("name", CALLS)
def test_no_permission_is_one_helpful_line(place: Path, name: str) -> None:
    """Where the store cannot be made, a record not read, the repository not written or not read: one line each."""
    # Root without its capabilities is refused what any user is refused, and still finds this interpreter.
    user = ("setpriv", "--bounding-set=-all", "--inh-caps=-all")
    (place / "closed").mkdir(mode=0o555)
    assert_calm(call(place, name, before=user, home="closed/x"))
    (place / "repo" / "knowledge" / "fact-1.yaml").chmod(0)
    for folder in ("repo", "repo/knowledge", "repo/.git", "repo/.git/hooks"):
        (place / folder).chmod(0o555)
    assert_calm(call(place, name, before=user))
    (place / "repo").chmod(0)
    done = call(place, name, before=user)
    assert_calm(done)
    told = f"{done.stdout}{done.stderr}".lower()
    assert name in {"schema", "completion"} or any(
        text in told for text in ("cannot be read", "not readable", "permission denied")
    ), done
    (place / "repo").chmod(0o755)
    os.chown(place / "repo", NOBODY, NOBODY)
    assert_calm(call(place, name, before=user))


@needs_root
def test_permission_is_really_missing(place: Path) -> None:
    """Negative control: the user of the test above cannot read the file that nobody may read."""
    file = place / "secret"
    file.touch(mode=0)
    command = ["setpriv", "--bounding-set=-all", "--inh-caps=-all", "cat", str(file)]
    assert "Permission denied" in subprocess.run(command, capture_output=True, text=True, check=False).stderr


@needs_root
@pytest.mark.parametrize("name", CALLS)
def test_a_full_disk_is_one_helpful_line(place: Path, name: str) -> None:
    """Where the disk of the store is full a command answers without it or says so in one line."""
    full = place / "full"
    full.mkdir()
    for size in ("16k", "200k"):  # nothing fits, and a store that is cut short
        mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={size}", "tmpfs", str(full)], check=False)
        if mounted.returncode:
            pytest.skip("no file system can be mounted here")
        assert_calm(call(place, name, home="full"))
        subprocess.run(["umount", str(full)], check=True)
