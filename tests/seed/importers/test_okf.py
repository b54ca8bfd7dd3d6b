from __future__ import annotations

import pytest

from seed.importers.exchange import Kept
from seed.importers.okf import read_bundle


def concept(front: str, body: str = "Text.\n", path: str = "a.md", **others: str) -> Kept:
    pages = [(path, f"---\n{front}---\n{body}"), *((f"{name}.md", text) for name, text in others.items())]
    found = next(iter(read_bundle(pages, prefix="")))
    assert isinstance(found, Kept), found
    return found


@pytest.mark.parametrize(
    ("front", "kind", "status"),
    [
        ("type: Metric\n", "fact", "unverified"),
        ("type: Metric\nstatus: stable\n", "fact", "unverified"),
        ("type: Metric\nstatus: draft\n", "fact", "proposed"),
        ("type: Metric\nstatus: deprecated\n", "fact", "deprecated"),
        ("type: Metric\nverified: {by: 'human:ann', at: 2026-01-01T00:00:00Z}\n", "fact", "verified"),
        ("type: Metric\nverified:\n  - {by: 'process:nightly', at: 2026-01-01T00:00:00Z}\n", "fact", "unverified"),
        ("type: Decision\n", "decision", "unknown"),
        ("type: Decision\nstatus: stable\n", "decision", "unknown"),
        ("type: ADR\nstatus: Accepted\n", "adr", "accepted"),
        ("type: Architecture Decision Record\nstatus: Superseded by 7\n", "adr", "superseded"),
        ("type: Metric\nstatus: Accepted\n", "fact", "unknown"),
        ("type: Incident Report\n", "finding", "unverified"),
        ("type: Decision\nstatus: whatever\n", "decision", "unknown"),
    ],
)
def test_kind_and_status_of_others_concepts(front: str, kind: str, status: str) -> None:
    """A page that is ready to be read is no decision that was taken: what is not said stays unknown."""
    data = concept(front).data
    assert (data["kind"], data["status"]) == (kind, status)


def test_every_key_is_kept() -> None:
    """OKF's own keys find their place in the record, and all others stay under their name or beside it."""
    front = (
        "type: Metric\ntitle: Revenue\ndescription: All of it.\nresource: https://x.test/t\ntags: [a, b]\n"
        "generated: {by: bot/1, at: 2026-05-28T14:30:00Z}\nstale_after: 2026-09-23\nowner: team\nid: 7\n"
        "sources:\n  - {resource: https://x.test/s}\n"
    )
    data = concept(front, "See [b](/b.md) and [gone](./gone.md).\n", b="---\ntype: X\n---\n").data
    assert data == {
        "id": "a",
        "kind": "fact",
        "title": "Revenue",
        "status": "unverified",
        "date": "2026-05-28",
        "valid_until": "2026-09-22",
        "tags": ["a", "b"],
        "trust": "agent_generated",
        "source": [{"path": "a.md"}, {"url": "https://x.test/t"}],
        "relates_to": ["b"],
        "generated": {"by": "bot/1", "at": "2026-05-28T14:30:00Z"},
        "owner": "team",
        "okf_id": "7",
        "sources": [{"resource": "https://x.test/s"}],
        "body": "All of it.\n\nSee [b](/b.md) and [gone](./gone.md).\n",
    }


def test_a_bundle_of_version_0_1_is_read() -> None:
    """A legacy timestamp is the date."""
    assert concept("type: Metric\ntimestamp: '2026-05-28T22:53:05+00:00'\n").data["date"] == "2026-05-28"


def test_what_is_no_concept_is_skipped_with_a_reason() -> None:
    """Listings are no concepts; a page without type or with broken front matter is named."""
    pages = [
        ("index.md", "# X\n"),
        ("x/log.md", "# X\n"),
        ("no.md", "text\n"),
        ("bad.md", "---\ntype: [x\n---\n"),
        ("Ok.md", "---\ntype: X\n---\n"),
        ("ok.md", "---\ntype: X\n---\n"),
    ]
    found = list(read_bundle(pages, prefix="p"))
    assert [one.data["id"] if isinstance(one, Kept) else one.path for one in found] == [
        "no.md",
        "bad.md",
        "p-Ok",
        "p-ok_",
    ]
