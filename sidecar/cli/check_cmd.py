"""`sidecar check` and `sidecar schema`: validate what is written, and the JSON Schemas for editors."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from seed.errors import SidecarError
from sidecar.cli.common import examples, json_option, print_json, repo_option
from sidecar.quote import one_line

if TYPE_CHECKING:
    from seed.checker import Checked

# name -> (module, function), imported when it is asked for
_SCHEMAS: dict[str, tuple[str, str]] = {
    "record": ("seed.schema", "record_schema"),
    "policy": ("seed.schema", "policy_schema"),
    "settings": ("sidecar.editors", "settings"),
    "snippets": ("sidecar.editors", "snippets"),
}
_EXTENSIONS = "sidecar.schemas"
"""Entry-point group for the schemas of other packages: evals registers ``questions`` and ``gates``."""


@click.command(epilog=examples("sidecar check", "sidecar check --staged", "sidecar check knowledge/decisions"))
@click.argument("paths", nargs=-1, metavar="[PATH]...")
@click.option("--staged", is_flag=True, help="Check what the index changes, instead of the working tree.")
@json_option
@repo_option
def check(paths: tuple[str, ...], staged: bool, as_json: bool, repo: str) -> int:
    """Validate every record under knowledge/, each and all together; a bare repository's are those of HEAD.

    Exit code 1 when there is an error. PATH... narrows what is reported. --staged tells what the next commit would
    break, in the files it changes and between them and any other.
    """
    from seed.checker import check_repository
    from seed.git.repository import open_repository

    done = check_repository(open_repository(Path(repo)), staged=staged, only=paths)
    if as_json:
        print_json({"format": 1, "files": done.files, "problems": [asdict(finding) for finding in done.findings]})
    else:
        print("\n".join(lines(done, staged=staged)))
    return 1 if done.failed else 0


def lines(done: Checked, *, staged: bool = False) -> list[str]:
    """Return the text of a check: one line a finding, then one that sums up."""
    found = []
    for finding in done.findings:
        mark = "" if finding.level == "error" else "warning: "
        found.append(one_line(f"{finding.path}:{finding.line}: {mark}{finding.reason} - {finding.fix}"))
    errors = sum(1 for finding in done.findings if finding.level == "error")
    warnings = len(done.findings) - errors
    if staged and not done.files and not done.findings:
        return ["Nothing to check: nothing is staged under knowledge/."]
    if not done.files and not done.findings:
        return ["Nothing to check: no records under knowledge/. 'sidecar new decision TITLE' starts one."]
    return [*found, f"{_many(done.files, 'file')} checked: {_many(errors, 'error')}, {_many(warnings, 'warning')}."]


def _many(count: int, noun: str) -> str:
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"


@click.command(epilog=examples("sidecar schema record > .vscode/record.schema.json", "sidecar schema snippets"))
@click.argument("name", metavar="record|policy|questions|gates|settings|snippets")
def schema(name: str) -> None:
    """Print the JSON Schema of a file format, or the settings and snippets with which an editor uses it."""
    print_json(_schema(name)())


def _schema(name: str) -> Callable[[], dict[str, Any]]:
    if name in _SCHEMAS:
        module, function = _SCHEMAS[name]
        found: Callable[[], dict[str, Any]] = getattr(import_module(module), function)
        return found
    from importlib.metadata import entry_points

    points = {point.name: point for point in entry_points(group=_EXTENSIONS)}
    if name in points:
        return points[name].load()  # type: ignore[no-any-return]
    raise SidecarError(f"there is no schema {name!r}", f"use one of {', '.join(sorted({*_SCHEMAS, *points}))}")
