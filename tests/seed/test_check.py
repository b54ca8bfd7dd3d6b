from __future__ import annotations

from typing import Any

import pytest

from seed.check import Finding, check
from seed.reader import build_record, parse_record
from seed.record import Parsed


def file(ident: str, path: str = "", **keys: Any) -> tuple[str, Parsed]:
    data = {"id": ident, "kind": "decision", "title": "T", "status": "accepted", "body": "B", **keys}
    return path or f"knowledge/{ident}.yaml", build_record(data)


def found(*files: tuple[str, Parsed]) -> list[tuple[str, str]]:
    """Return (level, reason) of every finding."""
    return [(finding.level, finding.reason) for finding in check(files)]


def reasons(*files: tuple[str, Parsed]) -> str:
    return "\n".join(f"{finding.level}: {finding.path}: {finding.reason}" for finding in check(files))


def test_sound_records_give_no_finding() -> None:
    """Records that keep every rule are passed without a word."""
    assert check([file("d-1"), file("d-2", supersedes=["d-1"])]) == []


def test_every_problem_of_every_file_is_reported_at_once_in_order() -> None:
    """All problems come back in one run, sorted by path and line."""
    bad = parse_record(b"id: b\nkind: decision\ntitle: T\nstatus: nope\ndate: soon\nbody: B\n")
    worse = parse_record(b"id: [\n")
    findings = check([("knowledge/b.yaml", bad), ("knowledge/a.yaml", worse)])
    assert [(f.path, f.line) for f in findings] == [
        ("knowledge/a.yaml", 2),
        ("knowledge/b.yaml", 4),
        ("knowledge/b.yaml", 5),
    ]


def test_ids_that_differ_only_in_case_collide_and_both_files_are_named() -> None:
    """An id is unique without regard to case; each file's finding names the other."""
    text = reasons(file("D-1", "knowledge/a.yaml"), file("d-1", "knowledge/b.yaml"))
    assert "error: knowledge/a.yaml: id 'D-1' is also the id in knowledge/b.yaml" in text
    assert "error: knowledge/b.yaml: id 'd-1' is also the id in knowledge/a.yaml" in text


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("knowledge/a.yaml", "knowledge/A.yaml"),
        ("knowledge/caf\u00e9.yaml", "knowledge/cafe\u0301.yaml"),
        ("knowledge/x/a.yaml", "knowledge/X/a.yaml"),
    ],
)
def test_paths_that_some_checkouts_cannot_tell_apart_are_errors(one: str, other: str) -> None:
    """Two paths equal but for case or Unicode form cannot both live in every checkout."""
    findings = check([file("d-1", one), file("d-2", other)])
    assert {(f.path, f.level) for f in findings} == {(one, "error"), (other, "error")}


def test_a_cycle_is_an_error_on_each_member_with_the_chain() -> None:
    """Supersession in a circle is an error in every file of the circle, and the chain is shown."""
    text = reasons(file("a", supersedes=["b"]), file("b", supersedes=["c"]), file("c", supersedes=["a"]), file("d"))
    assert text.count("runs in a circle") == 3
    assert "a -> b -> c -> a" in text
    assert "d.yaml" not in text


def test_a_record_that_supersedes_itself_is_a_cycle() -> None:
    """A circle of one is a circle."""
    assert "a -> a" in reasons(file("a", supersedes=["a"]))


@pytest.mark.parametrize(
    ("relation", "level"),
    [
        ("supersedes", "error"),
        ("refutes", "error"),
        ("superseded_by", "error"),
        ("refuted_by", "error"),
        ("amends", "warning"),
        ("amended_by", "warning"),
        ("replies_to", "warning"),
        ("relates_to", "warning"),
    ],
)
def test_a_dangling_relation_is_an_error_where_a_status_hangs_on_it(relation: str, level: str) -> None:
    """A wrong id is an error where it decides a status, and a warning where it only adds to the lineage."""
    ((got, reason),) = found(file("d-1", **{relation: ["gone"]}))
    assert got == level
    assert f"{relation} names 'gone'" in reason


@pytest.mark.parametrize("relation", ["superseded_by", "refuted_by"])
def test_a_missing_successor_is_called_dead(relation: str) -> None:
    """A record that names a successor no file holds is reported as having a dead one."""
    assert "dead successor" in reasons(file("d-1", **{relation: ["gone"]}))


def test_a_relation_to_an_unreadable_file_is_not_a_second_finding() -> None:
    """A target whose own file cannot be read is reported there, not as missing."""
    findings = check([file("d-1", supersedes=["d-2"]), ("knowledge/d-2.yaml", parse_record(b"id: ["))])
    assert [f.path for f in findings] == ["knowledge/d-2.yaml"]


def test_superseded_without_a_successor_is_a_warning() -> None:
    """A record that says superseded should have something that says by what."""
    assert [level for level, _ in found(file("d-1", status="superseded"))] == ["warning"]
    assert found(file("d-1", status="superseded"), file("d-2", supersedes=["d-1"])) == []


def test_a_refutation_from_an_unverified_record_is_a_warning() -> None:
    """An unverified record refutes nothing, and check says so at the relation."""
    text = reasons(file("d-1"), file("f-1", kind="fact", status="unverified", refutes=["d-1"]))
    assert text == "warning: knowledge/f-1.yaml: f-1 is unverified, so it refutes nothing: d-1 goes on as it is"


def test_a_supersession_without_effect_is_a_warning() -> None:
    """An unverified fact cannot supersede a verified one; one that supersedes another unverified one may."""
    old = file("f-1", kind="fact", status="verified")
    assert "supersedes nothing" in reasons(old, file("f-2", kind="fact", status="unverified", supersedes=["f-1"]))
    young = file("f-1", kind="fact", status="unverified")
    assert found(young, file("f-2", kind="fact", status="unverified", supersedes=["f-1"])) == []


@pytest.mark.parametrize("trust", ["", "document_extracted", "agent_generated"])
@pytest.mark.parametrize("relation", ["supersedes", "refutes"])
def test_only_a_user_confirmed_record_overturns_a_user_confirmed_one(trust: str, relation: str) -> None:
    """What a user confirmed is overturned only by what a user confirmed; check fails and says why."""
    old = file("d-1", trust="user_confirmed")
    ((level, reason),) = found(old, file("d-2", trust=trust, **{relation: ["d-1"]}))
    assert level == "error"
    assert "d-1 was confirmed by a user" in reason
    assert (trust or "document_extracted") in reason
    assert found(old, file("d-2", trust="user_confirmed", **{relation: ["d-1"]})) == []


def test_a_proposal_may_plan_to_supersede_a_confirmed_record() -> None:
    """A record that retires nothing yet breaks no trust."""
    assert found(file("d-1", trust="user_confirmed"), file("d-2", status="proposed", supersedes=["d-1"])) == []


def test_a_relation_told_from_both_ends_is_one_finding_at_the_acting_end() -> None:
    """One broken relation is reported once, in the file that acts."""
    old = file("d-1", trust="user_confirmed", status="superseded", superseded_by=["d-2"])
    assert [f.path for f in check([old, file("d-2", supersedes=["d-1"])])] == ["knowledge/d-2.yaml"]


def test_an_unreadable_valid_until_is_an_error() -> None:
    """A last day that is no date is an error, since the record then never answers."""
    ((level, reason),) = found(file("d-1", valid_until="next summer"))
    assert (level, "valid_until" in reason) == ("error", True)


def test_unknown_keys_are_one_warning_a_file() -> None:
    """Keys no one knows are kept, and named together once."""
    assert found(file("d-1", foo="1", bar="2")) == [("warning", "unknown keys are kept and returned: foo, bar")]


def test_findings_across_files_carry_the_line_of_their_key() -> None:
    """A finding between files points at the line of the relation, not at the top of the file."""
    findings = check([file("d-1", supersedes=["gone"])], lambda _path, key: {"supersedes": 7}[key])
    assert findings == [
        Finding(
            "knowledge/d-1.yaml",
            7,
            "error",
            "supersedes names 'gone', which is no record here",
            "correct the id, add that record, or delete the line",
        )
    ]
