from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from sidecar.provider import Provider
from sidecar.query import Query
from sidecar.receipt import seal

from ..conftest import CANARY, TOY, Commit, record  # noqa: TID252 - test folders have no absolute names
from .conftest import Site, serving
from .test_html import Tags

HOSTILE = "</title><script>alert(1)</script>\"'><img src=x onerror=alert(1)>"
Git = Callable[..., str]


def text_of(page: str) -> str:
    """Return what a reader sees of a page, on one line."""
    return re.sub(r"\s+", " ", re.sub(r"<[^>]+>", " ", page))


def test_the_first_page_tells_a_newcomer_what_is_there(site: Site) -> None:
    """Counts, the newest decisions and what each page is for; an unreadable file is said, never swallowed."""
    page = text_of(site.get("/").text)
    assert "2 records in force of 4 records of every status" in page
    assert "Orders live in SQLite" in page
    assert "1 unreadable file" in page
    assert "Contradictions Records in force that cannot both be right." in page


def test_a_repository_without_records_says_how_to_begin(repository: Path, commit: Commit) -> None:
    """Every page of an empty project is a page, and the first one names the command that starts a record."""
    commit({"readme.md": "x"})
    with serving(repository) as site:
        assert "sidecar new decision" in site.get("/").text
        for path in ("/records", "/records?q=anything", "/timeline", "/graph", "/candidates", "/contradictions",
                     "/receipts", "/gate", "/health"):  # fmt: skip
            assert site.get(path).status_code == 200, path


def test_records_in_force_are_listed_and_the_others_are_a_step_away(site: Site) -> None:
    """The list begins with what is in force; each status stands in words, with the lineage."""
    page = site.get("/records")
    assert "Orders live in Redis" not in page.text
    assert "2 more are not in force" in text_of(page.text)
    every = site.get("/records?status=all").text
    assert "Orders live in Redis" in every
    assert '<span class="status s-superseded">superseded</span>' in every
    assert "superseded by <a" in re.sub(r"\s+", " ", every)


@pytest.mark.parametrize(
    ("asked", "titles"),
    [
        ("kind=fact", ["Checkout retries thrice"]),
        ("status=rejected", ["No MongoDB for orders"]),
        ("tag=storage", ["Orders live in SQLite"]),
        ("path=shop/store/x.py", ["Orders live in SQLite"]),
        ("after=2026-03-01", ["Checkout retries thrice"]),
        ("status=all&kind=decision&tag=none", []),
    ],
)
def test_filters_narrow_the_list(site: Site, asked: str, titles: list[str]) -> None:
    """Each filter holds alone and together with others; what it leaves out is not on the page."""
    found = re.findall(r'<h2><a href="/record/[^"]+">(.*?) quartzcanary</a></h2>', site.get(f"/records?{asked}").text)
    assert found == titles


def test_a_question_is_answered_as_for_an_agent(site: Site, shop: Path) -> None:
    """The search is recall: verdict, floor, why, what was held back, and a receipt that is stored and can be opened."""
    page = site.get("/records?q=where+do+orders+live").text
    told = text_of(page)
    assert "floor" in told
    assert "held back" in told
    assert "No MongoDB for orders" in site.get("/records?q=MongoDB").text.partition("Decided against")[2]
    ident = re.search(r'href="/receipt/([0-9a-f]{64})"', page)
    assert ident is not None
    assert "where do orders live" in site.get(f"/receipt/{ident[1]}").text
    provider = Provider(shop)
    assert f"sha256:{ident[1]}" in {receipt["id"] for receipt in provider.receipts.newest(5)}
    provider.close()


def test_no_match_is_an_answer(site: Site) -> None:
    """A question that no record answers gets that, and what was nearest stands apart from it."""
    told = text_of(site.get("/records?q=volcanology").text)
    assert "No match. No record answers this." in told
    assert "0 records answer" in told


def test_pages_of_a_list_hold_each_record_once(repository: Path, commit: Commit) -> None:
    """Every record is on one page and on one alone; a page beyond the last is the last."""
    files = {"knowledge/policy.yaml": TOY}
    for n in range(120):
        files |= record(f"decision-{n:04d}", f"Rule {n}", "Text.", date=f"2026-01-{n % 28 + 1:02d}")
    commit(files)
    with serving(repository) as site:
        found = [
            re.findall(r'<h2><a href="/record/(decision-\d+)"', site.get(f"/records?page={n}").text) for n in (1, 2, 3)
        ]
        assert [len(page) for page in found] == [50, 50, 20]
        assert len({ident for page in found for ident in page}) == 120
        assert 'aria-current="page">3<' in site.get("/records?page=9").text
        assert site.get("/records?page=x").status_code == 200


def test_one_record_shows_what_it_stands_on(site: Site) -> None:
    """Body, status, chain, sources, files and history in Git are on a record's page."""
    told = text_of(site.get("/record/decision-1").text)
    for part in ("Orders are kept in SQLite files.", "accepted", "How it came about", "decision-0", "docs/adr/1.md",
                 "shop/store", "is gone", "First records"):  # fmt: skip
        assert part in told, part
    retired = text_of(site.get("/record/decision-0").text)
    assert "Replaced by a later record; its file says accepted" in retired


def test_a_record_as_it_stood_is_marked(site: Site, commit: Commit, git: Git) -> None:
    """An old revision of a record says that it is one, and leads back to the record as it stands."""
    first = git("rev-parse", "HEAD")
    commit(record("decision-1", f"Orders live in DuckDB {CANARY}", "New text."), "Change it")
    page = site.get(f"/record/decision-1?at={first}").text
    assert "Orders live in SQLite" in page
    assert "As it stood at" in page
    assert "Orders live in DuckDB" in site.get("/record/decision-1").text


def test_a_commit_is_seen_without_a_restart(site: Site, commit: Commit) -> None:
    """What was worked out for one commit does not outlive it: a retired record is retired on the next page."""
    assert '<span class="status s-accepted">accepted</span>' in site.get("/record/decision-1").text
    commit(record("decision-9", "Orders live in Postgres", "Text.", supersedes=["decision-1"]))
    assert '<span class="status s-superseded">superseded</span>' in site.get("/record/decision-1").text
    assert "Orders live in SQLite" not in site.get("/records").text


@pytest.mark.parametrize(
    ("path", "status", "told"),
    [
        ("/record/nothing", 404, "There is no record"),
        ("/record/../../etc/passwd", 404, "There is no"),
        ("/records?kind=zebra", 400, "use decision, adr, fact"),
        ("/records?after=yesterday", 400, "write YYYY-MM-DD"),
        ("/records?q=x&cursor=abc", 400, "leave it out"),
        ("/records?q=" + "x" * 4001, 400, "ask in at most 4000"),
        ("/timeline?status=zebra", 400, "use accepted"),
        ("/graph?about=nothing", 400, "There is no record, path"),
        ("/candidate/nothing", 404, "see the list of candidates"),
        ("/receipt/nothing", 404, "see the list of receipts"),
        ("/record/decision-1?at=nothing", 400, "nothing"),
        ("/nothing", 404, "There is no such page"),
    ],
)
def test_an_error_is_a_page_with_one_helpful_line(site: Site, path: str, status: int, told: str) -> None:
    """Wrong input ends in a page that says what is wrong and what to do, never in a traceback."""
    answer = site.get(path)
    assert answer.status_code == status
    assert told in answer.text.replace("&#39;", "'")
    assert "What to do:" in answer.text
    assert "Traceback" not in answer.text


def test_a_page_that_fails_says_so(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    """A fault of ours is a page too, without its insides."""
    monkeypatch.setattr(Provider, "show", lambda *_, **__: 1 / 0)
    answer = site.get("/record/decision-1")
    assert (answer.status_code, "ZeroDivisionError" in answer.text, "division by zero" in answer.text) == (
        500,
        True,
        False,
    )


def test_the_graph_has_a_table_beside_its_drawing(site: Site) -> None:
    """Each edge stands in the table with its type and what it rests on; types and steps narrow it without a script."""
    page = site.get("/graph?about=decision-1").text
    rows = re.findall(r'<tr data-type="([^"]+)" data-from="([^"]+)" data-to="([^"]+)">', page)
    assert ("supersedes", "record:decision-1", "record:decision-0") in rows
    assert ("mentions-path", "record:decision-1", "path:shop/store") in rows
    assert "knowledge/decision-1.yaml" in page
    only = site.get("/graph?about=decision-1&type-supersedes=1").text
    assert set(re.findall(r'<tr data-type="([^"]+)"', only)) == {"supersedes"}
    assert "Around" not in site.get("/graph").text
    assert "decision-1" in site.get("/graph?about=shop/store").text


def test_the_timeline_tells_what_replaced_what(site: Site) -> None:
    """Decisions stand by month, with what they replaced; facts only when they are asked for."""
    told = text_of(site.get("/timeline").text)
    assert "January 2026" in told
    assert "supersedes decision-0 superseded" in told
    assert "Checkout retries" not in told
    assert "Checkout retries" in site.get("/timeline?kind=fact").text


def test_the_timeline_takes_any_dates(repository: Path, commit: Commit) -> None:
    """First and last days of the calendar, and none at all, are on the timeline, in a bounded number of columns."""
    files = {"knowledge/policy.yaml": TOY}
    for n, day in enumerate(["0001-01-01", "9999-12-31", "2026-02-28", "", "soon"]):
        files |= record(f"decision-{n}", f"Rule {n}", "Text.", date=day)
    commit(files)
    with serving(repository) as site:
        answer = site.get("/timeline")
        assert answer.status_code == 200
        assert answer.text.count('<rect class="hit"') <= 62
        assert "Without a date" in answer.text


def test_a_candidate_waits_with_its_diff_and_command(site: Site, shop: Path) -> None:
    """A candidate is on its page with its change, what it is close to, and how to promote it."""
    provider = Provider(shop)
    body = f"Orders are kept in SQLite files. {CANARY}"
    done = provider.propose({"kind": "decision", "title": f"Orders live in SQLite {CANARY}", "body": body})
    provider.close()
    assert done["id"] in site.get("/candidates").text
    page = site.get(f"/candidate/{done['id']}").text
    assert f'<span class="add">+id: {done["id"]}</span>' in page
    assert f"sidecar promote {done['id']}" in page
    assert "May say the same as" in page
    assert done["id"] not in site.get("/records").text


def test_a_receipt_is_asked_again(site: Site, commit: Commit) -> None:
    """A replay says whether the same comes back, and leaves no receipt; the page says how the records stand today."""
    site.get("/records?q=where+do+orders+live")
    ident = re.findall(r"/receipt/([0-9a-f]{64})", site.get("/receipts").text)[0]
    commit(record("decision-9", "Orders live in Postgres", "Text.", supersedes=["decision-1"]))
    told = text_of(site.get(f"/receipt/{ident}?replay=1").text)
    assert "Asked again: same." in told
    assert "today superseded decision-1" in told
    assert site.get("/receipts").text.count("/receipt/") == 1


def test_only_a_question_leaves_a_trace(site: Site, shop: Path, git: Git) -> None:
    """Looking changes nothing: no reference, no file, no receipt; a question leaves its receipt and nothing else."""

    def state() -> tuple[str, str, int]:
        provider = Provider(shop)
        count = provider.receipts.count()
        provider.close()
        return git("for-each-ref"), git("status", "--porcelain"), count

    before = state()
    for path in ("/", "/records?kind=fact", "/record/decision-1", "/timeline", "/graph?about=decision-1", "/candidates",
                 "/contradictions", "/receipts", "/gate", "/health"):  # fmt: skip
        assert site.get(path).status_code == 200
    assert state() == before
    site.get("/records?q=orders")
    assert state() == (before[0], before[1], before[2] + 1)


def test_a_hostile_record_is_text_on_every_page(repository: Path, commit: Commit) -> None:
    """Markup in title, body, tags, paths, sources, dates and unknown keys stays text on each page that shows them."""
    path = "a\u202e<script>.py"
    keys: dict[str, Any] = {
        "tags": [HOSTILE], "paths": [path], "workspace": HOSTILE, "note": HOSTILE, "date": HOSTILE,
        "source": [{"url": "javascript:alert(1)"}, {"path": HOSTILE}], "proposed_by": {"agent": HOSTILE},
        "relates_to": ["decision-2", "javascript:alert(1)"],
    }  # fmt: skip
    files = {"knowledge/policy.yaml": TOY}
    files |= record("decision-1", HOSTILE, f"{HOSTILE}\n\n[x](javascript:alert(1))", **keys)
    files |= record("decision-2", f"{HOSTILE} two", HOSTILE, supersedes=["decision-1"])
    commit(files, HOSTILE)
    with serving(repository) as site:
        site.browser.get(site.base + "/records", params={"q": HOSTILE})
        ident = re.findall(r"/receipt/([0-9a-f]{64})", site.get("/receipts").text)[0]
        graph = str(site.browser.build_request("GET", site.base + "/graph", params={"about": path}).url)
        shown = 0
        for page in ("/", "/records?status=all", "/records?status=all&q=alert", "/record/decision-1",
                     "/record/decision-2", "/timeline", "/graph", "/graph?about=decision-2", "/contradictions",
                     graph.removeprefix(site.base), "/receipts", f"/receipt/{ident}", "/candidates"):  # fmt: skip
            text = site.get(page).text
            shown += "&lt;script&gt;" in text
            check_page(text, page)
        assert shown >= 10


def check_page(text: str, page: str) -> None:
    """Fail where a page holds a script, an event handler, a foreign address or a raw character that turns text."""
    assert "\u202e" not in text, page
    for tag, attributes in Tags(text).found:
        assert not any(name.startswith("on") or name == "style" for name in attributes), (page, tag, attributes)
        assert tag not in {"img", "iframe", "object", "embed", "base", "meta http-equiv"}, (page, tag)
        if tag == "script":
            assert str(attributes.get("src", "")).startswith("/static/"), page
        for name in ("href", "src", "action"):
            assert re.match(r"/(?!/)|#", str(attributes.get(name, "/"))), (page, tag, attributes)


def test_the_gate_reads_results_where_they_are_kept(shop: Path, tmp_path: Path) -> None:
    """Results are read by their documented shape; what is no result is left, and what is broken is said."""
    folder = tmp_path / "results"
    folder.mkdir()
    for name, value, passed in (("first", 0.5, False), ("second", 0.75, True)):
        (folder / f"{name}.json").write_text(json.dumps(result(value, passed=passed)))
    (folder / "other.json").write_text('{"format": 1}')
    (folder / "broken.json").write_text("{")
    with serving(shop, folder) as site:
        told = text_of(site.get("/gate?result=first").text)
        assert "The gate failed in first" in told
        assert "recall@3 is 0.5, below 0.9" in told
        assert "q-2 What colour?" in told
        assert (
            "The floor in force answers 50% of the answerable and 0% of the unanswerable."
            in site.get("/gate?result=first").text
        )
        assert "broken.json: it cannot be read" in told
        assert "other" not in told
        assert "The gate passed in second" in text_of(site.get("/gate?result=second").text)


def result(value: float, *, passed: bool) -> dict[str, Any]:
    """Return a result of an evaluation as `sidecar eval --out` writes it, as far as a page reads it."""
    figure = {"value": value, "low": value - 0.1, "high": value + 0.1, "n": 4, "resolution": 0.25}
    return {
        "format": 1,
        "figures": {"recall@3": figure, "answered_answerable": figure, "false_answers": {**figure, "value": 0}},
        "answered_answerable": value, "answered_unanswerable": 0.0, "curve": [[0.9, value, 0.0], [0.1, 1.0, 1.0]],
        "questions": [{"id": "q-1", "question": "Where?", "correct": True, "returned": ["decision-1"]},
                      {"id": "q-2", "question": "What colour?", "correct": False, "returned": ["decision-1"]}],
        "counts": {"records": 4, "answerable": 4, "unanswerable": 2}, "stamp": {"commit": ""}, "without": [],
        "gate": {"passed": passed, "failures": [] if passed else ["recall@3 is 0.5, below 0.9"], "warnings": []},
    }  # fmt: skip


def test_the_result_of_a_real_run_is_read(shop: Path, tmp_path: Path) -> None:
    """What the evaluation writes today is what the page reads: the two agree on the shape."""
    from sidecar.cli import main

    questions = tmp_path / "questions.yaml"
    questions.write_text(
        "- {id: q-1, question: Where do orders live?, expected: [decision-1], kind: paraphrase}\n"
        "- {id: q-2, question: Who plays the flute?, expected: [], kind: paraphrase, unanswerable: off_topic}\n"
    )
    out = tmp_path / "run.json"
    assert main(["eval", str(questions), "--out", str(out), "--repo", str(shop), "--json"]) == 0
    with serving(shop, out) as site:
        told = text_of(site.get("/gate").text)
        assert "1 answerable and 1 unanswerable questions" in told
        assert "recall@3" in told


def test_contradictions_show_both_sides(site: Site, shop: Path, commit: Commit) -> None:
    """A recorded contradiction is on the page with both records and the command that closes it."""
    from sidecar.contradictions import record as judge
    from sidecar.draft import Proposer

    commit(record("decision-5", f"Orders live in MySQL {CANARY}", "Text."))
    provider = Provider(shop)
    done = judge(provider, "decision-1", "decision-5", "contradicts", "both cannot hold", Proposer())
    provider.close()
    told = text_of(site.get("/contradictions").text)
    assert "1 open contradiction" in told
    assert "Orders live in MySQL" in told
    assert f"sidecar conflicts resolve {done['id']}" in told


def test_old_and_foreign_receipts_are_pages(site: Site, shop: Path) -> None:
    """A receipt of sessions, or one with keys that are missing, is shown as far as it goes."""
    provider = Provider(shop)
    provider.recall(Query("orders"))
    bare = {"format": 1, "kind": "address", "question": "which turn?", "time": "2026-01-01T00:00:00+00:00",
            "verdict": "match", "arguments": {"limit": 5}, "returned": [["t", 1, 2, 3]]}  # fmt: skip
    sealed, _ = provider.receipts.append(lambda previous: seal(bare, previous))
    provider.close()
    assert "in sessions" in site.get("/receipts").text
    assert site.get(f"/receipt/{sealed['id'].removeprefix('sha256:')}").status_code == 200


def test_a_store_that_is_gone_is_made_again(site: Site, private_home: Path) -> None:
    """A store that is deleted under the server is made again from Git; the next page is a page."""
    assert site.get("/records").status_code == 200
    for folder in (private_home / "store").glob("*/*"):
        shutil.rmtree(folder)
    assert site.get("/records").status_code == 200


_LOOK_AROUND = """
import asyncio, sys
from pathlib import Path
import httpx2 as httpx
from sidecar.server.desk import Desk
from sidecar.web.app import application

async def run():
    desk = Desk(Path(sys.argv[1]))
    app = application(desk, token="t", port=80)
    async with httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://127.0.0.1:80") as browser:
        browser.headers["host"] = "127.0.0.1:80"
        await browser.get("/?token=t")
        for path in sys.argv[2:]:
            answer = await browser.get(path)
            assert answer.status_code == 200, (path, answer.text)
    desk.close()

asyncio.run(run())
print(*sorted({"mcp", "onnxruntime", "fastembed", "tokenizers"} & sys.modules.keys()))
"""


def test_looking_around_loads_no_model(shop: Path, commit: Commit) -> None:
    """No page but an answer needs the model, and none the MCP SDK: they are not even imported."""
    policy = "format: 1\nembedder: {model: minilm-l6-v2, languages: 'off'}\n"
    commit({"knowledge/policy.yaml": policy})
    pages = ["/", "/records", "/record/decision-1", "/timeline", "/graph?about=decision-1", "/candidates",
             "/contradictions", "/receipts", "/gate"]  # fmt: skip
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(p for p in sys.path if p)}
    command = [sys.executable, "-P", "-c", _LOOK_AROUND, str(shop), *pages]
    done = subprocess.run(command, capture_output=True, text=True, env=environment, check=False)
    assert (done.returncode, done.stdout.strip()) == (0, ""), done.stderr
