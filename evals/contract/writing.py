"""The clauses on writing: candidates, and records that live in files."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from evals.contract.clause import Clause, refused, require
from evals.contract.memory import PROPOSAL, SECRET, Memory, Reply
from evals.contract.reading import ASKED, ids, lies
from seed.errors import SidecarError

FILE_BACKED = "memory/file-backed"
_ACCEPTED = "decision-0001"
_CANDIDATES = replace(ASKED, statuses=("candidate",))


def _candidate(memory: Memory) -> None:
    ident = memory.propose(PROPOSAL)["id"]
    found = memory.recall(_CANDIDATES)
    require(ids(found) == [ident], ids(found))
    (entry,) = found["results"]
    require((entry["status"], entry["trust"]) == ("candidate", "agent_generated"), entry)


def _silent(memory: Memory) -> None:
    ident = memory.propose(PROPOSAL)["id"]
    found = ids(memory.recall(ASKED))
    require(found and ident not in found, found)


def _retires_nothing(memory: Memory) -> None:
    memory.propose(PROPOSAL)
    found = ids(memory.recall(ASKED))
    require(_ACCEPTED in found, found)


def _secret(memory: Memory) -> None:
    told = refused(lambda: memory.propose({**PROPOSAL, "body": f"The token is {SECRET}.\n"}))
    require(SECRET not in told, "the secret itself")
    require(not memory.recall(_CANDIDATES)["results"], "a candidate")


def _invalid(memory: Memory) -> None:
    refused(lambda: memory.propose({**PROPOSAL, "kind": "novel"}))
    refused(lambda: memory.propose({**PROPOSAL, "title": ""}))
    require(not memory.recall(_CANDIDATES)["results"], "a candidate")


def _again(memory: Memory) -> None:
    one, two = memory.propose(PROPOSAL), memory.propose(PROPOSAL)
    require(one["id"] == two["id"] and two["seen_again"] == 1, two)
    require(len(memory.recall(_CANDIDATES)["results"]) == 1, memory.recall(_CANDIDATES)["results"])


def _filed(act: Callable[[Memory], Reply]) -> Callable[[Memory], None]:
    def check(memory: Memory) -> None:
        before = memory.show(_ACCEPTED)["record"]
        told = act(memory)
        require(told["code"] == FILE_BACKED and told["id"] == _ACCEPTED, told)
        require(told["path"] and told["line"] >= 1 and told["commit"], told)
        require(memory.show(_ACCEPTED)["record"] == before, memory.show(_ACCEPTED)["record"])

    return check


def _amended(memory: Memory) -> None:
    ident = memory.propose(PROPOSAL)["id"]
    memory.revise(ident, {"title": "Orders are kept in a chain of blocks"})
    record = memory.show(ident)["record"]
    require(record["title"] == "Orders are kept in a chain of blocks" and record["status"] == "candidate", record)
    refused(lambda: memory.revise(ident, {"status": "accepted"}))
    refused(lambda: memory.revise(ident, {"trust": "user_confirmed"}))


def _withdrawn(memory: Memory) -> None:
    ident = memory.propose(PROPOSAL)["id"]
    memory.forget(ident, "it was a mistake")
    require(not memory.recall(_CANDIDATES)["results"], memory.recall(_CANDIDATES)["results"])


def _missing(memory: Memory) -> None:
    refused(lambda: memory.show("decision-9999"))
    refused(lambda: memory.revise("decision-9999", {"title": "x"}))
    refused(lambda: memory.forget("decision-9999", "why"))


def _swallows(call: Any, _memory: Memory, _arguments: Any) -> Reply:  # noqa: ANN401 - see Bend
    try:
        reply: Reply = call()
    except SidecarError:
        return {"id": ""}
    return reply


def _accepts(_call: Any, memory: Memory, arguments: Any) -> Reply:  # noqa: ANN401 - see Bend
    """Make a proposal the rule at once, as no memory may."""
    memory.write([{**arguments[0], "id": "decision-0099", "status": "accepted", "date": "2026-11-29"}])
    return {"id": "decision-0099", "seen_again": 0}


def _edits(_call: Any, memory: Memory, arguments: Any) -> Reply:  # noqa: ANN401 - see Bend
    """Change the accepted record itself, as no memory may."""
    record = memory.show(arguments[0])["record"]
    values = {key: record[key] for key in ("id", "kind", "status", "date")}
    memory.write([{**values, "title": "Changed", "body": "Changed.\n"}])
    return {"code": FILE_BACKED, "id": arguments[0], "path": "p", "line": 1, "commit": "c"}


CLAUSES: tuple[Clause, ...] = (
    Clause("candidate", "What is proposed is a candidate of trust agent_generated, whatever it asks for.", _candidate,
           "propose", _accepts),
    Clause("candidate-silent", "A candidate never answers unless candidates are asked for.", _silent, "propose",
           _accepts),
    Clause("candidate-retires-nothing", "What a candidate says of other records retires none of them.",
           _retires_nothing, "propose", _accepts),
    Clause("secret", "A record with a secret is refused without the secret's value, and nothing is kept.", _secret,
           "propose", _swallows),
    Clause("invalid", "A record that breaks a rule is refused with what to do, and nothing is kept.", _invalid,
           "propose", _swallows),
    Clause("seen-again", "The same proposal again is counted, not kept twice.", _again, "propose",
           lies(seen_again=0)),
    Clause("revise-filed", "Revising an accepted record says file, line and commit, and changes nothing.",
           _filed(lambda memory: memory.revise(_ACCEPTED, {"title": "Changed"})), "revise", _edits),
    Clause("forget-filed", "Forgetting an accepted record says file, line and commit, and changes nothing.",
           _filed(lambda memory: memory.forget(_ACCEPTED, "why")), "forget", _edits),
    Clause("amended", "A candidate can be revised, but not in status or trust.", _amended, "revise", _swallows),
    Clause("withdrawn", "A candidate that is forgotten is gone.", _withdrawn, "forget",
           lambda _call, _memory, _arguments: {"state": "withdrawn"}),
    Clause("missing", "An id that no record has is refused with what to do.", _missing, "show", _swallows),
)  # fmt: skip
