"""The commands of `sidecar transcript` that read what is kept: turns, anchors, segments, candidates."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click

from seed.errors import SidecarError
from seed.transcript.segments import DEFAULT, SCHEMES
from sidecar import history
from sidecar.cli.common import Progress, examples, json_option, print_json, provider, repo_option

EMBED_SECONDS = 3600.0
_UNITS = {"": 1, "k": 1 << 10, "m": 1 << 20, "g": 1 << 30}


class Size(click.ParamType[int]):
    """A number of bytes, such as 500000, 200k, 64M or 1G."""

    name = "size"

    def convert(self, value: object, param: click.Parameter | None, ctx: click.Context | None) -> int:
        """Return the number of bytes."""
        text = str(value).strip().lower().removesuffix("b").removesuffix("i")
        digits = text.rstrip("kmg")
        unit = text[len(digits) :]
        if not digits.isascii() or not digits.isdigit() or unit not in _UNITS:
            self.fail(f"{value!r} is no size - write a number of bytes, or one like 64M", param, ctx)
        return int(digits) * _UNITS[unit]


@click.command(
    epilog=examples(
        "sidecar transcript read claude-5f1c 41-44",
        "sidecar transcript read 41-44 --transcript claude-5f1c --match store.py",
    )
)
@click.argument("numbers", nargs=-1, metavar="[ID] [SEQ]...")
@click.option("--transcript", "-t", default="", metavar="ID", help="Which session (default: captured last).")
@click.option("--turn", "turns", multiple=True, metavar="N", help="A turn by its ordinal, counted from 0.")
@click.option("--match", default="", metavar="TEXT", help="Only turns with TEXT, cut to what stands around it.")
@click.option("--offset", type=click.IntRange(0), default=0, help="Go on from here (a page says where).")
@click.option("--max-bytes", type=Size(), default=20_000, show_default=True, help="At most so much text.")
@click.option("--raw", is_flag=True, help="The lines as they are in the file.")
@json_option
@repo_option
def read(
    numbers: tuple[str, ...],
    transcript: str,
    turns: tuple[str, ...],
    match: str,
    offset: int,
    max_bytes: int,
    raw: bool,
    as_json: bool,
    repo: str,
) -> None:
    """Print turns by the host's own numbers (where it has none: by ordinal), alone or as ranges like 41-44."""
    opened = history.open_history(Path(repo))
    if numbers and not numbers[0].replace("-", "").isdigit():
        transcript, numbers = numbers[0], numbers[1:]
    told = history.read_document(
        opened,
        transcript,
        _spread(turns),
        numbers=_spread(numbers),
        match=match,
        offset=offset,
        max_bytes=max_bytes,
        raw=raw,
    )
    if as_json:
        print_json(told)
        return
    for one in told["turns"]:
        seq = "" if one["seq"] is None else f", seq {one['seq']}"
        part = (
            "" if one["end"] - one["start"] == one["total"] else f", bytes {one['start']}-{one['end']}/{one['total']}"
        )
        print(f"--- turn {one['turn']}{seq} {one['role'] or one['type']}{part}\n{safe(one['text'])}")
    for note in _notes(told, match):
        print(note, file=sys.stderr)


def _notes(told: dict[str, Any], match: str) -> Iterator[str]:
    if told["unknown"]:
        yield f"{told['transcript']} has no {', '.join(told['unknown'])}"
    if match and not told["matched"]:
        yield f"{match!r} is in none of these turns"
    if told["next_offset"] is not None:
        yield f"there is more: --offset {told['next_offset']}"
    if not told["complete"]:
        yield "this session is incomplete (see 'sidecar transcript list --json')"


def _spread(texts: tuple[str, ...]) -> tuple[int, ...]:
    """Return numbers from texts like 7 and 41-44."""
    found: list[int] = []
    for text in texts:
        first, dash, last = text.partition("-")
        low, high = (first, last) if dash else (first, first)
        if not (low.isascii() and low.isdigit() and high.isascii() and high.isdigit()):
            raise SidecarError(f"{text!r} is no number", "write numbers or ranges such as 7 or 41-44")
        if int(high) - int(low) > history.NUMBERS:
            raise SidecarError(f"{text} names over {history.NUMBERS} turns", "ask for fewer at a time")
        found.extend(range(int(low), int(high) + 1))
    return tuple(found)


def safe(text: str) -> str:
    """Return ``text`` so that a terminal only shows it: a session's control characters command nothing."""
    if not sys.stdout.isatty():
        return text
    return "".join(one if one in "\n\t" or one.isprintable() else f"\\x{ord(one):02x}" for one in text)


@click.command("anchors", epilog=examples("sidecar transcript anchors claude-5f1c"))
@click.argument("ident", metavar="[ID]", default="")
@click.option("--generation", type=click.IntRange(1), default=None, help="Only this one.")
@json_option
@repo_option
def anchors_(ident: str, generation: int | None, as_json: bool, repo: str) -> None:
    """Print what each compaction of a session removed, small enough for a prompt, with the turns to read."""
    told = history.anchors_document(history.open_history(Path(repo)), ident, generation or 0)
    if as_json:
        print_json(told)
        return
    for one in told["generations"]:
        print(f"{safe(one['text'])}\n")
    print(f"{told['surface']} turns visible, {told['shadowed']} shadowed, {told['log_only']} log-only")
    derived = " (derived from what is ever hidden)" if told["types_derived"] else ""
    print(f"visible types: {', '.join(told['visible_types']) or 'none'}{derived}")
    for failed in told["failed"]:
        print(f"failed compaction at turn {failed['at']}: {failed['reason']}")
    for problem in told["problems"]:
        print(f"contradiction: {problem}")


@click.command(epilog=examples("sidecar transcript segment claude-5f1c --scheme sized-900"))
@click.argument("ident", metavar="[ID]", default="")
@click.option(
    "--scheme", type=click.Choice(list(SCHEMES)), default=DEFAULT, show_default=True, help="How the session is cut."
)
@click.option("--embed", "embedding", is_flag=True, help="Embed all sessions, or ID alone, so that no question waits.")
@json_option
@repo_option
def segment(ident: str, scheme: str, embedding: bool, as_json: bool, repo: str) -> None:
    """Cut a session into an index of segments; the session itself is not touched, which is checked."""
    if embedding:
        _embed(ident, scheme, repo, as_json=as_json)
        return
    reader, index = history.segmented(history.open_history(Path(repo)), ident, scheme)
    told = {"transcript": reader.manifest.id, "digest": index.digest, "scheme": scheme, "version": index.version}
    if as_json:
        print_json({"format": 1, **told, "segments": len(index), **history.completeness(reader.manifest)})
    else:
        print(f"{reader.manifest.id}: {len(index)} segments by {scheme}, every byte in one of them")


def _embed(ident: str, scheme: str, repo: str, *, as_json: bool) -> None:
    progress = Progress(quiet=as_json)
    with provider(repo) as opened:
        left = opened.addresser.embed(scheme, (ident,) if ident else (), EMBED_SECONDS, progress)
    progress.close()
    if as_json:
        print_json({"format": 1, "scheme": scheme, "left": left})
    else:
        print(left or f"every sentence is embedded, by {scheme}")


@click.command("candidates", epilog=examples("sidecar transcript candidates claude-5f1c"))
@click.argument("ident", metavar="[ID]", default="")
@click.option("--new", "fresh", is_flag=True, help="Only those that were not handed on before.")
@click.option("--propose", "hand_on", is_flag=True, help="Propose those that were not handed on before.")
@click.option("--key", "keys", multiple=True, metavar="KEY", help="With --propose: only this one (may be repeated).")
@json_option
@repo_option
def candidates_(ident: str, fresh: bool, hand_on: bool, keys: tuple[str, ...], as_json: bool, repo: str) -> None:
    """List places worth a record: corrections, decisions, failures with their fix. No model is asked."""
    if keys and not hand_on:
        raise SidecarError("--key says what to propose", "add --propose")
    if hand_on:
        _hand_over(ident, keys, repo, as_json=as_json)
        return
    told = history.candidates_document(history.open_history(Path(repo)), ident, fresh=fresh)
    if as_json:
        print_json(told)
        return
    for one in told["candidates"]:
        source = one["source"]
        where = f"turn {source['turn']}, bytes {source['start_byte']}-{source['end_byte']}"
        print(f"{one['key']} {one['kind']} ({where}): {safe(one['quote'])}")
    if not told["candidates"]:
        print(f"{told['transcript']}: nothing worth a record was found by the rules.")


def _hand_over(ident: str, keys: tuple[str, ...], repo: str, *, as_json: bool) -> None:
    from sidecar.handover import hand_over
    from sidecar.propose import proposer

    with provider(repo) as opened:
        told = hand_over(opened, ident, proposer(), keys, budget=30.0)
    if as_json:
        print_json(told)
        return
    for one in told["proposed"]:
        print(f"{one['key']}: proposed as {one['id']} on {one['branch']}")
    for one in told["refused"]:
        print(f"{one['key']}: not proposed, {safe(one['reason'])}")
    if not told["proposed"] and not told["refused"]:
        print(f"{told['transcript']}: nothing new; {told['already']} were handed on before.")


COMMANDS = (read, anchors_, segment, candidates_)
