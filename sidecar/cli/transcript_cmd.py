"""`sidecar transcript`: keep agents' sessions losslessly, prove it, and read them back to the byte."""

from __future__ import annotations

import os
import sys
import time
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import click

from seed.errors import SidecarError
from seed.transcript.capture import Options
from sidecar import history
from sidecar.cli import transcript_find, transcript_read
from sidecar.cli.common import examples, json_option, print_json, repo_option
from sidecar.cli.transcript_read import Size

POLL_SECONDS = 1.0


@click.group(epilog=examples("sidecar transcript capture --newest", "sidecar transcript list"))
def command() -> None:
    """Keep agents' sessions, prove that they are whole, and read them back."""


@command.command(
    epilog=examples("sidecar transcript capture --newest", "sidecar transcript capture session.jsonl --redact")
)
@click.argument("files", nargs=-1, metavar="[FILE]...", type=click.Path())
@click.option("--newest", is_flag=True, help="The newest session that an agent had in this repository.")
@click.option("--follow", is_flag=True, help="Capture again whenever the file grows, until stopped.")
@click.option("--limit", type=Size(), default=0, help="Refuse a larger file (such as 64M).")
@click.option("--incomplete", is_flag=True, help="Keep the first --limit bytes of a larger file, marked incomplete.")
@click.option("--redact", is_flag=True, help="Keep a copy with the secrets that are found overwritten, marked so.")
@click.option("--hook", is_flag=True, help="Called by an agent's hook: its JSON is on standard input, nothing fails.")
@json_option
@repo_option
def capture(  # one argument an option
    files: tuple[str, ...],
    newest: bool,
    follow: bool,
    limit: int,
    incomplete: bool,
    redact: bool,
    hook: bool,
    as_json: bool,
    repo: str,
) -> int:
    """Keep session files as they are; a file that grew stores only what is new."""
    options = Options(limit, incomplete, redact)
    if hook:
        from sidecar.cli.transcript_hook import capture_hooked

        capture_hooked(tuple(map(Path, files)), options, repo)
        return 0
    if incomplete and not limit:
        raise click.UsageError("--incomplete keeps the first --limit bytes: give --limit too")
    if follow and len(files) > 1:
        raise click.UsageError("--follow takes one session file")
    opened = history.open_history(Path(repo))
    paths = _chosen(opened, files, newest=newest)
    if follow:
        _follow(opened, paths[0], options, as_json=as_json)
        return 0
    kept, errors = [], []
    for path in paths:
        try:
            kept.append(history.captured(history.capture(opened, path, _now(), options)))
        except SidecarError as error:  # the others are kept all the same
            errors.append(error)
    return _kept(kept, errors, as_json=as_json)


def _kept(kept: list[dict[str, Any]], errors: list[SidecarError], *, as_json: bool) -> int:
    """Say what was kept and what was not; the others are kept all the same. Raises `SidecarError` where nothing was."""
    more = f" (and {len(errors) - 1} more)" if len(errors) > 1 else ""
    failed = [SidecarError(errors[0].message + more, errors[0].fix)] if errors else []
    if not kept:
        raise failed[0]
    if as_json:
        print_json({"format": 1, "captured": kept, **({"errors": list(map(str, errors))} if errors else {})})
    else:
        print("".join(f"{_line(one)}\n" for one in kept), end="")
    for error in failed:
        print(f"sidecar: {error}", file=sys.stderr)
    return 2 if failed else 0


def _chosen(opened: history.History, files: tuple[str, ...], *, newest: bool) -> list[Path]:
    """Return the session files that are meant, each followed by its sub-agents'."""
    if bool(files) == newest:
        raise click.UsageError("name session files, or use --newest")
    if "" in files:  # as a path it would mean the current folder
        raise SidecarError("one of the names is empty", "name a session file, or use --newest")
    named = tuple(map(Path, files)) or (history.newest(opened, Path.home(), os.environ),)
    found = [path for one in named for path in history.with_subagents(one)]
    if not found:
        raise SidecarError(f"no session is in {', '.join(files)}", "name a session file, or use --newest")
    return found


def _follow(opened: history.History, path: Path, options: Options, *, as_json: bool) -> None:
    from seed.transcript.capture import follow

    def wait() -> bool:
        time.sleep(POLL_SECONDS)
        return True

    if not path.exists():
        raise SidecarError(f"cannot read {path}: No such file or directory", "name a session file, or use --newest")
    for stored in follow(opened.archive, path, _now, wait, options):
        kept = history.captured(stored)
        if as_json:
            print_json({"format": 1, "captured": [kept]})
        else:
            print(_line(kept))
        sys.stdout.flush()


def _line(kept: dict[str, Any]) -> str:
    found = kept.get("secrets", {}).get("count", 0)
    notes = "" if kept["complete"] else ", incomplete"
    notes += f", {found} secrets (listed with --json; --redact keeps a copy without)" if found else ""
    written = f"{kept['written_bytes']} bytes written" if kept["changed"] else "nothing new"
    return f"{kept['id']}: {kept['turns']} turns, {kept['bytes']} bytes, {written}{notes}"


def _now() -> str:
    return datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


@command.command("list", epilog=examples("sidecar transcript list"))
@json_option
@repo_option
def list_(as_json: bool, repo: str) -> None:
    """List the sessions kept for this repository, the one captured last first."""
    found = list(history.open_history(Path(repo)).archive.manifests())
    found.sort(key=lambda one: (one.state.captured, one.id), reverse=True)
    if as_json:
        print_json({"format": 1, "transcripts": [history.described(one) for one in found]})
        return
    for one in found:
        share = f"{100 * one.stored // max(one.size, 1)} %"
        partly = "" if one.complete else ", incomplete"
        print(f"{one.id}: {one.turns} turns, {one.size} bytes kept in {share}, {one.state.captured}{partly}")
    if not found:
        print("No transcripts yet. Keep one with 'sidecar transcript capture --newest'.")


@command.command(epilog=examples("sidecar transcript verify", "sidecar transcript verify claude-5f1c"))
@click.argument("ids", nargs=-1, metavar="[ID]...")
@json_option
@repo_option
def verify(ids: tuple[str, ...], as_json: bool, repo: str) -> int:
    """Read sessions from end to end and compare every digest; exit 1 when a byte is not as it was."""
    outcomes = history.verified(history.open_history(Path(repo)), ids)
    if as_json:
        print_json({"format": 1, "verified": outcomes})
    else:
        for one in outcomes:
            state = "as it was kept, incomplete" if not one.get("complete", True) else "whole"
            print(f"{one['id']}: {state}, {one['digest']}" if one["ok"] else f"{one['id']}: {one['problem']}")
    return 0 if all(one["ok"] for one in outcomes) else 1


@command.command(
    epilog=examples(
        "sidecar transcript export claude-5f1c --output session.jsonl",
        "sidecar transcript export claude-5f1c --output - | head -3",
    )
)
@click.argument("ident", metavar="ID")
@click.option(
    "--output",
    required=True,
    metavar="FILE",
    type=click.Path(path_type=Path, allow_dash=True),
    help="Where to (- for standard output).",
)
@json_option
@repo_option
def export(ident: str, output: Path, as_json: bool, repo: str) -> None:
    """Write a session's original bytes to FILE (- for standard output), whole or not at all."""
    opened = history.open_history(Path(repo))
    reader = opened.reader(ident)
    if str(output) == "-":
        reader.verify()
        for chunk in reader.chunks():
            sys.stdout.buffer.write(chunk)
        sys.stdout.buffer.flush()
        return
    reader.export(output)
    told = {"id": reader.manifest.id, "digest": reader.manifest.digest, "output": str(output)}
    if as_json:
        print_json({"format": 1, **told, **history.completeness(reader.manifest)})
    else:
        partly = "" if reader.manifest.complete else ", which is not the whole session (see 'transcript list --json')"
        print(f"{output}: {reader.manifest.size} bytes, {reader.manifest.digest}{partly}")


for _command in (*transcript_read.COMMANDS, *transcript_find.COMMANDS):
    command.add_command(_command)
