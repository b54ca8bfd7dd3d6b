"""The fuzzer's targets, without the fuzzer: every input to begin with, and whatever hypothesis adds."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from evals.bench.fuzz import asked, files
from evals.bench.fuzz.__main__ import TARGETS, Watched
from evals.bench.fuzz.draw import Draw


@pytest.fixture(autouse=True)
def own_home(monkeypatch: pytest.MonkeyPatch, private_home: Path) -> None:
    """Have the variable put back that a target sets for its own repositories."""
    monkeypatch.setenv("SIDECAR_HOME", str(private_home))


QUICK = ("records", "settings", "importers")


@pytest.mark.parametrize("name", TARGETS)
def test_every_target_reads_what_it_begins_with(name: str, tmp_path: Path) -> None:
    """Each kind of input is read without anything but what its reader promises to raise."""
    make, begin = TARGETS[name]
    once = make(tmp_path / "work")
    (tmp_path / "work").mkdir(exist_ok=True)
    for data in begin:
        once(data)


@pytest.mark.parametrize("name", QUICK)
@settings(max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.data())
def test_pure_targets_read_mutated_input(tmp_path: Path, name: str, data: st.DataObject) -> None:
    """An input with a piece cut out or put in breaks no reader of files."""
    make, begin = TARGETS[name]
    text = data.draw(st.sampled_from(begin))
    start, end = sorted((data.draw(st.integers(0, len(text))), data.draw(st.integers(0, len(text)))))
    make(tmp_path)(text[:start] + data.draw(st.binary(max_size=8)) + text[end:])


def test_a_find_is_kept_once_and_the_run_goes_on(tmp_path: Path) -> None:
    """An exception is written down with its input, once for each place, and ends nothing."""

    def once(data: bytes) -> None:
        if data.startswith(b"x"):
            raise files.BrokenPromiseError("a promise", data)

    finds = tmp_path / "finds"
    finds.mkdir()
    watched = Watched(once, finds / "name")
    for data in (b"x1", b"y", b"x2"):
        watched(data)
    kept, trace = sorted(finds.iterdir())
    assert kept.read_bytes() == b"x1"
    assert "a promise" in trace.read_text()


def test_a_broken_reader_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Negative control: a check that raises, and an answer that hides a record, are both finds."""
    make, begin = TARGETS["records"]
    monkeypatch.setattr("seed.check.check", lambda files: files[0][99])
    with pytest.raises(IndexError):
        make(tmp_path)(begin[0])
    monkeypatch.setattr(asked.seeds, "FACT", b"no record")
    with pytest.raises(files.BrokenPromiseError, match="hides"):
        asked.snapshots(tmp_path)(b"")


def test_bytes_become_arguments() -> None:
    """The same bytes are the same arguments, of the kind that the schema asks for; no bytes are the first choice."""
    draw = Draw(b"\2\0\0\0\3\0\1\0\1\0\2\0ab")
    assert draw.fitting({"enum": ["a", "b"]}) == "a"
    assert Draw(b"").fitting({"type": "array", "items": {"type": "string"}}) == []
    assert Draw(b"").json() == ""
    assert Draw(b"\1\0\2\0\xff\xfe", errors="replace").text() == "\ufffd\ufffd"
