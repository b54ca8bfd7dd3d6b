from __future__ import annotations

import json
from dataclasses import replace

import pytest

from evals.bench import segments as bench
from seed.embed.base import ToyEmbedder
from seed.text import content_words, is_cjk
from seed.transcript.segments import SCHEMES


@pytest.mark.parametrize("name", bench.SETS)
def test_labels_are_distinctive_and_avoided(name: str) -> None:
    """At least 24 questions; each anchor stands in one text only, and no question has a content word of its anchor."""
    asked, fillers = bench.topics(name)
    everything = [one.text for one in asked] + fillers
    assert len(asked) >= 24
    for one in asked:
        assert sum(one.anchor in text for text in everything) == 1, one.anchor
        assert not set(content_words(one.anchor)) & set(content_words(one.question)), one.anchor


@pytest.mark.parametrize("name", bench.IN_CHINESE)
def test_chinese_questions_avoid_their_anchor(name: str) -> None:
    """Each topic of a set that is asked in Chinese has a question in Chinese, without a content word of its anchor."""
    for one in bench.topics(name)[0]:
        assert is_cjk(one.question_zh), one.anchor
        assert not set(content_words(one.anchor)) & set(content_words(one.question_zh)), one.anchor


def test_every_set_is_asked_and_those_with_chinese_questions_in_chinese(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A whole run reports every set, and once more each set that has questions in Chinese."""
    score = bench.Score("structural", 9, 9.0, 0.5, 0.5, 0.5, 1.0, 0.1)
    monkeypatch.setattr(bench, "run", lambda _embedder, _name: [score, score])
    monkeypatch.setattr(bench, "run_chinese", lambda _embedder, _name: score)
    bench.main(["--json"])
    told = json.loads(capsys.readouterr().out)["sets"]
    assert list(told) == ["topics", "second", "third", "second, in Chinese", "third, in Chinese"]


@pytest.mark.parametrize("name", bench.SETS)
@pytest.mark.parametrize("seed", bench.ARRANGEMENTS)
def test_sessions_hold_each_anchor_once(name: str, seed: int) -> None:
    """The made sessions hold each topic in exactly one turn, and are the same every time."""
    asked, fillers = bench.topics(name)
    lines = list(bench.turns(asked, fillers, seed))
    assert lines == list(bench.turns(asked, fillers, seed))
    for one in asked:
        assert sum(one.anchor.encode() in raw for raw in lines) == 1


@pytest.mark.parametrize("scheme", SCHEMES)
def test_controls_cut_about_as_often(scheme: str) -> None:
    """A scheme's control has about as many segments, so that it differs in where it cuts, not in how often."""
    lines = list(bench.turns(*bench.topics()))
    count = len(bench.pieces(lines, bench.by_scheme(scheme)))
    _, control = bench.control_of(lines, count)
    assert abs(len(control) - count) <= max(8, count // 10)


def test_a_perfect_embedder_finds_everything() -> None:
    """With a question that says the text itself, every whole turn is found first: the ranks are counted rightly."""
    asked, fillers = bench.topics()
    lines = list(bench.turns(asked, fillers))
    echoing = [replace(one, question=one.text) for one in asked]
    cut = bench.pieces(lines, bench.by_scheme("whole-turn"))
    found = bench.measure("x", [cut], echoing, bench.Remembering(ToyEmbedder(1024)))
    assert (found.first, found.fifth, found.mrr, found.median_rank) == (1.0, 1.0, 1.0, 1)


def test_a_control_that_wins_is_said_in_words() -> None:
    """When arithmetic places do better than a scheme's, the report says so; else it names the best scheme only."""
    scheme = bench.Score("structural", 9, 9.0, 0.5, 0.5, 0.5, 1.0, 0.1)
    better, worse = replace(scheme, name="arithmetic-9", mrr=0.6), replace(scheme, name="arithmetic-9", mrr=0.4)
    assert "arithmetic-9 beats structural" in bench.verdicts([scheme, better])[0]
    assert bench.verdicts([scheme, worse])[0].startswith("best scheme: structural")
