from __future__ import annotations

import os
import stat
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from seed.errors import SidecarError
from sidecar.candidates import listing, withdraw
from sidecar.promote import promote
from sidecar.provider import Provider
from sidecar.query import Query

from .conftest import decision, fingerprint, proposal, put, run

Open = Callable[[Path], Provider]
COMMENTED = """\
# The header stays.
id: decision-0007
kind: decision
title: 'Sessions last: a day'  # quoted for the colon
status: accepted               # since May

tags: [auth,   session]
body: |
  Sessions last a day.
  # not a comment
# The end.
"""


def show(repo: Path, done: dict[str, Any], path: str) -> str:
    return run(repo, "show", f"{done['branch']}:{path}")


def test_promoting_moves_and_closes_on_a_branch_and_touches_nothing_else(work: Path, provider: Provider) -> None:
    """The branch holds the record in its place with its status, and closes what it supersedes, by both files."""
    made = provider.propose(proposal(supersedes=["decision-0001"]))
    before = fingerprint(work)
    done = promote(provider, [made["id"]])
    assert fingerprint(work) == before
    path = f"knowledge/decisions/{made['id']}.yaml"
    changed = run(work, "diff", "--name-status", f"origin/main...{done['branch']}").split("\n")
    assert changed == ["M\tknowledge/decisions/decision-0001.yaml", f"A\t{path}"]
    assert "\nstatus: accepted\n" in show(work, done, path)
    old = show(work, done, "knowledge/decisions/decision-0001.yaml")
    assert f"status: superseded\nsuperseded_by: [{made['id']}]\n" in old
    assert run(work, "rev-parse", "HEAD", "origin/main").split() == [done["base"]["commit"]] * 2
    assert done["commands"] == [f"git push origin {done['branch']}"]
    assert (done["pushed"], done["pull_request"]) == (False, "")


def test_a_closed_record_keeps_every_other_byte(work: Path, opened: Open) -> None:
    """Comments, quotes, spacing and order of the record that is closed survive; only status and successor change."""
    put(work, {"knowledge/decisions/decision-0007.yaml": COMMENTED})
    run(work, "push", "-q", "origin", "main")
    provider = opened(work)
    made = provider.propose(proposal(supersedes=["decision-0007"]))
    old = show(work, promote(provider, [made["id"]]), "knowledge/decisions/decision-0007.yaml")
    expected = COMMENTED.replace("accepted  ", "superseded  ").replace(
        "# since May\n", f"# since May\nsuperseded_by: [{made['id']}]\n"
    )
    assert old == expected.strip()


def test_trust_never_rises_unasked(work: Path, provider: Provider) -> None:
    """A promoted record keeps its trust unless the promotion names another, and then says so."""
    made = provider.propose(proposal())
    quiet = promote(provider, [made["id"]])
    assert "trust: agent_generated" in show(work, quiet, quiet["records"][0]["path"])
    run(work, "branch", "-D", quiet["branch"])
    raised = promote(provider, [made["id"]], trust="user_confirmed")
    assert raised["records"][0]["raised"] == "trust agent_generated -> user_confirmed"
    assert "trust agent_generated -> user_confirmed" in run(work, "log", "-1", "--format=%B", raised["branch"])


def test_a_promotion_that_check_would_fail_is_not_written(work: Path, opened: Open) -> None:
    """What a user confirmed falls only to what a user confirms: else no branch is made, with check's reason."""
    text = decision("decision-0008", "Keys live in a vault", "Keys live in a vault.", trust="user_confirmed")
    put(work, {"knowledge/decisions/decision-0008.yaml": text})
    run(work, "push", "-q", "origin", "main")
    provider = opened(work)
    made = provider.propose(proposal(supersedes=["decision-0008"]))
    with pytest.raises(SidecarError, match="was confirmed by a user") as raised:
        promote(provider, [made["id"]])
    assert raised.value.code == 1
    assert run(work, "branch", "--list", "knowledge/promote/*") == ""
    assert promote(provider, [made["id"]], trust="user_confirmed")["closed"]


def test_a_dangling_reference_fails_check(provider: Provider) -> None:
    """A successor of a record that is nowhere is stopped before a reviewer sees it."""
    made = provider.propose(proposal(supersedes=["decision-9999"]))
    assert made["warnings"] == ["supersedes names 'decision-9999', and no record here has that id"]
    with pytest.raises(SidecarError, match="decision-9999"):
        promote(provider, [made["id"]])


@pytest.mark.parametrize(
    ("kind", "status", "closes"),
    [("decision", "", True), ("decision", "rejected", False), ("finding", "", False), ("finding", "verified", True)],
)
def test_only_what_overturns_closes(kind: str, status: str, closes: bool, provider: Provider) -> None:
    """A rejected successor, and an unverified one of a record that is not, leave the predecessor in force."""
    made = provider.propose(proposal(kind=kind, supersedes=["decision-0001"]))
    done = promote(provider, [made["id"]], status=status)
    assert [one["id"] for one in done["closed"]] == (["decision-0001"] if closes else [])


def test_a_rejected_successor_leaves_its_predecessor_answering(work: Path, provider: Provider) -> None:
    """After the merge the old decision still answers, with the rejected one in its chain and in decided_against."""
    made = provider.propose(proposal(title="The store is PostgreSQL, a server", supersedes=["decision-0001"]))
    done = promote(provider, [made["id"]], status="rejected")
    run(work, "merge", "-q", "--no-ff", done["branch"])
    answer = provider.recall(Query("Which store keeps the records: SQLite or PostgreSQL?"))
    top = answer["results"][0]
    assert (top["id"], top["status"]) == ("decision-0001", "accepted")
    assert top["lineage"] == [{"relation": "superseded_by", "id": made["id"], "status": "rejected"}]
    assert [one["id"] for one in answer["decided_against"]] == [made["id"]]


def test_several_ids_make_one_branch_and_promoting_twice_is_no_error(work: Path, provider: Provider) -> None:
    """Several candidates are one pull request; asking again finds the branch that says the same."""
    ids = [provider.propose(proposal(title=t, body=f"{t} body words"))["id"] for t in ("Alpha one", "Beta two")]
    done = promote(provider, ids)
    assert done["branch"] == f"knowledge/promote/{ids[0]}-and-1-more"
    assert [one["id"] for one in done["records"]] == ids
    again = promote(provider, ids)
    assert run(work, "rev-parse", done["branch"]) == done["commit"]
    assert again["commit"] == done["commit"]


def test_a_status_has_to_fit(provider: Provider) -> None:
    """A status the kind cannot have, or that is none to promote to, is refused with the ones that are."""
    made = provider.propose(proposal())
    for status in ("verified", "candidate", "done"):
        with pytest.raises(SidecarError, match=status):
            promote(provider, [made["id"]], status=status)
    with pytest.raises(SidecarError, match="did you mean"):
        promote(provider, [made["id"][:-1]])


def test_with_gh_it_pushes_and_opens_the_pull_request(
    work: Path, provider: Provider, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With gh for a GitHub remote the branch is pushed and the pull request opened into the default branch."""
    tools = tmp_path / "tools"
    tools.mkdir()
    gh = tools / "gh"
    gh.write_text(f'#!/bin/sh\nprintf "%s\\n" "$@" > {tmp_path}/said\necho https://github.com/o/r/pull/7\n')
    gh.chmod(gh.stat().st_mode | stat.S_IEXEC)
    monkeypatch.setenv("PATH", f"{tools}{os.pathsep}{os.environ['PATH']}")
    bare = run(work, "remote", "get-url", "origin")
    run(work, "config", "url." + bare + ".insteadOf", "https://github.com/o/r")
    run(work, "remote", "set-url", "origin", "https://github.com/o/r")
    monkeypatch.setattr("sidecar.pull_request.remote_url", lambda _repo, _remote: "https://github.com/o/r")
    made = provider.propose(proposal(supersedes=["decision-0001"]))
    done = promote(provider, [made["id"]])
    assert (done["pushed"], done["pull_request"], done["commands"]) == (True, "https://github.com/o/r/pull/7", [])
    assert run(Path(bare), "rev-parse", done["branch"]) == done["commit"]
    said = (tmp_path / "said").read_text()
    assert f"--head\n{done['branch']}\n--base\nmain\n" in said
    assert "closes decision-0001 (superseded)" in said


def test_without_a_remote_it_prints_what_a_reviewer_types(repository: Path, opened: Open) -> None:
    """No remote is no failure: the commands to merge are the answer."""
    put(repository, {"knowledge/policy.yaml": "embedder: {model: toy, languages: 'off'}\n"})
    provider = opened(repository)
    done = promote(provider, [provider.propose(proposal())["id"]])
    assert done["commands"] == ["git switch main", f"git merge --no-ff {done['branch']}"]


def test_candidates_lists_local_and_remote_ones(work: Path, clone: Callable[[str], Path], opened: Open) -> None:
    """The listing names age, author, where each stands, and the nearest records in force; a merged one is marked."""
    provider = opened(work)
    first = provider.propose(proposal(title="The store is SQLite 4", body="Which keeps records."), agent="a1")
    run(work, "push", "-q", "origin", first["branch"])
    other = clone("other")
    found = listing(opened(other))["candidates"]
    assert [(c["id"], c["places"], c["author"], c["proposed_by"]["agent"]) for c in found] == [
        (first["id"], ["origin"], "Test", "a1")
    ]
    assert found[0]["nearest"][0]["id"] == "decision-0001"
    assert listing(provider)["candidates"][0]["places"] == ["local", "origin"]
    done = promote(provider, [first["id"]])
    run(work, "push", "-q", "origin", f"{done['branch']}:main")
    assert listing(provider)["candidates"][0]["state"] == "merged"


def test_withdrawing_deletes_the_local_branch_and_says_the_rest(work: Path, provider: Provider) -> None:
    """The branch goes, the way back is told, the remote one is the user's to delete; a checked-out one is refused."""
    made = provider.propose(proposal())
    run(work, "push", "-q", "origin", made["branch"])
    run(work, "switch", "-q", made["branch"])
    with pytest.raises(SidecarError, match="is checked out"):
        withdraw(provider, made["id"])
    run(work, "switch", "-q", "main")
    done = withdraw(provider, made["id"])
    assert run(work, "branch", "--list", made["branch"]) == ""
    assert done["command"] == f"git push origin --delete {made['branch']}"
    run(work, *done["restore"].split()[1:])
    assert run(work, "rev-parse", made["branch"]) == made["commit"]
