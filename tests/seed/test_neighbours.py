"""`check --staged` reads what a commit changes and what that touches, and finds all that a whole check would add."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from seed import checker, neighbours
from seed.check import Finding
from seed.checker import check_repository
from seed.git import staging
from seed.git.repository import open_repository
from seed.git.write import write_commit

Git = Callable[..., str]
Text = Callable[..., str]
IDS = ("d-1", "d-2", "d-3", "d-4")
FORMS = st.none() | st.fixed_dictionaries(
    {"ident": st.sampled_from(IDS), "status": st.sampled_from(["accepted", "superseded", "unverified", "nope"])},
    optional={
        "kind": st.sampled_from(["decision", "fact"]),
        "trust": st.sampled_from(["user_confirmed", "agent_generated"]),
        "supersedes": st.lists(st.sampled_from([*IDS, "gone"]), max_size=2),
        "superseded_by": st.lists(st.sampled_from([*IDS, "gone"]), max_size=1),
        "refutes": st.lists(st.sampled_from(IDS), max_size=1),
        "broken": st.just("yes"),
    },
)
CORPORA = st.fixed_dictionaries({f"knowledge/{name}.yaml": FORMS for name in ("a", "b", "c", "d-1", "D-1", "e")})


def texts(corpus: dict[str, Any], record_text: Text) -> dict[str, bytes | None]:
    """Return the files of a corpus; a broken one is no YAML but names its id."""
    found: dict[str, bytes | None] = {}
    for path, form in corpus.items():
        keys = dict(form or {})
        text = record_text(keys.pop("ident", ""), **{k: v for k, v in keys.items() if k != "broken"})
        found[path] = None if form is None else (f"{text}: [\n" if "broken" in keys else text).encode()
    return found


def kinds(findings: tuple[Finding, ...]) -> set[tuple[str, str]]:
    """Return where and what, less how a circle is written out, which depends on where one begins."""
    return {(f.path, f.reason.split(": d-")[0]) for f in findings}


@pytest.mark.slow
@settings(max_examples=150, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
@given(before=CORPORA, after=CORPORA)
def test_nothing_that_a_commit_breaks_is_missed_and_nothing_is_made_up(
    repository: Path, git: Git, record_text: Text, before: dict[str, Any], after: dict[str, Any]
) -> None:
    """Whatever a commit changes: all findings it adds are told, and every finding told is one of the whole index."""
    repo = open_repository(repository)
    old, new = texts(before, record_text), texts(after, record_text)
    base = write_commit(repo, {"keep": b"x", **old}, "before", parents=[])
    wanted = write_commit(repo, {"keep": b"x", **new}, "after", parents=[])
    git("update-ref", "refs/heads/main", base)
    git("read-tree", wanted)
    told = kinds(check_repository(repo, staged=True).findings)
    whole = kinds(check_repository(repo, commit=wanted).findings)
    assert whole - kinds(check_repository(repo, commit=base).findings) <= told <= whole


@pytest.fixture
def counted(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Return the paths of records as they are read."""
    seen: list[str] = []
    real = neighbours.parsed

    def counting(source: Any) -> Any:
        seen.append(source.path)
        return real(source)

    monkeypatch.setattr(neighbours, "parsed", counting)
    monkeypatch.setattr(checker, "parsed", counting)
    return seen


def staged(repository: Path, git: Git, path: str, text: str) -> None:
    (repository / path).write_text(text)
    git("add", "-A")


def test_a_change_of_words_reads_no_other_record(
    repository: Path, git: Git, commit: Callable[..., str], record_text: Text, counted: list[str]
) -> None:
    """Where id, status, trust and relations stay, only the file itself is read, however many there are."""
    commit({f"knowledge/d-{n}.yaml": record_text(f"d-{n}", supersedes=[f"d-{n - 1}"] if n else []) for n in range(30)})
    staged(repository, git, "knowledge/d-7.yaml", record_text("d-7", supersedes=["d-6"], body="Other words."))
    done = check_repository(open_repository(repository), staged=True)
    assert (done.files, done.findings) == (1, ())
    assert set(counted) == {"knowledge/d-7.yaml"}


def test_a_new_relation_reads_what_it_names(
    repository: Path, git: Git, commit: Callable[..., str], record_text: Text, counted: list[str]
) -> None:
    """A record that now supersedes another one is looked at with that one and with what names either; no other."""
    commit({f"knowledge/d-{n:02}.yaml": record_text(f"d-{n:02}") for n in range(30)})
    staged(repository, git, "knowledge/d-07.yaml", record_text("d-07", supersedes=["d-11"]))
    assert check_repository(open_repository(repository), staged=True).findings == ()
    assert set(counted) == {"knowledge/d-07.yaml", "knowledge/d-11.yaml"}


def test_a_long_chain_is_read_as_a_whole(
    repository: Path, git: Git, commit: Callable[..., str], record_text: Text
) -> None:
    """A circle closed over more supersessions than are followed one by one is found all the same."""
    last = neighbours.MANY_ROUNDS + 5
    commit({f"knowledge/d-{n:02}.yaml": record_text(f"d-{n:02}", supersedes=[f"d-{n + 1:02}"]) for n in range(last)})
    staged(repository, git, f"knowledge/d-{last}.yaml", record_text(f"d-{last}", supersedes=["d-00"]))
    found = check_repository(open_repository(repository), staged=True).findings
    assert len([f for f in found if "runs in a circle" in f.reason]) == last + 1


def test_twins_that_a_commit_does_not_bear_on_do_not_stop_it(
    repository: Path, git: Git, commit: Callable[..., str], record_text: Text
) -> None:
    """Files that are read for what they name may be twins already: only a whole check tells it, with all of them."""
    twins = {f"knowledge/{name}.yaml": record_text("d-9", relates_to=["d-2"]) for name in ("a", "b")}
    commit({**twins, "knowledge/c.yaml": record_text("D-9"), "knowledge/d-1.yaml": record_text("d-1")})
    staged(repository, git, "knowledge/d-2.yaml", record_text("d-2"))
    assert check_repository(open_repository(repository), staged=True).findings == ()
    staged(repository, git, "knowledge/d-9.yaml", record_text("d-9"))
    told = {f.path: f.reason for f in check_repository(open_repository(repository), staged=True).findings}
    assert told["knowledge/d-9.yaml"].endswith("knowledge/a.yaml, knowledge/b.yaml, knowledge/c.yaml")


def test_an_id_that_yaml_spells_with_an_escape_is_found(
    repository: Path, git: Git, commit: Callable[..., str], record_text: Text
) -> None:
    """The id of an unchanged file counts however its quotes spell it."""
    commit({"knowledge/odd.yaml": record_text("d-1").replace("id: d-1", 'id: "d\\x2d1"')})
    staged(repository, git, "knowledge/d-1.yaml", record_text("d-1"))
    found = check_repository(open_repository(repository), staged=True).findings
    assert {f.path for f in found} == {"knowledge/odd.yaml", "knowledge/d-1.yaml"}


def test_a_partial_clone_is_never_searched_by_git(
    repository: Path, git: Git, commit: Callable[..., str], record_text: Text, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Git would fetch the blobs that are missing; there every file that is here is read instead."""
    commit({"knowledge/d-1.yaml": record_text("d-1")})
    git("config", "remote.origin.promisor", "true")
    real = staging._git
    asked: list[str] = []
    monkeypatch.setattr(
        staging,
        "_git",
        lambda repo, index, *words, **keys: (asked.append(words[0]), real(repo, index, *words, **keys))[1],
    )
    staged(repository, git, "knowledge/d-2.yaml", record_text("d-1"))
    found = check_repository(open_repository(repository), staged=True).findings
    assert {f.path for f in found} == {"knowledge/d-1.yaml", "knowledge/d-2.yaml"}
    assert "grep" not in asked
