from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from seed.errors import SidecarError
from seed.transcript.capture import Options
from sidecar import history
from sidecar.cli import main
from sidecar.graph import Graph
from sidecar.handover import hand_over
from sidecar.propose import proposer
from sidecar.provider import Provider

from .conftest import run

SAID = [
    ("user", "Please add retries to shop/pay.py"),
    ("assistant", "We decided to use exponential backoff in shop/pay.py because the bank throttles us."),
    ("user", "No, that's wrong: never retry a payment without the idempotency key, always send it."),
    ("assistant", "Understood."),
]


def keep(work: Path, folder: Path) -> str:
    rows = [{"role": role, "content": text} for role, text in SAID]
    path = folder / "one.jsonl"
    path.write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    return history.capture(history.open_history(work), path, "2026-01-01T00:00:00Z", Options()).manifest.id


def test_candidates_are_proposed_with_their_bytes_and_only_once(
    clone: Callable[[str], Path], opened: Callable[[Path], Provider], tmp_path: Path
) -> None:
    """Each place becomes a candidate on a branch whose source resolves to the exact bytes; twice gives nothing new."""
    work = clone("a")
    name, provider = keep(work, tmp_path), opened(work)
    told = hand_over(provider, name, proposer())
    assert len(told["proposed"]) >= 2
    assert not told["refused"]
    branches = run(work, "branch", "--list", "knowledge/candidate/*").split()
    assert len(branches) == len(told["proposed"])
    for one in told["proposed"]:
        record = provider.show(one["id"])["record"]
        found = Graph(provider).source(record["source"][0])
        assert found["text"] in {text for _, text in SAID} | {part for _, text in SAID for part in text.split(": ")}
        assert "missing" not in found
    again = hand_over(provider, name, proposer())
    assert (again["proposed"], again["refused"]) == ([], [])
    assert again["already"] == len(told["proposed"])
    assert len(run(work, "branch", "--list", "knowledge/candidate/*").split()) == len(branches)


def test_one_can_be_chosen_and_an_unknown_one_is_named(
    clone: Callable[[str], Path], opened: Callable[[Path], Provider], tmp_path: Path
) -> None:
    """With a key only that place is proposed, and the others stay new; a key that is not there is refused."""
    work = clone("a")
    name, provider = keep(work, tmp_path), opened(work)
    keys = [one["key"] for one in history.candidates_document(history.open_history(work), name)["candidates"]]
    assert [one["key"] for one in hand_over(provider, name, proposer(), keys[1:2])["proposed"]] == keys[1:2]
    left = history.candidates_document(history.open_history(work), name, fresh=True)["candidates"]
    assert [one["key"] for one in left] == [key for key in keys if key != keys[1]]
    with pytest.raises(SidecarError, match="no candidate"):
        hand_over(provider, name, proposer(), ["ffff"])


def test_what_is_refused_can_be_handed_on_later(
    clone: Callable[[str], Path], opened: Callable[[Path], Provider], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A proposal that breaks a rule is told with its reason and is not remembered as handed on."""
    work = clone("a")
    name, provider = keep(work, tmp_path), opened(work)

    def refuse(*_: object, **__: object) -> dict[str, Any]:
        raise SidecarError("no", "not now")

    with monkeypatch.context() as patch:
        patch.setattr("sidecar.handover.propose", refuse)
        assert len(hand_over(provider, name, proposer())["refused"]) >= 2
    assert len(hand_over(provider, name, proposer())["proposed"]) >= 2


def test_the_command_proposes_once(
    clone: Callable[[str], Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """`transcript candidates --propose` says what it proposed, and the second time that nothing is new."""
    work = clone("a")
    name = keep(work, tmp_path)
    assert main(["transcript", "candidates", name, "--propose", "--repo", str(work)]) == 0
    assert "proposed as" in capsys.readouterr().out
    assert main(["transcript", "candidates", name, "--propose", "--repo", str(work)]) == 0
    assert "nothing new" in capsys.readouterr().out
    assert main(["transcript", "candidates", name, "--key", "x", "--repo", str(work)]) == 2
