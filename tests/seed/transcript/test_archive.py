from __future__ import annotations

import os
import signal
import stat
import subprocess
import sys
import textwrap
from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from seed.errors import SidecarError, StoreError
from seed.transcript import frames, manifest
from seed.transcript.archive import Archive
from seed.transcript.manifest import Identity
from seed.transcript.reader import Reader

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

NOW = "2026-01-01T00:00:00Z"


def content(reader: Reader) -> bytes:
    return b"".join(reader.chunks())


def lines(count: int, width: int = 200) -> bytes:
    return b"".join(f'{{"n":{number},"x":"{"y" * width}"}}\n'.encode() for number in range(count))


@settings(max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(data=st.binary(max_size=400), grown=st.binary(max_size=200), size=st.integers(1, 50))
def test_bytes_in_are_bytes_out(tmp_path: Path, data: bytes, grown: bytes, size: int) -> None:
    """Any bytes come back identical, also by turn, also after the file grew, whatever the frame size."""
    archive = Archive(tmp_path / f"{abs(hash((data, grown, size)))}")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(frames.cut, "__defaults__", (size,))
        for whole in (data, data + grown):
            stored = archive.store(Identity("s", "generic"), [whole], source="", captured=NOW)
            reader = Reader(archive, stored.manifest)
            assert stored.manifest.id == "s"
            assert content(reader) == whole
            split = whole.split(b"\n")
            split = split[:-1] if split[-1] == b"" else split
            assert [reader.turn(number)[1] for number in range(stored.manifest.turns)] == split
            assert reader.read(len(whole) // 3, len(whole)) == whole[len(whole) // 3 :]


@pytest.mark.parametrize("size", [1 << 20, 700])
def test_turns_are_found_in_any_order(tmp_path: Path, size: int) -> None:
    """Of hundreds of turns in a frame, or of many frames, each is found where it lies, whatever was read before."""
    archive = Archive(tmp_path / "kept")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(frames.cut, "__defaults__", (size,))
        whole = b"".join(b"%d %s\n" % (number, b"x" * (number % 5)) for number in range(300))
        reader = Reader(archive, archive.store(Identity("s", "generic"), [whole], source="", captured=NOW).manifest)
    split = whole.split(b"\n")
    for number in (299, 0, 63, 64, 65, 127, 128, 129, 298, 64, 1):
        assert reader.turn(number)[1] == split[number]


def test_a_grown_file_stores_only_its_new_tail(archive: Archive, keep: Callable[..., Reader]) -> None:
    """Full frames are not written again when a file grows, and the replaced tail frame is deleted."""
    old = lines(20_000)
    first = keep(old)
    whole_frames = {frame.digest: frame for frame in first.manifest.frames if frame.size == frames.FRAME_BYTES}
    assert whole_frames
    names = {path: path.stat().st_mtime_ns for path in archive.frames("generic-one").folder.glob("*.zst")}
    stored = archive.store(Identity("generic-one", "generic"), [old + lines(50)], source="s", captured=NOW)
    assert stored.written < 20_000
    kept = {path: path.stat().st_mtime_ns for path in archive.frames("generic-one").folder.glob("*.zst")}
    assert {path.stem for path in kept} == {frame.digest for frame in stored.manifest.frames}
    assert all(kept[path] == names[path] for path in kept if path.stem in whole_frames)
    assert content(Reader(archive, stored.manifest)) == old + lines(50)
    assert [state.size for state in stored.manifest.states] == [len(old), len(old + lines(50))]


def test_the_same_file_again_changes_nothing(archive: Archive, keep: Callable[..., Reader]) -> None:
    """Capturing the same bytes twice writes nothing and keeps the id."""
    keep(lines(10))
    path = archive.folder / "generic-one" / "generic-one.json"
    before = path.stat()
    stored = archive.store(Identity("generic-one", "generic"), [lines(10)], source="other", captured="later")
    assert not stored.changed
    assert stored.written == 0
    assert path.stat().st_mtime_ns == before.st_mtime_ns


def test_a_rewritten_file_loses_nothing(archive: Archive, keep: Callable[..., Reader]) -> None:
    """A file that is no continuation gets an id of its own; the old one and both growths still come back."""
    keep(b"one\ntwo\n")
    other = keep(b"one\nTWO\n")
    assert other.manifest.id.startswith("generic-one~")
    assert content(Reader(archive, archive.load("generic-one"))) == b"one\ntwo\n"
    assert keep(b"one\nTWO\nthree").manifest.id == other.manifest.id
    assert keep(b"one\ntwo\nthree").manifest.id == "generic-one"
    assert keep(b"one\n").manifest.id not in ("generic-one", other.manifest.id)
    for identifier in archive.ids():
        Reader(archive, archive.load(identifier)).verify()


def test_a_reader_survives_a_newer_capture(keep: Callable[..., Reader]) -> None:
    """A session that was opened before its tail was replaced still reads its bytes."""
    reader = keep(b"one\ntwo\n")
    keep(b"one\ntwo\nthree\n")
    assert reader.turn(1)[1] == b"two"


def test_only_the_user_can_read(archive: Archive, keep: Callable[..., Reader]) -> None:
    """Every file is 0600 and every folder 0700, whatever the umask."""
    before = os.umask(0)
    try:
        keep(lines(5))
    finally:
        os.umask(before)
    for path in [archive.folder, *archive.folder.rglob("*")]:
        wanted = 0o700 if path.is_dir() else 0o600
        assert stat.S_IMODE(path.stat().st_mode) == wanted, path


@pytest.mark.parametrize("harm", ["flip", "cut", "gone", "bomb"])
def test_damage_is_named_and_repaired_by_capturing_again(
    archive: Archive, keep: Callable[..., Reader], harm: str
) -> None:
    """A frame that does not hold its bytes is named by path, and a new capture can write it again."""
    reader = keep(lines(50))
    path = archive.frames("generic-one").path(reader.manifest.frames[0].digest)
    packed = bytearray(path.read_bytes())
    packed[len(packed) // 2] ^= 255
    damage = {"flip": bytes(packed), "cut": bytes(packed[:20]), "bomb": b"\x28\xb5\x2f\xfd\xc0" + b"\xff" * 9}
    path.unlink()
    if harm in damage:
        path.write_bytes(damage[harm])
    with pytest.raises(StoreError, match=path.stem):
        Reader(archive, archive.load("generic-one")).verify()
    path.unlink(missing_ok=True)
    keep(lines(50)).verify()


def test_a_damaged_manifest_costs_no_frame(archive: Archive, keep: Callable[..., Reader]) -> None:
    """A capture beside a damaged manifest succeeds and deletes none of the frames it may refer to."""
    keep(b"one\ntwo\n")
    (archive.folder / "generic-one" / "generic-one.json").write_bytes(b"{")
    with pytest.raises(StoreError, match="damaged"):
        archive.load("generic-one")
    frames_before = set(archive.frames("generic-one").folder.glob("*.zst"))
    keep(b"quite another\n")
    assert frames_before <= set(archive.frames("generic-one").folder.glob("*.zst"))
    assert (archive.folder / "generic-one" / "generic-one.json.damaged").exists()


def test_names_resolve(archive: Archive, keep: Callable[..., Reader]) -> None:
    """A session is found by its id, by a unique beginning of it or by its digest; else the error says how."""
    first = keep(b"a\n", base="generic-aaa")
    keep(b"b\n", base="generic-abb")
    assert archive.resolve("generic-aa").id == "generic-aaa"
    assert archive.resolve(first.manifest.digest).id == "generic-aaa"
    damaged = archive.folder / "generic-zzz" / "generic-zzz.json"
    damaged.parent.mkdir()
    damaged.write_bytes(b"{")
    assert archive.resolve(first.manifest.digest[7:19]).id == "generic-aaa"
    with pytest.raises(SidecarError, match="begins 2 transcripts"):
        archive.resolve("generic-a")
    with pytest.raises(SidecarError, match="transcript list"):
        archive.resolve("nothing")


@pytest.mark.parametrize("name", ["../outside", "generic-aaa/../../outside", "nul\0", "x" * 5000, "."])
def test_a_name_is_no_path(archive: Archive, keep: Callable[..., Reader], name: str) -> None:
    """No file is looked for under a name that is not kept: it may come from an agent and lead out of the archive."""
    first = keep(b"a\n", base="generic-aaa")
    manifest = archive.folder / "generic-aaa" / "generic-aaa.json"
    (archive.folder.parent / "outside.json").write_bytes(manifest.read_bytes())
    (archive.folder / "generic-aaa" / "outside.json").write_bytes(manifest.read_bytes())
    with pytest.raises(SidecarError, match="is archived here"):
        archive.resolve(name)
    assert archive.resolve("generic-aaa").id == first.manifest.id


def test_an_unknown_turn_is_an_error(keep: Callable[..., Reader]) -> None:
    """A number the session does not have is named, with the numbers it has."""
    with pytest.raises(SidecarError, match="has no turn 2 - its turns are 0 to 1"):
        keep(b"a\nb").turn(2)


def test_a_manifest_comes_back_equal(keep: Callable[..., Reader]) -> None:
    """What is written of a session is what is read; a newer format is refused, not guessed."""
    one = keep(lines(3)).manifest
    assert manifest.parse(manifest.dump(one), "x") == one
    with pytest.raises(SidecarError, match="format 2"):
        manifest.parse(manifest.dump(one).replace(b'"format":1', b'"format":2'), "x")


CRASHING = """
    import os, pathlib, signal, sys
    from seed.transcript import files
    from seed.transcript.archive import Archive
    from seed.transcript.manifest import Identity
    folder, source, left = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2]), int(sys.argv[3])
    def counted(function):
        def wrapper(*arguments, **options):
            global left
            left -= 1
            if left < 0:
                os.kill(os.getpid(), signal.SIGKILL)
            return function(*arguments, **options)
        return wrapper
    os.fsync, pathlib.Path.replace = counted(os.fsync), counted(pathlib.Path.replace)
    pathlib.Path.unlink = counted(pathlib.Path.unlink)
    Archive(folder).store(Identity("s", "generic"), [source.read_bytes()], source="", captured="now")
"""


def test_a_kill_leaves_the_old_or_the_new_state(tmp_path: Path) -> None:
    """Killed at every write, rename, sync and deletion in turn, the archive holds the old file or the new."""
    old, new = lines(6_000), lines(6_000) + lines(6_000, 100)
    source, killed = tmp_path / "session.jsonl", 0
    for step in range(100):
        folder = tmp_path / str(step)
        Archive(folder).store(Identity("s", "generic"), [old], source="", captured="then")
        source.write_bytes(new)
        child = subprocess.run(
            [sys.executable, "-c", textwrap.dedent(CRASHING), str(folder), str(source), str(step)],
            env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
            check=False,
        )
        reader = Reader(Archive(folder), Archive(folder).load("s"))
        reader.verify()
        assert content(reader) in (old, new)
        again = Archive(folder).store(Identity("s", "generic"), [new], source="", captured="now")
        assert content(Reader(Archive(folder), again.manifest)) == new
        assert not list(folder.rglob(".tmp-*"))
        if child.returncode == 0:
            break
        assert child.returncode == -signal.SIGKILL
        killed += 1
    assert killed >= 5


def test_captures_at_once_wait_for_each_other(tmp_path: Path) -> None:
    """Several processes that capture the growing file leave the longest state, whole."""
    program = textwrap.dedent("""
        import pathlib, sys
        from seed.transcript.archive import Archive
        from seed.transcript.manifest import Identity
        data = pathlib.Path(sys.argv[2]).read_bytes()
        for share in range(1, 11):
            part = data[: len(data) * share // 10]
            archive = Archive(pathlib.Path(sys.argv[1]))
            archive.store(Identity("s", "generic"), [part], source="", captured="now")
    """)
    source = tmp_path / "session.jsonl"
    source.write_bytes(lines(9_000))
    arguments = [sys.executable, "-c", program, str(tmp_path / "kept"), str(source)]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    children = [subprocess.Popen(arguments, env=environment) for _ in range(3)]
    assert [child.wait() for child in children] == [0, 0, 0]
    archive = Archive(tmp_path / "kept")
    reader = Reader(archive, archive.load("s"))
    reader.verify()
    assert any(content(Reader(archive, archive.load(one))) == source.read_bytes() for one in archive.ids())
