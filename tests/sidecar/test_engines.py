"""One answer from both engines, and what is said where the one that policy asks for is not there."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable
from contextlib import closing
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest

from seed.embed.base import ToyEmbedder
from seed.git.repository import open_repository
from seed.git.shared import SETTING, from_url, shared_name
from seed.store.address import REPLICAS, URL, WORKSPACE, address
from sidecar.backup import backup, restore
from sidecar.collect import collect as gc
from sidecar.contradictions import scan
from sidecar.doctor.diagnose import diagnose
from sidecar.provider import Provider
from sidecar.query import Query
from sidecar.replay import verify

Commit = Callable[..., str]
NOW = datetime(2026, 11, 29, tzinfo=UTC)
SERVER = "engine: postgresql\n"
TOY = "format: 1\nembedder: {model: toy, languages: 'off'}\n"
CORPUS = {
    "decision-1": {
        "title": "Orders live in SQLite",
        "body": "Orders are kept in SQLite files.",
        "supersedes": ["decision-0"],
    },
    "decision-0": {"title": "Orders live in Redis", "body": "Orders are kept in Redis, see shop/store.py."},
    "decision-2": {"title": "No MongoDB for orders", "body": "MongoDB was weighed.", "status": "rejected"},
    "decision-3": {"title": "訂單存放在資料庫", "body": "訂單的持久化紀錄放在 SQLite。", "tags": ["storage"]},
    "fact-1": {
        "kind": "fact",
        "title": "Checkout retries thrice",
        "status": "unverified",
        "body": "See shop/checkout.py --retry 3.",
    },
    "finding-1": {
        "kind": "finding",
        "title": "Redis lost orders",
        "body": "# Data\n\n" + "Orders were lost. " * 120,
        "refutes": ["decision-0"],
    },
}
QUESTIONS = (
    Query("where do orders live"),
    Query("orders redis lost", limit=2),
    Query("decision-0"),
    Query("shop/checkout.py retry"),
    Query("資料庫 訂單"),
    Query("quantum knitting"),
    Query("orders", statuses=("all",), limit=20),
    Query("orders", also=("payments retry",), kinds=("fact", "finding"), statuses=("all",)),
    Query(listing=True),
    Query("storage", path="shop/store.py"),
    Query(listing=True, limit=2),
)  # fmt: skip


def provider(folder: Path, projection: str = "toy") -> Provider:
    return Provider(folder, embedders=lambda _policy: [ToyEmbedder(projection=projection)], clock=lambda: NOW)


def less_receipt(answer: dict[str, Any]) -> str:
    """Return an answer as text, byte for byte, less its receipt and the note on the engine."""
    return json.dumps({k: v for k, v in answer.items() if k not in ("receipt", "degraded")}, ensure_ascii=False)


@pytest.fixture
def corpus(repository: Path, commit: Commit, record_text: Callable[..., str]) -> Path:
    """Return a repository with records in force, overturned, rejected and in Chinese."""
    commit(
        {"knowledge/policy.yaml": TOY} | {f"knowledge/{i}.yaml": record_text(i, **keys) for i, keys in CORPUS.items()}
    )
    return repository


@pytest.fixture
def server(postgres_url: str, monkeypatch: pytest.MonkeyPatch) -> str:
    """Configure a real server as this user would, with a workspace of this test alone."""
    monkeypatch.setenv(URL, postgres_url)
    monkeypatch.setenv(WORKSPACE, f"w-{uuid4().hex[:12]}")
    return postgres_url


def on_server(commit: Commit) -> None:
    commit({"knowledge/policy.yaml": TOY + SERVER})


def test_both_engines_answer_alike(corpus: Path, commit: Commit, server: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every question has the same answer, byte for byte, whichever engine holds the store."""
    on_server(commit)
    with closing(provider(corpus)) as opened:
        assert opened.session.store.name == "postgresql"
        answers = [opened.recall(query) for query in QUESTIONS]
        assert all(answer["receipt"]["stored"] for answer in answers)
        assert not any("degraded" in answer for answer in answers)
        shown = opened.show("finding-1")
    monkeypatch.delenv(URL)
    with closing(provider(corpus)) as opened:
        assert opened.session.store.name == "sqlite"
        for query, answer in zip(QUESTIONS, answers, strict=True):
            assert less_receipt(opened.recall(query)) == less_receipt(answer), (query, server)
        assert opened.show("finding-1") == shown
    assert answers[0]["results"]
    assert answers[-1]["next_cursor"]
    assert answers[5]["verdict"] == "none"


def test_policy_alone_connects_to_nothing(corpus: Path, commit: Commit) -> None:
    """Without an address of this user's the embedded store answers, and says why."""
    on_server(commit)
    with closing(provider(corpus)) as opened:
        answer = opened.recall(QUESTIONS[0])
        assert opened.session.store.name == "sqlite"
        assert "no address" in answer["degraded"]
        assert answer["results"]


def test_an_address_alone_changes_nothing(corpus: Path, server: str) -> None:
    """A server that this user configured is not used by a repository whose policy does not ask for it."""
    assert server
    with closing(provider(corpus)) as opened:
        assert opened.session.store.name == "sqlite"
        assert "degraded" not in opened.recall(QUESTIONS[0])


def test_a_server_that_is_away_is_stood_in_for(
    corpus: Path, commit: Commit, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Where no server answers, the embedded store does, with the reason and without a word of the password."""
    monkeypatch.setenv(URL, f"postgresql://me:secret@/db?host={tmp_path}")
    on_server(commit)
    with closing(provider(corpus)) as opened:
        answer = opened.recall(QUESTIONS[0])
        assert answer["results"]
        assert "not used now" in answer["degraded"]
        assert "secret" not in answer["degraded"]
        assert answer["receipt"]["stored"] is False


def test_what_is_no_address_is_said(corpus: Path, commit: Commit, monkeypatch: pytest.MonkeyPatch) -> None:
    """An address of another kind ends in the embedded store's answer and the reason."""
    monkeypatch.setenv(URL, "mysql://me:secret@host/db")
    on_server(commit)
    with closing(provider(corpus)) as opened:
        answer = opened.recall(QUESTIONS[0])
        assert "no postgresql:// URL" in answer["degraded"]
        assert "secret" not in answer["degraded"]


def test_two_clones_share_what_one_has_seeded(
    corpus: Path, commit: Commit, server: str, tmp_path: Path, git: Callable[..., str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A second machine's clone parses and embeds nothing again, answers alike, and adds to the same receipts."""
    assert server
    on_server(commit)
    git("remote", "add", "origin", "git@example.org:team/shop.git")
    with closing(provider(corpus)) as one:
        first = one.recall(QUESTIONS[0])
        monkeypatch.setenv("SIDECAR_HOME", str(tmp_path / "other-machine"))
        git("clone", "-q", str(corpus), str(tmp_path / "clone"))
        git("remote", "set-url", "origin", "https://example.org/team/shop", cwd=tmp_path / "clone")
        with closing(provider(tmp_path / "clone")) as two:
            done = two.seed()
            assert (done["parsed"], done["embedded"]) == (0, 0)
            second = two.recall(QUESTIONS[0])
            chain = two.receipts.chain()
            assert [r["id"] for r in chain] == [first["receipt"]["id"], second["receipt"]["id"]]
            assert chain[1]["previous"] == chain[0]["id"]
            assert verify(two, chain[0]).same
        same = [json.loads(less_receipt(answer)) for answer in (first, second)]
        assert same[0]["results"] == same[1]["results"]


def test_what_one_scan_found_another_server_shows(
    corpus: Path, commit: Commit, record_text: Callable[..., str], server: str
) -> None:
    """Hints of contradictions come from the shared store, so that two servers answer alike."""
    assert server
    pair = {f"decision-{n}": f"Cache time is {n}0 seconds of the cache" for n in (7, 8)}
    files = {f"knowledge/{i}.yaml": record_text(i, title=title, body=f"{title}.") for i, title in pair.items()}
    commit({"knowledge/policy.yaml": TOY + SERVER, **files})
    with closing(provider(corpus)) as one, closing(provider(corpus)) as two:
        query = Query("cache time seconds")
        assert less_receipt(one.recall(query)) == less_receipt(two.recall(query))
        scan(one)
        assert less_receipt(one.recall(query)) == less_receipt(two.recall(query))


def test_a_worktree_falls_back_on_its_own_snapshot_only(
    corpus: Path, commit: Commit, server: str, git: Callable[..., str], tmp_path: Path
) -> None:
    """Past its budget a clone never answers from what another clone of the same repository stood on."""
    assert server
    on_server(commit)
    git("remote", "add", "origin", "https://example.org/team/shop")
    git("clone", "-q", str(corpus), str(tmp_path / "clone"))
    git("remote", "set-url", "origin", "https://example.org/team/shop", cwd=tmp_path / "clone")
    with closing(provider(corpus)) as one, closing(provider(tmp_path / "clone")) as two:
        one.recall(QUESTIONS[0])
        names = {session.shelf.store.noted(f"head:{session.repo.git.path}") for session in (one.session, two.session)}
        assert names == {""}  # a path alone would be the same on two machines
        assert one.session._line != two.session._line
        assert two.session.store.noted(two.session._line) == ""


@pytest.mark.parametrize(
    ("url", "name"),
    [
        ("git@GitHub.com:Org/Repo.git", "github.com/Org/Repo"),
        ("https://github.com/Org/Repo", "github.com/Org/Repo"),
        ("https://x-token:secret@github.com/Org/Repo.git/", "github.com/Org/Repo"),
        ("ssh://git@github.com:22/Org/Repo.git", "github.com/Org/Repo"),
        ("github.com:Org/Repo", "github.com/Org/Repo"),
        ("/srv/git/repo.git", ""),
        ("file:///srv/git/repo.git", ""),
        ("../repo", ""),
        ("C:/work/repo", ""),
        ("", ""),
    ],
)  # fmt: skip
def test_one_remote_has_one_name(url: str, name: str) -> None:
    """However a remote is written, it has one name; a path of this machine has none, nor is any secret in it."""
    assert from_url(url) == name


def test_a_repository_is_named_for_all_machines(corpus: Path, git: Callable[..., str], tmp_path: Path) -> None:
    """The name is origin's, a fork has its own, without a remote the first commit counts, and a setting wins."""
    root = git("rev-list", "--max-parents=0", "HEAD")
    assert shared_name(open_repository(corpus)) == f"commit/{root}/project"
    git("clone", "-q", str(corpus), str(tmp_path / "clone"))
    assert root in shared_name(open_repository(tmp_path / "clone"))
    git("remote", "add", "origin", "https://example.org/team/shop.git")
    assert shared_name(open_repository(corpus)) == "example.org/team/shop"
    git("remote", "add", "upstream", "https://example.org/up/shop.git")
    assert shared_name(open_repository(corpus)) == "example.org/team/shop"
    git("config", SETTING, "the/one")
    assert shared_name(open_repository(corpus)) == "the/one"


def test_the_address_is_this_users_alone(private_home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The environment comes before the user's file, which nobody else may read; without either there is none."""
    assert address() is None
    private_home.mkdir()
    file = private_home / "config.toml"
    file.write_text('[engine]\nurl = "postgresql://h/file"\nreplicas = ["postgresql://r/1"]\nworkspace = "shop"\n')
    file.chmod(0o644)
    with pytest.raises(Exception, match="can be read by others"):
        address()
    file.chmod(0o600)
    found = address()
    assert found is not None
    assert (found.url, found.replicas, found.workspace) == ("postgresql://h/file", ("postgresql://r/1",), "shop")
    monkeypatch.setenv(URL, "postgresql://h/env")
    monkeypatch.setenv(REPLICAS, "postgresql://r/2, postgresql://r/3")
    found = address()
    assert (
        found == replace(found, url="postgresql://h/env", replicas=("postgresql://r/2", "postgresql://r/3"))
        if found
        else False
    )


def said(folder: Path, name: str, user: Path) -> list[tuple[str, str]]:
    return [(f.severity, f.evidence) for f in diagnose(folder, user=user).findings if f.check == name]


def test_the_doctor_says_which_engine_and_whether_it_answers(
    corpus: Path, commit: Commit, server: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Engine, versions, workspace and whether HEAD's snapshot is there are told; a server that is away is critical."""
    assert [s for s, _ in said(corpus, "engine", tmp_path)] == ["ok"]
    on_server(commit)
    ((severity, text),) = said(corpus, "engine", tmp_path)
    assert severity == "warning"
    with closing(Provider(corpus, clock=lambda: NOW)) as opened:
        opened.recall(QUESTIONS[0])
    ((severity, text),) = said(corpus, "engine", tmp_path)
    assert (severity, "HEAD's among them" in text, "PostgreSQL 18" in text) == ("ok", True, True)
    assert said(corpus, "receipts", tmp_path)[0][1].startswith("1 receipts on the server")
    assert said(corpus, "store", tmp_path)[0][0] == "ok"
    monkeypatch.setenv(REPLICAS, f"postgresql://me:secret@/x?host={tmp_path}")
    assert [severity for severity, _ in said(corpus, "engine", tmp_path)] == ["ok", "warning"]
    monkeypatch.setenv(URL, f"postgresql://me:secret@/x?host={tmp_path}")
    ((severity, text),) = said(corpus, "engine", tmp_path)
    assert severity == "critical"
    assert "secret" not in text
    monkeypatch.delenv(URL)
    assert said(corpus, "engine", tmp_path)[0][0] == "warning"
    assert server


def test_what_machines_stand_on_is_not_collected(
    corpus: Path, commit: Commit, server: str, record_text: Callable[..., str], git: Callable[..., str], tmp_path: Path
) -> None:
    """`gc` on one machine keeps the snapshot that another machine's worktree stands on, and drops what nobody needs."""
    assert server
    on_server(commit)
    git("remote", "add", "origin", "https://example.org/team/shop")
    git("clone", "-q", str(corpus), str(tmp_path / "clone"))
    git("remote", "set-url", "origin", "https://example.org/team/shop", cwd=tmp_path / "clone")
    with closing(Provider(tmp_path / "clone", clock=lambda: NOW)) as other, closing(Provider(corpus)) as opened:
        before = other.recall(QUESTIONS[0])
        for number in range(3):
            commit({"knowledge/new.yaml": record_text("decision-9", body=f"Edition {number} of it.")})
            opened.recall(QUESTIONS[0])
        assert len(opened.session.store.snapshots()) == 4
        done = gc(corpus)
        assert (done["snapshots"], done["passages"] > 0, done["vectors"] > 0) == (2, True, True)
        assert len(opened.session.store.snapshots()) == 2
        for asked in (opened, other):
            assert not asked.recall(QUESTIONS[0])["revision"]["stale"]
        assert less_receipt(other.recall(QUESTIONS[0])) == less_receipt(before)
        assert gc(corpus)["snapshots"] == 0


def test_a_backup_holds_the_receipts_of_the_server(corpus: Path, commit: Commit, server: str, tmp_path: Path) -> None:
    """Receipts that several machines share go into a backup, and come back from one."""
    assert server
    on_server(commit)
    with closing(provider(corpus)) as opened:
        kept = opened.recall(QUESTIONS[0])["receipt"]["id"]
    assert backup(corpus, tmp_path / "b.zip")["receipts"] == 1
    assert restore(corpus, tmp_path / "b.zip")["new"]["receipts"] == 0
    with closing(provider(corpus)) as opened:
        assert [receipt["id"] for receipt in opened.receipts.chain()] == [kept]


def test_machines_that_seed_at_once_embed_once(corpus: Path, commit: Commit, server: str) -> None:
    """Of several that start seeding one commit at the same moment, one reads and embeds; the others find it done."""
    assert server
    on_server(commit)
    done: list[dict[str, Any]] = []

    def work() -> None:
        with closing(provider(corpus)) as opened:
            done.append(opened.seed())

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(one["parsed"] > 0 for one in done) == [False, False, False, True]
    assert sorted(one["embedded"] > 0 for one in done) == [False, False, False, True]
    assert {one["missing"] for one in done} == {0}
