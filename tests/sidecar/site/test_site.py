from __future__ import annotations

import json
import re
import shutil
import subprocess
from collections.abc import Callable
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest

from sidecar.cli import main

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
EVIL = "<script>alert(1)</script>\" onload=alert(2) ' & \u202e"


class Page(HTMLParser):
    """Collects what a page links to and loads, and what it must not have."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.links: list[str] = []
        self.forbidden: list[str] = []
        self.ids: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Note one element."""
        given = dict(attrs)
        outward = tag == "a" and (given.get("href") or "").startswith("https://") and given.get("rel")
        self.links += [value for name in ("href", "src") if (value := given.get(name)) and not outward]
        self.ids += [value for value in [given.get("id")] if value]
        self.forbidden += [f"{tag} {name}" for name in given if name.startswith("on") or name == "style"]
        if tag in ("iframe", "object", "embed", "form", "style", "base") or (tag == "script" and not given.get("src")):
            self.forbidden.append(tag)


@pytest.fixture
def site(repository: Path, commit: Callable[..., str], record_text: Callable[..., str], tmp_path: Path) -> Path:
    """Return the site of records that overturn one another, with everything odd in their texts."""
    files = {"knowledge/policy.yaml": "format: 1\nembedder: {model: toy, languages: 'off'}\n"}
    files["knowledge/decisions/d-1.yaml"] = record_text("d-1", title="Orders live in Redis", tags=["storage"])
    files["knowledge/decisions/d-2.yaml"] = record_text(
        "d-2", title="Orders live in SQLite", supersedes=["d-1"], body="Not as d-1 did. See `d-3`.", tags=["storage"]
    )
    files["knowledge/odd & #1.yaml"] = record_text(
        "d-3",
        title=EVIL,
        status="rejected",
        body=f"{EVIL}\n\n[x](javascript:alert(3)) <img src=x onerror=alert(4)>\n\n![p](https://evil.test/p.png)\n",
        tags=[EVIL, "a/b", "A/B"],
        source=[{"url": "javascript:alert(5)"}],
        owner=EVIL,
    )
    files["knowledge/history.yaml"] = record_text("h-1", kind="history", title="How it began", status="historical")
    commit(files)
    assert main(["export", "site", str(tmp_path / "site"), "--repo", str(repository)]) == 0
    return tmp_path / "site"


def pages(site: Path) -> dict[str, Page]:
    return {f.relative_to(site).as_posix(): Page(f.read_text(encoding="utf-8")) for f in sorted(site.rglob("*.html"))}


def test_every_link_leads_to_a_file_of_the_site(site: Path) -> None:
    """Links are relative and lead to a page that is there; only a record's own lead out, and nothing is loaded."""
    for name, page in pages(site).items():
        for link in page.links:
            parts = urlsplit(link)
            assert not parts.scheme, (name, link)
            assert not parts.netloc, (name, link)
            target = (site / name).parent / unquote(parts.path) if parts.path else site / name
            assert target.resolve().is_relative_to(site.resolve()), (name, link)
            assert target.is_file(), (name, link)


def test_no_page_runs_what_a_record_says(site: Path) -> None:
    """No inline script, style, handler or frame; a strict policy on every page; control characters shown as such."""
    for name, page in pages(site).items():
        text = (site / name).read_text(encoding="utf-8")
        assert page.forbidden == [], name
        assert "default-src 'none'" in text, name
        assert "unsafe" not in text, name
        assert "\u202e" not in text, name
        assert "javascript:" not in "".join(page.links), name


def test_an_overturned_record_says_so_and_where_to_go(site: Path) -> None:
    """The page of a superseded record has a banner with a link to its successor, though its file says accepted."""
    text = (site / "records/decisions/d-1.html").read_text(encoding="utf-8")
    banner = text[text.index('class="banner"') : text.index("</div>", text.index('class="banner"'))]
    assert "Do not follow it" in banner
    assert 'href="d-2.html"' in banner
    assert 'class="banner"' not in (site / "records/decisions/d-2.html").read_text(encoding="utf-8")
    assert 'class="banner"' in (site / "records/history.html").read_text(encoding="utf-8")


def test_lists_keep_what_is_not_in_force_apart(site: Path) -> None:
    """In every list the records in force come first, and the others under a heading that says what they are."""
    text = (site / "tag/storage.html").read_text(encoding="utf-8")
    now, past = text.split('<section class="past">')
    assert "Orders live in SQLite" in now
    assert "Orders live in Redis" not in now
    assert "superseded by" in past
    assert "Not in force" in past
    overview = (site / "index.html").read_text(encoding="utf-8")
    assert "Orders live in Redis" not in overview


def test_the_graph_is_drawn_and_told(site: Path) -> None:
    """The relation is an arrow between two linked nodes, and a sentence for who does not see the drawing."""
    text = (site / "graph.html").read_text(encoding="utf-8")
    assert 'class="edge e-supersedes"' in text
    assert re.search(r'<a class="node" href="records/decisions/d-1.html"[^>]*aria-label="d-1, superseded: ', text)
    told = re.sub(r"<[^>]+>|\s+", " ", text[text.index("<details>") :])
    assert "d-2 supersedes d-1" in " ".join(told.split())


def test_the_index_holds_every_record_as_data(site: Path) -> None:
    """The search index is one assignment of JSON in which no text can end the script."""
    text = (site / "static/index.js").read_text(encoding="utf-8")
    assert "<" not in text
    entries = json.loads(text.removeprefix("window.sidecarIndex = ").removesuffix(";\n"))
    assert {(one["id"], one["status"], one["now"]) for one in entries} == {
        ("d-1", "superseded", False),
        ("d-2", "accepted", True),
        ("d-3", "rejected", False),
        ("h-1", "historical", False),
    }


def test_a_later_export_removes_the_pages_of_what_is_gone(
    site: Path, repository: Path, commit: Callable[..., str]
) -> None:
    """A record that was deleted has no page any more, nor has a tag that nobody has."""
    commit({"knowledge/decisions/d-1.yaml": None, "knowledge/decisions/d-2.yaml": None})
    assert main(["export", "site", str(site), "--repo", str(repository)]) == 0
    assert not (site / "records/decisions/d-1.html").exists()
    assert not (site / "tag/storage.html").exists()
    assert (site / "graph.html").is_file()


def dom(address: str, profile: Path) -> str:
    """Return a page as Chromium has it after its scripts ran."""
    command = [str(CHROMIUM), "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"]
    command += ["--disable-background-networking", "--disable-component-update", "--disable-sync"]
    command += [f"--user-data-dir={profile}", "--enable-logging=stderr", "--dump-dom", address]
    done = subprocess.run(command, capture_output=True, check=True, timeout=120)
    assert b"Content Security Policy" not in done.stderr
    return done.stdout.decode()


@pytest.mark.slow
@pytest.mark.skipif(CHROMIUM is None, reason="needs Chromium")
def test_search_works_from_the_disk(site: Path, tmp_path: Path) -> None:
    """Opened as a file, the search finds what is in force, says how much is not, and lets no text run."""
    shown = dom(f"{(site / 'search.html').as_uri()}#orders", tmp_path / "profile")
    found = shown[shown.index('id="found"') :]
    assert "Orders live in SQLite" in found
    assert "Orders live in Redis" not in found
    assert "1 found; 1 more not in force" in shown
    nothing = dom(f"{(site / 'search.html').as_uri()}#volcano", tmp_path / "profile")
    assert "Nothing found" in nothing
    evil = dom(f"{(site / 'records/odd & _1.html').as_uri()}", tmp_path / "profile")
    assert "<script>alert" not in evil
