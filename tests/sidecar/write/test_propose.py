from __future__ import annotations

import re
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from seed.errors import SidecarError
from seed.git import candidates as git_candidates
from sidecar.propose import propose, proposer
from sidecar.provider import Provider
from sidecar.query import Query

from .conftest import NOW, POLICY, decision, fingerprint, proposal, put, run

Open = Callable[[Path], Provider]


def branches(repo: Path) -> list[str]:
    return run(repo, "for-each-ref", "--format=%(refname:short)", "refs/heads/knowledge").split()


def file_of(repo: Path, done: dict[str, str]) -> str:
    return run(repo, "show", f"{done['branch']}:{done['path']}")


def test_a_proposal_touches_neither_working_tree_nor_index(work: Path, provider: Provider) -> None:
    """Whatever is staged, changed or new in the checkout is byte for byte the same after a proposal."""
    (work / "staged.txt").write_text("staged")
    run(work, "add", "staged.txt")
    (work / "knowledge/decisions/decision-0001.yaml").write_text("half an edit")
    before, head = fingerprint(work), run(work, "rev-parse", "HEAD")
    done = provider.propose(proposal())
    assert fingerprint(work) == before
    assert run(work, "rev-parse", "HEAD") == head
    assert run(work, "rev-parse", f"{done['branch']}^") == head


def test_a_proposal_is_a_candidate_whatever_it_asks_for(work: Path, provider: Provider) -> None:
    """Status, trust, id and who proposed are never the model's to say: its claims are kept apart."""
    wish = proposal(id="decision-0002", status="accepted", trust="user_confirmed", proposed_by={"agent": "the CTO"})
    done = provider.propose(wish, agent="client", session="s1", work="issue-4")
    text = file_of(work, done)
    assert re.fullmatch(r"decision-20261129-[0-9a-f]{6}", done["id"])
    assert done["branch"] == f"knowledge/candidate/{done['id']}"
    assert "\nstatus: candidate\n" in text
    assert "\ntrust: agent_generated\n" in text
    assert "agent: client, session: s1, work: issue-4" in text
    assert "claimed: agent the CTO; status accepted; trust user_confirmed" in text
    assert done["warnings"] == ["the id 'decision-0002' is not used: a proposal is named by its content"]
    trailers = run(work, "log", "-1", "--format=%(trailers)", done["branch"])
    assert trailers == "Proposed-By: client\nSession: s1\nWork: issue-4"


def test_the_environment_names_the_agent_before_its_client(
    work: Path, provider: Provider, monkeypatch: pytest.MonkeyPatch
) -> None:
    """SIDECAR_AGENT is set by whoever runs the agent, so it counts more than the name a client gives itself."""
    monkeypatch.setenv("SIDECAR_AGENT", "known-agent")
    assert "agent: known-agent" in file_of(work, provider.propose(proposal(), agent="client"))


def test_twenty_proposals_at_once_lose_none(work: Path, opened: Open) -> None:
    """Each of twenty concurrent proposals stands on a branch of its own afterwards."""
    providers = [opened(work) for _ in range(20)]

    def one(n: int) -> str:
        words = f"Topic{n} alpha{n} beta{n} gamma{n}"
        return str(providers[n].propose(proposal(title=words, body=words), session=f"s{n}")["branch"])

    with ThreadPoolExecutor(20) as pool:
        made = list(pool.map(one, range(20)))
    assert sorted(made) == branches(work)
    assert len(set(made)) == 20


def test_twenty_equal_proposals_at_once_are_counted_on_one_branch(work: Path, opened: Open) -> None:
    """Of twenty that say the same at once one makes the branch and nineteen are counted there."""
    providers = [opened(work) for _ in range(20)]
    with ThreadPoolExecutor(20) as pool:
        done = list(pool.map(lambda n: providers[n].propose(proposal(), session=f"s{n}"), range(20)))
    assert len(branches(work)) == 1
    assert {one["id"] for one in done} == {done[0]["id"]}
    assert file_of(work, done[0]).count("- date:") == 19
    assert sorted(one["seen_again"] for one in done) == list(range(20))


def test_the_same_again_amends_and_a_pushed_one_gets_a_commit_on_top(work: Path, provider: Provider) -> None:
    """Seen again amends the candidate's one commit, unless a remote has it: then a push must not need force."""
    first = provider.propose(proposal())
    again = provider.propose(proposal(body="We keep records in PostgreSQL!"), session="other")
    assert (again["id"], again["seen_again"]) == (first["id"], 1)
    assert run(work, "rev-list", "--count", f"main..{first['branch']}") == "1"
    run(work, "push", "-q", "origin", first["branch"])
    assert provider.propose(proposal())["seen_again"] == 2
    assert run(work, "rev-list", "--count", f"main..{first['branch']}") == "2"
    run(work, "push", "-q", "origin", first["branch"])


@pytest.mark.parametrize("body", ["We never keep records in PostgreSQL.", "We keep records in PostgreSQL 17."])
def test_one_word_more_may_be_another_claim(body: str, work: Path, provider: Provider) -> None:
    """A negation or a number makes a proposal a different one, however alike the words are."""
    provider.propose(proposal(body="We keep records in PostgreSQL. " * 4 + "We keep records in PostgreSQL."))
    done = provider.propose(proposal(body="We keep records in PostgreSQL. " * 4 + body))
    assert done["seen_again"] == 0
    assert len(branches(work)) == 2


def test_a_secret_is_refused_by_its_rule(work: Path, provider: Provider) -> None:
    """The refusal names key and rule, never the value, and nothing is written, not even an object."""
    token = "ghp_" + "aB3dE5gH" * 5
    objects = run(work, "count-objects")
    with pytest.raises(SidecarError) as raised:
        provider.propose(proposal(source=[{"url": f"https://example.org/?t={token}"}]))
    assert "github-token" in str(raised.value)
    assert "source" in str(raised.value)
    assert token not in str(raised.value)
    assert (branches(work), run(work, "count-objects")) == ([], objects)


def test_every_fault_of_a_record_is_named(provider: Provider) -> None:
    """A proposal that breaks several rules hears of all of them in one line."""
    with pytest.raises(SidecarError) as raised:
        provider.propose({"kind": "opinion", "title": "", "date": "yesterday"})
    assert all(word in str(raised.value) for word in ("opinion", "no title"))
    with pytest.raises(SidecarError, match=r"record:2: key 'kind' stands twice"):
        provider.propose("kind: fact\nkind: fact\n")


def test_a_session_proposes_only_so_much(work: Path, opened: Open) -> None:
    """Policy bounds what one session may leave waiting; another session goes on."""
    put(work, {"knowledge/policy.yaml": POLICY + "candidates: {per_session: 2}\n"})
    provider = opened(work)
    for n in range(2):
        provider.propose(proposal(title=f"Topic{n}", body=f"words{n} of{n} its{n}"), session="s1")
    with pytest.raises(SidecarError, match="session s1 has 2 proposals waiting"):
        provider.propose(proposal(), session="s1")
    assert provider.propose(proposal(), session="s2")["id"]


def test_a_candidate_answers_only_when_asked(provider: Provider) -> None:
    """A candidate is withheld by default, and comes back marked as one, ranked by its own weight, when asked for."""
    done = provider.propose(proposal(title="Queues run on NATS", body="Queues run on NATS streams."))
    plain = provider.recall(Query("NATS queues"))
    assert done["id"] not in [r["id"] for r in plain["results"]]
    assert plain["withheld"]["candidate"] == 1
    asked = provider.recall(Query("NATS queues", statuses=("candidate",)))
    assert [(r["id"], r["status"], r["branch"]) for r in asked["results"]] == [
        (done["id"], "candidate", f"refs/heads/{done['branch']}")
    ]


def test_a_lagging_branch_takes_nothing_else_for_a_proposal(
    work: Path, opened: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A proposal on the default branch's tip holds one record, also where HEAD lags behind that tip."""
    run(work, "switch", "-q", "-c", "feature")
    run(work, "switch", "-q", "main")
    put(work, {"knowledge/decisions/decision-0002.yaml": decision("decision-0002", "Logs are JSON", "Logs are JSON.")})
    run(work, "push", "-q", "origin", "main")
    run(work, "switch", "-q", "feature")
    provider = opened(work)
    done = provider.propose(proposal())
    assert done["base"]["ref"] == "origin/main"

    def overlay() -> list[str]:
        found = git_candidates.candidates(provider.session.repo, run(work, "rev-parse", "HEAD"))
        return [one.path for one in found]

    assert overlay() == [done["path"]]
    monkeypatch.setattr(git_candidates, "start_of", lambda _repo, _commit: "")
    assert "knowledge/decisions/decision-0002.yaml" in overlay()


def test_onto_current_starts_at_head(work: Path, provider: Provider) -> None:
    """A decision that belongs with its code starts from HEAD, by argument or by a line in the record."""
    run(work, "switch", "-q", "-c", "feature")
    head = put(work, {"code.py": "x = 1\n"})
    for done in (
        provider.propose(proposal(), onto="current"),
        provider.propose("kind: fact\ntitle: Code needs x\nonto: current\n"),
    ):
        assert run(work, "rev-parse", f"{done['branch']}^") == head
    with pytest.raises(SidecarError, match="onto 'elsewhere' is not known"):
        provider.propose(proposal(), onto="elsewhere")


def test_it_says_what_it_is_close_to(work: Path, opened: Open) -> None:
    """Before it is written a proposal hears of duplicates, contradictions, and decisions against it."""
    files = {
        "knowledge/a.yaml": decision(
            "decision-0002", "Reports are PDF files", "Reports are PDF files.", status="rejected"
        ),
        "knowledge/b.yaml": decision("decision-0003", "Backups run nightly", "Backups run.", trust="user_confirmed"),
    }
    put(work, files)
    provider = opened(work)

    def hints(**keys: object) -> dict[str, str]:
        done = propose(provider, proposal(**keys), proposer(), dry_run=True)
        return {hint["id"]: hint["hint"] for hint in done["write_hints"]}

    same = hints(title="The store is SQLite", body="We keep records in SQLite on disk.")
    assert same["decision-0001"] == "near_duplicate"
    other = hints(title="The store is SQLite in memory", body="Records vanish when the process ends, which is fine.")
    assert other["decision-0001"] == "may_contradict"
    against = hints(title="Reports are PDF files", body="Whoever wants to print one gets it as a document.")
    assert against["decision-0002"] == "decided_against"
    assert hints(supersedes=["decision-0003"])["decision-0003"] == "needs_user_confirmation"
    assert branches(work) == []


def test_push_follows_policy(work: Path, opened: Open) -> None:
    """Never and ask push nothing; auto pushes, and a push that fails costs no proposal and names the command."""
    put(work, {"knowledge/policy.yaml": POLICY + "candidates: {push: never}\n"})
    never = opened(work).propose(proposal(title="A", body="one two three"))
    assert (never["pushed"], never["command"]) == (False, "")
    put(work, {"knowledge/policy.yaml": POLICY})
    ask = opened(work).propose(proposal(title="B", body="four five six"))
    assert (ask["pushed"], ask["command"]) == (False, f"git push origin {ask['branch']}")
    put(work, {"knowledge/policy.yaml": POLICY + "candidates: {push: auto}\n"})
    auto = opened(work).propose(proposal(title="C", body="seven eight nine"))
    assert auto["pushed"]
    assert run(work, "ls-remote", "origin", auto["branch"]).startswith(auto["commit"])
    run(work, "remote", "set-url", "origin", "https://user:hidden@127.0.0.1:1/none.git")
    failed = opened(work).propose(proposal(title="D", body="ten eleven twelve"))
    assert (failed["pushed"], failed["command"]) == (False, f"git push origin {failed['branch']}")
    assert failed["push_note"]
    assert "hidden" not in str(failed)


def test_without_an_identity_it_still_commits(work: Path, provider: Provider, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where git itself would refuse to commit, the sidecar signs as itself; where git knows, it is used."""
    done = provider.propose(proposal())
    assert run(work, "log", "-1", "--format=%cn <%ce>", done["branch"]) == "Test <test@localhost>"
    (work / ".git" / "nobody").write_text("[user]\n\tuseConfigOnly = true\n")
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(work / ".git" / "nobody"))
    done = provider.propose(proposal(title="E", body="thirteen fourteen"))
    assert run(work, "log", "-1", "--format=%an %cn <%ce>", done["branch"]) == "sidecar sidecar <sidecar@localhost>"


def test_a_bare_repository_takes_proposals(tmp_path: Path, clone: Callable[[str], Path], opened: Open) -> None:
    """No checkout is needed at all."""
    clone("any")
    done = opened(tmp_path / "remote.git").propose(proposal())
    assert run(tmp_path / "remote.git", "show", f"{done['branch']}:{done['path']}")


def test_a_repository_without_a_commit_is_told_what_to_do(repository: Path, opened: Open) -> None:
    """There is nothing to branch from yet, and the error says how to begin."""
    with pytest.raises(SidecarError, match="git commit --allow-empty"):
        opened(repository).propose(proposal())


def test_now_is_the_clocks(provider: Provider, work: Path) -> None:
    """The date of a proposal is the provider's day, unless the record names its own."""
    assert f"\ndate: {NOW.date()}\n" in file_of(work, provider.propose(proposal()))
    other = provider.propose(proposal(date="2020-01-01", title="F", body="fifteen"))
    assert "\ndate: 2020-01-01\n" in file_of(work, other)


WRITTEN = """\
# Why we looked at this at all: the outage in March.
kind: decision   # could have been a finding
title: 'Queues are bounded'
status: accepted

tags: [queues,   limits]
body: |
  Every queue has a bound.

# nothing was measured beyond 10,000
date: 2026-11-01
mood: sure
"""


def test_a_proposed_text_stays_as_it_was_written(work: Path, provider: Provider) -> None:
    """Comments, order, quotes and spaces of the file are kept; only what is forced is set, and read back the same."""
    done = provider.propose(WRITTEN)
    text = file_of(work, done) + "\n"
    assert text.startswith(f"id: {done['id']}\n# Why we looked")
    for line in WRITTEN.splitlines():
        assert (line.replace("accepted", "candidate") + "\n") in text, line
    assert "\ntrust: agent_generated\n" in text
    assert provider.show(done["id"])["record"]["status"] == "candidate"
    assert provider.propose(WRITTEN)["seen_again"] == 1


@pytest.mark.parametrize("text", ['{"kind": "fact", "title": "Sky is blue"}', "---\nkind: fact\ntitle: Sky is blue\n"])
def test_a_text_in_another_layout_is_written_anew(work: Path, provider: Provider, text: str) -> None:
    """JSON and a marked document give the same file as the same values do."""
    done = provider.propose(text)
    assert file_of(work, done).startswith(f"id: {done['id']}\nkind: fact\ntitle: Sky is blue\nstatus: candidate\n")


def test_a_secret_in_a_comment_is_refused_too(provider: Provider) -> None:
    """What is kept as written is looked through as written."""
    with pytest.raises(SidecarError, match="looks like a secret"):
        provider.propose(WRITTEN + "# " + "AKIA" + "Z7QF3KXW2MNB5RTY" + "\n")
