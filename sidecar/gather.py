"""Gather what bears on a task: one recall by meaning and paths, then one step along the graph, through the one door."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC
from typing import TYPE_CHECKING, Any

from seed.errors import SidecarError
from sidecar import answer as answers
from sidecar.answer import Hit
from sidecar.context import DEFAULT_BUDGET, LEAST_BUDGET, Found, Pack, assemble
from sidecar.cursor import MovedError
from sidecar.open_items import is_open
from sidecar.query import Query
from sidecar.quote import one_line

if TYPE_CHECKING:
    from sidecar.provider import Provider
    from sidecar.session import View

PAGE = 10
MAX_RESULTS = 30
MAX_NEIGHBOURS = 10
_TOLD = {
    "amends": "amended by", "amended_by": "amends", "relates_to": "named by", "replies_to": "replied to by",
    "refutes": "refuted by", "refuted_by": "refutes", "supersedes": "superseded by", "superseded_by": "supersedes",
}  # fmt: skip


def gather(
    provider: Provider,
    task: str,
    paths: Sequence[str] = (),
    *,
    budget: int = DEFAULT_BUDGET,
    workspace: str = "",
    seconds: float = 2.0,
) -> Pack:
    """Return the context of a task within ``budget`` tokens, with the receipt of the recall it stands on.

    Every page of that recall is one receipt, of which the pack names all. ``seconds`` bound the seeding that a moved
    HEAD makes necessary. Raises `SidecarError` for an empty task or a budget that holds nothing.
    """
    if not task.strip():
        raise SidecarError("the task is empty", "say in one sentence what you are about to do")
    if budget < LEAST_BUDGET:
        raise SidecarError(f"a budget of {budget} tokens holds nothing", f"give at least {LEAST_BUDGET}")
    query = Query(task, limit=PAGE, paths=tuple(paths), workspace=workspace)
    pages = [provider.recall(query, budget=seconds)]
    while pages[-1]["has_more"] and sum(len(page["results"]) for page in pages) < MAX_RESULTS:
        following = Query(task, limit=PAGE, paths=tuple(paths), workspace=workspace, cursor=pages[-1]["next_cursor"])
        try:
            pages.append(provider.recall(following, budget=seconds))
        except MovedError:  # vectors arrive meanwhile: what was found stands, and `more` counts the rest
            break
    first, results = pages[0], [result for page in pages for result in page["results"]]
    view = provider.session.view(vectors=False, budget=seconds)
    found = Found(
        results,
        neighbours(provider, view, results, first["revision"]["workspace"]),
        first["decided_against"],
        _each_once([item for page in pages for item in page["open_items"]]),
        first["total"] - len(results),
    )
    return assemble(found, _frame(task, paths, pages), budget)


def _each_once(items: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    return list({item["id"]: item for item in items}.values())


def _frame(task: str, paths: Sequence[str], pages: Sequence[answers.Answer]) -> dict[str, Any]:
    first = pages[0]
    revision = {key: first["revision"][key] for key in ("commit", "stale", "repository", "workspace")}
    revision["commit"] = revision["commit"][:12]
    others = [page["receipt"]["id"] for page in pages[1:]]
    frame = {"format": 1, "task": one_line(task, 300), "paths": [one_line(path, 200) for path in paths]}
    frame |= {"verdict": first["verdict"], "revision": revision}
    frame |= {key: first[key] for key in ("degraded", "note") if first.get(key)}
    return {**frame, "receipt": first["receipt"] | ({"pages": others} if others else {})}


def neighbours(
    provider: Provider, view: View, results: Sequence[Mapping[str, Any]], workspace: str
) -> list[dict[str, Any]]:
    """Return the records in force one relation away from the results, in their form, by what ties them."""
    corpus, today = view.corpus, provider.clock().astimezone(UTC).date()
    found = {result["id"].casefold(): result["id"] for result in results}
    admitted = corpus.admit(Query(listing=True), today, workspace).results.tolist()
    tied: dict[int, str] = {}
    for n in admitted:
        head = corpus.heads[n]
        if head.record.id.casefold() in found or is_open(head.record):
            continue
        for link in head.lineage:
            if link.id.casefold() in found:
                tied.setdefault(n, f"{link.relation.replace('_', ' ')} {found[link.id.casefold()]}")
    by_id = {corpus.heads[n].record.id.casefold(): n for n in admitted if not is_open(corpus.heads[n].record)}
    for result in results:
        for link in result["lineage"]:
            n = by_id.get(link["id"].casefold(), -1)
            if n >= 0 and link["id"].casefold() not in found:
                tied.setdefault(n, f"{_TOLD[link['relation']]} {result['id']}")
    order = sorted(tied, key=lambda n: (tied[n], corpus.heads[n].record.id))[:MAX_NEIGHBOURS]
    plain = [answers.item(corpus.heads[n], Hit(n, corpus.status(n, today)), {}, {}) for n in order]
    return [{**item, "why": tied[n]} for n, item in zip(order, plain, strict=True)]
