from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
import textwrap
from typing import TYPE_CHECKING

import pytest

from seed.errors import SidecarError
from seed.transcript import discover
from seed.transcript.capture import Options, capture, follow, identify
from seed.transcript.reader import Reader

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from seed.transcript.archive import Archive

NOW = "2026-01-01T00:00:00Z"
TOKEN = b"ghp" + b"_" + b"a8Zk3Qw9Xr2Lm5Tn7Yp1Vb4Hc6Jd0Fg8Se2U"


def test_every_format_comes_back_identical(archive: Archive, tmp_path: Path, sessions: dict[str, bytes]) -> None:
    """Each made session is captured under its format's and session's name and exported byte for byte."""
    for name, data in sessions.items():
        path = tmp_path / f"{name}.jsonl"
        path.write_bytes(data)
        kept = capture(archive, path, NOW).manifest
        assert kept.id.startswith({"cursor": "generic"}.get(name, name))
        assert kept.digest == f"sha256:{hashlib.sha256(data).hexdigest()}"
        path.unlink()
        Reader(archive, kept).export(tmp_path / "out")
        assert (tmp_path / "out").read_bytes() == data


FAULTS = {
    "empty": b"",
    "newline": b"\n",
    "blank lines": b"\n\n\n",
    "no newline": b'{"a":1}',
    "torn tail": b'{"a":1}\n{"b":',
    "crlf": b'{"a":1}\r\n{"b":2}\r\n',
    "lone cr": b'{"a":1}\r{"b":2}\r',
    "nul run": b'{"a":1}\n' + b"\0" * 5000 + b'{"b":2}\n',
    "splice": b'{"a":1}{"b":2}\n',
    "separators": '{"a":"\u2028\u0085\x0b"}\n'.encode(),
    "surrogate": b'{"a":"\\ud800"}\n',
    "bad utf-8": b'{"a":"\xff\xfe"}\n',
    "bom": b'\xef\xbb\xbf{"a":1}\n',
    "utf-16": '{"a":1}\n'.encode("utf-16"),
}


@pytest.mark.parametrize("name", sorted(FAULTS))
def test_faulty_files_come_back_identical(archive: Archive, tmp_path: Path, name: str) -> None:
    """Whatever is wrong with a file, its bytes come back and its turns are its lines."""
    data = FAULTS[name]
    path = tmp_path / "session.jsonl"
    path.write_bytes(data)
    kept = capture(archive, path, NOW).manifest
    assert b"".join(Reader(archive, kept).chunks()) == data
    assert kept.turns == data.count(b"\n") + (not data.endswith(b"\n") and data != b"")


def test_real_sessions_come_back_identical(archive: Archive, tmp_path: Path, shared: list[Path]) -> None:
    """Every real and broken session beside the checkout comes back, with as many turns as lines."""
    for path in shared:
        data = path.read_bytes()
        kept = capture(archive, path, NOW).manifest
        reader = Reader(archive, kept)
        reader.export(tmp_path / "out")
        assert (tmp_path / "out").read_bytes() == data
        lines = data.split(b"\n")
        lines = lines[:-1] if lines[-1] == b"" else lines
        assert kept.turns == len(lines)
        assert [raw for _, _, raw in reader.lines()] == lines


def test_the_id_is_the_sessions_not_the_files(sessions: dict[str, bytes]) -> None:
    """The name comes from the content, also for a sub-agent's file, and stays when the file grows."""
    assert identify(sessions["claude"]).base == "claude-11aa"
    assert identify(sessions["claude"]).cwd == "/work/app"
    assert identify(sessions["generic"]).base == identify(sessions["generic"] + b'{"role":"user"}\n').base
    message = {"role": "user", "content": "look"}
    row = {
        "type": "user",
        "uuid": "u",
        "sessionId": "11aa",
        "isSidechain": True,
        "agentId": "a7",
        "message": message,
    }
    assert identify(json.dumps(row).encode()).base == "claude-11aa-agent-a7"
    odd = identify(json.dumps({**row, "sessionId": "../a/b~", "agentId": ""}).encode()).base
    assert "/" not in odd
    assert "~" not in odd


def test_a_limit_refuses_or_marks(archive: Archive, tmp_path: Path) -> None:
    """Over the limit nothing is kept, or what is left out is told; a full capture heals it."""
    path = tmp_path / "session.jsonl"
    path.write_bytes(b'{"role":"user","content":"x"}\n' * 10)
    with pytest.raises(SidecarError, match=r"300 bytes, over the limit of 100; nothing was captured"):
        capture(archive, path, NOW, Options(limit=100))
    assert archive.ids() == []
    part = capture(archive, path, NOW, Options(limit=100, incomplete=True)).manifest
    assert (part.size, part.omitted, part.complete) == (100, ((100, 300),), False)
    whole = capture(archive, path, NOW, Options(limit=1000)).manifest
    assert (whole.id, whole.size, whole.omitted, whole.complete) == (part.id, 300, (), True)


def test_secrets_are_listed_and_a_redacted_copy_says_so(archive: Archive, tmp_path: Path) -> None:
    """A capture lists rule and place; --redact keeps a copy of its own, marked incomplete, without them."""
    path = tmp_path / "session.jsonl"
    path.write_bytes(b'{"role":"user","content":"x"}\n{"role":"user","content":"' + TOKEN + b'"}\n')
    kept = capture(archive, path, NOW).manifest
    assert [(one.rule, one.turn, one.start, one.end) for one in kept.secrets] == [("github-token", 1, 26, 66)]
    assert kept.complete
    copy = capture(archive, path, NOW, Options(redact=True)).manifest
    assert copy.id == f"{kept.id}-redacted"
    assert not copy.complete
    assert copy.redacted == kept.secrets
    assert Reader(archive, copy).turn(1)[1][26:66] == b"*" * 40
    assert copy.size == kept.size


def test_a_missing_file_is_one_clear_line(archive: Archive, tmp_path: Path) -> None:
    """A path that cannot be read is named, with what to do."""
    with pytest.raises(SidecarError, match=r"cannot read .*gone: No such file or directory - name a session file"):
        capture(archive, tmp_path / "gone", NOW)
    with pytest.raises(SidecarError, match="Is a directory"):
        capture(archive, tmp_path, NOW)


def test_following_captures_each_change(archive: Archive, tmp_path: Path) -> None:
    """A followed file is captured at once and after each change, not while nothing happens."""
    path = tmp_path / "session.jsonl"
    path.write_bytes(b'{"role":"user","content":"1"}\n')
    steps: Iterator[bytes | None] = iter([None, b'{"role":"user","content":"2"}\n', None])

    def wait() -> bool:
        step = next(steps, b"")
        if step:
            with path.open("ab") as file:
                file.write(step)
        return step != b""

    sizes = [stored.manifest.size for stored in follow(archive, path, lambda: NOW, wait)]
    assert sizes == [30, 60]


def test_sessions_are_found_by_their_working_folder(tmp_path: Path) -> None:
    """The newest session of a folder is found by what its rows say, in every agent's own place."""
    environment = {"CLAUDE_CONFIG_DIR": str(tmp_path / "elsewhere")}
    folders = discover.session_folders(tmp_path, environment)
    assert folders[:2] == [tmp_path / "elsewhere" / "projects", tmp_path / ".codex" / "sessions"]
    for number, (folder, cwd) in enumerate([("a", "/work/app"), ("b", "/work/app/sub"), ("c", "/work/application")]):
        path = folders[0] / folder / "s.jsonl"
        path.parent.mkdir(parents=True)
        path.write_text(json.dumps({"type": "user", "uuid": "u", "sessionId": folder, "cwd": cwd}))
        os.utime(path, ns=(number, number))
    found = discover.of_folder(discover.newest_first(folders), ["/work/app/"])
    assert [path.parent.name for path in found] == ["b", "a"]


def test_sub_agents_are_found_beside_their_session(tmp_path: Path) -> None:
    """A session's sub-agents are the files in the folder that has its name."""
    path = tmp_path / "11aa" / "subagents" / "agent-a7.jsonl"
    path.parent.mkdir(parents=True)
    path.write_text("{}")
    assert discover.subagents(tmp_path / "11aa.jsonl") == [path]
    assert discover.subagents(tmp_path / "22bb.jsonl") == []


BIG = """
    import pathlib, resource, sys
    from seed.transcript.archive import Archive
    from seed.transcript.capture import capture
    from seed.transcript.reader import Reader
    from seed.transcript.turns import scan
    folder = pathlib.Path(sys.argv[1])
    archive = Archive(folder / "kept")
    kept = capture(archive, folder / "session.jsonl", "now").manifest
    reader = Reader(archive, kept)
    assert sum(1 for _ in scan(reader.chunks())) == kept.turns
    assert len(reader.turn(1000)[1]) > 50_000_000
    reader.export(folder / "out.jsonl")
    print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024)
"""


@pytest.mark.slow
def test_three_hundred_megabytes_need_less_than_that_in_memory(tmp_path: Path) -> None:
    """A 300 MB session with a 50 MB line is captured, scanned, read by turn and exported within 300 MB."""
    line = b'{"role":"user","content":"' + b"some words that repeat, number %d. " * 20 + b'"}\n'
    source = tmp_path / "session.jsonl"
    with source.open("wb") as file:
        for number in range(1000):
            file.write(line % ((number,) * 20))
        file.write(b'{"role":"tool","content":"' + b"0123456789abcdef" * (50 << 16) + b'"}\n')
        while file.tell() < 300_000_000:
            file.write(line % ((file.tell(),) * 20))
    child = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(BIG), str(tmp_path)],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
        check=True,
        capture_output=True,
        text=True,
    )
    assert int(child.stdout) < 300
    digests = [hashlib.file_digest(path.open("rb"), "sha256").hexdigest() for path in (source, tmp_path / "out.jsonl")]
    assert digests[0] == digests[1]
