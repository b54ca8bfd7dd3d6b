from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from seed.importers import adr, restore
from seed.yamltext import parse
from sidecar.cli import main

FORMS = {"markdown": "markdown", "okf": "okf", "json": "jsonl", "lines": "jsonl"}
RECORDS: dict[str, str] = {
    "decisions/decision-0001.yaml": "id: decision-0001\nkind: decision\ntitle: Use Redis\nstatus: accepted\n"
    'date: 2026-01-02\nbody: "Line one.\\r\\nLine two.\\r\\n"\ntags: [storage, "Ünï"]\nx-owner: {team: blue}\n',
    "decisions/decision-0002.yaml": "# a comment\nid: decision-0002\nkind: decision\nstatus: Accepted\n"
    "title: 'Use \"SQLite\": no [Redis] #2'\ndate: 2026-02-03\nsupersedes: [decision-0001]\n"
    "context: |\n  Why.\ndecision: |\n  記録は SQLite に。\nconsequences: none\n"
    "source:\n  - {path: docs/a.md, lines: 3-4}\n",
    "index.yaml": "id: fact-1\nkind: fact\ntitle: Retries\nstatus: verified\nvalid_until: 2020-01-01\n",
    "facts/fact-2.yaml": "id: fact-2\nkind: fact\ntitle: |\n  Two\n  lines\nstatus: unverified\nbody: no end of line\n",
    "odd/x.yaml": "id: odd\nkind: finding\ntitle: Odd\nstatus: on hold\nbody: |\n\n  ---\n  # Not a title\n\n\n",
}


@pytest.fixture
def shelf(repository: Path, commit: Callable[..., str]) -> Path:
    """Return a repository with odd records, one of which overturns another."""
    policy = {"knowledge/policy.yaml": "format: 1\nembedder: {model: toy, languages: 'off'}\n"}
    commit({**policy, **{f"knowledge/{path}": text for path, text in RECORDS.items()}})
    return repository


@pytest.fixture
def empty(tmp_path: Path) -> Path:
    """Return another repository, without records."""
    folder = tmp_path / "empty"
    subprocess.run(["git", "init", "-q", folder], check=True)
    return folder


def export(form: str, repo: Path, target: Path, *options: str) -> int:
    if form in ("json", "lines"):
        target.mkdir(exist_ok=True)
        target /= "all.jsonl" if form == "lines" else "all.json"
    return main(["export", "json" if form == "lines" else form, str(target), "--repo", str(repo), *options])


def bring(form: str, repo: Path, target: Path, *options: str) -> int:
    if form in ("json", "lines"):
        target /= "all.jsonl" if form == "lines" else "all.json"
    try:
        return main(["import", FORMS[form], str(target), "--repo", str(repo), *options])
    except SystemExit as exc:
        return int(str(exc.code))


def keys(repo: Path) -> dict[str, Any]:
    folder = repo / "knowledge"
    files = [file for file in folder.rglob("*.yaml") if file.name != "policy.yaml"]
    return {file.relative_to(folder).as_posix(): parse(file.read_bytes()).data for file in files}


@pytest.mark.parametrize("form", FORMS)
def test_what_is_exported_is_imported_without_loss(form: str, shelf: Path, empty: Path, tmp_path: Path) -> None:
    """Every record comes back into an empty repository at its place, equal key by key; again nothing changes."""
    assert export(form, shelf, tmp_path / "out") == 0
    assert bring(form, empty, tmp_path / "out") == 0
    assert keys(empty) == keys(shelf)
    before = {file: file.stat().st_mtime_ns for file in empty.rglob("*.yaml")}
    assert bring(form, empty, tmp_path / "out") == 0
    assert {file: file.stat().st_mtime_ns for file in empty.rglob("*.yaml")} == before


@pytest.mark.parametrize("form", FORMS)
def test_an_import_where_the_records_are_changes_nothing(form: str, shelf: Path, tmp_path: Path) -> None:
    """Records that say the same are left alone byte for byte, comments and order of keys included."""
    assert export(form, shelf, tmp_path / "out") == 0
    before = {file: file.read_bytes() for file in shelf.rglob("*.yaml")}
    assert bring(form, shelf, tmp_path / "out") == 0
    assert {file: file.read_bytes() for file in shelf.rglob("*.yaml")} == before


def test_every_file_says_the_effective_status(shelf: Path, tmp_path: Path) -> None:
    """An overturned decision is marked with its successor in every format, whatever its own file says."""
    for form in FORMS:
        assert export(form, shelf, tmp_path / form) == 0
    page = (tmp_path / "markdown/decisions/decision-0001.md").read_text(encoding="utf-8")
    assert page.startswith("---\nstatus: superseded by decision-0002\n")
    assert "](decision-0002.md)" in page
    concept = (tmp_path / "okf/decisions/decision-0001.md").read_text(encoding="utf-8")
    assert "\nstatus: deprecated\n" in concept
    assert "](/decisions/decision-0002.md)" in concept
    document = json.loads((tmp_path / "json/all.json").read_text(encoding="utf-8"))
    entry = next(one for one in document["records"] if one["id"] == "decision-0001")
    assert (entry["status"], entry["in_force"], entry["record"]["status"]) == ("superseded", False, "accepted")
    assert document["format"] == 1
    line = (tmp_path / "lines/all.jsonl").read_text(encoding="utf-8").splitlines()[0]
    assert json.loads(line)["status"] == "superseded"
    fact = (tmp_path / "markdown/index_.md").read_text(encoding="utf-8")
    assert "Historical: this held once." in fact


def test_other_readers_of_madr_read_the_effective_status(shelf: Path, tmp_path: Path) -> None:
    """What knows nothing of us, here the importer of ADRs, reads a decision's page with its effective status."""
    assert export("markdown", shelf, tmp_path / "out", "--kind", "decision") == 0
    read = {one.id: one.record for one in adr.read_folder(tmp_path / "out", prefix="decision").records}
    assert {key: (one["status"], one.get("superseded_by")) for key, one in read.items()} == {
        "decision-0001": ("superseded", ["decision-0002"]),
        "decision-0002": ("accepted", None),
    }


@pytest.mark.parametrize("form", FORMS)
def test_a_part_of_an_export_revives_nothing(form: str, shelf: Path, empty: Path, tmp_path: Path) -> None:
    """An overturned record imported without what overturned it does not come back in force, and that is said."""
    assert export(form, shelf, tmp_path / "out", "--status", "superseded") == 0
    assert bring(form, empty, tmp_path / "out") == 0
    assert keys(empty)["decisions/decision-0001.yaml"]["status"] == "superseded"


def test_without_the_rule_a_part_would_revive(
    shelf: Path, empty: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Negative control: without the look at what overturned it, the record would come back accepted."""
    monkeypatch.setattr(restore, "_never_revived", lambda found, _present: found)
    assert export("json", shelf, tmp_path / "out", "--status", "superseded") == 0
    assert bring("json", empty, tmp_path / "out") == 0
    assert keys(empty)["decisions/decision-0001.yaml"]["status"] == "accepted"


def test_statuses_filter_and_candidates_only_come_when_asked(
    shelf: Path, empty: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A candidate is left out and counted; asked for, it is exported as one and stays one when it is imported."""
    (tmp_path / "new.yaml").write_text(
        "kind: decision\ntitle: Use Valkey\nsupersedes: [decision-0002]\nstatus: accepted\nbody: It is faster.\n"
    )
    assert main(["propose", str(tmp_path / "new.yaml"), "--repo", str(shelf)]) == 0
    assert export("json", shelf, tmp_path / "all", "--json") == 0
    report = json.loads(capsys.readouterr().out.splitlines()[-1])
    assert (report["records"], report["candidates_left_out"]) == (5, 1)
    assert export("markdown", shelf, tmp_path / "one", "--status", "candidate") == 0
    assert bring("markdown", empty, tmp_path / "one") == 0
    (record,) = keys(empty).values()
    assert (record["title"], record["status"]) == ("Use Valkey", "candidate")


def test_an_export_takes_only_a_folder_of_its_own(
    shelf: Path, tmp_path: Path, commit: Callable[..., str], capsys: pytest.CaptureFixture[str]
) -> None:
    """Other files are not overwritten; a later export removes what is gone and keeps what a person edited."""
    out = tmp_path / "out"
    out.mkdir()
    (out / "mine.md").write_text("mine")
    assert export("markdown", shelf, out) == 2
    assert "is not empty" in capsys.readouterr().err
    assert export("markdown", shelf, out, "--force") == 0
    (out / "facts/fact-2.md").write_text("edited")
    commit({"knowledge/odd/x.yaml": None})
    assert export("markdown", shelf, out) == 0
    assert not (out / "odd/x.md").exists()
    assert (out / "facts/fact-2.md").read_text() == "edited"
    assert (out / "mine.md").read_text() == "mine"
    assert "kept, since it was edited: facts/fact-2.md" in capsys.readouterr().out


def test_a_page_that_leads_outside_is_refused(shelf: Path, empty: Path, tmp_path: Path) -> None:
    """A path in an export that leaves knowledge/, or names its configuration, is not written to."""
    assert export("json", shelf, tmp_path / "out", "--kind", "finding") == 0
    file = tmp_path / "out/all.json"
    for path in ("../../x.yaml", "/root/x.yaml", "knowledge/policy.yaml", "knowledge/../x.yaml", "README.md"):
        document = json.loads(file.read_text(encoding="utf-8"))
        document["records"][0]["path"] = path
        file.write_text(json.dumps(document))
        assert bring("json", empty, tmp_path / "out", "--force") == 0
        assert list(keys(empty)) == ["odd.yaml"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["export", "json", "/proc/none/x.json"], "cannot be written"),
        (["export", "json", "{out}"], "is a folder"),
        (["export", "markdown", "{out}/file"], "is a file"),
        (["export", "json", "{out}/file"], "is no export"),
        (["export", "markdown", "{out}/new", "--status", "fine"], "status 'fine' is not known"),
        (["import", "jsonl", "{out}/file"], "no record found"),
        (["import", "jsonl", "{out}/none"], "does not exist"),
        (["import", "okf", "{out}/none"], "does not exist"),
        (["import", "okf", "{out}/file"], "is a file"),
        (["import", "okf", "{out}"], "no record found"),
        (["import", "markdown", "{out}"], "no record found"),
        (["import", "markdown", "{out}/file", "--kind", "decision"], "cannot be read from notes"),
        (["import", "markdown", "{out}/file", "--split", "line"], "is not known"),
        (["import", "markdown", "{out}/file", "--into", "../x"], "not below knowledge/"),
    ],
)
def test_wrong_input_is_one_line(
    shelf: Path, tmp_path: Path, arguments: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """Every wrong input gives exit code 2 and one line that says what to do."""
    out = tmp_path / "out"
    out.mkdir()
    (out / "file").write_text("no export\n")
    try:
        code = main([*(argument.format(out=out) for argument in arguments), "--repo", str(shelf)])
    except SystemExit as exc:
        code = int(str(exc.code))
    error = capsys.readouterr().err
    assert code == 2
    assert message in error
    assert " - " in error
    assert error.count("\n") == 1
