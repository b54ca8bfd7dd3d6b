"""The tools: each one function of a provider, and the table that says which profile serves it.

A function's signature is the tool's argument schema and its docstring the description that an agent reads; `repo` is
added to every tool when it is published (sidecar.server.app), and `who` calls is known to the server.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import Field

from seed.errors import SidecarError
from sidecar import tell
from sidecar.query import MAX_LIMIT, Query
from sidecar.server.history_tools import HISTORY
from sidecar.server.review import conflicts_record, conflicts_scan
from sidecar.server.spec import BUDGET_SECONDS, Reply, Spec, fields

if TYPE_CHECKING:
    from sidecar.draft import Proposer
    from sidecar.provider import Provider

Text = Annotated[str, Field()]
Texts = Annotated[list[str], Field()]
Limit = Annotated[int, Field(ge=1, le=MAX_LIMIT)]
Cursor = Annotated[str, Field(description="next_cursor")]
Kinds = Annotated[list[str], Field(description="decision, adr, fact, finding, history")]
Statuses = Annotated[list[str], Field(description='default: in force; ["all"]: every one')]
Tags = Annotated[list[str], Field(description="all must match")]
PathFilter = Annotated[str, Field(description="only records at or around it")]
Trust = Annotated[str, Field(description="user_confirmed, document_extracted, agent_generated")]
Day = Annotated[str, Field(description="YYYY-MM-DD, inclusive")]
Propose = Annotated[bool, Field(description="for a record in Git: make the branch")]
Detail = Literal["brief", "full"]


def recall(  # noqa: PLR0913, PLR0917 - a tool has as many parameters as it has arguments
    provider: Provider,
    question: Annotated[str, Field(description="what you need to know, in one sentence")],
    also: Annotated[list[str], Field(description="other phrasings of it")] = [],  # noqa: B006 - read only, and a flat schema
    limit: Limit = 5,
    cursor: Cursor = "",
    kinds: Kinds = [],  # noqa: B006 - as above, in every tool
    statuses: Statuses = [],  # noqa: B006
    tags: Tags = [],  # noqa: B006
    path: PathFilter = "",
    workspace: str = "",
    trust: Trust = "",
    after: Day = "",
    before: Day = "",
    detail: Detail = "brief",
) -> Reply:
    """Ask what this project has decided or found: the records that still apply, or verdict "none"."""
    if not question.strip():
        raise SidecarError("question is empty", "ask in one sentence, or list records with query_decisions")
    query = Query(
        question,
        tuple(also),
        limit,
        cursor,
        tuple(kinds),
        tuple(statuses),
        tuple(tags),
        path,
        workspace,
        trust,
        after,
        before,
    )
    return _answer(provider, query, detail)


def find_precedents(
    provider: Provider,
    task: Annotated[str, Field(description="what you are about to do or decide")],
    paths: Annotated[list[str], Field(description="files or folders it touches")] = [],  # noqa: B006
    limit: Limit = 5,
) -> Reply:
    """Before you design or change something: what was decided that bears on it, and what was decided against."""
    if not task.strip():
        raise SidecarError("task is empty", "say in one sentence what you are about to do or decide")
    return _answer(provider, Query(task, limit=limit, paths=tuple(paths)), "brief")


def assemble_context(
    provider: Provider,
    task: Annotated[str, Field(description="what this session is to do")],
    paths: Annotated[list[str], Field(description="files or folders it touches")] = [],  # noqa: B006
    budget: Annotated[int, Field(ge=200, description="tokens")] = 2000,
) -> Reply:
    """Once at the start of a session: what binds it, what was decided against, open items, conflicts."""
    from sidecar.context import render

    pack = provider.context(task, paths, budget=budget, seconds=BUDGET_SECONDS)
    return Reply(pack, render(pack))


def query_decisions(  # noqa: PLR0913, PLR0917 - as above
    provider: Provider,
    text: Annotated[str, Field(description="only records about this; empty: all")] = "",
    kinds: Kinds = [],  # noqa: B006
    statuses: Statuses = [],  # noqa: B006
    tags: Tags = [],  # noqa: B006
    path: PathFilter = "",
    workspace: str = "",
    trust: Trust = "",
    after: Day = "",
    before: Day = "",
    limit: Limit = 20,
    cursor: Cursor = "",
) -> Reply:
    """List every record that passes the filters, newest first, with the exact total."""
    query = Query(
        text,
        (),
        limit,
        cursor,
        tuple(kinds),
        tuple(statuses),
        tuple(tags),
        path,
        workspace,
        trust,
        after,
        before,
        listing=True,
    )
    return _answer(provider, query, "brief")


def get_record(
    provider: Provider,
    id: Annotated[str, Field(description="record id, or the path of its file")],  # noqa: A002 - the argument's public name
    at: Annotated[str, Field(description="as of this revision; empty: HEAD")] = "",
    section: Annotated[str, Field(description="only this heading of the body")] = "",
    cursor: Cursor = "",
) -> Reply:
    """Read one record, whatever its status: facts, body, lineage and the commits that touched it."""
    from sidecar.render import render_record

    found = provider.show(id, at=at, section=section, start=cursor, budget=BUDGET_SECONDS)
    return Reply(found, render_record(found))


def propose_record(
    provider: Provider,
    who: Proposer,
    record: Annotated[
        dict[str, Any], Field(description="kind, title, body; also tags, paths, source, supersedes, ...")
    ],
) -> Reply:
    """Contribute what you decided or found. It waits as a candidate, on a branch of its own, for a person's review."""
    from sidecar.propose import propose

    done = propose(provider, record, who, budget=BUDGET_SECONDS)
    return Reply(done, "\n".join(tell.proposed(done)))


def revise_record(
    provider: Provider,
    who: Proposer,
    id: str,  # noqa: A002 - the argument's public name
    change: Annotated[dict[str, Any], Field(description="keys to set; null removes one")],
    propose: Propose = False,
) -> Reply:
    """Amend a candidate. A record in Git is not edited: you get file, line and commit, and a branch if you want it."""
    from sidecar.revise import revise

    done = revise(provider, id, change, who, propose=propose)
    return Reply(done, "\n".join(tell.edited(done)))


def forget_record(
    provider: Provider,
    who: Proposer,
    id: str,  # noqa: A002 - as above
    reason: str = "",
    propose: Propose = False,
) -> Reply:
    """Withdraw a candidate, or propose to retire a record in Git."""
    from sidecar.revise import forget

    done = forget(provider, id, reason, who, propose=propose)
    return Reply(done, "\n".join(tell.edited(done)))


def list_candidates(provider: Provider) -> Reply:
    """List the proposals that wait for review, oldest first, each with the nearest records in force."""
    from sidecar.candidates import listing

    found = listing(provider, budget=BUDGET_SECONDS)
    return Reply(found, "\n".join(tell.waiting(found)))


def _answer(provider: Provider, query: Query, detail: str) -> Reply:
    from sidecar.render import render

    answer = provider.recall(query, detail=detail, budget=BUDGET_SECONDS)
    return Reply(answer, render(answer))


# The list of tools is read by every session, so it names of each reply what an agent acts on; the schemas name all.
_ANSWER = fields("verdict results receipt", "decided_against open_items note next_cursor")
_LISTED = fields("verdict results receipt")
_RECORD = fields("record lineage body")
_PROPOSED = fields("id branch pushed write_hints", "command warnings seen_again commit path")
_EDITED = fields("id branch", "code state path line commit written pushed command")
_CONTEXT = fields("constraints decisions receipt")

PROFILES: dict[str, tuple[Spec, ...]] = {
    "default": (
        Spec(recall, "Ask the records", _ANSWER),
        Spec(find_precedents, "Find precedents", _LISTED),
        Spec(query_decisions, "List records", _LISTED),
        Spec(get_record, "Read a record", _RECORD),
        Spec(assemble_context, "Start a session", _CONTEXT),
        Spec(propose_record, "Propose a record", _PROPOSED, writes=True),
        Spec(revise_record, "Revise a record", _EDITED, writes=True),
        Spec(forget_record, "Retire a record", _EDITED, writes=True),
    ),
    "history": HISTORY,
    "review": (
        Spec(list_candidates, "List proposals", fields("format repository candidates", "note")),
        Spec(conflicts_scan, "Find contradictions", fields("format repository pairs total", "records compared anew")),
        Spec(conflicts_record, "Judge a contradiction", fields("id ids verdict already", "branch"), writes=True),
    ),
}


def chosen(profiles: tuple[str, ...]) -> tuple[Spec, ...]:
    """Return the tools of the named profiles, each once. Raises `SidecarError` where that is none."""
    found = {spec.name: spec for profile in profiles for spec in PROFILES[profile]}
    if not found:
        raise SidecarError(f"profile {', '.join(profiles)} has no tools yet", "serve the default profile")
    return tuple(found.values())
