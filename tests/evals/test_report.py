from __future__ import annotations

import re
import sys
from collections.abc import Callable
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

from sidecar.cli import main

pytest.importorskip("pygal")
VOID = {"meta", "br", "circle", "path", "line", "rect", "use", "input", "img", "hr", "link"}


class Outline(HTMLParser):
    """Collects tags, and holds that every one is closed in order."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        if tag not in VOID:
            assert self.open.pop() == tag


@pytest.fixture
def report(corpus: Path, tmp_path: Path, question_file: Callable[..., Path]) -> Callable[..., str]:
    def made(*more: str, text: str = "") -> str:
        out = tmp_path / "out.html"
        path = question_file(text) if text else question_file()
        main(["eval", str(path), "--repo", str(corpus), "--report", str(out), "--json", *more])
        return out.read_text()

    return made


def test_page_is_whole(report: Callable[..., str], tmp_path: Path) -> None:
    """The page has every part that was asked for, and every tag is closed in order."""
    gates, old = tmp_path / "gates.yaml", tmp_path / "old.json"
    gates.write_text("minimum: {recall@3: 1.0}\n")
    report("--out", str(old))
    models = ("--embedder", "toy", "--embedder", "toy")
    text = report("--gate", str(gates), "--controls", "--baseline", str(old), *models)
    outline = Outline(text)
    assert outline.open == []
    headings = re.findall(r"<h2>(.*?)</h2>", text)
    assert headings[:2] == ["Figures", "What the evidence tells apart"]
    assert {"Rank of each expected record", "Questions without an answer", "Made from"} <= set(headings)
    assert {"One rule removed at a time", "Models, each with its own floor", "Since the baseline"} <= set(headings)
    assert sum(tag == "svg" for tag, _ in outline.tags) == 3
    assert "The gate passed." in text


def test_nothing_is_fetched_or_run(report: Callable[..., str]) -> None:
    """The page is self-contained: no script, no address to fetch from, no external style."""
    outline = Outline(report())
    assert not {"script", "link", "img", "iframe"} & {tag for tag, _ in outline.tags}
    for _, attributes in outline.tags:
        for name in ("src", "href", "xlink:href", "onclick", "onload"):
            assert not (attributes.get(name) or "").startswith(("http", "//", "javascript"))


def test_text_is_text(report: Callable[..., str]) -> None:
    """A question with markup in it is shown as it was typed."""
    text = report(text='- {id: "<b>", question: "<script>alert(1)</script>?", expected: [decision-0002]}\n')
    assert "<script>" not in text
    assert "&lt;script&gt;alert(1)" in text


def test_equal_results_give_equal_pages(report: Callable[..., str]) -> None:
    """The page holds no date and no random id: only what was measured changes it."""
    first, second = report(), report()
    assert first == second
    assert "pygal 3" not in first


def test_light_and_dark(report: Callable[..., str]) -> None:
    """Charts take the page's colours, which follow the reader's theme."""
    text = report()
    assert "prefers-color-scheme: dark" in text
    assert "var(--first)" in text[text.index("<svg") :]


def test_unanswerable_alone(report: Callable[..., str]) -> None:
    """A set without a curve still gives a page."""
    text = report(text="- {id: a, question: Which yoga pose?, expected: []}\n")
    assert Outline(text).open == []


def test_ranks(report: Callable[..., str]) -> None:
    """Each expected record shows its rank, or that it stands beside the results, or that it was not found."""
    text = report(
        text="- {id: a, question: Was GraphQL refused because caching is hard?, expected: [decision-0004]}\n"
        "- {id: b, question: How do two stacks swap traffic?, expected: [decision-0003, decision-0099]}\n"
    )
    assert "decision-0004: decided against, beside the results" in text
    assert "decision-0003: rank 1, decision-0099: not found" in text


def test_without_the_library(report: Callable[..., str], monkeypatch: pytest.MonkeyPatch, capsys: Any) -> None:
    """Where the charts' library is missing, one line says what to install."""
    monkeypatch.setitem(sys.modules, "pygal", None)
    with pytest.raises(FileNotFoundError):
        report()
    told = capsys.readouterr().err
    assert "pip install 'knowledge-sidecar[evals]'" in told
    assert told.count("\n") == 1
