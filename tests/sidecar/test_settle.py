"""A repository whose few passages count as many: asked by codes first, its answers are those of the exact scan."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("simsimd")

from seed.embed.base import ToyEmbedder
from sidecar import coded, planes, settle
from sidecar.coded import CodedPlane
from sidecar.plane import Plane
from sidecar.provider import Provider
from sidecar.query import Query

Commit = Callable[..., str]
Text = Callable[..., str]
WORDS = (
    "amber basalt cedar dune ember fjord glade heath islet jetty kelp lagoon mesa nook oasis plain quay reef 沙丘 港口"
).split()
RECORDS = 150
HYBRID = "retrieval: {fusion: hybrid}\n"
SPREAD = "retrieval: {fusion: hybrid, beta: 0.3}\n"
POLICIES = {
    "words and meaning": HYBRID,
    "the baseline": "retrieval: {fusion: cosine}\n",
    "a low floor": HYBRID + "floors: [{embedder: 'MINE', on: fused, value: 0.3}]\n",
    "a high floor": HYBRID + "floors: [{embedder: 'MINE', on: fused, value: 1.5}]\n",
    "neighbours pass evidence on": SPREAD + "floors: [{embedder: 'MINE', on: fused, value: 0.6}]\n",
}


def files(record_text: Text, rules: str) -> dict[str, str]:
    """Return records of all kinds and statuses, some with the same text, tags, paths and relations."""
    draw = np.random.default_rng(3)
    found = {"knowledge/policy.yaml": f"format: 1\nembedder: {{model: toy}}\n{rules}"}
    for number in range(RECORDS):
        text = [" ".join(draw.choice(WORDS, 30)) for _ in range(int(draw.integers(1, 4)))]
        keys: dict[str, Any] = {"title": " ".join(draw.choice(WORDS, 3)), "tags": draw.choice(WORDS, 2).tolist()}
        keys["body"] = "\n\n".join(f"## Part {n}\n\n{part}." for n, part in enumerate(text))
        keys["status"] = str(draw.choice(["accepted", "accepted", "accepted", "rejected", "deprecated"]))
        if number % 5 == 0:  # near and even ones
            keys["title"], keys["body"] = "amber reef at the quay", f"Amber reef {WORDS[number % 3]}."
        if number % 7 == 0:
            keys["paths"] = [f"src/{draw.choice(WORDS[:18])}.py"]
        if number % 11 == 1:
            keys["supersedes"] = [f"decision-{number - 1}"]
        found[f"knowledge/r{number}.yaml"] = record_text(f"decision-{number}", **keys)
    return found


def queries() -> Iterator[Query]:
    """Yield questions with and without filters, in several phrasings, page by page, and listings."""
    for n, (a, b, c) in enumerate(zip(WORDS, WORDS[3:], WORDS[7:], strict=False)):
        yield Query(f"{a} {b} of the {c}", limit=10)
        yield Query(f"{a}?", also=(f"where is the {b}", f"{c} {a}"), limit=3, tags=(c,) if n % 2 else ())
        yield Query(f"{b} by the {a}", statuses=("all",), after="2026-01-01", limit=2)
    yield Query("how do I bake bread in Paris")
    yield Query("amber reef at the quay", limit=4)
    yield Query("decision-10 or decision-20", limit=4)
    yield Query("what of it", paths=("src/reef.py", "src/dune.py"))
    yield Query("沙丘 在 哪里", limit=8)
    yield Query("amber reef", listing=True, limit=50)


@contextmanager
def opened(folder: Path) -> Iterator[Provider]:
    embedders = [ToyEmbedder(), ToyEmbedder(96, "other")]
    now = datetime(2026, 11, 29, tzinfo=UTC)
    with closing(Provider(folder, embedders=lambda _policy: embedders, clock=lambda: now)) as provider:
        yield provider


def answers(provider: Provider) -> list[dict[str, Any]]:
    """Return every answer with the pages after it, less the ids of receipts, which hang on those before."""
    found = []
    for query in queries():
        cursor = ""
        for _ in range(3):
            page = provider.recall(Query(**{n: getattr(query, n) for n in query.__slots__} | {"cursor": cursor}))
            page.pop("receipt")
            found.append(page)
            cursor = page["next_cursor"]
            if not cursor:
                break
    return found


def by_codes(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Let every plane count as large; return how many records were read, each time."""
    read: list[int] = []
    weighed = Plane.weighed

    def counted(self: Plane, question: Any, records: Any) -> Any:
        read.append(len(records))
        return weighed(self, question, records)

    monkeypatch.setattr(planes, "CODED_FROM", 1)
    monkeypatch.setattr(coded, "_MANY", 0)  # never all at once
    monkeypatch.setattr(Plane, "weighed", counted)
    return read


@pytest.fixture
def large(repository: Path, commit: Commit, record_text: Text) -> Callable[[str], Path]:
    def make(policy: str) -> Path:
        rules = POLICIES[policy].replace("MINE", ToyEmbedder().identity.digest)
        commit(files(record_text, rules))
        return repository

    return make


@pytest.mark.parametrize("policy", POLICIES)
def test_answers_by_codes_are_those_of_the_exact_scan(
    large: Callable[[str], Path], policy: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Verdicts, order, scores, evidence, passages, counts, floors and cursors are equal, and not all was read."""
    folder = large(policy)
    with opened(folder) as exact:
        exact.seed()
        wanted = answers(exact)
    read = by_codes(monkeypatch)
    with opened(folder) as quick:
        found = answers(quick)
        assert all(isinstance(plane, CodedPlane) for plane in quick.session._planes._planes.values())
    for one, other in zip(found, wanted, strict=True):
        assert json.dumps(one) == json.dumps(other)
    assert min(read) < RECORDS / 10


def test_floors_by_codes_are_those_of_the_exact_scan(
    large: Callable[[str], Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    """What the probes reach at most is exact too, where the floor is worked out by codes."""
    folder = large("words and meaning")
    by_codes(monkeypatch)
    with opened(folder) as quick:
        quick.seed()
        found = answers(quick)
    monkeypatch.setattr(planes, "CODED_FROM", 10**9)
    monkeypatch.setenv("SIDECAR_HOME", str(folder.parent / "other"))
    with opened(folder) as exact:
        exact.seed()
        assert [json.dumps(one) for one in found] == [json.dumps(one) for one in answers(exact)]


@pytest.mark.parametrize("rule", ["what_matters", "above_the_floor", "_foremost"])
def test_every_step_is_needed(large: Callable[[str], Path], rule: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Negative control: where one of the steps reads nothing, some answer is another one."""
    folder = large("a high floor" if rule == "_foremost" else "a low floor")
    with opened(folder) as exact:
        exact.seed()
        wanted = answers(exact)
    by_codes(monkeypatch)
    monkeypatch.setattr(settle, rule, lambda *_: None)
    with opened(folder) as quick:
        assert answers(quick) != wanted


def test_without_the_library_the_exact_scan_answers(
    large: Callable[[str], Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nobody needs what multiplies codes: the vectors are read as they are."""
    by_codes(monkeypatch)
    monkeypatch.setattr(planes, "product", lambda: None)
    with opened(large("words and meaning")) as provider:
        provider.seed()
        assert provider.recall(Query("amber reef at the quay"))["results"]
        assert all(isinstance(plane, Plane) for plane in provider.session._planes._planes.values())


def test_a_changed_record_codes_its_own_passages(
    large: Callable[[str], Path], commit: Commit, record_text: Text, monkeypatch: pytest.MonkeyPatch
) -> None:
    """After a commit only what is new gets codes, and the answers are those of the exact scan still."""
    from sidecar import codes_file

    folder, times, code = large("a low floor"), [], codes_file.code
    by_codes(monkeypatch)
    with opened(folder) as quick:
        quick.seed()
        monkeypatch.setattr(codes_file, "code", lambda matrix: times.append(len(matrix)) or code(matrix))
        for title in ("Quite another title", "And another"):
            commit({"knowledge/r3.yaml": record_text("decision-3", title=title, body="It is short.")})
            found = answers(quick)
    assert times[2:] == [1, 1]  # of each model; the probes' vectors lie between those of the passages since the first
    assert sum(times) < RECORDS
    monkeypatch.setattr(planes, "CODED_FROM", 10**9)
    with opened(folder) as exact:
        assert answers(exact) == found
