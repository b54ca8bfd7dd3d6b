from __future__ import annotations

import json
import subprocess
import zipfile
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from seed.errors import SidecarError
from seed.git.repository import open_repository
from seed.store.paths import kept_folder
from seed.store.receipts import broken_link, receipts_file
from seed.transcript.capture import Options
from sidecar import history
from sidecar.backup import backup, restore
from sidecar.cli import main
from sidecar.provider import Provider
from sidecar.query import Query
from sidecar.receipt import identify

POLICY = "format: 1\nembedder: {model: toy, languages: 'off'}\n"
Git = Callable[..., str]


@pytest.fixture
def project(repository: Path, commit: Callable[..., str], record_text: Callable[..., str], git: Git) -> Path:
    """Return a repository with a remote, two receipts, one candidate that was not pushed, and one transcript."""
    commit({"knowledge/policy.yaml": POLICY, "knowledge/decision-1.yaml": record_text("decision-1")})
    git("init", "-q", "--bare", str(repository.parent / "remote.git"))
    git("remote", "add", "origin", str(repository.parent / "remote.git"))
    git("push", "-q", "origin", "main")
    with closing(Provider(repository)) as opened:
        opened.recall(Query("body of decision-1"))
        opened.recall(Query("something else"))
        opened.propose(record_text("decision-9", status=None), agent="test")
    _capture(repository, "one", "two")
    return repository


def _capture(folder: Path, *turns: str) -> None:
    path = folder.parent / "session.jsonl"
    path.write_text("".join(json.dumps({"role": "user", "content": turn}) + "\n" for turn in turns))
    history.capture(history.open_history(folder), path, "2026-01-01T00:00:00Z", Options())


@pytest.fixture
def other(project: Path, git: Git) -> Path:
    """Return another clone of the same remote, as on another machine: it has another place under kept/."""
    folder = project.parent / "other"
    git("clone", "-q", str(project.parent / "remote.git"), str(folder), cwd=project.parent)
    return folder


def _chain(folder: Path) -> tuple[int, str]:
    repo = open_repository(folder)
    return broken_link(receipts_file(kept_folder(repo.name, repo.common)), identify)


def _branches(folder: Path) -> str:
    command = ["git", "for-each-ref", "--format=%(refname) %(objectname)", "refs/heads/knowledge"]
    return subprocess.run(command, cwd=folder, check=True, capture_output=True, text=True).stdout


def test_all_of_it_comes_over_and_a_second_time_nothing(project: Path, other: Path, tmp_path: Path) -> None:
    """A restore brings receipts with their chain, transcripts to the byte and branches; again, it changes nothing."""
    held = backup(project, tmp_path / "b.zip")
    assert (held["receipts"], held["transcripts"], held["candidates"]) == (2, 1, 1)
    assert restore(other, tmp_path / "b.zip")["new"] == {"receipts": 2, "transcripts": 1, "candidates": 1}
    assert _chain(other) == (2, "")
    assert _branches(other) == _branches(project) != ""
    opened = history.open_history(other)
    assert [one["ok"] for one in history.verified(opened, ())] == [True]
    assert restore(other, tmp_path / "b.zip")["new"] == {"receipts": 0, "transcripts": 0, "candidates": 0}


def test_what_the_other_machine_has_stays(project: Path, other: Path, tmp_path: Path) -> None:
    """A restore beside receipts of one's own keeps both chains, and the next receipt continues them."""
    with closing(Provider(other)) as opened:
        opened.recall(Query("my own question"))
    restore(other, backup(project, tmp_path / "b.zip")["file"])
    assert _chain(other) == (3, "")
    with closing(Provider(other)) as opened:
        opened.recall(Query("and another"))
    assert _chain(other) == (4, "")


def test_the_longer_state_of_a_session_stays(project: Path, other: Path, tmp_path: Path) -> None:
    """An older backup does not shorten a session that grew here, a newer one lengthens it."""
    backup(project, tmp_path / "old.zip")
    _capture(project, "one", "two", "three")
    backup(project, tmp_path / "new.zip")
    restore(other, tmp_path / "new.zip")
    assert restore(other, tmp_path / "old.zip")["new"]["transcripts"] == 0
    assert [one.turns for one in history.open_history(other).archive.manifests()] == [3]
    assert [one["ok"] for one in history.verified(history.open_history(other), ())] == [True]


def test_a_branch_that_went_another_way_is_left(project: Path, other: Path, tmp_path: Path, git: Git) -> None:
    """A candidate branch with other commits here is named and stays as it is, and the command exits with 1."""
    backup(project, tmp_path / "b.zip")
    name = _branches(project).split(" ")[0].removeprefix("refs/heads/")
    git("branch", name, cwd=other)
    git("checkout", "-q", name, cwd=other)
    git("commit", "-q", "--allow-empty", "-m", "mine", cwd=other)
    before = _branches(other)
    assert main(["restore", str(tmp_path / "b.zip"), "--repo", str(other)]) == 1
    assert _branches(other) == before


@pytest.mark.parametrize("fault", ["cut off", "changed receipt", "newer", "no backup", "foreign path"])
def test_a_faulty_backup_is_refused(project: Path, other: Path, tmp_path: Path, fault: str) -> None:
    """A backup that is cut off, changed, newer, none, or leads out of the folder is refused; no receipt is written."""
    file = tmp_path / "b.zip"
    backup(project, file)
    if fault == "cut off":
        file.write_bytes(file.read_bytes()[:-200])
    elif fault == "no backup":
        file.write_text("hello")
    else:
        _rewritten(file, fault)
    with pytest.raises(SidecarError):
        restore(other, file)
    assert not receipts_file(kept_folder(open_repository(other).name, open_repository(other).common)).exists()
    assert not list(tmp_path.rglob("escaped*"))


def _rewritten(file: Path, fault: str) -> None:
    with zipfile.ZipFile(file) as archive:
        parts = {name: archive.read(name) for name in archive.namelist()}
    with zipfile.ZipFile(file, "w") as archive:
        for name, data in parts.items():
            changed = data
            if fault == "changed receipt" and name == "receipts.jsonl":
                changed = data.replace(b"something else", b"something more")
            elif fault == "newer" and name == "backup.json":
                changed = data.replace(b'"format": 1', b'"format": 2')
            elif fault == "foreign path" and name.startswith("transcripts/"):
                session = json.loads(data)
                session["id"] = "../../escaped"
                changed = json.dumps(session).encode()
            archive.writestr(name, changed)


def test_a_backup_is_private_and_whole_or_not_there(
    project: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The file is 0600; a backup that fails leaves the one before it as it was, and nothing beside it."""
    file = tmp_path / "out" / "b.zip"
    file.parent.mkdir()
    backup(project, file)
    assert file.stat().st_mode & 0o777 == 0o600
    before = file.read_bytes()

    def full(*_: object) -> int:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("sidecar.backup.write_bundle", full)
    with pytest.raises(OSError, match="No space"):
        backup(project, file)
    assert file.read_bytes() == before
    assert [path.name for path in file.parent.iterdir()] == ["b.zip"]
