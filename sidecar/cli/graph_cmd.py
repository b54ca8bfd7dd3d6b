"""`sidecar graph`: what a record, path, commit or turn is joined with, by what, and what that rests on."""

from __future__ import annotations

import sys
from typing import Any

import click

from sidecar.cli.common import examples, json_option, print_json, provider, repo_option
from sidecar.cli.transcript_read import safe


@click.command(
    epilog=examples("sidecar graph decision-0007", "sidecar graph seed/store/store.py --depth 2", "sidecar graph stats")
)
@click.argument("about", metavar="ID|PATH|stats")
@click.option("--type", "types", multiple=True, metavar="T", help="Only edges of this type (may be repeated).")
@click.option("--depth", default=1, show_default=True, metavar="N", help="Steps to walk.")
@json_option
@repo_option
def graph(about: str, types: tuple[str, ...], depth: int, as_json: bool, repo: str) -> None:
    """Walk from a record, path, commit or turn (transcript#N); 'stats' tells what each edge type adds."""
    from sidecar.graph import Graph, sources

    with provider(repo) as opened:
        made = Graph(opened)
        if about == "stats":
            from sidecar.graph_stats import stats

            told = stats(made)
        else:
            told = sources(made, made.walk(about, types, depth))
    if as_json:
        print_json(told)
    elif about == "stats":
        _print_stats(told)
    else:
        _print_walk(told)


def _print_walk(told: dict[str, Any]) -> None:
    names = {f"{one['kind']}:{one['id']}": one for one in told["nodes"]}
    for edge in told["edges"]:
        basis = edge["basis"]
        place = f"{basis['file']}:{basis['line']}" if "file" in basis else (
            f"turn {basis['turn']}, bytes {basis['start_byte']}-{basis['end_byte']} of {basis['transcript']}"
        )  # fmt: skip
        print(safe(f"{_named(names, edge['from'])} {edge['type']} {_named(names, edge['to'])} ({place})"))
    for one in told.get("sources", []):
        print(safe(f"source {one['transcript']}: {one.get('missing') or one['text']}"))
    if not told["edges"]:
        print(f"{told['about']} has no edge of type {', '.join(told['types'])}.")
    if told["left_out"]:
        print(f"{told['left_out']} more edges; narrow them with --type or --depth", file=sys.stderr)


def _named(names: dict[str, Any], node: str) -> str:
    one = names.get(node, {})
    if "title" not in one:
        return node.partition(":")[2]
    there = f", on the default branch: {one['on_base']['reason']}" if "on_base" in one else ""
    return f"{one['id']} [{one['status']}{there}] {one['title']}"


def _print_stats(told: dict[str, Any]) -> None:
    columns = ("count", "joins", "adjacent_share", "cosine", "cosine_not_adjacent", "multiple_of_adjacent",
               "longest_span", "joined_anew")  # fmt: skip
    print("type".ljust(16), *(name.rjust(len(name)) for name in columns))
    for kind, one in told["types"].items():
        print(kind.ljust(16), *(str("-" if one[name] is None else one[name]).rjust(len(name)) for name in columns))
    base = told["baseline"]
    print(f"mean cosine of adjacent turns {base['adjacent_cosine']}, of random ones {base['random_cosine']}; "
          f"{base['embedded_turns']} of {base['turns']} turns are embedded")  # fmt: skip
