from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from seed.transcript import handed, signals, turns
from seed.transcript.archive import Archive
from seed.transcript.candidates import Candidate, candidates
from seed.transcript.reader import Reader

Rows = Callable[..., bytes]


def said(role: str, text: str) -> dict[str, Any]:
    return {"role": role, "content": text}


def call(ident: str, name: str, arguments: str) -> dict[str, Any]:
    asked = {"id": ident, "type": "function", "function": {"name": name, "arguments": arguments}}
    return {"role": "assistant", "content": None, "tool_calls": [asked]}


def result(ident: str, text: str) -> dict[str, Any]:
    return {"role": "tool", "tool_call_id": ident, "content": text}


def of(data: bytes) -> list[Candidate]:
    return candidates(((n, raw) for n, (_, raw) in enumerate(turns.lines([data]))), "generic")


def test_a_correction_and_a_decision_are_found_with_their_bytes(rows: Rows) -> None:
    """A user's correction and a stated decision are places; their bytes are exactly what is quoted."""
    data = rows(
        said("user", "Store it somewhere"),
        said("assistant", "Done.\nI'll use Redis for the queue.\nAnything else?"),
        said("user", "No, use SQLite, not Redis."),
    )
    found = of(data)
    assert [(one.kind, one.turn, one.quote) for one in found] == [
        ("decision", 1, "I'll use Redis for the queue."),
        ("correction", 2, "No, use SQLite, not Redis."),
    ]
    lines = data.split(b"\n")
    assert all(lines[one.turn][one.start : one.end].decode() == one.quote for one in found)
    assert all(turns.digest_of(lines[one.turn]) == one.digest for one in found)


def test_a_failure_counts_once_its_fix_is_proved(rows: Rows) -> None:
    """A failure is a place when the same call succeeds after a write; one that is never fixed is none."""
    failing = [call("1", "bash", '{"command":"pytest"}'), result("1", "E   AssertionError: 3 != 4")]
    write = [call("2", "write_file", '{"path":"seed/db.py"}'), result("2", "ok")]
    passing = [call("3", "bash", '{"command":"pytest"}'), result("3", "5 passed")]
    (one,) = of(rows(*failing, *write, *passing))
    assert (one.kind, one.turn, one.paths, one.related) == ("fix", 1, ("seed/db.py",), (2, 5))
    assert one.quote == "E AssertionError: 3 != 4"
    assert of(rows(*failing, *write)) == []
    assert of(rows(*failing, *passing)) == []


@pytest.mark.parametrize("own", [True, False])
def test_what_the_sidecar_answered_is_no_new_knowledge(rows: Rows, own: bool) -> None:
    """A statement that repeats the sidecar's own answer is skipped; the same words from elsewhere are not."""
    name = "mcp__sidecar__recall" if own else "mcp__wiki__search"
    text = "We decided to keep session state in SQLite."
    data = rows(call("1", name, '{"question":"x"}'), result("1", f"decision-7: {text}"), said("assistant", text))
    assert [one.kind for one in of(data)] == ([] if own else ["decision"])
    pack = said("user", '{"verdict": "match"} ' + text)
    assert of(rows(pack, said("assistant", text))) == []


def test_the_hosts_words_are_not_the_users(rows: Rows) -> None:
    """What a host writes as the user (commands, caveats, context) corrects and decides nothing."""
    for text in (
        "<command-name>/stop</command-name>",
        "Caveat: do not run this",
        "<environment_context>No</environment_context>",
    ):
        assert of(rows(said("user", text))) == []


def test_twice_gives_nothing_new(rows: Rows, archive: Archive, keep: Callable[..., Reader]) -> None:
    """Keys stay when a session grows, a repeated statement is one place, and what was handed on is known."""
    data = rows(said("user", "No, use SQLite, not Redis."), said("user", "No, use SQLite, not Redis."))
    (one,) = of(data)
    assert of(data + rows(said("user", "Thanks")))[0].key == one.key
    keep(data)
    assert handed.known(archive, "generic-one") == set()
    handed.remember(archive, "generic-one", [one.key])
    handed.remember(archive, "generic-one", ["ff"])
    assert handed.known(archive, "generic-one") == {one.key, "ff"}
    assert archive.ids() == ["generic-one"]


@pytest.mark.parametrize(
    ("rule", "yes", "no"),
    [
        (signals.corrected, "Actually, that should be 4, not 3", "Please add a test"),
        (signals.corrected, "不對，應該用 SQLite", "請加一個測試"),
        (signals.corrected, "please don't commit that", "I do not know"),
        (signals.decided, "Let's go with SQLite.", "Let's see what happens."),
        (signals.decided, "我們決定採用 SQLite", "我們看看"),
        (signals.failed, "x\nValueError: bad", "no error here"),
        (signals.failed, "src/a.ts(5,3): error TS2345: no", "0 errors"),
        (signals.failed, "3 failed, 2 passed", "all passed"),
    ],
)
def test_signals(rule: Callable[[str], object], yes: str, no: str) -> None:
    """Each rule fires on what it is for, in the languages it knows, and not on an ordinary line."""
    assert rule(yes) is not None
    assert rule(no) is None


def test_what_failed_is_told_before_that_something_did() -> None:
    """The line that says what went wrong is quoted, not the one that only says that something did."""
    text = "Traceback (most recent call last):\n  File x\nKeyError: 'a'\nexit code: 1"
    assert signals.failure(text) == "KeyError: 'a'"
    assert signals.failure("exit code: 1\nbye") == "exit code: 1"
    long = "decision: " + "x" * 2000
    assert len(signals.decision(long)) == signals.LINE_CHARS
