from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from seed.errors import SidecarError
from sidecar.provider import Provider
from sidecar.revise import done as close

from .conftest import fingerprint, proposal, put, run

Open = Callable[[Path], Provider]
TODO = "id: fact-0001\nkind: fact\ntitle: Port the installer\nstatus: unverified\ntags: [todo, installer]  # open\n"


def test_a_record_in_git_answers_file_backed(work: Path, provider: Provider) -> None:
    """Revising or forgetting an accepted record names file, line and commit, and writes nothing unasked."""
    before, refs = fingerprint(work), run(work, "for-each-ref")
    told = provider.revise("decision-0001", {"title": "The store is one SQLite file"})
    assert (told["code"], told["path"], told["line"]) == (
        "memory/file-backed",
        "knowledge/decisions/decision-0001.yaml",
        3,
    )
    assert told["commit"] == run(work, "rev-parse", "HEAD")
    assert not told["written"]
    assert provider.forget("decision-0001", "never used")["line"] == 4
    assert (fingerprint(work), run(work, "for-each-ref")) == (before, refs)


def test_asked_to_it_makes_the_branch_of_the_edit(work: Path, provider: Provider) -> None:
    """With propose the edit stands on a branch for a reviewer: one line changed, and the checkout untouched."""
    before = fingerprint(work)
    told = provider.revise("decision-0001", {"title": "The store is one SQLite file"}, agent="a1", propose=True)
    assert fingerprint(work) == before
    diff = run(work, "diff", "-U0", f"main..{told['branch']}").split("\n")
    assert [line for line in diff if line[:1] in "+-" and line[:3] not in ("+++", "---")] == [
        "-title: The store is SQLite  # why: one file",
        "+title: The store is one SQLite file  # why: one file",
    ]
    assert "Asked-By: a1" in run(work, "log", "-1", "--format=%B", told["branch"])
    more = provider.revise("decision-0001", {"tags": ["storage"]}, propose=True)
    assert run(work, "rev-list", "--count", f"main..{more['branch']}") == "2"
    gone = provider.forget("decision-0001", "never used", propose=True)
    assert "status: deprecated" in run(work, "show", f"{gone['branch']}:{gone['path']}")
    assert "never used" in run(work, "log", "-1", "--format=%B", gone["branch"])


def test_a_candidate_is_amended_or_withdrawn(work: Path, provider: Provider) -> None:
    """What is not reviewed yet may still change: its one commit is amended; forgetting it ends it."""
    made = provider.propose(proposal(), session="s1")
    told = provider.revise(made["id"], {"body": "We keep records in PostgreSQL 17.", "tags": ["storage"]})
    text = run(work, "show", f"{told['branch']}:{told['path']}")
    assert (told["state"], told["id"]) == ("amended", made["id"])
    assert "PostgreSQL 17" in text
    assert "session: s1" in text
    assert run(work, "rev-list", "--count", f"main..{told['branch']}") == "1"
    assert provider.forget(made["id"], "wrong")["state"] == "withdrawn"
    assert run(work, "branch", "--list", made["branch"]) == ""


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"trust": "user_confirmed"}, "trust cannot be revised"),
        ({"id": "decision-0002"}, "id cannot be revised"),
        ({"kind": "opinion"}, "opinion"),
        ({"status": "decided"}, "decided"),
        ({"title": None}, "no title"),
        ({}, "empty"),
        ({"body": "token: ghp_" + "aB3dE5gH" * 5}, "github-token"),
    ],
)
def test_a_change_that_breaks_a_rule_is_refused(
    change: dict[str, object], reason: str, work: Path, provider: Provider
) -> None:
    """Neither trust nor id is revised, and no edit leaves a record that check would not take."""
    refs = run(work, "for-each-ref")
    with pytest.raises(SidecarError, match=reason):
        provider.revise("decision-0001", change, propose=True)
    assert run(work, "for-each-ref") == refs


def test_an_unknown_id_is_an_error(provider: Provider) -> None:
    """There is nothing to revise, and the error says where ids are listed."""
    with pytest.raises(SidecarError, match="there is no record 'decision-0404'"):
        provider.revise("decision-0404", {"title": "x"})


def test_open_items_are_closed_on_one_standing_branch(work: Path, opened: Open) -> None:
    """Each item's todo becomes done on knowledge/done; after it was merged the branch starts anew."""
    second = TODO.replace("fact-0001", "fact-0002").replace("Port", "Sign")
    put(work, {"knowledge/facts/fact-0001.yaml": TODO, "knowledge/facts/fact-0002.yaml": second})
    run(work, "push", "-q", "origin", "main")
    provider, before = opened(work), fingerprint(work)
    close(provider, "fact-0001")
    done = close(provider, "fact-0002")
    assert fingerprint(work) == before
    assert run(work, "rev-list", "--count", f"main..{done['branch']}") == "2"
    assert "tags: [done, installer]  # open" in run(work, "show", f"{done['branch']}:knowledge/facts/fact-0001.yaml")
    assert close(provider, "fact-0002")["commit"] == done["commit"]
    with pytest.raises(SidecarError, match="is no open item"):
        close(provider, "decision-0001")
    run(work, "push", "-q", "origin", f"{done['branch']}:main")
    third = TODO.replace("fact-0001", "fact-0003").replace("Port", "Test")
    run(work, "merge", "-q", "--ff-only", "origin/main")
    tip = put(work, {"knowledge/facts/fact-0003.yaml": third})
    run(work, "push", "-q", "origin", "main")
    again = close(provider, "fact-0003")
    assert run(work, "rev-parse", f"{again['branch']}^") == tip
