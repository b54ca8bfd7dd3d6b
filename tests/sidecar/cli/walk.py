"""One entry for every command: a call that is right in the walk's repository, and calls that are wrong.

In arguments, {repo} is the repository, {file} a text file, {folder} an empty folder, {binary} random bytes, {gone} a
path that does not exist, {out} a path that may be written. ``wrong`` are calls that end in exit code 2 with one line.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import click

from sidecar.cli.group import sidecar

Words = tuple[str, ...]


@dataclass(frozen=True)
class Entry:
    """``right`` works (exit code 0 or 1); ``anywhere`` says that it needs no repository."""

    right: Words = ()
    wrong: tuple[Words, ...] = ()
    anywhere: bool = False


def leaves(command: click.Command = sidecar, path: Words = ()) -> Iterator[Words]:
    """Yield the path of every command that is no group."""
    if not isinstance(command, click.Group):
        yield path
        return
    context = click.Context(command)
    for name in command.list_commands(context):
        child = command.get_command(context, name)
        assert child is not None
        yield from leaves(child, (*path, name))


FILTERS: tuple[Words, ...] = (
    ("--kind", "poem"),
    ("--status", "done"),
    ("--trust", "blind"),
    ("--after", "soon"),
    ("--before", "2026-13-45"),
    ("--cursor", "junk"),
    ("-k", "0"),
    ("-k", "x"),
)
FILES: tuple[Words, ...] = (("{gone}",), ("{folder}",), ("{binary}",))


def with_words(before: Words, cases: tuple[Words, ...]) -> tuple[Words, ...]:
    """Return each case with words before it."""
    return tuple((*before, *case) for case in cases)


WALK: dict[str, Entry] = {
    "audit": Entry(),
    "backup": Entry(("{out}",), (("{folder}",), ("{gone}/x",))),
    "calibrate": Entry(("--dry-run",), (("--method", "guess"),)),
    "candidates": Entry(),
    "check": Entry((), (("{gone}",), ("{file}",), ("--staged", "{gone}"))),
    "completion": Entry(("bash",), ((), ("tcsh",)), anywhere=True),
    "conflicts list": Entry(),
    "conflicts record": Entry(
        ("decision-1", "fact-1", "contradicts", "--reason", "x"),
        (("decision-1",), ("nope", "fact-1", "contradicts", "--reason", "x"), ("decision-1", "fact-1", "hates")),
    ),
    "conflicts resolve": Entry(wrong=((), ("nope", "--reason", "x"), ("decision-1", "--reason", "x"))),
    "conflicts scan": Entry((), (("-k", "x"), ("-k", "0"))),
    "context": Entry(("Keep orders",), ((), ("x", "--budget", "x"), ("x", "--budget", "-1"))),
    "doctor": Entry(anywhere=True),
    "done": Entry(wrong=((), ("nope",), ("decision-1",))),
    "eval": Entry(wrong=((), *FILES, ("{file}", "--without", "luck"), ("{file}", "--repeat", "0"))),
    "explore": Entry(wrong=(("--port", "99999"), ("--port", "x"), ("--repo", "{gone}"), ("--repo", "{file}"))),
    "export json": Entry(("{out}",), ((), ("{folder}",), ("{out}", "--kind", "poem"))),
    "export markdown": Entry(("{out}",), ((), ("{file}",), ("{out}", "--after", "soon"))),
    "export okf": Entry(("{out}",), ((), ("{file}",), ("{out}", "--status", "done"))),
    "export site": Entry(("{out}",), ((), ("{file}",), ("{out}", "--trust", "blind"))),
    "gc": Entry(("--dry-run",)),
    "graph": Entry(("decision-1",), ((), ("nope",), ("decision-1", "--type", "love"), ("decision-1", "--depth", "x"))),
    "hooks install": Entry(),
    "hooks run": Entry(("post-commit",), ((),)),
    "hooks status": Entry(),
    "hooks uninstall": Entry(),
    "import adr": Entry(
        ("{repo}/docs/adr",), ((), ("{gone}",), ("{file}",), ("{folder}",), ("{repo}/docs/adr", "--prefix", "a b"))
    ),
    "import jsonl": Entry(wrong=((), *FILES, ("{file}",))),
    "import markdown": Entry(
        ("{repo}/docs/notes.md",), ((), ("{gone}",), ("{folder}",), ("{binary}",), ("{file}", "--kind", "poem"))
    ),
    "import okf": Entry(wrong=((), *FILES)),
    "init": Entry(("--dry-run",), (("--agent", "clippy"), ("extra",))),
    "list": Entry((), (*FILTERS, ("--since", "nope"), ("extra",))),
    "new": Entry(("fact", "A thing"), ((), ("fact",), ("poem", "x"))),
    "promote": Entry(wrong=((), ("nope",), ("decision-1",), ("nope", "--status", "done"))),
    "propose": Entry(wrong=((), *FILES, ("{file}",))),
    "recall": Entry(("orders",), ((), *with_words(("x",), FILTERS), ("x", "--detail", "some"))),
    "receipts list": Entry((), (("-n", "x"),)),
    "receipts show": Entry(wrong=((), ("nope",))),
    "receipts verify": Entry(wrong=((), ("nope",), *FILES, ("{file}",))),
    "renumber": Entry(wrong=((), ("nope",), ("decision-1", "--to", "a b"), ("decision-1", "--to", "fact-1"))),
    "restore": Entry(wrong=((), *FILES, ("{file}",))),
    "review": Entry((), (("nope..HEAD",), ("nope",))),
    "schema": Entry(("record",), ((), ("poem",)), anywhere=True),
    "seed": Entry((), (("--commit", "nope"), ("--cache", "{file}"))),
    "serve": Entry(
        wrong=(
            ("--port", "99999"),
            ("--profile", "odd"),
            ("--allow", "{gone}"),
        )
    ),
    "show": Entry(
        ("decision-1",), ((), ("nope",), ("decision-1", "--at", "nope"), ("decision-1", "--section", "nope"))
    ),
    "transcript address": Entry(
        ("orders",), ((), ("x", "--scheme", "odd"), ("x", "--transcript", "nope"), ("x", "-k", "x"))
    ),
    "transcript anchors": Entry(wrong=(("nope",),)),
    "transcript attach": Entry(wrong=((), *with_words(("--plane", "p"), FILES), ("{file}", "--plane", "p"))),
    "transcript candidates": Entry(wrong=(("nope",),)),
    "transcript capture": Entry(("{session}",), ((), ("{gone}",), ("{folder}",), ("{session}", "--limit", "huge"))),
    "transcript export": Entry(wrong=((), ("nope",), ("nope", "--output", "{out}"))),
    "transcript list": Entry(),
    "transcript read": Entry(wrong=(("nope", "1"), ("1-x",))),
    "transcript segment": Entry(wrong=(("nope",), ("--scheme", "odd"))),
    "transcript verify": Entry(),
    "transcript view": Entry(wrong=(("nope",), ("--sample", "x"))),
    "why": Entry(("shop/store",), ((), ("shop", "-k", "0"), ("shop", "--cursor", "junk"))),
    "withdraw": Entry(wrong=((), ("nope",))),
}
