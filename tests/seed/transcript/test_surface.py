from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from seed.transcript import turns
from seed.transcript.marks import Mark, marks
from seed.transcript.surface import Ledger, ledger

if TYPE_CHECKING:
    from collections.abc import Callable

    Rows = Callable[..., bytes]


def of(data: bytes, form: str) -> tuple[Ledger, list[Mark]]:
    lines = [(ordinal, raw) for ordinal, (_, raw) in enumerate(turns.lines([data]))]
    found = list(marks(lines, form, "/work/app"))
    return ledger(found), found


def claude(kind: str, uuid: str, text: str = "x", **more: object) -> dict[str, object]:
    message = {"role": kind, "content": text, "id": more.pop("message", uuid)}
    return {"type": kind, "uuid": uuid, "sessionId": "s", "message": message, **more}


def boundary(uuid: str, **metadata: object) -> dict[str, object]:
    row = {
        "type": "system",
        "subtype": "compact_boundary",
        "uuid": uuid,
        "sessionId": "s",
        "parentUuid": None,
    }
    return {**row, "compactMetadata": {"trigger": "auto", "preTokens": 99, **metadata}}


def event(kind: str, seq: int, **data: object) -> dict[str, object]:
    return {"type": kind, "seq": seq, "data": data}


def write(seq: int, path: str) -> dict[str, object]:
    return event("tool/call", seq, callId=f"c{seq}", name="write", arguments=f'{{"file_path":"{path}"}}')


def test_a_claude_compaction_hides_what_was_before(rows: Rows) -> None:
    """Boundary and summary hide every visible turn before them; the host's own rows were never visible."""
    found, _ = of(
        rows(
            {"type": "file-history-snapshot", "messageId": "m"},
            claude("user", "u1"),
            claude("assistant", "a1", message="m1"),
            claude("assistant", "a2", message="m1"),
            boundary("b1"),
            claude("user", "u2", isCompactSummary=True),
            claude("assistant", "a3"),
        ),
        "claude",
    )
    (one,) = found.generations
    assert (one.hidden, one.messages, one.trigger, one.tokens) == ((1, 2, 3), 2, "auto", 99)
    assert (found.surface, found.shadowed, found.log_only) == ((5, 6), (1, 2, 3), (0, 4))
    assert found.problems == ()
    assert not found.derived


def test_what_a_compaction_says_it_kept_stays(rows: Rows) -> None:
    """A preserved segment, the rows from the first kept id on, and kept prompts stay on the surface."""
    kept = {"preservedSegment": {"headUuid": "a1", "tailUuid": "a1"}}
    found, _ = of(
        rows(
            claude("user", "u1"),
            claude("assistant", "a1"),
            boundary("b", **kept),
            claude("user", "u", isCompactSummary=True),
        ),
        "claude",
    )
    assert (found.surface, found.shadowed) == ((1, 3), (0,))
    message = {"type": "message", "message": {"role": "user", "content": "x"}, "parentId": None}
    found, _ = of(
        rows(
            {**message, "id": "1"},
            {**message, "id": "2"},
            {"type": "compaction", "id": "3", "firstKeptEntryId": "2"},
        ),
        "pi",
    )
    assert (found.surface, found.shadowed) == ((1, 2), (0,))
    item = {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "keep me"}]}
    other = {**item, "content": [{"type": "input_text", "text": "not me"}]}
    compacted = {"type": "compacted", "payload": {"message": "sum", "replacement_history": [item]}}
    found, _ = of(
        rows({"type": "response_item", "payload": item}, {"type": "response_item", "payload": other}, compacted),
        "codex",
    )
    assert (found.surface, found.shadowed) == ((0, 2), (1,))


def test_a_failed_compaction_hides_nothing_and_is_counted(rows: Rows) -> None:
    """An error, a missing end, a missing summary or nothing named: each is one failed compaction."""
    found, _ = of(
        rows(
            event("user/message", 1, text="x"),
            event("compaction/start", 2),
            event("compaction/end", 3, error="the summariser returned nothing"),
            event("compaction/start", 4),
            event("compaction/end", 5),
            event("compaction/start", 6),
            event("compaction/start", 7),
            event("compaction/summary", 8, shadowedSeqs=[1]),
        ),
        "eventlog",
    )
    assert found.generations == ()
    assert found.surface == (0,)
    assert [(one.at, one.reason) for one in found.failed] == [
        (1, "the summariser returned nothing"),
        (3, "it does not say what it hides"),
        (5, "another began before it was finished"),
        (6, "it was begun and never finished"),
    ]
    torn, _ = of(rows(claude("user", "u1"), boundary("b1")), "claude")
    assert (torn.surface, len(torn.failed)) == ((0,), 1)


@pytest.mark.parametrize(
    "named", [{"shadowedSeqs": [1, 3]}, {"shadowedRange": {"start": 1, "end": 3}}, {"hides": [1, 3]}]
)
def test_an_event_log_hides_by_its_own_numbers(rows: Rows, named: dict[str, object]) -> None:
    """A list, a range or a pair of numbers hides the visible rows it names, not the log-only ones between."""
    found, _ = of(
        rows(
            event("user/message", 1, text="x"),
            write(2, "/work/app/seed/a.py"),
            event("tool/result", 3, content="ok"),
            event("user/message", 4, text="y"),
            event("compaction/start", 5),
            event("compaction/summary", 6, summary="sum", **named),
            event("compaction/end", 7),
            event("user/message", 8, text="z"),
        ),
        "eventlog",
    )
    (one,) = found.generations
    assert one.hidden == (0, 2)
    assert one.log_only == (1,)
    assert found.surface == (3, 7)
    assert found.types == ("tool/result", "user/message")
    assert found.derived == ("shadowedSeqs" in named)


def test_a_write_belongs_to_the_generation_whose_interval_holds_it(rows: Rows) -> None:
    """Writes of log-only rows go to the interval around them, between two intervals to the later one."""
    found, every = of(
        rows(
            event("user/message", 1, text="x"),
            write(2, "seed/a.py"),
            event("tool/result", 3, content="ok"),
            event("compaction/start", 4),
            event("compaction/summary", 5, shadowedSeqs=[1, 3]),
            event("compaction/end", 6),
            write(7, "seed/b.py"),
            event("user/message", 8, text="y"),
            event("compaction/start", 9),
            event("compaction/summary", 10, shadowedSeqs=[8]),
            event("compaction/end", 11),
            write(12, "seed/c.py"),
        ),
        "eventlog",
    )
    owner = {path: found.generation_of(one.ordinal) for one in every for path in one.writes}
    assert owner == {"seed/a.py": 1, "seed/b.py": 2, "seed/c.py": 0}
    by_hidden_set = [path for one in every for path in one.writes if one.ordinal in found.shadowed]
    assert by_hidden_set == []  # the negative control: asking the hidden set alone loses every file


def test_the_ledger_is_checked(rows: Rows) -> None:
    """Numbers that no row has and turns hidden twice are each a problem, told by generation."""
    found, _ = of(
        rows(
            event("user/message", 1, text="x"),
            event("user/message", 2, text="y"),
            event("compaction/summary", 3, shadowedSeqs=[1, 77]),
            event("compaction/end", 4),
            event("compaction/summary", 5, shadowedSeqs=[1, 2]),
            event("compaction/end", 6),
        ),
        "eventlog",
    )
    assert found.problems == (
        "generation 1: hides 1 numbers that no row has, first 77",
        "generation 2: hides 1 turns a second time, first 0",
    )


def test_a_replacement_is_no_generation(rows: Rows) -> None:
    """A rewind or a pruned result takes rows off the surface without being a compaction."""
    found, _ = of(
        rows(
            {**event("user/message", 1, text="x"), "surfaceOp": "append"},
            {**event("tool/result", 2, content="long"), "surfaceOp": "append"},
            event("compaction/prune", 3, shadowedSeqs=[2]),
            {
                **event("tool/result", 4, content="short"),
                "surfaceOp": {"op": "replace", "start": 2, "end": 2},
            },
        ),
        "eventlog",
    )
    assert (found.surface, found.replaced, found.generations, found.failed) == ((0, 3), (1,), (), ())


def test_a_side_chain_is_not_the_models_surface_except_in_its_own_file(rows: Rows) -> None:
    """A sub-agent's rows in a main file are log-only; in the sub-agent's file they are what it sees."""
    side = claude("user", "u1", isSidechain=True)
    assert of(rows(side), "claude")[0].surface == (0,)
    assert of(rows(claude("user", "u0"), side), "claude")[0].surface == (0,)


ROWS = st.lists(
    st.sampled_from(
        [
            "user/message",
            "tool/call",
            "tool/result",
            "compaction/start",
            "compaction/summary",
            "compaction/end",
        ]
    )
    | st.just("broken"),
    max_size=30,
)


@given(ROWS, st.data())
def test_every_turn_is_in_exactly_one_place(kinds: list[str], data: st.DataObject) -> None:
    """Whatever the rows, each turn is on the surface, shadowed or log-only, and hidden at most once."""
    import json

    lines = []
    for seq, kind in enumerate(kinds):
        hides = data.draw(st.lists(st.integers(0, 30), max_size=4)) if kind == "compaction/summary" else []
        row = {"type": kind, "seq": seq, "data": {"text": "x", "shadowedSeqs": hides}}
        lines.append((seq, b"{" if kind == "broken" else json.dumps(row).encode()))
    found = ledger(marks(lines, "eventlog"))
    assert sorted((*found.surface, *found.shadowed, *found.log_only)) == list(range(len(kinds)))
    hidden = [ordinal for one in found.generations for ordinal in one.hidden]
    assert sorted((*hidden, *found.replaced)) == list(found.shadowed)
