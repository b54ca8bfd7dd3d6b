"""What an editor needs to complete and check records: which schema goes with which file, and a snippet a kind. Pure."""

from __future__ import annotations

from typing import Any

from seed.authoring import FIRST_STATUS, SECTIONS
from seed.record import KINDS

FOLDER = ".vscode"
_TITLES = {"fact": "What is so, as one sentence", "history": "What happened, as one sentence"}


def settings() -> dict[str, Any]:
    """Return the settings of VS Code's YAML extension: put it into ``.vscode/settings.json``.

    The schemas are files that ``sidecar schema record > .vscode/record.schema.json`` writes.
    """
    return {
        "yaml.schemas": {
            f"./{FOLDER}/policy.schema.json": ["knowledge/policy.yaml"],
            f"./{FOLDER}/record.schema.json": [
                "knowledge/**/*.yaml",
                "!knowledge/policy.yaml",
                "!knowledge/glossary.yaml",
            ],
        }
    }


def snippets() -> dict[str, Any]:
    """Return a snippet for each kind of record: put it into ``.vscode/knowledge.code-snippets``."""
    return {f"Knowledge: {kind}": _snippet(kind) for kind in KINDS}


def _snippet(kind: str) -> dict[str, Any]:
    title = _TITLES.get(kind, "What holds, as one sentence")
    head = [f"id: {kind}-${{1:0001}}", f"kind: {kind}", f"title: ${{2:{title}}}", f"status: {FIRST_STATUS[kind]}"]
    day = "date: $CURRENT_YEAR-$CURRENT_MONTH-$CURRENT_DATE"
    body = [line for n, name in enumerate(SECTIONS.get(kind, ()), 3) for line in (f"  ## {name}", f"  ${n}", "")]
    source = ["source:", "  - path: ${3:where/it/was/learnt.md}", ""]
    text = ["body: |", *body] if body else source
    return {
        "prefix": f"knowledge-{kind}",
        "scope": "yaml",
        "description": f"A record of kind {kind}",
        "body": [*head, day, *text],
    }
