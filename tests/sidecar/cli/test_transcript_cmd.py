from __future__ import annotations

import io
import json
import os
import subprocess
import sys
import textwrap
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click
import pytest

from seed.errors import SidecarError
from sidecar.cli.group import sidecar

Run = Callable[..., Any]


@pytest.fixture
def run(repository: Path, capsys: pytest.CaptureFixture[str]) -> Run:
    """Run a command in the repository and return its JSON, or its text and exit code."""

    def _run(*arguments: str) -> Any:
        capsys.readouterr()
        code = sidecar.main(["transcript", *arguments, "--repo", str(repository)], standalone_mode=False)
        out = capsys.readouterr().out
        return json.loads(out) if "--json" in arguments else (out, code or 0)

    return _run


@pytest.fixture
def session(tmp_path: Path, repository: Path) -> Path:
    """Write a small session that ran in the repository."""
    rows = [
        {
            "type": "user",
            "uuid": "u1",
            "sessionId": "s1",
            "cwd": str(repository),
            "message": {"content": "No, use SQLite, not X"},
        },
        {
            "type": "assistant",
            "uuid": "a1",
            "sessionId": "s1",
            "message": {"content": [{"type": "text", "text": "Fine."}]},
        },
    ]
    path = tmp_path / "session.jsonl"
    path.write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    return path


def test_capture_and_export_are_inverse(run: Run, session: Path, tmp_path: Path) -> None:
    """A captured session survives its source, verifies, and is exported byte for byte."""
    data = session.read_bytes()
    (kept,) = run("capture", str(session), "--json")["captured"]
    assert (kept["id"], kept["bytes"], kept["turns"], kept["format"]) == ("claude-s1", len(data), 2, "claude")
    assert kept["complete"] is True
    session.unlink()
    assert run("verify")[1] == 0
    assert run("export", "claude-s1", "--output", str(tmp_path / "out"), "--json")["complete"] is True
    assert (tmp_path / "out").read_bytes() == data
    assert [one["id"] for one in run("list", "--json")["transcripts"]] == ["claude-s1"]


def test_a_changed_byte_fails_verification(run: Run, session: Path, private_home: Path) -> None:
    """A frame that is not as it was makes verify end in 1 and name the file."""
    run("capture", str(session))
    (frame,) = private_home.glob("kept/*/transcripts/*/frames/*.zst")
    frame.write_bytes(frame.read_bytes()[:-1] + b"x")
    out, code = run("verify")
    assert code == 1
    assert frame.name in out


def test_one_bad_file_costs_only_itself(
    run: Run, session: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Of several files those that can be read are kept, and the one that cannot is named; with --json in one object."""
    assert run("capture", str(tmp_path / "gone"), str(session))[1] == 2
    found = run("capture", str(tmp_path / "gone"), str(session), "--json")
    assert [one["id"] for one in found["captured"]] == ["claude-s1"]
    assert "gone" in found["errors"][0]
    with pytest.raises(SidecarError, match=r"cannot read .*gone"):
        run("capture", str(tmp_path / "gone"))
    (tmp_path / "empty").mkdir()
    with pytest.raises(SidecarError, match="no session is in"):
        run("capture", str(tmp_path / "empty"), "--json")
    capsys.readouterr()
    assert [one["id"] for one in run("list", "--json")["transcripts"]] == ["claude-s1"]


def test_newest_is_the_sessions_of_this_repository(run: Run, session: Path, tmp_path: Path, repository: Path) -> None:
    """--newest finds the session by the folder its rows name, and says where it looked when there is none."""
    with pytest.raises(SidecarError, match=f"no session that ran in {repository.resolve()}"):
        run("capture", "--newest")
    place = tmp_path / "user" / ".claude" / "projects" / "any-name" / "s1.jsonl"
    place.parent.mkdir(parents=True)
    session.rename(place)
    (place.parent / "other.jsonl").write_text('{"type":"user","uuid":"u","sessionId":"s2","cwd":"/elsewhere"}\n')
    assert [one["id"] for one in run("capture", "--newest", "--json")["captured"]] == ["claude-s1"]


def test_a_hook_never_fails(
    run: Run, session: Path, tmp_path: Path, private_home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A hook captures the path that its agent names; a path that is gone, or no JSON, is logged and exits 0."""
    for told in (json.dumps({"transcript_path": str(session)}), json.dumps({"transcript_path": "/gone/x"}), "no json"):
        monkeypatch.setattr(sys, "stdin", io.StringIO(told))
        assert run("capture", "--hook") == ("", 0)
    assert [one["id"] for one in run("list", "--json")["transcripts"]] == ["claude-s1"]
    (log,) = private_home.glob("kept/*/transcripts.log")
    lines = log.read_text().splitlines()
    assert "claude-s1" in lines[0]
    assert "cannot read /gone/x" in lines[1]
    assert "named no transcript_path" in lines[2]
    monkeypatch.setattr(sys, "stdin", io.StringIO(told))
    arguments = ["transcript", "capture", "--hook", "--repo", str(tmp_path / "no-repository")]
    assert sidecar.main(arguments, standalone_mode=False) == 0


def test_turns_are_read_by_number_range_and_match(run: Run, session: Path) -> None:
    """Positional numbers, ranges, --turn and --match all find turns; an unknown number says so."""
    run("capture", str(session))
    told = run("read", "claude-s1", "0-1", "--json")
    assert [(one["turn"], one["text"]) for one in told["turns"]] == [(0, "No, use SQLite, not X"), (1, "Fine.")]
    assert [one["turn"] for one in run("read", "--turn", "1", "--json")["turns"]] == [1]
    assert [one["turn"] for one in run("read", "--match", "sqlite", "--json")["turns"]] == [0]
    assert run("read", "0", "9", "--json")["unknown"] == ["turn 9"]
    with pytest.raises(SidecarError, match="has no turn 9"):
        run("read", "9")
    with pytest.raises(SidecarError, match="no transcript nope is archived"):
        run("read", "nope", "1")


def test_the_readings_answer_as_json(run: Run, session: Path) -> None:
    """Anchors, segments and candidates come as one object, each saying whether the session is complete."""
    run("capture", str(session))
    assert run("anchors", "--json")["surface"] == 2
    for scheme in ("whole-turn", "structural", "sized-900", "changepoint"):
        assert run("segment", "--scheme", scheme, "--json")["segments"] >= 2
        assert run("segment", "--scheme", scheme)[1] == 0
    (one,) = run("candidates", "--json")["candidates"]
    assert one["kind"] == "correction"
    assert one["source"]["turn"] == 0
    assert "SQLite" in run("candidates")[0]


def test_an_incomplete_session_says_so_everywhere(run: Run, session: Path, tmp_path: Path) -> None:
    """A limited capture is marked in every answer that comes from it."""
    run("capture", str(session), "--limit", "100", "--incomplete")
    answers = [
        run("read", "0", "--json"), run("anchors", "--json"), run("segment", "--json"), run("candidates", "--json"),
        run("verify", "--json")["verified"][0], run("list", "--json")["transcripts"][0],
        run("export", "claude-s1", "--output", str(tmp_path / "o"), "--json"),
    ]  # fmt: skip
    for answer in answers:
        assert answer["complete"] is False
        assert answer["omitted"] == [[100, session.stat().st_size]]
    assert "incomplete" in run("verify")[0]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ([""], "names is empty"),
        (["empty"], "no session is in"),
        (["--follow", "empty"], "no session is in"),
        (["--follow", "nowhere.jsonl"], "cannot read"),
        (["--follow", "a.jsonl", "b.jsonl"], "one session file"),
        (["--incomplete", "a.jsonl"], "give --limit"),
    ],
)
def test_what_cannot_be_meant_is_refused(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, arguments: list[str], said: str
) -> None:
    """A capture of nothing, or with an option that would have no effect, says so at once and keeps nothing."""
    (tmp_path / "empty").mkdir()
    monkeypatch.chdir(tmp_path)
    with pytest.raises((SidecarError, click.UsageError), match=said):
        run("capture", *arguments)
    assert run("list", "--json")["transcripts"] == []


def test_keeping_and_reading_need_no_heavy_library() -> None:
    """Neither NumPy nor ONNX Runtime nor pydantic nor the MCP SDK is imported by any command on sessions."""
    program = textwrap.dedent("""
        import importlib, pkgutil, sys
        import seed.transcript, sidecar.cli.transcript_cmd, sidecar.cli.transcript_hook
        for found in pkgutil.walk_packages(seed.transcript.__path__, "seed.transcript."):
            importlib.import_module(found.name)
        heavy = {"numpy", "onnxruntime", "pydantic", "mcp", "fastembed", "networkx", "rich"} & set(sys.modules)
        assert not heavy, heavy
    """)
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    subprocess.run([sys.executable, "-c", program], check=True, env=environment)
