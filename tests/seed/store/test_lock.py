from __future__ import annotations

import os
import signal
import stat
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from seed.errors import StoreError
from seed.store.lock import exclusive

ROOT = Path(__file__).parents[3]
HOLD = """
import sys, time
from pathlib import Path
from seed.store.lock import exclusive
with exclusive(Path(sys.argv[1]), 5):
    print("held", flush=True)
    time.sleep(60)
"""


def holder(path: Path) -> subprocess.Popen[str]:
    process = subprocess.Popen(
        [sys.executable, "-c", HOLD, str(path)],
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "held\n"
    return process


def test_only_one_process_holds_the_lock_and_it_is_named(tmp_path: Path) -> None:
    """A second process gives up after its time and is told which process to wait for."""
    with holder(tmp_path / "lock") as process:
        try:
            with pytest.raises(StoreError, match=f"pid {process.pid}"), exclusive(tmp_path / "lock", 0.05):
                pass
        finally:
            process.kill()


def test_a_killed_holder_leaves_the_lock_free(tmp_path: Path) -> None:
    """The kernel drops the lock when its holder dies, so that no lock file is ever stale."""
    with holder(tmp_path / "lock") as process:
        process.send_signal(signal.SIGKILL)
        process.wait()
        with exclusive(tmp_path / "lock", 0):
            pass


def test_a_waiting_process_gets_the_lock_when_it_is_released(tmp_path: Path) -> None:
    """Waiting ends with the lock, not with the time."""
    release = threading.Event()

    def hold() -> None:
        with exclusive(tmp_path / "lock", 1):
            taken.set()
            release.wait(5)

    taken = threading.Event()
    thread = threading.Thread(target=hold)
    thread.start()
    taken.wait(5)
    threading.Timer(0.1, release.set).start()
    start = time.monotonic()
    with exclusive(tmp_path / "lock", 10):
        assert time.monotonic() - start < 5
    thread.join()


def test_the_lock_is_released_when_its_block_fails(tmp_path: Path) -> None:
    """An exception inside the block does not leave the lock behind."""
    with pytest.raises(KeyError), exclusive(tmp_path / "lock", 0):
        raise KeyError
    with exclusive(tmp_path / "lock", 0):
        assert stat.S_IMODE((tmp_path / "lock").stat().st_mode) == 0o600


def test_a_lock_that_cannot_be_opened_is_one_line(tmp_path: Path) -> None:
    """A folder that is not there ends in a StoreError."""
    with pytest.raises(StoreError, match="cannot be opened"), exclusive(tmp_path / "no/lock", 0):
        pass
