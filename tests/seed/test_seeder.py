from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from seed import planes, seeder
from seed.errors import EmbedderError, StoreError
from seed.git.candidates import candidates
from seed.git.repository import head_commit, open_repository
from seed.git.tree import has_object, list_files
from seed.git.write import write_commit
from seed.policy import Policy
from seed.seeder import Seeded
from seed.snapshot import Snapshot
from seed.store.lock import exclusive
from seed.store.store import Store

Git = Callable[..., str]
Commit = Callable[..., str]
Text = Callable[..., str]
ROOT = Path(__file__).parents[2]


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    opened = Store(tmp_path / "store")
    yield opened
    opened.close()


@pytest.fixture
def seed(repository: Path, store: Store, embedder: Any) -> Callable[..., Seeded]:
    """Return a function that seeds HEAD with the counting embedder, which starts from nothing each time."""

    def run(**options: Any) -> Seeded:
        embedder.asked.clear()
        return seeder.seed(
            repo := open_repository(repository), store, wanted(repo), lambda _policy: [embedder], **options
        )

    return run


def wanted(repo: Any) -> seeder.Wanted:
    head = head_commit(repo)
    return seeder.wanted(repo, head, candidates(repo, head))


def published(store: Store) -> Snapshot:
    loaded = store.load()
    assert loaded is not None
    return loaded[0]


def statuses(store: Store) -> dict[str, str]:
    return {head.record.id: head.status for head in published(store).heads}


def test_a_first_seed_reads_and_embeds_everything(commit: Commit, record_text: Text, store: Store, seed: Any) -> None:
    """Each record is parsed and each passage embedded once."""
    commit({f"knowledge/{n}.yaml": record_text(f"d-{n}") for n in range(3)})
    done = seed()
    assert (done.records, done.parsed, done.embedded, done.missing) == (3, 3, 3, 0)
    assert statuses(store) == {"d-0": "accepted", "d-1": "accepted", "d-2": "accepted"}


def test_seeding_again_does_nothing(commit: Commit, record_text: Text, seed: Any) -> None:
    """A snapshot that is there is neither read nor embedded again."""
    commit({"knowledge/a.yaml": record_text("a")})
    seed()
    done = seed()
    assert (done.parsed, done.embedded) == (0, 0)


@pytest.mark.parametrize(
    "change", [{"status": "deprecated"}, {"tags": ["x"]}, {"date": "2020-01-01"}, {"trust": "user_confirmed"}]
)
def test_a_changed_status_or_tag_embeds_nothing(
    commit: Commit, record_text: Text, seed: Any, change: dict[str, Any]
) -> None:
    """Only what is embedded decides whether something is embedded: title, section and words of a passage."""
    commit({"knowledge/a.yaml": record_text("a"), "knowledge/b.yaml": record_text("b")})
    seed()
    commit({"knowledge/a.yaml": record_text("a", **change)})
    done = seed()
    assert (done.parsed, done.embedded) == (1, 0)


def test_only_the_changed_passage_is_embedded(commit: Commit, record_text: Text, seed: Any, embedder: Any) -> None:
    """Of a long record whose one section changed, the other sections keep their vectors."""
    sections = [f"## Part {n}\n\n" + f"Words of part {n}. " * 40 for n in range(4)]
    commit({"knowledge/a.yaml": record_text("a", body="\n\n".join(sections))})
    first = seed()
    sections[2] = sections[2].replace("Words", "Other words", 1)
    commit({"knowledge/a.yaml": record_text("a", body="\n\n".join(sections))})
    done = seed()
    assert first.embedded > 2
    assert done.embedded == 1
    assert "Other words" in embedder.asked[0]


def test_renames_and_other_commits_of_the_same_knowledge_need_nothing(
    commit: Commit, record_text: Text, git: Git, seed: Any
) -> None:
    """A moved file is not read again; another commit with the same tree has the same snapshot."""
    commit({"knowledge/a.yaml": record_text("a")})
    first = seed()
    commit({"src/code.py": "x"})
    assert seed().key == first.key
    git("mv", "knowledge/a.yaml", "knowledge/b.yaml")
    git("commit", "-q", "--amend", "-m", "moved")
    done = seed()
    assert done.key != first.key
    assert (done.records, done.parsed, done.embedded) == (1, 0, 0)


def test_going_back_needs_nothing(commit: Commit, record_text: Text, git: Git, seed: Any, store: Store) -> None:
    """A branch switch or reset to what was seen before only publishes it again."""
    commit({"knowledge/a.yaml": record_text("a")})
    seed()
    commit({"knowledge/a.yaml": record_text("a", title="New title")})
    seed()
    git("reset", "-q", "--hard", "HEAD~1")
    done = seed()
    assert (done.parsed, done.embedded) == (0, 0)
    assert store.has(done.key)


STEPS = st.lists(
    st.dictionaries(
        st.sampled_from(["a.yaml", "b.yaml", "m/a.yaml", "m/n/c.yaml", "m.yaml", "notes.md"]),
        st.one_of(st.none(), st.integers(0, 12)),
        max_size=4,
    ),
    min_size=2,
    max_size=6,
)


def as_told(store: Store) -> dict[str, Any]:
    """Return a snapshot with the texts of its documents, whose numbers depend on the order in which they came."""
    snapshot = published(store)
    texts = store.texts([*snapshot.pids.tolist(), *snapshot.titles.tolist()])
    heads, held = (
        list(snapshot.heads),
        {name: [one.of(n) for n in range(one.size)] for name, one in snapshot.facets.items()},
    )
    passages = [texts[pid] for pid in snapshot.pids.tolist()], [texts[pid] for pid in snapshot.titles.tolist()]
    return {"heads": heads, "facets": held, "owners": snapshot.owners.tolist(), "texts": passages,
            "unreadable": snapshot.unreadable, "policy": snapshot.policy, "glossary": snapshot.glossary}  # fmt: skip


@settings(max_examples=15, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(STEPS)
def test_a_walk_of_commits_ends_where_a_fresh_store_begins(
    repository: Path, tmp_path_factory: pytest.TempPathFactory, record_text: Text, steps: list[dict[str, int | None]]
) -> None:
    """Seeded on the snapshot before, commit after commit and back, each is what a store makes that knows nothing."""
    repo = open_repository(repository)
    contents: dict[str, bytes] = {}
    trees = []
    for step in steps:
        for path, edition in step.items():
            if edition is None:
                contents.pop(path, None)
            else:
                contents[path] = content(record_text, path, edition)
        trees.append(
            write_commit(repo, {f"knowledge/{path}": data for path, data in contents.items()}, "x", parents=[])
        )
    folder = tmp_path_factory.mktemp("walk")
    walked = Store(folder / "walked")
    for number, commit in enumerate([*trees, *reversed(trees)]):
        seeder.publish_words(repo, walked, seeder.wanted(repo, commit))
        fresh = Store(folder / str(number))
        seeder.publish_words(repo, fresh, seeder.wanted(repo, commit))
        reader = Store(walked.folder)  # which reads what was stored, and remembers nothing of how it was made
        assert as_told(walked) == as_told(reader) == as_told(fresh)
        reader.close()
        fresh.close()
    walked.close()


def content(record_text: Text, path: str, edition: int) -> bytes:
    """Return a file that is no record, or a record that may supersede another one."""
    if edition == 0:
        return b"id: x\nkind: [\n"
    more = {"supersedes": [f"d-{edition % 3}"]} if edition % 2 else {}
    return record_text(f"d-{edition % 5}", title=f"{path} {edition}", **more).encode()


def test_a_base_whose_tree_is_gone_is_left(
    commit: Commit, record_text: Text, git: Git, seed: Any, store: Store, repository: Path
) -> None:
    """After an amend and a collection of garbage the snapshot is made from all files, and nothing is parsed again."""
    commit({f"knowledge/{n}.yaml": record_text(f"d-{n}") for n in range(3)})
    seed()
    (repository / "knowledge/0.yaml").unlink()
    git("commit", "-q", "-a", "--amend", "-m", "less")
    git("reflog", "expire", "--expire=now", "--all")
    git("gc", "-q", "--prune=now")
    assert not has_object(open_repository(repository), published(store).tree)
    done = seed()
    assert (done.records, done.parsed, done.embedded) == (2, 0, 0)


def test_one_bad_file_hides_no_other(commit: Commit, record_text: Text, seed: Any, store: Store) -> None:
    """The good files are seeded, the bad one is reported with its line and reason."""
    commit({"knowledge/a.yaml": record_text("a"), "knowledge/bad.yaml": "id: x\nkind: [\n"})
    assert seed().records == 1
    (bad,) = published(store).unreadable
    assert (bad.path, bad.problem.line) == ("knowledge/bad.yaml", 3)


def test_the_policy_of_the_commit_is_the_one_in_force(
    commit: Commit, record_text: Text, seed: Any, store: Store
) -> None:
    """A snapshot holds the policy and glossary of its own commit; a broken one leaves the shipped policy in force."""
    commit(
        {
            "knowledge/a.yaml": record_text("a"),
            "knowledge/policy.yaml": "retrieval: {fusion: cosine}\n",
            "knowledge/glossary.yaml": "cat: [feline]\n",
        }
    )
    seed()
    assert (published(store).policy.fusion, published(store).glossary) == ("cosine", {"cat": ("feline",)})
    commit({"knowledge/policy.yaml": "retrieval: {fusion: magic}\n"})
    seed()
    assert published(store).policy == Policy()
    assert "knowledge/policy.yaml:1" in published(store).policy_fault


@pytest.mark.parametrize("files", [{}, {"src/a.py": "x"}])
def test_without_records_an_empty_snapshot_is_published(
    commit: Commit, seed: Any, store: Store, files: dict[str, str]
) -> None:
    """No commit, and a commit without knowledge/, are no faults."""
    if files:
        commit(files)
    assert seed().records == 0
    assert published(store).heads == ()


def test_words_are_published_before_vectors(
    commit: Commit, record_text: Text, seed: Any, store: Store, embedder: Any
) -> None:
    """A model that fails leaves a snapshot that can be searched by words."""
    commit({"knowledge/a.yaml": record_text("a"), "knowledge/b.yaml": record_text("b")})
    embedder.fail_after = 1
    with pytest.raises(EmbedderError):
        seed()
    assert statuses(store) == {"a": "accepted", "b": "accepted"}
    assert store.plane(published(store).key, embedder.identity) is None


def test_a_deadline_leaves_the_rest_for_the_next_time(
    commit: Commit, record_text: Text, seed: Any, store: Store, embedder: Any
) -> None:
    """Past the budget the plane is published with what there is, and the next seeding embeds only the rest."""
    commit({f"knowledge/{n}.yaml": record_text(f"d-{n}") for n in range(5)})
    first = seed(budget=0.0)
    assert first.embedded >= 1
    assert first.missing == 5 - first.embedded
    plane = store.plane(first.key, embedder.identity)
    assert plane is not None
    assert sorted(plane[0].tolist()) == [-1] * first.missing + list(range(first.embedded))
    second = seed()
    assert (second.parsed, second.embedded, second.missing) == (0, first.missing, 0)


KILLED = """
import os, signal, sys
from pathlib import Path
from seed import planes, seeder
from seed.embed.base import ToyEmbedder
from seed.git.repository import head_commit, open_repository
from seed.store.store import Store

class Dying(ToyEmbedder):
    def passages(self, texts):
        for n, text in enumerate(texts):
            if n == int(sys.argv[3]):
                os.kill(os.getpid(), signal.SIGKILL)
            yield self.question(text)

repo = open_repository(Path(sys.argv[1]))
seeder.seed(repo, Store(Path(sys.argv[2])), seeder.wanted(repo, head_commit(repo)), lambda policy: [Dying()])
"""


def test_a_kill_in_the_middle_loses_at_most_one_batch(
    repository: Path, commit: Commit, record_text: Text, tmp_path: Path, seed: Any
) -> None:
    """What was embedded before a SIGKILL is kept but for the last batch, and the next seeding finishes the rest."""
    commit({f"knowledge/{n}.yaml": record_text(f"d-{n}") for n in range(80)})
    done = subprocess.run(
        [sys.executable, "-c", KILLED, str(repository), str(tmp_path / "store"), "70"],
        check=False,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
    )
    assert done.returncode == -9, done.stderr
    finished = seed()
    assert (finished.parsed, finished.missing) == (0, 0)
    assert 10 <= finished.embedded <= 10 + planes.BATCH
    assert seed().embedded == 0


def test_a_seeding_process_that_gets_no_lock_says_who_holds_it(
    commit: Commit, record_text: Text, seed: Any, store: Store
) -> None:
    """Waiting for another seeding process has an end, and nothing was done."""
    commit({"knowledge/a.yaml": record_text("a")})
    with exclusive(store.lock_path, 1), pytest.raises(StoreError, match="is seeding"):
        seed(wait=0.05)
    assert seed(wait=0.05).parsed == 1


def test_candidates_are_an_overlay(commit: Commit, git: Git, record_text: Text, seed: Any, store: Store) -> None:
    """A candidate retires nothing, a known id is dropped, and neither policy nor faults of its branch count."""
    commit({"knowledge/a.yaml": record_text("a")})
    git("checkout", "-q", "-b", "knowledge/candidate/new")
    commit(
        {
            "knowledge/new.yaml": record_text("new", supersedes=["a"], trust="user_confirmed"),
            "knowledge/twin.yaml": record_text("A", title="Another"),
            "knowledge/policy.yaml": "retrieval: {fusion: cosine}\n",
            "knowledge/bad.yaml": "id: [",
        }
    )
    git("checkout", "-q", "main")
    seed()
    assert statuses(store) == {"a": "accepted", "new": "candidate"}
    assert published(store).policy == Policy()
    assert published(store).unreadable == ()
    assert [head.origin for head in published(store).heads] == ["", "refs/heads/knowledge/candidate/new"]


def test_a_new_candidate_makes_a_new_snapshot(commit: Commit, git: Git, record_text: Text, seed: Any) -> None:
    """The key of a snapshot covers the candidates that lie over it."""
    commit({"knowledge/a.yaml": record_text("a")})
    first = seed()
    git("branch", "knowledge/candidate/empty")
    git("checkout", "-q", "-b", "knowledge/candidate/x")
    commit({"knowledge/x.yaml": record_text("x")})
    git("checkout", "-q", "main")
    assert seed().key != first.key


def test_progress_reaches_the_total(commit: Commit, record_text: Text, seed: Any) -> None:
    """Reading and embedding each report up to all of it."""
    commit({f"knowledge/{n}.yaml": record_text(f"d-{n}") for n in range(3)})
    told: list[tuple[str, int, int]] = []
    seed(progress=lambda *step: told.append(step))
    assert told[0] == ("reading", 3, 3)
    assert told[-1] == ("embedding", 3, 3)


def test_a_kill_before_the_last_note_leaves_no_record_out_for_good(
    repository: Path, commit: Commit, record_text: Text, store: Store, seed: Callable[..., Seeded]
) -> None:
    """A file that was missing is read once it arrives, also where the seeding that missed it died after publishing."""
    commit({"knowledge/a.yaml": record_text("d-1"), "knowledge/b.yaml": record_text("d-2", supersedes=["d-1"])})
    repo = open_repository(repository)
    blob = next(entry.blob for entry in list_files(repo, wanted(repo).tree) if entry.path.endswith("b.yaml"))
    file = repo.common / "objects" / blob[:2] / blob[2:]
    away = file.rename(repository / "away")
    plain = store.publish

    def killed(*arguments: Any) -> None:
        plain(*arguments)
        raise KeyboardInterrupt

    store.publish = killed  # type: ignore[method-assign]
    with pytest.raises(KeyboardInterrupt):
        seed()
    store.publish = plain  # type: ignore[method-assign]
    assert statuses(store) == {"d-1": "accepted"}
    away.rename(file)
    seed()
    assert statuses(store) == {"d-1": "superseded", "d-2": "accepted"}
