"""The clauses on answers: statuses, order, filters, no match, receipts."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from evals.contract.clause import Bend, Clause, refused, require
from evals.contract.memory import QUESTION, RECORDS, TIED, UNANSWERED, Memory, Reply
from sidecar.query import Query

ASKED = Query(QUESTION, limit=20)
EVERY = Query(listing=True, limit=50, statuses=("all",))


def ids(answer: Reply, name: str = "results") -> list[str]:
    """Return the ids in one list of an answer."""
    return [entry["id"] for entry in answer[name]]


def lies(**changed: Any) -> Bend:  # noqa: ANN401 - parts of a reply
    """Return a bend that replaces parts of a reply."""
    return lambda call, _memory, _arguments: {**call(), **changed}


def slips(ident: str, name: str = "results", **keys: Any) -> Bend:  # noqa: ANN401 - parts of an entry
    """Return a bend that slips a record into a list of every answer."""

    def bend(call: Any, _memory: Memory, _arguments: Any) -> Reply:  # noqa: ANN401 - see Bend
        answer = call()
        blank = {"status": "accepted", "score": 0.0, "date": "", "tags": [], "kind": "decision", "blob": "0"}
        return {**answer, name: [*answer.get(name, []), {"id": ident, **blank, **keys}]}

    return bend


def loses(name: str) -> Bend:
    """Return a bend that empties a list of every answer."""
    return lies(**{name: []})


def turns(name: str) -> Bend:
    """Return a bend that turns a list of every answer round."""

    def bend(call: Any, _memory: Memory, _arguments: Any) -> Reply:  # noqa: ANN401 - see Bend
        reply = call()
        return {**reply, name: reply[name][::-1]}

    return bend


def _never(ident: str) -> Any:  # noqa: ANN401 - a check
    def check(memory: Memory) -> None:
        for wording in (QUESTION, "orders kept", f"{QUESTION} {QUESTION}"):
            found = ids(memory.recall(replace(ASKED, question=wording)))
            require(found and ident not in found, found)

    return check


def _in_force(memory: Memory) -> None:
    found = ids(memory.recall(ASKED))
    require({"decision-0001", "decision-0006", "fact-0001"} <= set(found), found)


def _decided_against(memory: Memory) -> None:
    answer = memory.recall(ASKED)
    require(ids(answer, "decided_against") == ["decision-0002"], answer["decided_against"])
    require("decision-0002" not in ids(answer), ids(answer))


def _asked_for(memory: Memory) -> None:
    answer = memory.recall(replace(ASKED, statuses=("superseded",)))
    require(ids(answer) == ["decision-0000"], ids(answer))


def _effective(memory: Memory) -> None:
    states = {entry["id"]: entry for entry in memory.recall(EVERY)["results"]}
    for ident, status in (("decision-0000", "superseded"), ("fact-0002", "refuted"), ("decision-0005", "historical")):
        require(states[ident]["status"] == status, states[ident])
    require(states["decision-0000"]["status_in_file"] == "accepted", states["decision-0000"])


def _named(memory: Memory) -> None:
    answer = memory.recall(replace(ASKED, question="decision-0000"))
    (entry,) = answer["retired"]
    require(entry["id"] == "decision-0000" and entry["replaced_by"] == ["decision-0001"], entry)
    require(ids(answer)[0] == "decision-0001", ids(answer))


def _order(memory: Memory) -> None:
    found = ids(memory.recall(Query(TIED)))
    require(found[:3] == ["decision-0022", "decision-0020", "decision-0021"], found)
    scores = [entry["score"] for entry in memory.recall(ASKED)["results"]]
    require(scores == sorted(scores, reverse=True), scores)


def _repeatable(memory: Memory) -> None:
    one, two = memory.recall(ASKED), memory.recall(ASKED)
    require({**one, "receipt": 0} == {**two, "receipt": 0}, (one, two))


_calls = iter(range(1_000_000))


def _wavers(call: Any, _memory: Memory, _arguments: Any) -> Reply:  # noqa: ANN401 - see Bend
    return {**call(), "total": next(_calls)}


def _pages(memory: Memory) -> None:
    asked, total = Query(listing=True, limit=4), -1
    found: list[str] = []
    while True:
        page = memory.recall(asked)
        require(total in (-1, page["total"]) and len(page["results"]) <= asked.limit, page["total"])
        total, found = page["total"], [*found, *ids(page)]
        if not page["has_more"]:
            break
        require(page["next_cursor"] and page["results"], page)
        asked = replace(asked, cursor=page["next_cursor"])
    require(len(found) == len(set(found)) == total, (found, total))


def _newest_first(memory: Memory) -> None:
    dates = [entry["date"] for entry in memory.recall(Query(listing=True, limit=50))["results"]]
    require(dates and dates == sorted(dates, reverse=True), dates)


def _tags(memory: Memory) -> None:
    answer = memory.recall(Query(listing=True, limit=50, tags=("orders", "law")))
    require(ids(answer) == ["fact-0001"] and answer["total"] == 1, ids(answer))


def _kinds(memory: Memory) -> None:
    answer = memory.recall(replace(ASKED, kinds=("fact",)))
    require(ids(answer) == ["fact-0001"], ids(answer))


def _open_items(memory: Memory) -> None:
    answer = memory.recall(ASKED)
    require(ids(answer, "open_items") == ["finding-0001"], answer["open_items"])
    require("finding-0001" not in ids(answer), ids(answer))


def _no_match(memory: Memory) -> None:
    answer = memory.recall(Query(UNANSWERED))
    require(answer["verdict"] == "none" and not answer["results"] and not answer["decided_against"], answer)
    require(memory.recall(ASKED)["verdict"] != "none", "an answered question")


def _nothing_asked(memory: Memory) -> None:
    refused(lambda: memory.recall(Query()))


def _says_nothing(_call: Any, _memory: Memory, _arguments: Any) -> Reply:  # noqa: ANN401 - see Bend
    return {"verdict": "none", "results": [], "decided_against": []}


def _receipt(memory: Memory) -> None:
    answer = memory.recall(ASKED)
    kept = memory.receipt(answer["receipt"]["id"])
    told = {(ident, blob) for _, ident, blob in kept["returned"]}
    require(told >= {(entry["id"], entry["blob"]) for entry in answer["results"]}, kept["returned"])
    require(kept["question"] == QUESTION and answer["receipt"]["stored"], kept)


def _replays(memory: Memory) -> None:
    receipt = memory.recall(ASKED)["receipt"]["id"]
    require(memory.verify(receipt) == "same", memory.verify(receipt))
    memory.write([{**RECORDS[1], "title": "Orders are kept in PostgreSQL", "body": "Elsewhere.\n"}])
    require(memory.verify(receipt) == "same", memory.verify(receipt))


def _shown(memory: Memory) -> None:
    for ident, relation, other in (
        ("decision-0000", "superseded_by", "decision-0001"),
        ("decision-0001", "supersedes", "decision-0000"),
    ):
        links = [(link["relation"], link["id"]) for link in memory.show(ident)["lineage"]]
        require((relation, other) in links, links)


CLAUSES: tuple[Clause, ...] = (
    Clause("in-force", "What is in force answers.", _in_force, "recall", loses("results")),
    Clause("superseded", "A superseded record never answers by default.", _never("decision-0000"), "recall",
           slips("decision-0000")),
    Clause("refuted", "A refuted record never answers by default.", _never("fact-0002"), "recall", slips("fact-0002")),
    Clause("unknown", "A status that no one knows never answers by default.", _never("decision-0004"), "recall",
           slips("decision-0004")),
    Clause("proposed", "A proposed record never answers by default.", _never("decision-0003"), "recall",
           slips("decision-0003")),
    Clause("expired", "Past valid_until a record never answers by default.", _never("decision-0005"), "recall",
           slips("decision-0005")),
    Clause("history", "Kind history never answers by default.", _never("history-0001"), "recall",
           slips("history-0001")),
    Clause("decided-against", "A rejected decision stands in decided_against, never in results.", _decided_against,
           "recall", loses("decided_against")),
    Clause("asked-for", "A status that is asked for answers, and no other.", _asked_for, "recall",
           slips("decision-0001")),
    Clause("effective", "status is the effective one; status_in_file says what the file says.", _effective, "recall",
           slips("decision-0000", status="accepted", status_in_file="accepted")),
    Clause("named", "A retired record named by its id is told with its successor, which ranks first.", _named,
           "recall", loses("retired")),
    Clause("order", "Results come by score, then newest first, then by id.", _order, "recall", turns("results")),
    Clause("repeatable", "The same question on the same records gives the same answer less its receipt.", _repeatable,
           "recall", _wavers),
    Clause("pages", "Pages hold each record once, and total is exact.", _pages, "recall", slips("decision-0001")),
    Clause("newest-first", "A listing comes newest first.", _newest_first, "recall", turns("results")),
    Clause("tags", "Of several tags all must match.", _tags, "recall", slips("decision-0001")),
    Clause("kinds", "A filter by kind lets no other kind through.", _kinds, "recall", slips("decision-0001")),
    Clause("open-items", "An open item stands in open_items, never in results.", _open_items, "recall",
           slips("finding-0001")),
    Clause("no-match", "A question that no record answers gets the verdict none and no result.", _no_match, "recall",
           lies(verdict="match")),
    Clause("nothing-asked", "A question without words or filters is refused with what to do.", _nothing_asked,
           "recall", _says_nothing),
    Clause("receipt", "A receipt names the question and every id and blob that was returned.", _receipt, "receipt",
           lies(returned=[])),
    Clause("replay", "A receipt replays, also after the records have changed.", _replays, "verify",
           lambda _call, _memory, _arguments: "differs: records"),
    Clause("lineage", "A record is shown whatever its status, with its lineage both ways.", _shown, "show",
           lies(lineage=[])),
)  # fmt: skip
