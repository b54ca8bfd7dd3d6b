from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import pytest

from seed.errors import SidecarError
from seed.transcript.anchors import TOKENS, estimate
from seed.transcript.capture import Options
from sidecar import history
from sidecar.history import History


def event(kind: str, seq: int, **data: Any) -> dict[str, Any]:
    return {"type": kind, "seq": seq, "data": data}


def compacted_session(generations: int, turns: int) -> tuple[bytes, list[tuple[int, str]]]:
    """Make an event log with compactions, and the facts of each generation: paths, percentages and counts."""
    draw, rows, facts, seq = random.Random(3), [], [], 1000  # noqa: S311 - a made session, no key
    for generation in range(1, generations + 1):
        shown = []
        for _ in range(turns):
            path, share = f"seed/{draw.getrandbits(32):x}/part.py", f"{draw.random() * 100:.3f} %"
            amount = f"{draw.randrange(10**6, 10**7)} rows"
            facts += [(generation, fact) for fact in (path, share, amount)]
            arguments = json.dumps({"file_path": path, "content": f'a "quoted" share of {share}\n'})
            call = {"type": "tool-call", "id": f"c{seq}", "name": "write", "arguments": arguments}
            rows += [
                event("assistant/message", seq, message={"content": [{"type": "text", "text": "So be it."}, call]}),
                event("tool/call", seq + 1, callId=f"c{seq}", name="write", arguments=arguments),
                event(
                    "tool/result", seq + 2, message={"callId": f"c{seq}", "content": [{"type": "text", "text": amount}]}
                ),
            ]
            shown += [seq, seq + 2]
            seq += 3
        rows.append(event("compaction/start", seq, compactionId=f"k{generation}"))
        rows.append(
            event("compaction/summary", seq + 1, compactionId=f"k{generation}", shadowedSeqs=shown, summary="Done.")
        )
        rows.append(event("compaction/end", seq + 2, compactionId=f"k{generation}"))
        seq += 3
    rows.append(event("user/message", seq, text="Go on."))
    return "".join(f"{json.dumps(row)}\n" for row in rows).encode(), facts


@pytest.fixture
def opened(repository: Path, tmp_path: Path) -> tuple[History, list[tuple[int, str]]]:
    data, facts = compacted_session(generations=3, turns=40)
    path = tmp_path / "log.jsonl"
    path.write_bytes(data)
    found = history.open_history(repository)
    history.capture(found, path, "2026-01-01T00:00:00Z", Options())
    return found, facts


def test_every_early_fact_is_found_again(opened: tuple[History, list[tuple[int, str]]]) -> None:
    """Each fact that only hidden turns hold is read back from the turns that its generation's anchor names."""
    found, facts = opened
    told = history.anchors_document(found, "")
    places = {one["generation"]: one for one in told["generations"]}
    assert [estimate(one["text"]) <= TOKENS for one in places.values()] == [True] * 3
    for generation, fact in facts:
        first, last = places[generation]["turns"]
        page = history.read_document(found, "", tuple(range(first, last + 1)), match=fact, max_bytes=4000)
        assert any(fact in part["text"] for part in page["turns"]), fact


def test_the_negative_controls_fail(opened: tuple[History, list[tuple[int, str]]], tmp_path: Path) -> None:
    """Without the archive, with only visible turns, or with an unknown number, no early fact is found."""
    found, facts = opened
    told = history.anchors_document(found, "")
    visible = sorted(
        set(range(400)) - {n for one in told["generations"] for n in range(one["turns"][0], one["turns"][1] + 1)}
    )
    for _, fact in facts:
        known = tuple(turn for turn in visible if turn < found.reader().manifest.turns)
        assert history.read_document(found, "", known, match=fact)["matched"] == 0
    with pytest.raises(SidecarError, match="has no seq 5"):
        history.read_document(found, "", seqs=(5,))
    empty = History(type(found.archive)(tmp_path / "nothing"), found.root, found.indexes)
    with pytest.raises(SidecarError, match="no transcript is archived here"):
        history.read_document(empty, "", (1,))


def test_the_files_written_belong_to_their_generation(opened: tuple[History, list[tuple[int, str]]]) -> None:
    """A generation that is asked for alone is told alone, and one that is not there says how many there are."""
    found, _ = opened
    (one,) = history.anchors_document(found, "", 2)["generations"]
    assert one["generation"] == 2
    assert "written: seed/" in one["text"]
    with pytest.raises(SidecarError, match="has no generation 9 - it has 3"):
        history.anchors_document(found, "", 9)


def test_paths_are_told_relative_to_the_repository(repository: Path, tmp_path: Path) -> None:
    """Of a session that ran in a subfolder, paths count from the repository's root."""
    row = {
        "role": "user",
        "cwd": str(repository.resolve() / "sub"),
        "content": f"see {repository.resolve()}/seed/db.py",
    }
    path = tmp_path / "log.jsonl"
    path.write_text(json.dumps(row) + "\n")
    found = history.open_history(repository)
    kept = history.capture(found, path, "2026-01-01T00:00:00Z", Options()).manifest
    assert found.root_of(kept) == str(repository.resolve())
