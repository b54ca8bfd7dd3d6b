from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from seed.transcript import paths, turns
from seed.transcript.edges import KINDS, MENTIONS_PATH, REPLIES_TO, TOOL_RESULT_OF, Edge, edges

if TYPE_CHECKING:
    from collections.abc import Callable


def lines(data: bytes) -> list[tuple[int, bytes]]:
    return [(ordinal, raw) for ordinal, (_, raw) in enumerate(turns.lines([data]))]


def of(data: bytes, form: str, root: str = "/work/app") -> list[Edge]:
    return list(edges(lines(data), form, root))


def joins(found: list[Edge], kind: str) -> list[tuple[int, int | str]]:
    return [(edge.source, edge.target) for edge in found if edge.kind == kind]


EXPECTED = {
    "claude": ([(2, 1), (3, 2), (4, 3)], [(4, 3)], [(2, "seed/db.py"), (3, "seed/db.py")]),
    "codex": ([], [(6, 5)], [(2, "seed/db.py"), (3, "seed/db.py"), (5, "seed/db.py"), (6, "seed/db.py")]),
    "copilot": ([(1, 0), (2, 1), (3, 2), (4, 3)], [(4, 2)], [(2, "seed/db.py"), (3, "seed/db.py")]),
    "gemini": ([], [], [(3, "seed/db.py")]),
    "pi": ([(2, 1), (3, 2), (4, 3)], [(3, 2)], [(2, "seed/db.py")]),
    "cursor": ([], [], [(0, "seed/db.py")]),
    "generic": ([], [(2, 1)], [(1, "seed/db.py")]),
    "eventlog": ([], [(4, 2)], [(2, "seed/db.py"), (3, "seed/db.py")]),
}


@pytest.mark.parametrize("name", sorted(EXPECTED))
def test_each_format_gives_its_edges(sessions: dict[str, bytes], name: str) -> None:
    """Replies, results and mentioned paths are found in every format, and nothing else is invented."""
    found = of(sessions[name], {"cursor": "generic"}.get(name, name))
    assert tuple(joins(found, kind) for kind in KINDS) == EXPECTED[name]


@pytest.mark.parametrize("name", sorted(EXPECTED))
def test_an_edge_rests_on_its_bytes(sessions: dict[str, bytes], name: str) -> None:
    """The basis of each edge is the bytes that name its other end."""
    data = sessions[name]
    raws = dict(lines(data))
    for edge in of(data, {"cursor": "generic"}.get(name, name)):
        basis = raws[edge.source][edge.start : edge.end]
        if edge.kind == MENTIONS_PATH:
            assert basis.decode().endswith(str(edge.target))
        else:
            assert basis
            assert basis in raws[int(edge.target)]


def test_phantom_parents_and_double_ids(rows: Callable[..., bytes]) -> None:
    """A link to a row that is not there joins nothing; of two rows with one id, the nearest before counts."""
    base = {"type": "user", "sessionId": "s", "message": {"role": "user", "content": "x"}}
    data = rows(
        {**base, "uuid": "a", "parentUuid": None},
        {**base, "uuid": "b", "parentUuid": "nowhere"},
        {**base, "uuid": "a", "parentUuid": "b"},
        {**base, "uuid": "c", "parentUuid": "a"},
        {**base, "uuid": "d", "parentUuid": "e"},
        {**base, "uuid": "e", "parentUuid": "e"},
    )
    assert joins(of(data, "claude"), REPLIES_TO) == [(2, 1), (3, 2), (4, 5)]


def test_a_result_without_a_call_id_answers_the_row_it_names(rows: Callable[..., bytes]) -> None:
    """Where the host names the assistant's row instead of the call, the edge rests on that name."""
    data = rows(
        {"type": "assistant", "sessionId": "s", "uuid": "a1",
         "message": {"content": [{"type": "tool_use", "name": "B"}]}},
        {"type": "user", "sessionId": "s", "uuid": "u2", "sourceToolAssistantUUID": "a1",
         "message": {"content": [{"type": "tool_result", "content": "ok"}]}},
    )  # fmt: skip
    assert joins(of(data, "claude"), TOOL_RESULT_OF) == [(1, 0)]


def test_broken_lines_cost_only_themselves(sessions: dict[str, bytes]) -> None:
    """A torn line has no edges; the lines around it keep theirs, with the same ordinals."""
    whole = sessions["claude"].split(b"\n")
    torn = b"\n".join([*whole[:2], whole[2][:80], *whole[3:]])
    found = of(torn, "claude")
    assert joins(found, REPLIES_TO) == [(4, 3)]
    assert joins(found, TOOL_RESULT_OF) == [(4, 3)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (b"see seed/store.py:12, and tests/test_a.py.", ["seed/store.py", "tests/test_a.py"]),
        (b"(src/app/(protected)/[id]/page.tsx)", ["src/app/(protected)/[id]/page.tsx"]),
        (b"at https://example.org/a/b.html and git@host:a/b.git", []),
        (b"and/or, TCP/IP, 3/4, application/json, 1.2/3.4", []),
        (rb"line\nsrc/a.py\tb/c.md", ["src/a.py", "b/c.md"]),
        (rb"{\"command\":\"cat x\\nsrc/a.py\"}", ["src/a.py"]),
        (b"README.md and Node.js and e.g. this", ["README.md"]),
        ("請看seed/db.py。".encode(), ["seed/db.py"]),
        (b"./run/me.sh ../up.txt", ["./run/me.sh", "../up.txt"]),
        (b"~/x/y.toml /etc/hosts.conf", ["~/x/y.toml", "/etc/hosts.conf"]),
        (b"apps/.env.example a/Makefile b/.gitignore", ["apps/.env.example", "a/Makefile", "b/.gitignore"]),
    ],
)  # fmt: skip
def test_paths_in_text(text: bytes, expected: list[str]) -> None:
    """Paths are told by their shape, escapes do not stick to them, and addresses and fractions are none."""
    found = list(paths.mentions(text, 0, len(text)))
    assert [mention.path for mention in found] == expected
    assert all(text[mention.start : mention.end].decode() == mention.path for mention in found)


@given(st.binary(max_size=200))
def test_mentions_stay_inside_any_bytes(raw: bytes) -> None:
    """Whatever the bytes, a mention is exactly the bytes it claims."""
    for mention in paths.mentions(raw, 0, len(raw)):
        assert raw[mention.start : mention.end].decode() == mention.path


def test_long_runs_of_path_characters_are_quick() -> None:
    """A megabyte of slashes, dots or letters is read in one pass."""
    for unit in (b"a/", b"a.", b"a", b"(a)", b"[a", b"../", b"-", b"\\", b"~/", b"(a)/"):
        assert len(list(paths.mentions(unit * 300_000, 0, 300_000 * len(unit)))) <= 1


def test_real_sessions_give_edges_of_every_type(shared: list[object]) -> None:
    """On real sessions each type occurs, and each basis is inside its turn."""
    from seed.transcript.facts import parse_row
    from seed.transcript.formats import detect

    counts: Counter[str] = Counter()
    for path in shared:
        data = path.read_bytes()  # type: ignore[attr-defined]  # the fixture gives paths
        raws = dict(lines(data))
        form = detect(row for raw in raws.values() if (row := parse_row(raw)) is not None)
        for edge in edges(raws.items(), form):
            counts[edge.kind] += 1
            assert 0 <= edge.start < edge.end <= len(raws[edge.source])
    assert set(counts) == set(KINDS)
