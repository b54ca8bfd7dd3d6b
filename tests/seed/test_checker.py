from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from seed.checker import Checked, check_repository
from seed.errors import SidecarError
from seed.git.repository import open_repository

Git = Callable[..., str]
Commit = Callable[..., str]
Text = Callable[..., str]


def check(folder: Path, *only: str, staged: bool = False) -> Checked:
    return check_repository(open_repository(folder), staged=staged, only=only)


def told(checked: Checked) -> list[str]:
    return [f"{f.path}:{f.line}: {f.reason}" for f in checked.findings]


def write(folder: Path, path: str, text: str) -> Path:
    file = folder / path
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text, newline="")
    return file


def test_the_working_tree_is_checked_whether_git_knows_the_files_or_not(repository: Path, record_text: Text) -> None:
    """A file that was only written is checked; CRLF line ends are no fault."""
    write(repository, "knowledge/d-1.yaml", record_text("d-1").replace("\n", "\r\n"))
    assert check(repository) == Checked(1, ())
    write(repository, "knowledge/d-1.yaml", record_text("d-1", status="nope").replace("\n", "\r\n"))
    assert told(check(repository))[0].startswith("knowledge/d-1.yaml:4: status 'nope'")


def test_staged_reads_the_index_alone(repository: Path, record_text: Text, git: Git) -> None:
    """A fault that is staged is found although the working tree is sound, and the other way round."""
    write(repository, "knowledge/d-1.yaml", record_text("d-1", status="nope"))
    git("add", "-A")
    write(repository, "knowledge/d-1.yaml", record_text("d-1"))
    assert check(repository, staged=True).failed
    assert not check(repository).failed


def test_a_bare_repository_is_checked_at_head(
    repository: Path, record_text: Text, commit: Commit, tmp_path: Path
) -> None:
    """Where there is no working tree, HEAD is checked."""
    commit({"knowledge/d-1.yaml": record_text("d-1", status="nope")})
    subprocess.run(["git", "clone", "-q", "--bare", str(repository), str(tmp_path / "bare.git")], check=True)
    assert told(check(tmp_path / "bare.git"))[0].startswith("knowledge/d-1.yaml:4:")


@pytest.mark.parametrize("staged", [False, True])
def test_no_records_are_no_fault(repository: Path, *, staged: bool) -> None:
    """A repository without knowledge/ has nothing to check."""
    assert check(repository, staged=staged) == Checked(0, ())


def test_paths_narrow_the_report_and_not_the_rules(
    repository: Path, record_text: Text, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A named file's fault with another file is found, the other file's own findings are left out."""
    write(repository, "knowledge/a/d-1.yaml", record_text("d-1"))
    write(repository, "knowledge/b/d-2.yaml", record_text("d-1", status="nope"))
    everything = check(repository)
    assert everything.files == 2
    narrowed = check(repository, str(repository / "knowledge/a/d-1.yaml"))
    assert told(narrowed) == ["knowledge/a/d-1.yaml:1: id 'd-1' is also the id in knowledge/b/d-2.yaml"]
    assert narrowed.files == 1
    monkeypatch.chdir(repository / "knowledge")
    assert check(repository, "a") == narrowed
    assert check(repository, "knowledge/a") == narrowed
    assert check(repository, ".") == everything


def test_a_path_that_names_nothing_is_refused(repository: Path, record_text: Text) -> None:
    """A misspelt path must not look like a clean check."""
    write(repository, "knowledge/d-1.yaml", record_text("d-1"))
    with pytest.raises(SidecarError, match="names no record"):
        check(repository, "knowledge/d-2.yaml")


@pytest.mark.parametrize("name", ["a.yml", "a.YML", "a.YAML"])
@pytest.mark.parametrize("staged", [False, True])
def test_a_record_under_a_name_that_is_not_read_is_an_error(
    repository: Path, record_text: Text, git: Git, name: str, *, staged: bool
) -> None:
    """Every spelling of the suffix but .yaml is reported with the rename that mends it."""
    write(repository, f"knowledge/{name}", record_text("a"))
    git("add", "-A")
    (finding,) = check(repository, staged=staged).findings
    assert (finding.level, finding.fix) == ("error", f"git mv knowledge/{name} knowledge/a.yaml")


@pytest.mark.parametrize("staged", [False, True])
def test_links_are_not_followed_and_are_named(
    repository: Path, record_text: Text, git: Git, tmp_path: Path, *, staged: bool
) -> None:
    """A link to a record outside is never read, in the working tree as in the index."""
    outside = write(tmp_path, "secret.yaml", record_text("secret", status="nope"))
    write(repository, "knowledge/d-1.yaml", record_text("d-1"))
    (repository / "knowledge/link.yaml").symlink_to(outside)
    (repository / "knowledge/folder").symlink_to(tmp_path)
    (repository / "knowledge/notes.md").symlink_to(outside)
    git("add", "-A")
    found = {(f.path, f.level, f.reason) for f in check(repository, staged=staged).findings}
    assert found == {
        ("knowledge/link.yaml", "error", "a symbolic link is not read"),
        ("knowledge/folder", "warning", "a symbolic link is not read"),
    }


def test_a_link_in_place_of_knowledge_is_named(repository: Path, tmp_path: Path, record_text: Text) -> None:
    """knowledge/ itself being a link is a finding, not an empty folder."""
    write(tmp_path, "elsewhere/d-1.yaml", record_text("d-1"))
    (repository / "knowledge").symlink_to(tmp_path / "elsewhere")
    assert told(check(repository)) == ["knowledge:1: a symbolic link is not read"]


@pytest.mark.skipif(os.geteuid() == 0, reason="root reads everything")
def test_a_file_without_permission_is_a_finding(repository: Path, record_text: Text) -> None:
    """An unreadable file is reported, and the others are still checked."""
    write(repository, "knowledge/d-1.yaml", record_text("d-1")).chmod(0)
    write(repository, "knowledge/d-2.yaml", record_text("d-2", status="nope"))
    assert len(check(repository).findings) == 2


def test_what_is_no_regular_file_is_a_finding(repository: Path, record_text: Text) -> None:
    """A pipe is neither opened nor waited for, and a folder that is a repository of its own is not entered."""
    (repository / "knowledge").mkdir()
    os.mkfifo(repository / "knowledge/pipe.yaml")
    subprocess.run(["git", "init", "-q", str(repository / "knowledge/sub")], check=True)
    write(repository, "knowledge/sub/d-1.yaml", record_text("d-1", status="nope"))
    assert told(check(repository)) == [
        "knowledge/pipe.yaml:1: not a regular file is not read",
        "knowledge/sub:1: a repository of its own is not read",
    ]


def test_a_file_over_the_limit_is_a_finding_in_every_place(repository: Path, git: Git) -> None:
    """A file over 1 MiB is refused by name without being read."""
    write(repository, "knowledge/big.yaml", "body: " + "x" * (1 << 20))
    git("add", "-A")
    for staged in (False, True):
        assert "over the limit of 1 MiB" in told(check(repository, staged=staged))[0]


def test_configuration_faults_are_all_reported(repository: Path) -> None:
    """Every fault of policy and glossary is a finding with its line."""
    write(repository, "knowledge/policy.yaml", "format: 1\nweights: {decision: -1}\nfloor: 2\n")
    write(repository, "knowledge/glossary.yaml", "format: 1\ncat: {a: b}\ndog: [hound]\nbird: {c: d}\n")
    lines = [line.split(" ")[0] for line in told(check(repository))]
    assert lines[:2] == ["knowledge/glossary.yaml:2:", "knowledge/glossary.yaml:4:"]
    assert lines[2:] == ["knowledge/policy.yaml:2:", "knowledge/policy.yaml:3:"]


def test_staged_configuration_is_checked_when_it_changed(repository: Path, commit: Commit, git: Git) -> None:
    """A policy that is staged with a change is validated; an old one is not loaded for every commit."""
    commit({"knowledge/policy.yaml": "weights: {decision: -1}\n"})
    assert not check(repository, staged=True).failed
    assert check(repository).failed
    write(repository, "knowledge/policy.yaml", "weights: {decision: -2}\n")
    git("add", "-A")
    assert check(repository, staged=True).failed


def test_findings_across_files_name_the_line_of_the_relation(repository: Path, record_text: Text) -> None:
    """A dangling relation is reported at its own line."""
    write(repository, "knowledge/d-1.yaml", record_text("d-1", supersedes=["gone"]))
    assert told(check(repository))[0].startswith("knowledge/d-1.yaml:7: supersedes names 'gone'")


def test_check_staged_loads_no_heavy_library(repository: Path, record_text: Text, git: Git) -> None:
    """The check before a commit imports neither numpy, mcp, pydantic, networkx nor the packages' metadata."""
    write(repository, "knowledge/d-1.yaml", record_text("d-1"))
    git("add", "-A")
    program = (
        "import sys; from sidecar.cli import main; code = main(['check', '--staged']); "
        "print(code, sorted(m for m in ('numpy', 'mcp', 'pydantic', 'networkx', 'onnxruntime', 'sqlite3', 'rich', "
        "'ruamel', 'importlib.metadata') if m in sys.modules))"
    )
    here = Path(__file__).parents[2]
    done = subprocess.run(
        [sys.executable, "-c", program],
        cwd=repository,
        check=True,
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONPATH": str(here)},
    )
    assert done.stdout.split("\n")[-2] == "0 []"


@pytest.mark.parametrize("where", ["body", "key", "policy"])
def test_a_secret_is_named_by_rule_and_line_and_never_shown(
    repository: Path, record_text: Text, git: Git, where: str
) -> None:
    """A secret in a record, under a key of one's own, or in the policy is an error at its line, without its value."""
    value = "ghp" + "_" + "a8Zk3Qw9Xr2Lm5Tn7Yp1Vb4Hc6Jd0Fg8Se2U"
    if where == "policy":
        write(repository, "knowledge/policy.yaml", f"format: 1\n# {value}\n")
    else:
        keys = {"body": f"First.\nThen {value}."} if where == "body" else {"token_note": value}
        write(repository, "knowledge/d-1.yaml", record_text("d-1", **keys))
    git("add", "-A")
    for staged in (False, True):
        (found,) = [f for f in check(repository, staged=staged).findings if "github-token" in f.reason]
        data = (repository / found.path).read_text().split("\n")
        assert found.level == "error"
        assert value in data[found.line - 1]
        assert value not in repr(check(repository, staged=staged))


def test_sound_records_compile_no_rule(repository: Path, record_text: Text, monkeypatch: pytest.MonkeyPatch) -> None:
    """A check of records without a telling word compiles no pattern at all, which is what keeps it fast."""

    def compiled(_: object) -> None:
        raise AssertionError("a rule was compiled")

    write(repository, "knowledge/d-1.yaml", record_text("d-1"))
    monkeypatch.setattr("seed.secrets._Rule.pattern", property(compiled))
    assert not check(repository).failed
    write(repository, "knowledge/d-1.yaml", record_text("d-1", body="See https://example.org"))
    with pytest.raises(AssertionError, match="compiled"):
        check(repository)
