from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from seed.errors import IncomparableError, SidecarError, StoreError
from seed.transcript.capture import Options
from seed.transcript.segments import DEFAULT, SCHEMES
from sidecar import address, history, library, segment_planes, segment_words
from sidecar.address import Addresser
from sidecar.asking import Asking
from sidecar.provider import Provider
from sidecar.replay import verify

from .conftest import TOY, Commit

SAID = [
    ("user", "Why does the checkout lose orders when the broker restarts?"),
    ("assistant", "The acknowledgement is sent before the row is written, so a restart drops it."),
    ("user", "And how long do sessions live in the cookie jar?"),
    ("assistant", "Cookies expire after fourteen days; the jar is pruned nightly by the sweeper."),
]
ASKED = "do cookies expire after fourteen days, and is the jar pruned nightly by the sweeper"


def session(folder: Path, name: str, said: list[tuple[str, str]]) -> Path:
    rows = [{"role": role, "content": text} for role, text in said]
    path = folder / f"{name}.jsonl"
    path.write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    return path


def keep(opened: history.History, path: Path, time: str = "2026-01-01T00:00:00Z") -> str:
    return history.capture(opened, path, time, Options()).manifest.id


@pytest.fixture
def provider(repository: Path, commit: Commit) -> Iterator[Provider]:
    commit({"knowledge/policy.yaml": TOY}, "Policy")
    opened = Provider(repository)
    yield opened
    opened.close()


@pytest.fixture
def asker(provider: Provider, tmp_path: Path) -> Addresser:
    made = Addresser(provider)
    keep(made.history, session(tmp_path, "one", SAID))
    return made


def test_the_bytes_that_answer_come_back_exactly(asker: Addresser) -> None:
    """An address names turn, byte range and digest, and its text is those bytes of the archive."""
    before = asker.history.reader().manifest.digest
    told = asker.address(Asking(ASKED))
    first = told["results"][0]
    turn, raw = asker.history.reader(first["transcript"]).turn(first["turn"])
    assert (told["verdict"], first["turn"], first["digest"]) == ("match", 3, turn.digest)
    assert raw[first["start_byte"] : first["end_byte"]].decode() == first["text"]
    reader = asker.history.reader()
    reader.verify()
    assert reader.manifest.digest == before


def test_what_was_searched_is_always_said(asker: Addresser) -> None:
    """Coverage counts transcripts, turns, segments, those that say something, those embedded, and those searched."""
    covered = asker.address(Asking("cookies"))["coverage"]
    assert (covered["transcripts"], covered["turns"]) == (1, 4)
    assert covered["said"] == covered["embedded"] == covered["searched"] <= covered["segments"]
    part = asker.address(Asking("cookies", scheme="whole-turn", budget=-1.0))
    assert (part["coverage"]["embedded"], part["retrieval"]) == (0, "lexical")
    assert part["coverage"]["searched"] == part["coverage"]["said"]
    assert "not embedded yet" in part["degraded"]


def test_nothing_passes_the_floor_of_the_probes(asker: Addresser, monkeypatch: pytest.MonkeyPatch) -> None:
    """A question that the sessions do not answer gets the verdict none and the nearest places, never a guess."""
    told = asker.address(Asking("which volcano erupted"))
    assert (told["verdict"], told["results"], told["floor_source"]) == ("none", [], "probes")
    assert told["nearest"]
    monkeypatch.setattr(address, "kept_floor", lambda *_: address.SegmentFloor(-9.0, -9.0, "probes"))
    again = Addresser(asker.provider).address(Asking("which volcano erupted"))
    assert again["results"], "negative control: without the floor something always comes back"


def test_between_the_floors_a_match_is_weak(asker: Addresser, monkeypatch: pytest.MonkeyPatch) -> None:
    """Evidence above the weak floor comes back as weak, above the floor as a match; the weak floor is the lower one."""
    told = asker.address(Asking(ASKED))
    assert told["weak_floor"] <= told["floor"]
    monkeypatch.setattr(address, "kept_floor", lambda *_: address.SegmentFloor(99.0, told["floor"], "probes"))
    weak = Addresser(asker.provider).address(Asking(ASKED))
    assert (told["verdict"], weak["verdict"]) == ("match", "weak")
    assert weak["results"][0]["text"] == told["results"][0]["text"]


def test_a_turn_that_is_not_what_was_indexed_is_refused(asker: Addresser, monkeypatch: pytest.MonkeyPatch) -> None:
    """A turn's digest is compared with the index's before its bytes are given."""
    asker.address(Asking(ASKED))
    (ready,) = asker._ready.values()
    index = ready.library.families[0].index
    monkeypatch.setattr(type(index), "turn_digest", lambda *_: "sha256:0")
    with pytest.raises(StoreError, match="not what was indexed"):
        asker.address(Asking(ASKED))


def test_a_receipt_is_left_and_replays(asker: Addresser, tmp_path: Path) -> None:
    """A receipt of an address replays on the sessions it stood on, and says so when one of them has changed."""
    told = asker.address(Asking(ASKED))
    (receipt,) = asker.provider.receipts.get(told["receipt"]["id"])
    assert receipt["returned"][0][0] == told["results"][0]["transcript"]
    assert receipt["coverage"] == told["coverage"]
    keep(asker.history, session(tmp_path, "two", [("user", ASKED), ("user", "Go")]))
    assert verify(asker.provider, receipt).outcome == "same"
    before = len(asker.provider.receipts.newest(9))
    keep(asker.history, session(tmp_path, "one", [*SAID, ("user", ASKED)]))
    assert verify(asker.provider, receipt).outcome == "differs: sessions"
    assert len(asker.provider.receipts.newest(9)) == before


def test_a_grown_session_is_asked_as_it_is_now(asker: Addresser, tmp_path: Path) -> None:
    """A later capture is segmented and embedded before it is asked, and the earlier state's index is gone."""
    asker.address(Asking("cookies"))
    keep(asker.history, session(tmp_path, "one", [*SAID, ("user", "The walrus migration needs a tusk column.")]))
    told = asker.address(Asking("walrus tusk column"))
    assert told["results"][0]["turn"] == 4
    assert len(list(asker.history.indexes.glob("*.seg"))) == len(list(asker.history.indexes.glob("*.words"))) == 1


def test_sessions_are_asked_together_or_alone(asker: Addresser, tmp_path: Path) -> None:
    """All sessions are one whole; naming one asks that one only, and an incomplete one is named."""
    path = session(tmp_path, "two", [("user", "The walrus migration needs a tusk column."), ("user", "Go")])
    size = path.stat().st_size
    stored = history.capture(asker.history, path, "2026-01-02T00:00:00Z", Options(limit=size - 5, incomplete=True))
    told = asker.address(Asking("walrus tusk column"))
    assert (told["coverage"]["transcripts"], told["incomplete"]) == (2, [stored.manifest.id])
    other = next(one for one in asker.history.archive.ids() if one != stored.manifest.id)
    assert not asker.address(Asking("walrus tusk column", transcripts=(other,)))["results"]


@pytest.mark.parametrize("scheme", SCHEMES)
def test_each_scheme_has_vectors_of_its_own(asker: Addresser, scheme: str) -> None:
    """The scheme is part of the vectors' identity, so that vectors of two schemes never meet."""
    told = asker.address(Asking(ASKED, scheme=scheme))
    others = {asker.address(Asking(ASKED, scheme=one))["embedder"] for one in SCHEMES if one != scheme}
    assert told["results"]
    assert told["embedder"] not in others


@pytest.mark.parametrize("asked", [Asking(" "), Asking("x" * 5000), Asking("x", limit=0), Asking("x", scheme="no")])
def test_what_cannot_be_meant_is_one_line(asker: Addresser, asked: Asking) -> None:
    """A bad argument is refused with what to do."""
    with pytest.raises(SidecarError):
        asker.address(asked)


def test_no_session_says_how_to_keep_one(provider: Provider) -> None:
    """Asking an empty archive says that nothing is kept, and how to keep something."""
    with pytest.raises(SidecarError, match="capture"):
        Addresser(provider).address(Asking("x"))


def test_words_survive_their_file() -> None:
    """What is written of the words reads back the same, and damage is noticed."""
    words = segment_words.build([("user", "a walrus is a walrus"), ("", ""), ("", "nothing of it")])
    again = segment_words.parse(segment_words.dump(words))
    assert np.array_equal(segment_words.score([again], ["walrus"]), segment_words.score([words], ["walrus"]))
    assert again.said().tolist() == [True, False, True]
    assert again.shas == segment_words.sha_of("a walrus is a walrus") + segment_words.sha_of("nothing of it")
    assert segment_words.score([words, words], ["walrus"])[[0, 3]].min() > 0
    with pytest.raises(SidecarError):
        segment_words.parse(segment_words.dump(words)[:-3])


# --- vectors made elsewhere ------------------------------------------------------------------------------------

EMBEDDER: dict[str, Any] = {"model": "elsewhere-1", "dimension": 2}


def exported(asker: Addresser, vector: Callable[[str], list[float]], **change: Any) -> list[str]:
    told = segment_planes.view_document(asker.history, "", DEFAULT)
    head = {
        "identity": {**told["identity"], **change.get("identity", {})},
        "embedder": change.get("embedder", EMBEDDER),
    }
    rows = [{"segment": one["segment"], "vector": vector(one["text"])} for one in told["texts"]]
    return [json.dumps(row) for row in (head, *rows)]


def about(word: str) -> Callable[[str], list[float]]:
    return lambda text: [1.0, 0.0] if word in text else [0.0, 1.0]


def test_vectors_made_elsewhere_are_asked_beside_the_archive(asker: Addresser) -> None:
    """Attached vectors answer a question that comes with a vector of the same embedder; the archive stays the same."""
    before = asker.history.reader().manifest.digest
    covers = segment_planes.attach(asker.history, exported(asker, about("sweeper")))["covers"]
    question = {"embedder": EMBEDDER, "vector": [2.0, 0.0]}
    plane = segment_planes.open_plane(asker.history, "", DEFAULT, segment_planes.MAIN, question)
    told = asker.address(Asking("nightly?", limit=1), outside=plane)
    assert covers["segments"] == told["coverage"]["embedded"]
    assert (told["results"][0]["turn"], told["floor"]) == (3, None)
    assert asker.history.reader().manifest.digest == before
    assert asker.history.archive.ids() == [told["results"][0]["transcript"]]


@pytest.mark.parametrize(
    ("part", "change"),
    [
        ("scheme", {"identity": {"scheme": "tight"}}),
        ("version", {"identity": {"version": 9}}),
        ("projection", {"identity": {"projection": "transcript/other/v9"}}),
        ("digest", {"identity": {"digest": "sha256:0"}}),
        ("model", {"embedder": {"model": "elsewhere-2", "dimension": 2}}),
        ("weights", {"embedder": {**EMBEDDER, "weights": "sha256:2"}}),
        ("dimension", {"embedder": {**EMBEDDER, "dimension": 3}}),
        ("projection", {"embedder": {**EMBEDDER, "projection": "other"}}),
    ],
)
def test_other_vectors_are_incomparable_and_the_part_is_named(
    asker: Addresser, part: str, change: dict[str, Any]
) -> None:
    """Vectors of another model, version, dimension, projection or scheme are refused with the part that differs."""
    segment_planes.attach(asker.history, exported(asker, about("sweeper")))
    with pytest.raises(IncomparableError, match=f"INCOMPARABLE: .*{part}"):
        segment_planes.attach(asker.history, exported(asker, about("sweeper"), **change))


def test_a_question_of_another_model_is_incomparable(asker: Addresser) -> None:
    """A question's vector has to come from the plane's own embedder."""
    segment_planes.attach(asker.history, exported(asker, about("sweeper")))
    question = {"embedder": {**EMBEDDER, "model": "elsewhere-2"}, "vector": [1, 0]}
    with pytest.raises(IncomparableError, match="model differs"):
        segment_planes.open_plane(asker.history, "", DEFAULT, "main", question)


@pytest.mark.parametrize(
    "line", ["{", "[]", '{"segment": 99999, "vector": [1, 0]}', '{"segment": 2, "vector": [0, 0]}']
)
def test_a_bad_vector_is_named_by_its_line_and_nothing_is_kept(asker: Addresser, line: str) -> None:
    """A line that is no vector is refused by number, and no part of the file is taken."""
    with pytest.raises(SidecarError, match="line 2"):
        segment_planes.attach(asker.history, [exported(asker, about("x"))[0], line])
    assert not list(asker.history.archive.folder.glob("*/planes/*"))


@pytest.mark.parametrize(
    ("row", "said"),
    [
        ({"segment": True, "vector": [1, 0]}, "no segment True"),
        ({"segment": 0, "vector": ["1", "0"]}, "no list of numbers"),
        ({"segment": 0, "vector": [True, False]}, "no list of numbers"),
        ({"segment": 0}, "no list of numbers"),
    ],
)
def test_only_numbers_are_vectors(asker: Addresser, row: dict[str, Any], said: str) -> None:
    """Texts and truths are refused where a number is meant, and nothing is kept."""
    head = exported(asker, about("x"))[0]
    with pytest.raises(SidecarError, match=said):
        segment_planes.attach(asker.history, [head, json.dumps(row)])
    assert not list(asker.history.archive.folder.glob("*/planes/*"))


def test_a_sample_says_what_it_covers(asker: Addresser) -> None:
    """A sample is spread over the session and states how much of it that is; pages cover it whole."""
    whole = segment_planes.view_document(asker.history, "", DEFAULT)
    sample = segment_planes.view_document(asker.history, "", DEFAULT, sample=2)
    assert sample["covers"]["segments"] == len(sample["texts"]) == 2
    assert (sample["covers"]["said"], sample["covers"]["of"]) == (4, whole["covers"]["of"])
    pages = [segment_planes.view_document(asker.history, "", DEFAULT, start=n, limit=2) for n in (0, 2)]
    assert pages[0]["texts"] + pages[1]["texts"] == whole["texts"]
    assert (pages[0]["next"], pages[1]["next"]) == (2, None)


def test_an_embedder_keeps_its_model_under_a_scheme(asker: Addresser) -> None:
    """Segments are embedded by the records' model; only the projection of their identity is another."""
    session = asker.provider.session
    inner = session.embedders(session.policy(session.wanted()))[0]
    outer = library.Projected(inner, "sized-900")
    assert (outer.identity.model, outer.identity.projection) == (
        inner.identity.model,
        "transcript/sized-900/v1/sentences/v1",
    )
