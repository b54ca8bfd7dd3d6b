from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from seed import graph as build
from seed.errors import SidecarError
from seed.record import Record
from seed.transcript.capture import Options
from seed.transcript.edges import Edge as TurnEdge
from sidecar import address, asking, history, sentence_rows
from sidecar.cli import main
from sidecar.graph import Graph, sources
from sidecar.graph_stats import stats
from sidecar.provider import Provider

from .conftest import Commit, record


def claude(cwd: Path) -> bytes:
    """Make a session that edits one file twice, far apart, and mentions one outside the repository."""
    rows: list[dict[str, Any]] = []
    said = ["Edit shop/pay.py now", "Done with it", "What of /etc/hosts.txt then", "Nothing", "Back to shop/pay.py"]
    for n, text in enumerate(said):
        kind = "assistant" if n % 2 else "user"
        parent = f"m{n - 1}" if n else None
        rows.append({"type": kind, "uuid": f"m{n}", "parentUuid": parent, "sessionId": "s1", "cwd": str(cwd),
                     "message": {"role": kind, "content": [{"type": "text", "text": text}]}})  # fmt: skip
    return "".join(f"{json.dumps(row)}\n" for row in rows).encode()


@pytest.fixture
def provider(shop: Path, commit: Commit, tmp_path: Path) -> Iterator[Provider]:
    opened = Provider(shop)
    kept = history.open_history(shop)
    path = tmp_path / "s1.jsonl"
    path.write_bytes(claude(shop))
    name = history.capture(kept, path, "2026-01-01T00:00:00Z", Options()).manifest.id
    turn, raw = kept.reader(name).turn(4)
    at = raw.index(b"Back to")
    source = {"transcript": name, "turn": "4", "start_byte": str(at), "end_byte": str(at + 7), "digest": turn.digest}
    commit(record("fact-9", "Payment is retried", "See it.", kind="fact", status="verified", source=[source],
                  paths=["shop/pay.py"], relates_to=["decision-1"]), "A fact with a source")  # fmt: skip
    yield opened
    opened.close()


def types(told: dict[str, Any]) -> set[str]:
    return {edge["type"] for edge in told["edges"]}


def test_a_record_is_joined_by_relations_paths_and_sources(provider: Provider) -> None:
    """A record's relations, paths and sources are its edges, each with the file and line that says so."""
    graph = Graph(provider)
    told = graph.walk("decision-1")
    lines = (provider.session.repo.root / "knowledge/decision-1.yaml").read_text().split("\n")
    for edge in told["edges"]:
        if edge["basis"].get("file") == "knowledge/decision-1.yaml":
            end = (edge["to"] if edge["from"] == "record:decision-1" else edge["from"]).partition(":")[2]
            assert end in lines[edge["basis"]["line"] - 1]
    assert types(told) == {"supersedes", "mentions-path", "source", "relates_to"}
    assert ("decision-0", "superseded") in {(one["id"], one.get("status")) for one in told["nodes"]}


def test_a_path_leads_to_records_and_turns(provider: Provider) -> None:
    """From a path one step leads to the records that name it and to the turns that mention it, by byte range."""
    told = Graph(provider).walk("shop/pay.py")
    assert {one["kind"] for one in told["nodes"]} == {"path", "record", "turn"}
    reader = history.open_history(provider.session.folder).reader()
    for edge in told["edges"]:
        if "turn" in edge["basis"]:
            _, raw = reader.turn(edge["basis"]["turn"])
            assert raw[edge["basis"]["start_byte"] : edge["basis"]["end_byte"]] == b"shop/pay.py"


def test_order_is_walked_only_when_asked(provider: Provider) -> None:
    """Replies join what order joins anyway: they are left out unless their type is named."""
    graph = Graph(provider)
    turn = "claude-s1#1"
    assert types(graph.walk("claude-s1#0")) == {"mentions-path"}
    assert types(graph.walk(turn, ["replies-to"])) == {"replies-to"}
    assert types(graph.walk(turn)) == set()


def test_depth_bounds_the_walk(provider: Provider) -> None:
    """Depth counts steps in either direction; nothing farther is given, and every edge has its ends given too."""
    graph = Graph(provider)
    near, far = graph.walk("shop/pay.py", depth=1), graph.walk("shop/pay.py", depth=3)
    assert "decision-0" not in {one["id"] for one in near["nodes"]}
    assert "decision-0" in {one["id"] for one in far["nodes"]}
    names = {f"{one['kind']}:{one['id']}" for one in far["nodes"]}
    assert all({edge["from"], edge["to"]} <= names for edge in far["edges"])


@pytest.mark.parametrize(
    ("start", "kind", "depth"), [("nowhere", (), 1), ("decision-1", ("likes",), 1), ("decision-1", (), 0)]
)
def test_what_is_not_in_the_graph_is_said(provider: Provider, start: str, kind: tuple[str, ...], depth: int) -> None:
    """An unknown node, type or depth is refused with what there is."""
    with pytest.raises(SidecarError):
        Graph(provider).walk(start, kind, depth)


def test_paths_outside_the_repository_are_no_nodes() -> None:
    """A path outside the repository joins nothing."""
    found = list(
        build.of_session("t", [TurnEdge("mentions-path", 0, path, 1, 2) for path in ("/etc/x.txt", "../y.py", "z.py")])
    )
    assert [edge.target for edge in found] == ["path:z.py"]


def test_backward_relations_are_told_forward() -> None:
    """superseded_by is the same edge as supersedes from the other end; its basis stays the file that says it."""
    old = build.Filed(Record("a", "decision", "A", "superseded", relations=(("superseded_by", "B"),)), "a.yaml", "1")
    new = build.Filed(Record("b", "decision", "B", "accepted", relations=(("supersedes", "gone"),)), "b.yaml", "2")
    (edge,) = build.of_records([old, new])
    assert (edge.source, edge.target, edge.type) == ("record:b", "record:a", "supersedes")
    assert isinstance(edge.basis, build.Line)
    assert edge.basis.file == "a.yaml"


def test_a_source_resolves_to_its_bytes(provider: Provider) -> None:
    """A record's source in a session comes back as the exact bytes; another digest or half a place says so instead."""
    graph = Graph(provider)
    (told,) = sources(graph, graph.walk("fact-9"))["sources"]
    assert told["text"] == "Back to"
    place = {"transcript": told["transcript"], "turn": "4", "start_byte": "0", "end_byte": "1"}
    assert "missing" in graph.source({**place, "digest": "sha256:0"})
    assert "missing" in graph.source({**place, "turn": "99"})
    assert "missing" in graph.source({"transcript": told["transcript"]})


def test_why_names_the_turns_where_a_file_was_last_worked_on(
    provider: Provider, shop: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """`why` gives the records on a path and, newest first, the turns that mention it, also for a folder."""
    del provider
    for path in ("shop/pay.py", "shop"):
        assert main(["why", path, "--json", "--repo", str(shop)]) == 0
        told = json.loads(capsys.readouterr().out)
        assert [one["turn"] for one in told["turns"]] == [4, 0]
    assert "fact-9" in {one["id"] for one in told["results"]}
    assert main(["why", "shop/pay.py", "--repo", str(shop)]) == 0
    assert "turn 4" in capsys.readouterr().out


def test_stats_say_what_each_type_adds(provider: Provider, shop: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """For each edge type: count, adjacent share, cosines, longest span, and how many joins order had not."""
    address.Addresser(provider).address(asking.Asking("pay"))
    told = stats(Graph(provider))
    replies, mentions = told["types"]["replies-to"], told["types"]["mentions-path"]
    assert (replies["count"], replies["adjacent_share"], replies["joined_anew"]) == (4, 1.0, 0)
    assert (mentions["joins"], mentions["longest_span"], mentions["joined_anew"]) == (1, 4, 1)
    assert mentions["cosine_not_adjacent"] is not None
    assert told["types"]["supersedes"]["count"] == 1
    assert main(["graph", "stats", "--repo", str(shop)]) == 0
    assert "mentions-path" in capsys.readouterr().out


def test_stats_look_rows_up_once_and_keep_them(provider: Provider, monkeypatch: pytest.MonkeyPatch) -> None:
    """The rows of all sessions are looked up in the store together, and not again while they are known."""
    address.Addresser(provider).address(asking.Asking("pay"))
    for suffix in (".rows", ".held"):
        (kept,) = history.open_history(provider.session.folder).indexes.glob(f"*{suffix}")
        kept.unlink()
    asked: list[int] = []
    plain = sentence_rows.looked_up
    monkeypatch.setattr(sentence_rows, "looked_up", lambda *given: asked.append(len(given[2])) or plain(*given))
    first = stats(Graph(provider))
    assert len(asked) == 1
    assert (stats(Graph(provider)), len(asked)) == (first, 1)


def test_stats_of_records_alone_need_no_session(shop: Path) -> None:
    """Where no session is kept, the records' edges are told, and no turn."""
    opened = Provider(shop)
    told = stats(Graph(opened))
    opened.close()
    assert told["baseline"] == {"adjacent_cosine": None, "random_cosine": None, "turns": 0, "embedded_turns": 0}
    assert told["types"]["supersedes"]["count"] == 1


def test_a_file_that_nothing_speaks_of_has_no_edges(provider: Provider) -> None:
    """A file or folder that is there is no wrong name: its walk is empty and says what was looked at."""
    root = provider.session.repo.root
    (root / "quiet").mkdir()
    (root / "quiet" / "tea.py").write_text("")
    for name in ("quiet/tea.py", "quiet", "quiet/", str(root / "quiet" / "tea.py")):
        told = Graph(provider).walk(name)
        assert (told["about"].startswith("path:quiet"), told["edges"], told["left_out"]) == (True, [], 0)
        assert [one["kind"] for one in told["nodes"]] == ["path"]
        assert told["coverage"]["transcripts"] == 1
    for name in (".", str(root), "quiet/gone.py", "../outside", "/etc/hosts", "nul\0", "x" * 5000):
        with pytest.raises(SidecarError, match="there is no"):
            Graph(provider).walk(name)


def test_networkx_is_loaded_at_the_first_walk_only() -> None:
    """Importing the graph loads no NetworkX: other commands do not pay for it."""
    code = "import sys, sidecar.graph, sidecar.cli.graph_cmd; sys.exit('networkx' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_a_folder_is_spoken_of_where_its_files_are_and_the_other_way_round(provider: Provider) -> None:
    """From a folder the walk finds what names a file in it; from a file, the records that name its folder."""
    graph = Graph(provider)
    below = graph.walk("shop")
    assert {"fact-9", "decision-1"} <= {one["id"] for one in below["nodes"]}
    assert "turn" in {one["kind"] for one in below["nodes"]}
    assert "decision-1" in {one["id"] for one in graph.walk("shop/store/orders.py")["nodes"]}
    with pytest.raises(SidecarError, match="there is no"):
        graph.walk("elsewhere")


def test_a_path_in_a_body_is_an_edge_with_its_line(provider: Provider) -> None:
    """A file that only a record's text names joins them, and the basis is the line that names it."""
    told = Graph(provider).walk("shop/checkout.py")
    (edge,) = [one for one in told["edges"] if one["from"] == "record:fact-1"]
    lines = (provider.session.repo.root / edge["basis"]["file"]).read_text().split("\n")
    assert "shop/checkout.py" in lines[edge["basis"]["line"] - 1]
