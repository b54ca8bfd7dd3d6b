from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from sidecar.cli import main

from ..conftest import TOY, Commit  # noqa: TID252 - test folders have no absolute names
from .walk import WALK, Words, leaves

NAMES = sorted(WALK)
RIGHT = [name for name in NAMES if WALK[name].right or not WALK[name].wrong or name in {"list", "check"}]
SESSION = '{"type":"user","uuid":"u1","sessionId":"s1","cwd":"/x","message":{"role":"user","content":"orders"}}\n'
ADR = "# 1. Use oak\n\n## Status\n\nAccepted\n"


@dataclass(frozen=True)
class Outcome:
    """What a command did: its exit code and what it wrote."""

    code: int
    out: str
    err: str


Run = Callable[..., Outcome]


@pytest.fixture
def places(shop: Path, tmp_path: Path, commit: Commit) -> dict[str, str]:
    """Return what the placeholders of the walk stand for."""
    commit({"docs/adr/0001-oak.md": ADR, "docs/notes.md": "# Notes\n\n- Oak bends.\n- Elm does not.\n"})
    (tmp_path / "folder").mkdir()
    (tmp_path / "file.yaml").write_text("just: text\n")
    (tmp_path / "binary").write_bytes(bytes(range(256)) * 8)
    (tmp_path / "session.jsonl").write_text(SESSION)
    named = {"repo": "project", "file": "file.yaml", "folder": "folder", "binary": "binary", "session": "session.jsonl"}
    found = {name: str(tmp_path / path) for name, path in named.items()}
    assert main(["transcript", "capture", found["session"], "--repo", str(shop)]) == 0
    return {**found, "repo": str(shop), "gone": str(tmp_path / "gone"), "out": str(tmp_path / "out")}


@pytest.fixture
def run(places: dict[str, str], capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Run:
    """Return a function that runs a command of the walk in this process, in ``repo`` unless it names another."""
    monkeypatch.setattr("shutil.which", lambda _: None)

    def _run(name: str, words: Words, repo: str = "{repo}") -> Outcome:
        given = [word.format(**places) for word in words]
        where = [] if name in {"schema", "completion"} or "--repo" in given else ["--repo", repo.format(**places)]
        capsys.readouterr()
        code = main([*name.split(), *given, *where])
        return Outcome(code, *capsys.readouterr())

    return _run


def is_one_helpful_line(done: Outcome) -> bool:
    """Tell whether an error is one line that says what happened and, after a dash, what to do."""
    line = done.err.rstrip("\n")
    return line.startswith("sidecar: ") and "\n" not in line and " - " in line and not done.out


def test_every_command_is_walked() -> None:
    """A new command without an entry in the walk fails here, and so does an entry without its command."""
    assert {" ".join(path) for path in leaves()} == set(WALK)


@pytest.mark.parametrize("name", RIGHT)
def test_the_right_call_works(run: Run, name: str) -> None:
    """The call that the other tests spoil is right: exit code 0 or 1, and no error."""
    done = run(name, WALK[name].right)
    assert done.code in {0, 1}, done.err
    assert "sidecar: " not in done.err


@pytest.mark.parametrize("name", [name for name in NAMES if WALK[name].wrong])
def test_wrong_arguments_are_one_helpful_line(run: Run, name: str) -> None:
    """A missing file, a folder, random bytes, an unknown id or value: exit code 2 and one line that says what to do."""
    for words in WALK[name].wrong:
        done = run(name, words)
        assert done.code == 2, (words, done)
        assert is_one_helpful_line(done), (words, done)


@pytest.mark.parametrize("name", NAMES)
def test_an_unknown_option_names_the_help(run: Run, name: str) -> None:
    """An option that is not there is wrong usage, and the line names the command's help."""
    done = run(name, ("--no-such-option",))
    assert done.code == 2
    assert is_one_helpful_line(done), done
    assert f"sidecar {name} --help" in done.err


@pytest.mark.parametrize("name", [name for name in RIGHT if not WALK[name].anywhere])
def test_no_repository_is_one_helpful_line(run: Run, name: str) -> None:
    """Outside a repository, in a folder that is not there, or in a file, each command says so and what to do."""
    for where, said in (("{folder}", "not in a Git"), ("{gone}", "does not exist"), ("{file}", "")):
        done = run(name, tuple(word.replace("{repo}", where) for word in WALK[name].right), where)
        assert done.code == 2, done
        assert is_one_helpful_line(done), done
        assert said in done.err or name.startswith("import")  # which looks at its folder first


@pytest.mark.parametrize("name", NAMES)
def test_an_empty_repository_is_no_surprise(run: Run, name: str, tmp_path: Path) -> None:
    """Without a commit a command answers that nothing is there, or refuses in one line; nothing else comes out."""
    if name in {"serve", "explore"}:
        return  # it would wait for a client; tests/sidecar/server asks it in an empty repository
    subprocess.run(["git", "init", "-q", str(tmp_path / "empty")], check=True)
    done = run(name, WALK[name].right, str(tmp_path / "empty"))
    assert done.code in {0, 1, 2}
    if done.code == 2:
        assert is_one_helpful_line(done), done
    else:
        assert not done.err, done


BROKEN_POLICY = ["format: [1\n", "format: 9\n", "embedder: 7\n", "floors: yes\n", b"\xff\x00"]


@pytest.mark.slow  # the shipped policy holds then, and with it the shipped models
@pytest.mark.model
@pytest.mark.parametrize("name", RIGHT)
def test_a_broken_policy_stops_nothing_that_can_go_on(run: Run, shop: Path, git: Callable[..., str], name: str) -> None:
    """Whatever is wrong with policy.yaml, a command works with the shipped one or refuses in one line."""
    for text in BROKEN_POLICY:
        (shop / "knowledge" / "policy.yaml").write_bytes(text if isinstance(text, bytes) else text.encode())
        git("commit", "-qam", "Spoil", "--no-verify")
        done = run(name, WALK[name].right)
        assert done.code in {0, 1, 2}
        if done.code == 2 and name != "doctor":
            assert is_one_helpful_line(done), (text, done)


@pytest.mark.parametrize("name", RIGHT)
def test_broken_records_stop_nothing(run: Run, commit: Commit, name: str) -> None:
    """Records that are no YAML, no mapping, binary, empty or huge are told where it matters, and stop no command."""
    broken = {"a": "id: [x\n", "b": "- 1\n", "c": b"\x00\xff\x01", "d": "", "e": "x: " + "y" * (1 << 20)}
    commit({f"knowledge/{key}.yaml": text for key, text in broken.items()} | {"knowledge/policy.yaml": TOY})
    done = run(name, WALK[name].right)
    assert done.code in {0, 1}, done
    assert "sidecar: " not in done.err


@pytest.mark.parametrize("name", [name for name in NAMES if name not in {"schema", "serve", "hooks run"}])
def test_an_error_is_an_object_for_who_asked_for_one(run: Run, name: str) -> None:
    """With --json an error is one line on standard error as ever, and one object on standard output."""
    if WALK[name].anywhere:
        return
    words = next((words for words in WALK[name].wrong), ("--no-such-option",))
    done = run(name, (*words, "--json"))
    assert done.code == 2
    assert done.err.count("\n") == 1
    found = json.loads(done.out)
    assert found["format"] == 1
    assert found["error"]["code"] == 2
    assert found["error"]["message"] in done.err
    assert found["error"]["fix"] in done.err
