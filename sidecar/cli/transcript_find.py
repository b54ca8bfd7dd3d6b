"""The commands of `sidecar transcript` that find places by meaning: address, and vectors made elsewhere."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import click

from seed.errors import SidecarError
from seed.transcript.segments import DEFAULT, SCHEMES
from sidecar.cli.common import Progress, examples, json_option, narrow, print_json, provider, repo_option
from sidecar.cli.transcript_read import EMBED_SECONDS, safe

MAIN = "main"
_scheme = click.option(
    "--scheme", type=click.Choice(list(SCHEMES)), default=DEFAULT, show_default=True, help="How sessions are cut."
)


@click.command(epilog=examples('sidecar transcript address "why did the migration fail" -k 3'))
@click.argument("question", nargs=-1, required=True)
@click.option("-k", "limit", default=5, show_default=True, metavar="N", help="How many places.")
@click.option("--transcript", "-t", "names", multiple=True, metavar="ID", help="Only this session (may be repeated).")
@click.option("--budget", default=EMBED_SECONDS, show_default=True, metavar="S", help="Embed for at most S seconds.")
@click.option("--plane", default=MAIN, show_default=True, metavar="NAME", help="An attached plane, with --vector.")
@click.option("--vector", type=click.Path(path_type=Path), help="The question's vector and embedder, as JSON.")
@_scheme
@json_option
@repo_option
def address(
    question: tuple[str, ...],
    limit: int,
    names: tuple[str, ...],
    budget: float,
    plane: str,
    vector: Path | None,
    scheme: str,
    as_json: bool,
    repo: str,
) -> None:
    """Find the exact bytes that speak of a question; what has no segments or vectors yet gets them first."""
    from sidecar.asking import Asking
    from sidecar.segment_planes import open_plane

    progress = Progress(quiet=as_json)
    with provider(repo) as opened:
        asker = opened.addresser
        outside = None
        if vector is not None:
            outside = open_plane(asker.history, names[0] if names else "", scheme, plane, _question(vector))
        asked = Asking(" ".join(question), limit, scheme, names, budget)
        told = asker.address(asked, outside=outside, progress=progress)
    progress.close()
    if as_json:
        print_json(told)
    else:
        _print(told)


def _question(path: Path) -> dict[str, Any]:
    try:
        found = json.loads(path.read_bytes())
    except ValueError:
        found = None
    if not isinstance(found, dict):
        raise SidecarError(f"{path} is no JSON object", "write one with embedder and vector")
    return found


def _print(told: dict[str, Any]) -> None:
    for one in told["results"]:
        place = f"{one['transcript']} turn {one['turn']}, bytes {one['start_byte']}-{one['end_byte']}"
        print(f"--- {place} ({one['relevance']:.2f})\n{safe(one['text'])}")
    if told["verdict"] == "weak":
        print("Weak: read what stands around these places before you rely on them.")
    if not told["results"]:
        print(f"Nothing above the floor; {told['below_floor']} segments are below it.")
    covered = told["coverage"]
    print(f"searched {covered['searched']} of {covered['said']} segments that say anything, "
          f"in {covered['transcripts']} transcripts", file=sys.stderr)  # fmt: skip
    if told["incomplete"]:
        print(f"incomplete sessions: {', '.join(told['incomplete'])}", file=sys.stderr)
    if "degraded" in told:
        print(told["degraded"], file=sys.stderr)


@click.command(epilog=examples("sidecar transcript view claude-5f1c --sample 20 --json"))
@click.argument("ident", metavar="[ID]", default="")
@click.option("--sample", type=click.IntRange(0), default=0, metavar="N", help="Only N texts, at even distances.")
@_scheme
@json_option
@repo_option
def view(ident: str, sample: int, scheme: str, as_json: bool, repo: str) -> None:
    """Print the texts of a session to embed elsewhere: a line with the identity that must come back, one a text."""
    from sidecar.history import open_history
    from sidecar.segment_planes import view_document

    told = view_document(open_history(Path(repo)), ident, scheme, sample)
    if as_json:
        print_json(told)
        return
    for row in ({key: value for key, value in told.items() if key not in {"texts", "next"}}, *told["texts"]):
        print(json.dumps(row, ensure_ascii=narrow()))


@click.command(epilog=examples("sidecar transcript attach vectors.jsonl --plane large"))
@click.argument("file", type=click.Path(path_type=Path, allow_dash=True))
@click.option("--plane", default=MAIN, show_default=True, metavar="NAME", help="Its name: one for each model.")
@json_option
@repo_option
def attach(file: Path, plane: str, as_json: bool, repo: str) -> None:
    """Keep vectors made elsewhere beside a session: the line that view printed with the embedder, then one a line."""
    from sidecar.history import open_history
    from sidecar.segment_planes import attach as keep

    history = open_history(Path(repo))
    if str(file) == "-":
        told = keep(history, sys.stdin, plane)
    else:
        # A byte that is no UTF-8 spoils its line only, which is then named.
        with file.open(encoding="utf-8", errors="replace", newline="\n") as lines:
            told = keep(history, lines, plane)
    if as_json:
        print_json(told)
    else:
        covers = told["covers"]
        print(f"{told['identity']['transcript']}: plane {plane} has {covers['segments']} of {covers['of']} segments")


COMMANDS = (address, view, attach)
