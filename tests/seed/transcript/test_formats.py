from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from seed.transcript.facts import Facts, parse_row
from seed.transcript.formats import UNKNOWN, detect, facts_of
from seed.transcript.formats.hidden import hidden

if TYPE_CHECKING:
    from collections.abc import Callable


def read(data: bytes, form: str) -> list[Facts]:
    found = [parse_row(line) for line in data.split(b"\n")]
    return [facts_of(form, row) for row in found if row is not None]


NAMES = {"cursor": "generic"}
ALL = ["claude", "codex", "copilot", "gemini", "pi", "cursor", "generic", "eventlog"]


@pytest.mark.parametrize("name", ALL)
def test_a_format_is_told_by_its_rows(sessions: dict[str, bytes], name: str) -> None:
    """Each session is recognised by content alone."""
    parsed = [parse_row(line) for line in sessions[name].split(b"\n")]
    assert detect(row for row in parsed if row is not None) == NAMES.get(name, name)


def test_nothing_recognised_is_unknown() -> None:
    """Rows that no format claims are kept as an unknown format, not guessed."""
    assert detect([{"a": 1}, {"b": []}]) == UNKNOWN
    assert detect([]) == UNKNOWN


CALLS = {
    "claude": ("toolu_1", "Edit", {"file_path": "/work/app/seed/db.py"}),
    "copilot": ("call-1", "shell", '{"command":"cat seed/db.py"}'),
    "gemini": ("c1", "run_shell_command", {"command": "ls"}),
    "pi": ("t1", "write", {"path": "seed/db.py"}),
    "generic": ("c1", "read_file", '{"path":"seed/db.py"}'),
    "eventlog": ("c1", "write", '{"file_path":"seed/db.py"}'),
}


@pytest.mark.parametrize("name", sorted(CALLS))
def test_calls_keep_their_arguments_as_typed(sessions: dict[str, bytes], name: str) -> None:
    """A call has its id, its name and its arguments with their types; its result names the same id."""
    blocks = [block for facts in read(sessions[name], name) for block in facts.blocks]
    call = next(block for block in blocks if block.kind == "call")
    assert (call.call.text, call.name, call.arguments) == CALLS[name]
    assert any(block.kind == "result" and block.call.text == call.call.text for block in blocks)


@pytest.mark.parametrize(
    ("name", "session", "cwd"),
    [("claude", "11aa", "/work/app"), ("codex", "22bb", "/work/app"), ("copilot", "33cc", "/work/app"),
     ("gemini", "44dd", ""), ("pi", "55ee", "/work/app"), ("eventlog", "66ff", "/work/app")],
)  # fmt: skip
def test_a_session_says_who_it_is(sessions: dict[str, bytes], name: str, session: str, cwd: str) -> None:
    """Session id and working folder come from the rows."""
    facts = read(sessions[name], name)
    assert next(one.session for one in facts if one.session) == session
    assert next((one.cwd for one in facts if one.cwd), "") == cwd


def test_rows_of_one_message_share_its_id(sessions: dict[str, bytes]) -> None:
    """One API message over several rows is told by the message's id."""
    messages = [one.message for one in read(sessions["claude"], "claude") if one.role == "assistant"]
    assert messages == ["msg_1", "msg_1"]


def test_codex_marks_context_and_echoes(sessions: dict[str, bytes]) -> None:
    """The first user items are context; a prompt repeated as an event is not seen by the model."""
    facts = read(sessions["codex"], "codex")
    assert [one.role for one in facts][1:4] == ["context", "user", "user"]
    assert [one.visible for one in facts] == [False, True, True, False, True, True, True]


def test_a_failed_result_is_told(sessions: dict[str, bytes]) -> None:
    """A result that says it failed, by flag or by exit code, is marked."""
    for name, failed in (("codex", True), ("copilot", True), ("pi", False), ("eventlog", False)):
        blocks = [block for one in read(sessions[name], name) for block in one.blocks if block.kind == "result"]
        assert [block.failed for block in blocks] == [failed], name


@pytest.mark.parametrize(
    "message",
    [
        None,
        "text",
        7,
        [],
        {},
        {"content": 3},
        {"content": [1, None, [], {"type": "text"}]},
        {"content": {"type": 5}},
    ],
)
def test_odd_rows_are_read_without_an_error(rows: Callable[..., bytes], message: object) -> None:
    """A field of an unexpected type costs its fact, never the row."""
    for name in ("claude", "codex", "copilot", "gemini", "pi", "generic", "eventlog"):
        row = {
            "type": "x",
            "message": message,
            "payload": message,
            "data": message,
            "$set": message,
            "content": message,
        }
        for form in (
            row,
            {**row, "type": "compaction", "seq": 1},
            {**row, "role": "tool", "toolCalls": message},
        ):
            assert isinstance(read(rows(form), name)[0], Facts)


@pytest.mark.parametrize(
    ("row", "seqs", "interval"),
    [
        ({"shadowedSeqs": [3, 4, 9]}, (3, 4, 9), None),
        ({"shadowedSeqs": [3, 4]}, (3, 4), None),
        ({"shadowedRange": {"start": 3, "end": 9}}, (), (3, 9)),
        ({"hides": [3, 9]}, (), (3, 9)),
        ({"hidden": [3, 5, 9]}, (3, 5, 9), None),
        ({"hidden": [[3, 5], [7, 8]]}, (3, 4, 5, 7, 8), None),
        ({"hides": {"from": 3, "to": 9}}, (), (3, 9)),
        ({"fromSeq": 3, "toSeq": 9}, (), (3, 9)),
        ({"hiddenSeqs": {"seqs": [1, 2]}}, (1, 2), None),
        ({"shadowedTokenCount": 500, "turn": 2}, (), None),
    ],
)  # fmt: skip
def test_hidden_numbers_are_read_however_they_are_written(
    row: dict[str, object], seqs: tuple[int, ...], interval: tuple[int, int] | None
) -> None:
    """A list, a pair, pairs or two ends all say what a compaction hides."""
    assert hidden(row) == (seqs, interval)


def test_bytes_that_are_no_text_still_parse() -> None:
    """Invalid UTF-8, lone surrogates and U+2028 inside a string do not break its row; NULs and nesting do."""
    assert parse_row(b'{"role":"user","content":"a\xffb"}') is not None
    assert parse_row(b'{"role":"user","content":"\\ud800"}') is not None
    assert parse_row('{"role":"user","content":"\u2028"}'.encode()) is not None
    assert parse_row(b'{"role":"user"}\r') is not None
    assert parse_row(b"\x00\x00{}") is None
    assert parse_row(b"[" * 100_000) is None
    assert parse_row(b"[1]") is None
