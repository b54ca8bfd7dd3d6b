import pytest
from hypothesis import given
from hypothesis import strategies as st

from seed.importers import status

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
    ("Accepted. Optimization 1 & 2 Declined", "accepted"),
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
