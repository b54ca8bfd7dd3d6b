"""Repositories as they come: huge, another user's, partial, of formats not read here, with names that lead out."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import unicodedata
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from seed.git import tree
from sidecar.cli import main

from .conftest import TOY, record

Git = Callable[..., str]
Commit = Callable[..., str]
Output = pytest.CaptureFixture[str]
MOST_MEMORY_MB = 250
"""Far above what a question takes here, and below what one that holds the large file would."""


def listed(folder: Path, capsys: Output) -> Any:
    """Return the listing of every record, as the command line gives it."""
    capsys.readouterr()
    assert main(["list", "--status", "all", "--json", "--repo", str(folder)]) == 0
    return json.loads(capsys.readouterr().out)


def ids(answer: Any) -> set[str]:
    return {result["id"] for result in answer["results"]}


def refusal(folder: Path, capsys: Output) -> str:
    """Return the one line with which a question is refused."""
    assert main(["recall", "orders", "--repo", str(folder)]) == 2
    line = capsys.readouterr().err
    assert line.count("\n") == 1
    return line


@pytest.mark.slow
def test_a_hundred_thousand_files_cost_what_the_records_do(
    repository: Path, git: Git, capsys: Output, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of 100,000 files only the folder of the 50 records is read, by seeding, asking and checking alike."""
    files = [(f"src/{n % 300:03}/{n}.txt", b"x") for n in range(99_950)]
    for n in range(49):
        files += [(path, text.encode()) for path, text in record(f"decision-{n}", f"Orders {n}", "Why.").items()]
    files.append(("knowledge/policy.yaml", TOY.encode()))
    stream = [b"commit refs/heads/main\ncommitter T <t@localhost> 0 +0000\ndata 1\nx\n"]
    stream += [b"M 644 inline %s\ndata %d\n%s\n" % (path.encode(), len(data), data) for path, data in files]
    subprocess.run(["git", "fast-import", "--quiet"], cwd=repository, input=b"".join(stream), check=True)
    git("reset", "-q", "--hard")
    seen: set[str] = set()
    real = tree.read_tree
    monkeypatch.setattr(tree, "read_tree", lambda repo, oid: (seen.add(oid), real(repo, oid))[1])
    assert listed(repository, capsys)["total"] == 49
    assert seen == {git("rev-parse", "HEAD^{tree}"), git("rev-parse", "HEAD:knowledge")}
    assert main(["check", "--repo", str(repository)]) == 0
    assert "50 files checked" in capsys.readouterr().out


@pytest.mark.slow
@pytest.mark.parametrize("path", ["docs/film.bin", "knowledge/film.yaml"])
def test_a_file_of_200_megabytes_is_never_held(
    repository: Path, git: Git, commit: Commit, capsys: Output, path: str
) -> None:
    """A huge file beside the records is not read; one that claims to be a record is refused by its size."""
    git("config", "core.compression", "0")
    (repository / path).parent.mkdir(exist_ok=True)
    with (repository / path).open("wb") as stream:
        for _ in range(200):
            stream.write(b"film" * (1 << 18))
    commit({"knowledge/policy.yaml": TOY, **record("decision-1", "Orders live here", "Why.")})
    for words in (["recall", "orders"], ["check"], ["check", "--staged"]):
        command = [sys.executable, "-m", "sidecar", *words, "--repo", str(repository)]
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        _, _, usage = os.wait4(process.pid, 0)
        process.returncode = 0
        assert usage.ru_maxrss / 1024 < MOST_MEMORY_MB
    answer = listed(repository, capsys)
    assert ids(answer) == {"decision-1"}
    assert answer["coverage"]["unreadable"] == path.startswith("knowledge")
    code = main(["check", "--repo", str(repository)])
    assert (code, "over the limit of 1 MiB" in capsys.readouterr().out) == (int(path.startswith("knowledge")),) * 2


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="only root can give files away")
def test_another_users_repository_is_refused_until_git_is_told(
    repository: Path, commit: Commit, capsys: Output, tmp_path: Path
) -> None:
    """Git's own rule holds here too: the line names the command, and after it the repository answers."""
    commit({"knowledge/policy.yaml": TOY, **record("decision-1", "Orders live here", "Why.")})
    for path in (repository, *repository.rglob("*")):
        os.chown(path, 12345, 12345)
    line = refusal(repository, capsys)
    assert "belongs to another user" in line
    (tmp_path / "user").mkdir()
    home = {**os.environ, "HOME": str(tmp_path / "user")}
    del home["GIT_CONFIG_GLOBAL"]
    subprocess.run(line.strip().rpartition(" - ")[2].split(" "), check=True, env=home)
    command = [sys.executable, "-m", "sidecar", "list", "--json", "--repo", str(repository)]
    assert ids(json.loads(subprocess.run(command, check=True, env=home, capture_output=True).stdout)) == {"decision-1"}


def test_a_partial_clone_answers_with_what_it_has(
    repository: Path, git: Git, commit: Commit, capsys: Output, tmp_path: Path
) -> None:
    """A blob that was never fetched makes its record unreadable; nothing fetches it but the command that is told."""
    git("config", "uploadpack.allowFilter", "true")
    commit(
        {
            "knowledge/policy.yaml": TOY,
            **record("decision-1", "Orders live here", "Why."),
            **record("decision-2", "Bills live there", "Because. " * 200),
        }
    )
    clone = tmp_path / "clone"
    filtered = ["git", "clone", "-q", "--no-checkout", "--filter=blob:limit=500", repository.as_uri(), str(clone)]
    subprocess.run(filtered, check=True)
    missing = git("rev-list", "--objects", "--all", "--missing=print", cwd=clone).rpartition("?")[2]
    answer = listed(clone, capsys)
    assert (ids(answer), answer["coverage"]["unreadable"]) == ({"decision-1"}, 1)
    git("reset", "-q", cwd=clone)
    (clone / "knowledge").mkdir()
    (clone / "knowledge/new.yaml").write_text(record("decision-1", "Twin", "Why.")["knowledge/decision-1.yaml"])
    git("add", "knowledge/new.yaml", cwd=clone)
    assert main(["check", "--staged", "--repo", str(clone)]) == 1
    told = capsys.readouterr().out
    assert "also the id in knowledge/decision-1.yaml" in told
    command = next(line for line in told.split("\n") if "missing in this clone" in line).rpartition(" - ")[2]
    assert git("rev-list", "--objects", "--all", "--missing=print", cwd=clone).endswith(f"?{missing}")
    subprocess.run(command.split(" "), cwd=clone, check=True, capture_output=True)
    assert ids(listed(clone, capsys)) == {"decision-1", "decision-2"}


@pytest.mark.parametrize(
    ("extension", "word"), [("objectFormat=sha256", "SHA-256"), ("refStorage=reftable", "reftable")]
)
def test_formats_that_libgit2_cannot_read_are_named(
    repository: Path, git: Git, capsys: Output, extension: str, word: str
) -> None:
    """A repository in a format that is not read here is refused in one line that names the format and a way out."""
    git("config", "core.repositoryFormatVersion", "1")
    git("config", f"extensions.{extension.partition('=')[0]}", extension.partition("=")[2])
    assert word in refusal(repository, capsys)


def test_a_real_sha256_repository_is_named(tmp_path: Path, capsys: Output) -> None:
    """So is one that git made."""
    made = subprocess.run(["git", "init", "-q", "--object-format=sha256", str(tmp_path / "long")], check=False)
    if made.returncode:
        pytest.skip("this git makes none")
    assert "SHA-256" in refusal(tmp_path / "long", capsys)


@pytest.mark.parametrize(("one", "other"), [("caf\u00e9", "cafe\u0301"), ("orders", "Orders")])
def test_twin_names_both_answer_and_are_named(
    repository: Path, git: Git, commit: Commit, capsys: Output, one: str, other: str
) -> None:
    """Two files that some checkouts take for one both answer, under their own ids, and check names both."""
    assert unicodedata.normalize("NFC", one).casefold() == unicodedata.normalize("NFC", other).casefold()
    commit({"knowledge/policy.yaml": TOY})
    for name, ident in ((one, "decision-1"), (other, "decision-2")):
        text = record(ident, "Orders", "Why.")[f"knowledge/{ident}.yaml"]
        (repository / "blob").write_text(text)
        blob = git("hash-object", "-w", "blob")
        git("update-index", "--add", "--cacheinfo", f"100644,{blob},knowledge/{name}.yaml")
    assert main(["check", "--staged", "--repo", str(repository)]) == 1
    assert capsys.readouterr().out.count("only in case or Unicode form") == 2
    git("commit", "-q", "-m", "twins")
    assert ids(listed(repository, capsys)) == {"decision-1", "decision-2"}


def test_nothing_in_a_tree_leads_out(
    repository: Path, git: Git, commit: Commit, capsys: Output, tmp_path: Path
) -> None:
    """Links are not followed, and a name such as '..', which Git checks out nowhere, is no file."""
    text = record("decision-9", "From outside", "Why.")["knowledge/decision-9.yaml"]
    (tmp_path / "outside.yaml").write_text(text)
    (repository / "knowledge").mkdir()
    (repository / "knowledge/link.yaml").symlink_to(tmp_path / "outside.yaml")
    (repository / "knowledge/up").symlink_to(tmp_path)
    commit({"knowledge/policy.yaml": TOY, **record("decision-1", "Orders live here", "Why.")})
    blob = bytes.fromhex(git("hash-object", "-w", str(tmp_path / "outside.yaml")))
    inner = forged(repository, (b"100644 a.yaml", blob))
    kept = [line.split("\t") for line in git("ls-tree", "HEAD:knowledge").split("\n")]
    entries = [(f"{facts.split(' ')[0]} {name}".encode(), bytes.fromhex(facts.split(" ")[2])) for facts, name in kept]
    odd = [(b"40000 ..", inner), (b"40000 .git", inner), (b"100644 ../../evil.yaml", blob), (b"40000 .", inner)]
    root = forged(repository, (b"40000 knowledge", forged(repository, *odd, *entries)))
    git("update-ref", "refs/heads/main", git("commit-tree", root.hex(), "-m", "forged"))
    assert ids(listed(repository, capsys)) == {"decision-1"}
    assert main(["show", "knowledge/../../evil.yaml", "--repo", str(repository)]) == 2


def forged(folder: Path, *entries: tuple[bytes, bytes]) -> bytes:
    """Write a tree object as it is given, and return its id."""
    command = ["git", "hash-object", "-t", "tree", "-w", "--literally", "--stdin"]
    data = b"".join(head + b"\0" + oid for head, oid in entries)
    made = subprocess.run(command, cwd=folder, input=data, capture_output=True, check=True)
    return bytes.fromhex(made.stdout.decode())
