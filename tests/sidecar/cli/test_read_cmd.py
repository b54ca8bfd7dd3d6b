from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from sidecar.cli import main

from ..conftest import Commit, record  # noqa: TID252 - test folders have no absolute names


def run(capsys: pytest.CaptureFixture[str], *arguments: str) -> Any:
    """Run one command with --json and return its object."""
    assert main([*arguments, "--json"]) == 0
    return json.loads(capsys.readouterr().out)


def ids(answer: Any) -> list[str]:
    """Return the ids of an answer's results."""
    return [result["id"] for result in answer["results"]]


def test_list_has_what_is_in_force_and_counts_the_rest(shop: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """By default the list has the records in force, newest first, and says how many each status held back."""
    found = run(capsys, "list", "--repo", str(shop))
    assert ids(found) == ["fact-1", "decision-1"]
    assert found["total"] == 2
    assert found["withheld"]["superseded"] == 1
    assert found["withheld"]["rejected"] == 1
    assert found["coverage"]["unreadable"] == 1


def test_list_since_has_what_was_added_or_changed(
    shop: Path, commit: Commit, capsys: pytest.CaptureFixture[str]
) -> None:
    """With --since the list has the records whose file is not the one of that revision, however it was moved."""
    before = commit({}, "No change")
    assert ids(run(capsys, "list", "--since", "HEAD", "--repo", str(shop))) == []
    (shop / "knowledge" / "moved").mkdir()
    (shop / "knowledge" / "fact-1.yaml").rename(shop / "knowledge" / "moved" / "fact-1.yaml")
    commit(record("decision-5", "Tins are stacked", "Tins are stacked."), "Add one, move one")
    assert ids(run(capsys, "list", "--since", before, "--repo", str(shop))) == ["decision-5"]
    assert main(["list", "--since", "no-such", "--repo", str(shop)]) == 2
    assert "names" not in capsys.readouterr().out


def test_why_has_the_records_that_speak_of_a_path(
    shop: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A path brings records by their paths, by folders above or below it, and by being named in their text."""
    assert ids(run(capsys, "why", "shop/store/orders.py", "--repo", str(shop))) == ["decision-1"]
    assert ids(run(capsys, "why", "shop/store", "--repo", str(shop))) == ["decision-1"]
    assert ids(run(capsys, "why", "shop/checkout.py", "--repo", str(shop))) == ["fact-1"]
    assert ids(run(capsys, "why", "shop", "--repo", str(shop))) == ["decision-1"]
    assert ids(run(capsys, "why", "shopping/list", "--repo", str(shop))) == []
    (shop / "shop").mkdir()
    (shop / "shop" / "checkout.py").touch()
    monkeypatch.chdir(shop / "shop")
    assert ids(run(capsys, "why", "checkout.py")) == ["fact-1"]  # a file beside one, as any command takes it


def test_why_says_what_is_up_when_nothing_speaks_of_a_path(
    shop: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A record's own file, a path that is not there, and one of which no record speaks; one outside is an error."""
    why = ["why", "--repo", str(shop)]

    def note(path: str) -> str:
        return str(run(capsys, *why, path)["note"])

    assert "is a record itself: 'sidecar show knowledge/fact-1.yaml'" in note("knowledge/fact-1.yaml")
    assert note("no/such.py").startswith("HEAD has no no/such.py")
    assert note("knowledge/policy.yaml").startswith("No record in force speaks of knowledge/policy.yaml")
    assert "note" not in run(capsys, *why, "shop/store")
    for outside in (str(tmp_path), "../elsewhere"):
        assert main([*why, outside]) == 2
        assert "is outside" in capsys.readouterr().err


def test_why_never_has_what_is_retired(shop: Path, commit: Commit, capsys: pytest.CaptureFixture[str]) -> None:
    """A record that was superseded or rejected does not speak for a path, and is counted."""
    commit(record("decision-6", "Old way", "shop/old.py does it.", status="deprecated"), "Old")
    found = run(capsys, "why", "shop/old.py", "--repo", str(shop))
    assert ids(found) == []
    assert found["withheld"]["deprecated"] == 1


def test_show_takes_an_id_or_a_file(shop: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A record is shown by its id, whatever the case, or by the path of its file."""
    for name in ("decision-1", "DECISION-1", "knowledge/decision-1.yaml", "./knowledge/decision-1.yaml"):
        found = run(capsys, "show", name, "--repo", str(shop))
        assert found["record"]["id"] == "decision-1"


def test_two_files_with_one_id_are_both_named(shop: Path, commit: Commit, capsys: pytest.CaptureFixture[str]) -> None:
    """Of two files with one id the one in force is shown, and the other is named with its file and status."""
    text = record("decision-1", "A twin", "Another.", status="deprecated")["knowledge/decision-1.yaml"]
    commit({"knowledge/twin.yaml": text}, "Twin")
    found = run(capsys, "show", "decision-1", "--repo", str(shop))
    assert found["record"]["path"] == "knowledge/decision-1.yaml"
    assert found["twins"] == [{"path": "knowledge/twin.yaml", "status": "deprecated", "title": "A twin"}]
    assert found["record"]["conflicts"][0]["reason"] == "another file has the same id"
    assert run(capsys, "show", "knowledge/twin.yaml", "--repo", str(shop))["record"]["title"] == "A twin"


def test_show_needs_no_model(shop: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    """Showing and listing work where the embedding model does not load, since they ask nothing of it."""
    from seed.embed import base

    def fail(*_: object) -> None:
        raise AssertionError("a vector was asked for")

    monkeypatch.setattr(base.ToyEmbedder, "question", fail)
    run(capsys, "show", "decision-1", "--repo", str(shop))
    run(capsys, "list", "--repo", str(shop))
    run(capsys, "why", "shop", "--repo", str(shop))


def test_unknown_keys_are_shown(shop: Path, commit: Commit, capsys: pytest.CaptureFixture[str]) -> None:
    """Keys the schema does not know are kept and shown."""
    commit(record("decision-7", "Has more", "Body.", reviewer="Ada"), "Extra")
    assert run(capsys, "show", "decision-7", "--repo", str(shop))["record"]["extra"] == {"reviewer": "Ada"}


def test_a_repository_without_records_says_so(repository: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """With no commit yet, list and why say that nothing is there, and show names the id it did not find."""
    assert main(["list", "--repo", str(repository)]) == 0
    assert main(["why", "x", "--repo", str(repository)]) == 0
    assert main(["show", "x", "--repo", str(repository)]) == 2
    assert "a repository without commits" in capsys.readouterr().err


@pytest.mark.parametrize("command", [("show",), ("import", "adr"), ("receipts", "show"), ("transcript", "read")])
def test_an_error_is_one_line_that_steers_no_terminal(
    shop: Path, capsys: pytest.CaptureFixture[str], command: tuple[str, ...]
) -> None:
    """Whatever bytes an argument holds, the error that quotes it is one line of visible characters."""
    try:
        code = main([*command, "--repo", str(shop), "x\n\x1b[31m\u202e\udcff"])
    except SystemExit as exc:
        code = int(str(exc.code))
    error = capsys.readouterr().err
    assert code == 2
    assert error.startswith("sidecar: ")
    assert error.isprintable() or error.rstrip("\n").isprintable()
