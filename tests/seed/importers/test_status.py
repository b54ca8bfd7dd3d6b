import pytest
from hypothesis import given
from hypothesis import strategies as st

from seed.importers import force, status

WORDINGS = [
    ("Accepted", "accepted"),
    ("✅ Accepted", "accepted"),
    ("`Rejected`", "rejected"),
    ("*deprecated*", "deprecated"),
    ("__Accepted__", "accepted"),
    ("~~Proposed~~ Accepted", "accepted"),
    ("[Accepted](https://example.org/pull/3)", "accepted"),
    ("![accepted](https://img.example.org/status.svg)", "accepted"),
    ("⌛️ Superseded by [9. Sails](0009-sails.md)", "superseded"),
    ("Superceded by [9. Sails](0009-sails.md)", "superseded"),
    ("Replaced by ADR 9", "superseded"),
    ("PROPOSED Implemented", "proposed"),
    ("ACCEPTED Not Implemented", "accepted"),
    ("DRAFT Not Implemented", "proposed"),
    ("Implemented", "accepted"),
    ("Partially Accepted", "accepted"),
    ("Partly superseded", "accepted"),
    ("Accepted (partially superseded by ADR-9)", "accepted"),
    ("Accepted. Parts of this ADR were superseded by ADR 9.", "accepted"),
    ("Superseded by ADR 9 for the web. The rest remains valid.", "accepted"),
    ("Accepted, superseded by ADR 9", "superseded"),
    ("Proposed → Accepted", "accepted"),
    ("Draft -> Rejected", "rejected"),
    ("Accepted (previously proposed)", "accepted"),
    ("2020-03-04: Accepted", "accepted"),
    ("Accepted on 4 March 2020", "accepted"),
    ("Pending", "proposed"),
    ("In review", "proposed"),
    ("On hold", "proposed"),
    ("🤔 Incomplete", "proposed"),
    ("Not yet decided", "proposed"),
    ("Not accepted", "rejected"),
    ("Declined (superseded by ADR 3)", "rejected"),
    ("ABANDONED", "rejected"),
    ("Rejected in favour of ADR 111", "rejected"),
    ("Reverted", "deprecated"),
    ("No longer relevant", "deprecated"),
    ("This ADR has been accepted.", "accepted"),
    ("- [ ] proposed\n- [x] accepted\n- [ ] rejected", "accepted"),
    ("Accepted\n\nSuperseded by [9](0009-sails.md)", "superseded"),
    ("Accepted 2020-02-01\nProposed 2020-01-01", "accepted"),
    ("Proposed 2020-01-01\nAccepted 2020-02-01", "accepted"),
    ("Accepted\n\nDropped support for paper is one result of this.", "accepted"),
    ("✅", "accepted"),
    ("Deprecated / Superseded", "superseded"),
    ("Superseded by ADR 9.\n\nThe part that still holds: count the anchors.", "superseded"),
    ("DRAFT Not Implemented\n\n> Use DRAFT in a draft stage or PROPOSED if it is in review.", "proposed"),
]


@pytest.mark.parametrize(("wording", "expected"), WORDINGS)
def test_wordings(wording: str, expected: str) -> None:
    """A wording that people use is read as the one status it states; work done is not decision taken."""
    assert status.read(wording).status == expected


@pytest.mark.parametrize(
    "wording",
    [
        "Accepted or Rejected",
        "{proposed | rejected | accepted | deprecated | superseded by ADR-0123}",
        "[proposed | rejected | accepted | superseded by [ADR-0005](0005-example.md)]",
        "Proposed, Accepted, Rejected, Deprecated, Superseded",
        "What is the status, such as proposed, accepted, rejected, deprecated, superseded, etc.?",
        '> Accepted or Rejected\n>\n> Valid ADR statuses are: "Proposed", "Accepted", "Superseded by ADRzzz"',
        "Proposed / Accepted",
        "",
        "-",
    ],
)
def test_template_text_is_no_status(wording: str) -> None:
    """Text that offers statuses to choose from, or none at all, states none."""
    assert status.read(wording).status == ""


@pytest.mark.parametrize(
    "wording",
    [
        "Accepted?",
        "Accepted (tentative)",
        "Tentatively accepted",
        "Accepted pending review",
        "Accepted subject to approval by security",
        "Accepted until 2020",
        "❌ Accepted",
        "Was accepted",
        "Previously accepted",
        "No longer accepted",
        "To be accepted",
        "final draft",
        "Final comment period",
        "Active proposal",
        "Accepted ➡ Superseded",
        "Accepted [superseded by 7]",
        "Decided against",
        "We decided against it",
        "On hold (was accepted)",
        "Draft (accepted in principle)",
        "~~Accepted~~",
        "Accepted / Superseded",
        "Not decided",
        "unaccepted",
        "Accepted. Optimization 1 & 2 Declined",
    ],
)
def test_a_reservation_is_never_read_as_accepted(wording: str) -> None:
    """What is said with a reservation, of the past or of the future does not put a record in force."""
    assert status.read(wording).status != "accepted"


@pytest.mark.parametrize(
    "wording",
    [
        "Accepted, pending implementation",
        "Accepted (was proposed)",
        "Accepted by the provisioning team",
        "Accepted: yes",
    ],
)
def test_a_plain_word_with_a_remark_stays_accepted(wording: str) -> None:
    """A remark on the work or on the past takes nothing back."""
    assert status.read(wording).status == "accepted"


@pytest.mark.parametrize(
    "wording",
    [
        "Accepted, revoked 2024-03-01",
        "Accepted (no longer)",
        "Accepted. This decision was revoked.",
        "Accepted in 2019. Overturned in 2021 by ADR-5",
        "Implemented, then removed",
        "In use until 2023",
        "Final decision: rejected",
        "Decided to reject",
        "Decided: no",
        "Agreed not to do this",
        "Approved: false",
        "Accepted - NOT",
        "Completed evaluation, rejected",
        "Accepted by vote 3:2 but vetoed by CTO",
        "Accepted as superseded",
        "<del>Accepted</del>",
        "Accepted, but not yet ratified",
        "Accepted if the benchmark passes",
        "Accepted (draft)",
        "Accepted for review",
        "Conditionally accepted",
        "Accepted with conditions",
        "Final decision pending",
        "Decided to postpone",
        "In use at other companies; under discussion here",
        "Angenommen unter Vorbehalt",
        "*accepted* -- **revoked 2021**",
        "Accepted by Ada, rejected by Bo",
        "Proposed, accepted by team A",
        "Accepted\n\nUpdate 2024: no longer valid.",
        "Accepted\n\n2024-01-01: Revoked",
        "Accepted\n\n> This decision was overturned",
        "Accepted :x:",
        "Accepted\n\nWe changed our minds in 2024.",
        "Accepted In Principle",
        "Accepted by Ada until May",
        "Accepted → ADR 5",
        "Accepted by the team that was disbanded",
        "Accepted on 2020-01-01 and revoked on 2021-01-01",
        "Accepted. Supersedes ADR 5 but was itself reverted",
        "Active until 2022",
        "Done? No",
        "Accepted, see ADR 9 for its replacement",
        "Accepted [no longer valid](x.md)",
        "Implemented in v2, removed in v3",
        "Accepted. Replaced.",
        "Approved by nobody",
        "Accepted in Part",
        "Accepted, on hold",
        "Accepted. Now proposed again",
        "Adopted by Acme, not us",
        "Accepted (rejected 2021)",
        "Accepted\nRescinded",
        "Accepted\nReverted by [5](0005-x.md)",
        "Accepted; ended 2022",
        "Accepted <!-- x --> (VOID)",
        "Accepted (expired)",
        "Accepted 2019 - 2021",
        "Accepted 2019–2021",
        "Accepted from 2019 to 2021",
        "Accepted in the old team",
    ],
)
def test_more_than_accepted_is_not_accepted(wording: str) -> None:
    """After a word that means accepted only what is known to be harmless may follow; else it is out or unknown."""
    reading = status.read(wording)
    assert reading.status in {"unknown", "proposed", "rejected", "deprecated", "superseded"}
    assert reading.doubt or reading.status != "unknown"


@pytest.mark.parametrize(
    "wording",
    [
        "Accepted",
        "Accepted on 2020-01-01",
        "Accepted (2020-01-01)",
        "Accepted by Ada",
        "Status: Accepted ✅",
        "Approved, implemented in v2.1",
        "Accepted by the provisioning team",
        "Accepted: yes",
        "Accepted, pending implementation",
        "Accepted (was proposed)",
        "Accepted (previously proposed)",
        "Accepted 2020-02-01\nProposed 2020-01-01",
        "Proposed 2020-01-01\nAccepted 2020-02-01",
        "Proposed → Accepted",
        "Accepted\n\nSupersedes [5. Old thing](0005-old.md)",
        "Accepted\n\nAmended by [9. New thing](0009.md)",
        "Accepted, supersedes ADR-5 and ADR-6",
        "Accepted (partially superseded by ADR-9)",
        "This ADR has been accepted.",
        "We have accepted this decision on 2020-01-31.",
        "Accepted on 4 March 2020",
        "Accepted by Ada Lovelace and Bo, 2020-01-01",
        "Accepted :white_check_mark:",
        "ACCEPTED Not Implemented",
        "Accepted in [PR 12](https://x.org/12)",
        "Angenommen am 12.03.2020",
        "Approved by the Architecture Board on March 3, 2021",
        "Accepted; amends ADR 3",
        "Accepted · Owner: Ada",
        "Accepted (v1.2)",
        "Accepted, see https://example.org/x",
        "Implemented (PR #12)",
        "Accepted @ada",
        "Approved 🎉",
        "Partially implemented",
        "Accepted since 2020",
        "Decided on 2021/03/04 by @ada",
        "Amended by ADR 0003",
        "Accepted. Parts of this ADR were superseded by ADR 9.",
        "已接受（2024年3月）",
        "Accepted (Jan 2020)",
        "Final",
        "In use since v3",
        "Draft 2020-01-01 -> Accepted 2020-02-02",
    ],
)
def test_accepted_with_its_circumstances_is_accepted(wording: str) -> None:
    """A date, a name, a version, a link or a relation beside the word takes nothing back."""
    assert status.read(wording).status == "accepted"


def test_without_the_allow_list_the_overturned_would_be_current(monkeypatch: pytest.MonkeyPatch) -> None:
    """Negative control: were everything harmless, a record that was vetoed would be in force."""
    monkeypatch.setattr(force, "rest", lambda _text: "")
    assert status.read("Accepted by vote 3:2 but vetoed by CTO").status == "accepted"


@pytest.mark.parametrize(
    "wording", ["Experimental", "Waiting for the harbour master", "Unimplemented", "Maybe accepted"]
)
def test_what_is_not_understood_stays_unknown(wording: str) -> None:
    """A wording that is not known is unknown with a doubt that quotes it, never a guess."""
    reading = status.read(wording)
    assert reading.status == "unknown"
    assert wording[:20] in reading.doubt


def test_part_of_a_record_says_so() -> None:
    """Where only a part was retired, the record stays in force and a note tells the reader."""
    assert "does not retire" in status.read("Partly superseded").note


def test_later_text_moves_a_status_on_never_back() -> None:
    """Lines under the first can retire a record; they cannot turn an accepted one into a proposal."""
    assert status.moves_on("accepted", "superseded")
    assert not status.moves_on("accepted", "proposed")
    assert not status.moves_on("superseded", "accepted")


@given(st.text(max_size=300))
def test_any_text_reads(text: str) -> None:
    """Whatever stands there, reading gives one of the known statuses and never raises."""
    assert status.read(text).status in {
        *("", "unknown", "accepted", "proposed", "rejected", "deprecated", "superseded", "historical")
    }


def test_a_long_stem_is_read() -> None:
    """A name of thousands of hyphens and underscores is no acceptance, and reading it comes to an end."""
    assert status.read("Accepted by " + "a-b_" * 900).status != "accepted"
