from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import pytest

from seed.embed.base import ToyEmbedder
from seed.record import STATUSES
from sidecar.provider import Provider
from sidecar.query import Query

Commit = Callable[..., str]
Text = Callable[..., str]
World = Callable[..., Provider]
FLOOR = 0.2
WEIGHTS = {
    "decision": 2.0,
    "adr": 2.0,
    "fact": 1.7,
    "finding": 1.5,
    "unverified_fact": 1.0,
    "history": 1.0,
    "candidate": 0.8,
}
WORDS = ("alpha", "beta", "gamma", "delta", "lambda", "sigma", "kappa", "theta")


def policy(fusion: str = "cosine", floor: float | None = FLOOR) -> str:
    """Return a policy of the toy embedder with literal weights and, for its identity, a literal floor."""
    identity = ToyEmbedder().identity.digest
    lines = [
        "embedder: {model: toy, languages: 'off'}",
        f"retrieval: {{fusion: {fusion}}}",
        f"weights: {json.dumps(WEIGHTS)}",
    ]
    if floor is not None:
        on = {"cosine": "cosine", "hybrid": "fused", "lexical": "lexical"}[fusion]
        lines.append(f"floors: [{{embedder: '{identity}', on: {on}, value: {floor}}}]")
    return "\n".join(lines) + "\n"


@pytest.fixture
def world(commit: Commit, record_text: Text, provider: Provider) -> World:
    """Return a function that commits records (id -> keys; the title is its own words) and gives the provider."""

    def make(records: dict[str, dict[str, Any]], rules: str | None = None) -> Provider:
        files = {"knowledge/policy.yaml": policy() if rules is None else rules}
        for ident, keys in records.items():
            kind = keys.get("kind", "decision")
            body = None if kind == "fact" else "Alpha."
            values = {"title": "alpha beta gamma", "body": body, "status": _status(kind), **keys}
            files[f"knowledge/{ident}.yaml"] = record_text(ident, **values)
        commit(files)
        return provider

    return make


def _status(kind: str) -> str:
    return {"fact": "verified", "history": "historical"}.get(kind, "accepted")


def ids(answer: dict[str, Any], part: str = "results") -> list[str]:
    return [item["id"] for item in answer[part]]


def ask(world: Provider, question: str = "alpha", **keys: Any) -> dict[str, Any]:
    return world.recall(Query(question, **{"limit": 20, **keys}))


def test_the_words_of_these_tests_have_buckets_of_their_own() -> None:
    """The toy embedder hashes words into 64 buckets; those used here do not meet, so cosines are exact."""
    vectors = [ToyEmbedder().question(word) for word in WORDS]
    assert all(not a @ b for n, a in enumerate(vectors) for b in vectors[:n])


# --- the baseline of the design: one number at a time ----------------------------------------------------------


@pytest.mark.parametrize(
    ("title", "cosine"),
    [("alpha", 1.0), ("alpha beta gamma delta", 0.5), ("beta gamma", None), ("alpha " + " ".join(WORDS[1:]), 0.3536)],
)
@pytest.mark.parametrize(("kind", "weight"), [("decision", 2.0), ("fact", 1.7), ("finding", 1.5)])
def test_the_baseline_score_by_hand(world: World, title: str, cosine: float | None, kind: str, weight: float) -> None:
    """fusion: cosine scores (cosine - floor) / (1 - floor) times the weight of the kind, and nothing at the floor."""
    answer = ask(world({"x-1": {"kind": kind, "title": title, "body": None if kind == "fact" else title}}))
    if cosine is None:
        assert (answer["verdict"], ids(answer)) == ("none", [])
        return
    (result,) = answer["results"]
    assert result["evidence"]["cosine"] == cosine
    assert result["relevance"] == pytest.approx((cosine - FLOOR) / (1 - FLOOR), abs=1e-4)
    assert result["score"] == pytest.approx(weight * (cosine - FLOOR) / (1 - FLOOR), abs=1e-4)


def test_the_baseline_holds_for_every_record_of_an_answer(world: World) -> None:
    """The baseline scores each record by itself, so that every change can be compared with it."""
    records = {f"d-{n}": {"title": " ".join(WORDS[:n]), "body": " ".join(WORDS[:n])} for n in (1, 2, 4, 8)}
    for result in ask(world(records))["results"]:
        cosine = result["evidence"]["cosine"]
        assert result["score"] == pytest.approx(2.0 * (cosine - FLOOR) / (1 - FLOOR), abs=1e-3)


@pytest.mark.parametrize("floor", [0.49, 0.5, 0.51])
def test_a_record_at_the_floor_is_not_returned(world: World, floor: float) -> None:
    """Evidence at or below the floor is no answer, a hair above it is one."""
    title = "alpha beta gamma delta"
    answer = ask(world({"d-1": {"title": title, "body": title}}, policy(floor=floor)))
    assert ids(answer) == (["d-1"] if floor < 0.5 else [])
    assert answer["withheld"]["below_floor"] == (0 if floor < 0.5 else 1)


# --- who answers -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("fusion", ["cosine", "hybrid", "lexical"])
def test_only_what_is_in_force_is_among_the_results(world: World, fusion: str) -> None:
    """Under every fusion the results hold accepted, verified and unverified records and nothing else."""
    records = {f"d-{s}": {"status": s} for s in STATUSES} | {
        f"f-{s}": {"kind": "fact", "status": s} for s in ("verified", "unverified")
    }
    records["h-1"] = {"kind": "history"}
    answer = ask(world(records, policy(fusion, floor=0.0)))
    assert set(ids(answer)) == {"d-accepted", "f-verified", "f-unverified"}
    assert ids(answer, "decided_against") == ["d-rejected"]
    assert ids(answer, "retired") == []


@pytest.mark.parametrize("status", [s for s in STATUSES if s not in ("accepted", "verified", "unverified")])
def test_any_other_status_answers_when_it_is_asked_for(world: World, status: str) -> None:
    """A status that is named comes back, marked as what it is."""
    answer = ask(world({"d-1": {"status": status}, "d-2": {}}), statuses=(status,))
    assert [(r["id"], r["status"]) for r in answer["results"]] == [("d-1", status)]


@pytest.mark.parametrize(
    "wording",
    [
        {"status": "refuted"},
        {"status": " REFUTED "},
        {"status": "false, see F-29"},
        {"status": "disproved"},
        {"status": "verified", "refuted_by": ["f-29"]},
        {"status": "verified", "refuted_by": ["gone"]},
        {"status": "wrong"},
    ],
    ids=str,
)
@pytest.mark.parametrize("question", ["alpha beta gamma", "f-1", "what about f-1 and alpha"])
def test_a_refuted_fact_never_comes_back_by_default(world: World, wording: dict[str, Any], question: str) -> None:
    """In none of these wordings, and not when it is asked for by its id."""
    records = {"f-1": {"kind": "fact", **wording}, "f-29": {"kind": "fact", "title": "delta"}}
    assert "f-1" not in ids(ask(world(records), question))


def test_decided_against_holds_three_at_most_and_obeys_the_floor(world: World) -> None:
    """Rejected decisions stand beside the results, the best three of those above the floor."""
    near = {f"d-{n}": {"status": "rejected", "title": " ".join(WORDS[:n]), "body": "."} for n in range(1, 6)}
    far = {"d-9": {"status": "rejected", "title": "lambda", "body": "sigma"}}
    answer = ask(world(near | far, policy(floor=0.3)))
    assert ids(answer) == []
    assert ids(answer, "decided_against") == ["d-1", "d-2", "d-3"]
    assert answer["verdict"] != "none"


def test_nothing_found_is_an_honest_no_match(world: World) -> None:
    """`none` names how many were below the floor and the nearest one, marked as such."""
    answer = ask(world({"d-1": {"title": "lambda"}, "d-2": {"title": "sigma"}}), "theta")
    assert (answer["verdict"], answer["results"], answer["decided_against"]) == ("none", [], [])
    assert answer["withheld"]["below_floor"] == 2
    assert "below the floor" in answer["note"]


def test_past_its_last_day_a_record_is_historical(world: World) -> None:
    """The clock of the question decides, and it stands at 2026-11-29."""
    answer = ask(world({"d-1": {"valid_until": "2026-11-28"}, "d-2": {"valid_until": "2026-11-29"}}))
    assert ids(answer) == ["d-2"]
    assert answer["withheld"]["historical"] == 1


# --- order -----------------------------------------------------------------------------------------------------


def test_a_decision_outweighs_a_fact_that_says_the_same(world: World) -> None:
    """Weights order what is equally near: decision, verified fact, finding, unverified fact."""
    records = {
        "a-unverified": {"kind": "fact", "status": "unverified", "body": "Alpha."},
        "b-finding": {"kind": "finding"},
        "c-verified": {"kind": "fact", "body": "Alpha."},
        "d-decision": {},
    }
    assert ids(ask(world(records))) == ["d-decision", "c-verified", "b-finding", "a-unverified"]


def test_equal_scores_are_ordered_by_date_and_id(world: World) -> None:
    """Newer first, without a date last, then by id."""
    records = {
        "d-a": {"date": "2026-01-01"},
        "d-b": {"date": "2026-05-01"},
        "d-c": {"date": None},
        "d-d": {"date": "2026-01-01"},
    }
    assert ids(ask(world(records))) == ["d-b", "d-a", "d-d", "d-c"]


def test_with_every_status_relevance_decides(world: World) -> None:
    """`all` ranks a superseded record that is nearer above one in force that is farther."""
    records = {"d-old": {"status": "superseded", "title": "alpha"}, "d-new": {"title": "alpha beta gamma delta"}}
    assert ids(ask(world(records), statuses=("all",))) == ["d-old", "d-new"]


# --- exact tokens ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("token", ["seed/store.py", "--dry-run", "max_bytes", "std::vector"])
def test_an_exact_token_brings_its_holder_to_the_front(world: World, token: str) -> None:
    """Whatever its cosine and the floor, the record that holds the token comes first, and the evidence names it."""
    records = {"d-1": {"title": "alpha"}, "d-2": {"title": "lambda", "body": f"See {token} for it."}}
    answer = ask(world(records), f"alpha and {token}")
    assert ids(answer)[0] == "d-2"
    assert answer["results"][0]["evidence"]["exact"] == [token.casefold()]
    assert answer["verdict"] == "match"


def test_a_record_asked_for_by_its_id_comes_first(world: World) -> None:
    """Before every other record that only mentions the id."""
    records = {"d-1": {"title": "lambda"}, "d-2": {"title": "alpha", "body": "As d-1 says."}, "d-3": {"title": "alpha"}}
    assert ids(ask(world(records), "alpha d-1"))[:2] == ["d-1", "d-2"]


def test_a_retired_record_asked_for_by_its_id_sends_its_successor_first(world: World) -> None:
    """It stands in `retired` with what replaced it, and what took its place, along the chain, ranks first."""
    records = {
        "d-1": {"title": "lambda"},
        "d-2": {"title": "lambda", "supersedes": ["d-1"]},
        "d-3": {"title": "sigma", "supersedes": ["d-2"]},
        "d-4": {"title": "alpha"},
    }
    answer = ask(world(records), "alpha d-1")
    assert ids(answer, "retired") == ["d-1"]
    assert answer["retired"][0]["replaced_by"] == ["d-2"]
    assert ids(answer)[0] == "d-3"


def test_a_rejected_successor_takes_no_place(world: World) -> None:
    """A record whose successor was rejected still answers, and its chain is shown."""
    answer = ask(world({"d-1": {}, "d-2": {"status": "rejected", "supersedes": ["d-1"]}}))
    assert ids(answer) == ["d-1"]
    assert answer["results"][0]["lineage"] == [{"relation": "superseded_by", "id": "d-2", "status": "rejected"}]


def test_a_bare_number_that_many_hold_is_not_exact(world: World) -> None:
    """A number in more than three records says nothing of any of them; in three it does."""
    many = {f"d-{n}": {"title": "alpha", "body": "Alpha at 8080."} for n in range(4)}
    opened = world(many)
    assert [r["evidence"]["exact"] for r in ask(opened, "alpha 8080")["results"]] == [[], [], [], []]
    assert [r["evidence"]["exact"] for r in ask(world({"d-0": {"title": "alpha"}}), "alpha 8080")["results"]] == [
        ["8080"],
        ["8080"],
        ["8080"],
        [],
    ]


# --- counters, pages, filters ----------------------------------------------------------------------------------


def test_pages_together_hold_every_result_once(world: World) -> None:
    """Following the cursor gives each record once, in the order of one large page."""
    opened = world({f"d-{n}": {"title": " ".join(WORDS[: 1 + n % 4])} for n in range(9)})
    whole, seen, cursor = ids(ask(opened)), [], ""
    while True:
        page = ask(opened, limit=2, cursor=cursor)
        seen += ids(page)
        assert (page["total"], page["has_more"]) == (9, bool(page["next_cursor"]))
        if not page["has_more"]:
            break
        cursor = page["next_cursor"]
    assert seen == whole


def test_ties_of_an_exact_token_do_not_end_a_page_in_an_error(world: World) -> None:
    """More equal holders of an exact token than a page holds are cut to it, and the next pages have the rest."""
    opened = world({f"d-{n}": {"title": "alpha tins_v2"} for n in range(9)})
    first = opened.recall(Query("tins_v2", limit=2))
    assert (ids(first), first["total"]) == (["d-0", "d-1"], 9)
    assert ids(opened.recall(Query("tins_v2", limit=2, cursor=first["next_cursor"]))) == ["d-2", "d-3"]


def test_a_listing_counts_as_historical_what_is_so_by_kind_or_by_status(world: World) -> None:
    """Several kinds and statuses come under one word, and none of them takes the place of another in the count."""
    history = {f"h-{status}": {"kind": "history", "status": status} for status in ("accepted", "superseded")}
    opened = world({**history, "d-1": {"status": "historical"}, "d-2": {"valid_until": "2020-01-01"}, "d-3": {}})
    assert opened.recall(Query(listing=True, limit=1))["withheld"]["historical"] == 4


def test_withheld_counts_only_what_would_have_been_on_the_page(world: World) -> None:
    """A superseded record that would have come first is counted, one beyond the page is not."""
    records = {"d-1": {"title": "alpha", "status": "superseded"}, "d-2": {"title": "alpha beta"}}
    records["d-3"] = {"title": "alpha beta gamma delta", "status": "superseded"}
    opened = world(records)
    assert ask(opened, limit=1)["withheld"]["superseded"] == 1
    assert ask(opened, limit=9)["withheld"]["superseded"] == 2


@pytest.mark.parametrize("question", ["", "alpha"])
@pytest.mark.parametrize(
    ("filters", "expected"),
    [
        ({"kinds": ("fact",)}, ["f-1"]),
        ({"tags": ("storage",)}, ["d-2"]),
        ({"path": "seed/store.py"}, ["d-2"]),
        ({"after": "2026-02-01"}, ["d-3"]),
        ({"trust": "user_confirmed"}, ["d-3"]),
    ],
)
def test_filters_hold_with_a_question_and_alone(
    world: World, question: str, filters: dict[str, Any], expected: Sequence[str]
) -> None:
    """An empty question with filters lists exactly what passes them; a question is asked among those."""
    records = {
        "f-1": {"kind": "fact"},
        "d-2": {"tags": ["storage"], "paths": ["seed/store.py"]},
        "d-3": {"date": "2026-03-01", "trust": "user_confirmed"},
    }
    answer = ask(world(records), question, **filters)
    assert (ids(answer), answer["total"]) == (list(expected), len(expected))


def test_a_listing_is_exhaustive_and_newest_first(world: World) -> None:
    """Without a question every record that passes the filters is there, by date."""
    records = {f"d-{n}": {"date": f"2026-01-0{n}", "title": "lambda"} for n in range(1, 6)}
    answer = ask(world(records), "", kinds=("decision",))
    assert ids(answer) == ["d-5", "d-4", "d-3", "d-2", "d-1"]
    assert answer["retrieval"] == "listing"


def test_the_same_question_has_the_same_answer(world: World) -> None:
    """Less its receipt an answer is equal byte for byte, from one process to the next too."""
    opened = world({f"d-{n}": {"title": " ".join(WORDS[:n])} for n in range(1, 6)}, policy("hybrid", floor=None))
    again = Provider(opened.session.folder, embedders=opened.session.choose, clock=opened.clock)
    answers = [ask(one, "alpha beta") for one in (opened, opened, again)]
    plain = {json.dumps({k: v for k, v in answer.items() if k != "receipt"}, sort_keys=True) for answer in answers}
    assert len(plain) == 1
    again.close()


def test_another_phrasing_may_find_what_the_first_misses(world: World) -> None:
    """Phrasings are asked together, and a record that one of them names by its id is found."""
    opened = world({"d-1": {"title": "lambda"}, "d-2": {"title": "alpha"}})
    assert "d-1" in ids(opened.recall(replace(Query("alpha"), also=("d-1",))))


def test_without_records_the_answer_says_so(provider: Provider, commit: Commit) -> None:
    """No knowledge/ is no fault: verdict none, no records, and how to start one."""
    commit({"a": "b"})
    answer = provider.recall(Query("anything"))
    assert (answer["verdict"], answer["coverage"]["records"]) == ("none", 0)
    assert "sidecar new" in answer["note"]


def test_an_unreadable_file_is_counted(world: World, commit: Commit) -> None:
    """One bad file hides no other, and answers say that there is one."""
    opened = world({"d-1": {}})
    commit({"knowledge/bad.yaml": "id: ["})
    answer = ask(opened)
    assert (ids(answer), answer["coverage"]["unreadable"]) == (["d-1"], 1)
