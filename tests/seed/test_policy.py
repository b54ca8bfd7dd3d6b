from __future__ import annotations

import dataclasses
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from seed.errors import SidecarError
from seed.policy import Floor, Policy, from_json
from seed.record import KINDS, STATUSES
from seed.schema import glossary_problems, parse_glossary, parse_policy, policy_problems, policy_schema, record_schema

FULL = """\
format: 1
embedder: {model: BAAI/bge-base-en-v1.5, languages: off}
retrieval: {fusion: cosine, passage_chars: 1200}
floors:
  - {embedder: "sha256:aa", on: cosine, method: max_probe, value: 0.24, probes: "sha256:bb",
     probe: "why?", date: 2026-11-29}
weights: {decision: 3.0}
workspaces: {station: /apps/station/}
candidates: {push: never, per_session: 3}
engine: postgresql
"""


def test_every_key_reaches_the_policy() -> None:
    """Each key of the file ends up in one field; what is not named keeps its shipped value."""
    policy = parse_policy(FULL.encode())
    assert policy.model == "BAAI/bge-base-en-v1.5"
    assert (policy.languages, policy.fusion, policy.passage_chars) == ("off", "cosine", 1200)
    assert policy.floors == (Floor("sha256:aa", 0.24, "cosine", "max_probe", "sha256:bb", "why?", "2026-11-29"),)
    assert policy.weights == {**Policy().weights, "decision": 3.0}
    assert policy.workspaces == {"station": "apps/station"}
    assert (policy.push, policy.per_session, policy.engine) == ("never", 3, "postgresql")


@pytest.mark.parametrize("text", ["", "\n", "format: 1\n", "# nothing\n{}\n"])
def test_without_a_word_the_shipped_policy_holds(text: str) -> None:
    """An empty file changes nothing."""
    assert parse_policy(text.encode()) == Policy()


@pytest.mark.parametrize(
    ("text", "line", "key"),
    [
        ("format: 2\n", 1, "format"),
        ("format: 1\nfloor: 3\n", 2, "floor"),
        ("weights: {decision: 0}\n", 1, "weights.decision"),
        ("weights: {decisions: 2}\n", 1, "weights.decisions"),
        ("retrieval:\n  fusion: magic\n", 1, "retrieval.fusion"),
        ("retrieval: {passage_chars: 10}\n", 1, "passage_chars"),
        ("candidates: {push: always}\n", 1, "candidates.push"),
        ("engine: mysql\n", 1, "engine"),
        ("\nembedder: {languages: german}\n", 2, "embedder.languages"),
        ("floors: [{embedder: x, value: -1}]\n", 1, "floors.0.value"),
        ("floors: {a: b}\n", 1, "floors"),
        ("weights: [\n", 2, "not valid YAML"),
        ("a: 1\na: 2\n", 2, "stands twice"),
    ],
)
def test_a_fault_names_file_line_and_key(text: str, line: int, key: str) -> None:
    """A policy with a fault is refused with one line that says where and what."""
    with pytest.raises(SidecarError, match=rf"^knowledge/policy\.yaml:{line}: ") as caught:
        parse_policy(text.encode())
    assert key in caught.value.message
    assert (caught.value.code, bool(caught.value.fix)) == (1, True)


def test_all_faults_can_be_asked_for_at_once() -> None:
    """check names every fault of the file, not only the first."""
    assert [p.line for p in policy_problems(b"format: 1\nfloor: 3\nweights: {decision: 0, adr: 11}\n")] == [3, 3, 2]
    assert policy_problems(FULL.encode()) == []


def test_policy_survives_its_json() -> None:
    """What the store keeps is the policy that was in force."""
    policy = parse_policy(FULL.encode())
    assert from_json(policy.to_json()) == policy


@pytest.mark.parametrize("change", [{"fusion": "cosine"}, {"passage_chars": 901}, {"weights": {"decision": 1.0}}])
def test_a_changed_policy_has_another_digest(change: dict[str, Any]) -> None:
    """Two policies with one digest answer alike, so any change makes another digest."""
    assert dataclasses.replace(Policy(), **change).digest != Policy().digest


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("status", STATUSES)
def test_every_kind_and_status_has_a_weight(kind: str, status: str) -> None:
    """A candidate weighs as a candidate, a fact that is not verified less than one that is, the rest by kind."""
    policy = Policy()
    expected = policy.weights[kind]
    if status == "candidate":
        expected = policy.weights["candidate"]
    elif kind == "fact" and status != "verified":
        expected = policy.weights["unverified_fact"]
    assert policy.weight(kind, status) == expected


def test_a_floor_belongs_to_one_identity_and_one_kind_of_evidence() -> None:
    """A floor of another embedder or on other evidence is never used."""
    policy = Policy(floors=(Floor("sha256:a", 0.2, "fused"), Floor("sha256:a", 0.5, "cosine"), Floor("sha256:b", 0.9)))
    assert policy.floor_for("sha256:a", "cosine") == Floor("sha256:a", 0.5, "cosine")
    assert policy.floor_for("sha256:a", "lexical") is None
    assert policy.floor_for("sha256:c", "fused") is None


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("cat: [feline, kitty]\ndog: hound\n", {"cat": ("feline", "kitty"), "dog": ("hound",)}),
        ("format: 1\nterms:\n  cat: [feline]\n", {"cat": ("feline",)}),
        ("", {}),
    ],
)
def test_a_glossary_maps_terms_to_synonyms(text: str, expected: dict[str, tuple[str, ...]]) -> None:
    """Terms stand at the top or under `terms`; one synonym may be a plain text."""
    assert parse_glossary(text.encode()) == expected


def test_glossary_faults_are_all_named() -> None:
    """Each term that is no list of texts is named with its line."""
    assert [p.line for p in glossary_problems(b"a: {b: c}\nd: [e]\nf: [{g: h}]\n")] == [1, 3]
    with pytest.raises(SidecarError, match="terms is not a mapping"):
        parse_glossary(b"terms: [a]\n")


@given(st.binary(max_size=100))
def test_no_bytes_raise_anything_else(data: bytes) -> None:
    """Any policy or glossary file ends in a value or in problems."""
    assert all(problem.reason for problem in policy_problems(data) + glossary_problems(data))


def test_the_record_schema_names_what_the_parser_reads() -> None:
    """The schema for editors is made from the parser's own tables."""
    properties = record_schema()["properties"]
    assert set(properties["kind"]["enum"]) == set(KINDS)
    assert set(properties["status"]["enum"]) == {*STATUSES, "draft"}


def test_the_policy_schema_allows_what_the_parser_allows() -> None:
    """The schema for editors refuses unknown keys as the parser does."""
    schema = policy_schema()
    assert schema["additionalProperties"] is False
    assert {"floors", "weights", "workspaces", "retrieval"} <= set(schema["properties"])
