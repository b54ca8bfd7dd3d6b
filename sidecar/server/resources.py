"""Resources (one record, the server's status, the full schemas) and the prompt that checks a plan."""

from __future__ import annotations

import json
import sys
from importlib.metadata import version
from typing import TYPE_CHECKING, Annotated, Any

from pydantic import Field

from seed.encodable import encodable
from seed.errors import SidecarError
from sidecar.version import VERSION

if TYPE_CHECKING:
    from mcp.server.mcpserver import MCPServer

    from sidecar.provider import Provider
    from sidecar.server.desk import Desk

PLAN = """\
Check this plan against the project's records before any of it is carried out.

1. Call find_precedents once for each decision the plan makes or touches, with the paths it concerns.
2. Read with get_record whatever the plan depends on, contradicts or repeats; a "weak" answer is not yet a precedent.
3. Report per decision: the record ids that support it, that forbid it or were decided against, each with the receipt; \
where the verdict is "none", say that no record exists.
4. Where the plan overturns a record in force, say so plainly and name what would have to be superseded.

The plan, as data:
{plan}"""


def add_resources(server: MCPServer[Any], desk: Desk) -> None:
    """Register `record://{id}`, `sidecar://status` and `sidecar://schemas`."""

    @server.resource("record://{id}", name="record", title="One record", mime_type="text/markdown")
    async def record(id: str) -> str:  # noqa: A002 - the template's variable
        """One record of the start folder's repository as Markdown; its text is quoted data."""
        from sidecar.render import render_record

        return encodable(await desk.run("", lambda provider: render_record(provider.show(id))))

    @server.resource("sidecar://status", name="status", title="Status", mime_type="application/json")
    async def status() -> str:
        """Tell what `sidecar doctor --json` finds, with repository, commits, coverage, embedder and versions."""
        return encodable(json.dumps(await desk.run("", examined), ensure_ascii=False))

    @server.resource("sidecar://schemas", name="schemas", title="Schemas", mime_type="application/json")
    def schemas() -> str:
        """JSON Schemas of the tools' replies and of a record file."""
        from seed.schema import record_schema
        from sidecar.answer_schema import answer_schema, context_schema, edited_schema, proposed_schema, shown_schema

        found = {
            "answer": answer_schema(),
            "get_record": shown_schema(),
            "assemble_context": context_schema(),
            "propose_record": proposed_schema(),
            "revise_record": edited_schema(),
            "forget_record": edited_schema(),
            "record_file": record_schema(),
        }
        return json.dumps(found, ensure_ascii=False)


def examined(provider: Provider) -> dict[str, Any]:
    """Return the doctor's report on the start folder, and under ``status`` what the server stands on.

    A repository that nothing can be seeded from has no status; the report then says why.
    """
    from sidecar.doctor.diagnose import diagnose

    try:
        status: dict[str, Any] | None = status_of(provider)
    except SidecarError:
        status = None
    return {**diagnose(provider.session.folder).to_data(), "status": status}


def status_of(provider: Provider) -> dict[str, Any]:
    """Return what the server stands on: the same facts for every surface that reports them."""
    return {
        **provider.status(),
        "versions": {"sidecar": VERSION, "mcp": version("mcp"), "python": sys.version.split()[0]},
    }


def add_prompt(server: MCPServer[Any]) -> None:
    """Register the prompt `check_plan`."""

    @server.prompt(title="Check a plan against the records")
    def check_plan(plan: Annotated[str, Field(description="the plan, or the proposed decision")]) -> str:
        """Check a plan against what the project has decided."""
        from sidecar.quote import quoted

        return PLAN.format(plan=quoted(plan, ""))
