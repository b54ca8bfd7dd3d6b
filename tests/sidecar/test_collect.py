from __future__ import annotations

import shutil
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest

from seed.embed.base import ToyEmbedder
from seed.git.repository import open_repository
from seed.store import inspect, vectors
from seed.store.collect import collect
from seed.store.store import Store
from sidecar.collect import collect as gc
from sidecar.plane import Plane
from sidecar.provider import Provider
from sidecar.query import Query

POLICY = "format: 1\nembedder: {model: toy, languages: 'off'}\n"
Commit = Callable[..., str]


def _asked(folder: Path, question: str = "volcano body") -> list[tuple[str, float]]:
    with closing(Provider(folder)) as opened:
        answer = opened.recall(Query(question, limit=20))
        assert not answer["revision"]["stale"]
        return [(result["id"], result["score"]) for result in answer["results"]]


@pytest.fixture
def grown(repository: Path, commit: Commit, record_text: Callable[..., str]) -> Path:
    """Return a repository whose record changed five times, each time seeded."""
    for number in range(5):
        body = f"The volcano body is number{number} of {'word ' * number}."
        commit({"knowledge/policy.yaml": POLICY, "knowledge/a.yaml": record_text("decision-1", body=body)})
        _asked(repository)
    return repository


def _store(folder: Path) -> Store:
    with closing(Provider(folder)) as opened:
        return Store(opened.session.store.folder)


def test_what_no_head_refers_to_goes_and_answers_stay(grown: Path) -> None:
    """A collection drops old snapshots, passages and vectors, and every answer is the same before and after."""
    before = _asked(grown)
    done = gc(grown)
    assert (done["snapshots"], done["kept"]) == (4, 1)
    assert done["passages"] >= 4
    assert done["vectors"] >= 4
    assert _asked(grown) == before
    assert gc(grown)["snapshots"] == gc(grown)["passages"] == gc(grown)["vectors"] == 0


def test_a_dry_run_says_the_same_and_changes_nothing(grown: Path) -> None:
    """--dry-run counts what a collection then drops, and leaves the store as it was."""
    told = gc(grown, dry_run=True)
    with closing(_store(grown)) as store:
        assert len(inspect.snapshots(store.database)) == 5
    done = gc(grown)
    assert [told[k] for k in ("snapshots", "files", "passages", "vectors")] == [
        done[k] for k in ("snapshots", "files", "passages", "vectors")
    ]


def test_vectors_stay_with_their_texts(grown: Path) -> None:
    """After gaps are closed every vector still matches its checksum and is the vector of its own text."""
    gc(grown)
    embedder = ToyEmbedder(projection="")
    with closing(_store(grown)) as store:
        assert inspect.damaged_vectors(store.database, store.folder) == {}
        ((identity, dimension),) = store.database.execute("SELECT identity, dimension FROM identities").fetchall()
        matrix = vectors.open_matrix(store.folder, identity, dimension, store.generation())
        rows = vectors.every(store.database, identity)
        assert matrix is not None
        texts = {sha: text for sha, text in store.database.execute("SELECT sha, text FROM passages") if sha in rows}
        assert texts
        for sha, text in texts.items():
            assert np.array_equal(matrix[rows[sha]], embedder.question(text))
        assert len(list(store.folder.glob("*.f32"))) == 1


def test_an_open_server_goes_on_with_right_answers(
    grown: Path, commit: Commit, record_text: Callable[..., str]
) -> None:
    """A provider that was open all along answers rightly after a collection, and after numbers were given anew."""
    with closing(Provider(grown)) as opened:
        before = opened.recall(Query("volcano body"))
        gc(grown)
        assert opened.recall(Query("volcano body"))["results"] == before["results"]
        commit({"knowledge/b.yaml": record_text("decision-2", body="A glacier is cold.")})
        found = opened.recall(Query("glacier cold"))["results"]
        assert found[0]["passage"]["text"].startswith("A glacier")


def test_a_collection_in_the_middle_of_a_question_leaves_right_sums(
    repository: Path, commit: Commit, record_text: Callable[..., str]
) -> None:
    """What a plane needs of its vectors is taken over within one generation only, whenever the numbers change."""
    commit({"knowledge/policy.yaml": POLICY, "knowledge/a.yaml": record_text("d-1", body="Lava.")})
    with closing(Provider(repository)) as opened:
        opened.session.view()
        commit({"knowledge/a.yaml": record_text("d-1", body="Ice."), "knowledge/b.yaml": record_text("d-2")})
        corpus = opened.session.view().corpus
        (embedder,) = opened.session.embedders(corpus.snapshot.policy)
        opened.session.plane(corpus, embedder, "en")
    with closing(Provider(repository)) as opened:
        opened.session.view()
        gc(repository)  # d-2 has the row now that d-1 had
        found = opened.session.plane(corpus, embedder, "en")
        shutil.rmtree(opened.session.store.folder / "planes")
        opened.session.view()
        again = opened.session.plane(corpus, embedder, "en")
        assert isinstance(found, Plane)
        assert isinstance(again, Plane)
        assert found.usual.tolist() == again.usual.tolist()


@pytest.mark.parametrize("moment", ["_renumber", "_shrink"])
def test_a_kill_at_any_moment_leaves_a_whole_store(grown: Path, monkeypatch: pytest.MonkeyPatch, moment: str) -> None:
    """A collection that dies while it renumbers has done nothing; one that dies before old files go has done all."""

    def die(*_: object) -> None:
        raise KeyboardInterrupt

    before = _asked(grown)
    with monkeypatch.context() as patch:
        patch.setattr(f"seed.store.collect.{moment}", die)
        with pytest.raises(KeyboardInterrupt):
            gc(grown)
    with closing(_store(grown)) as store:
        assert len(inspect.snapshots(store.database)) == (5 if moment == "_renumber" else 1)
        assert inspect.damaged_vectors(store.database, store.folder) == {}
    assert _asked(grown) == before
    gc(grown)
    assert _asked(grown) == before


def test_a_damaged_vector_does_not_stay(grown: Path) -> None:
    """A vector that does not match its checksum is left behind, so that its text is embedded again."""
    before = _asked(grown)
    with closing(_store(grown)) as store:
        (path,) = store.folder.glob("*.f32")
        data = bytearray(path.read_bytes())
        data[3::256] = bytes(len(data[3::256]))
        path.write_bytes(data)
        newest = inspect.snapshots(store.database)[0][0]
        collect(store, [newest])
        assert inspect.damaged_vectors(store.database, store.folder) == {}
    assert _asked(grown) == before


def test_other_worktrees_keep_their_snapshots(grown: Path, git: Callable[..., str], tmp_path: Path) -> None:
    """The snapshot of every linked worktree's HEAD stays, not only that of the folder gc was started in."""
    git("worktree", "add", "-q", "--detach", str(tmp_path / "old"), "HEAD~3")
    _asked(tmp_path / "old")
    assert gc(grown)["kept"] == 2
    assert open_repository(tmp_path / "old").common == open_repository(grown).common
