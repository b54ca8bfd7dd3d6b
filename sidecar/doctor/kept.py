"""Checks of what is kept for good: receipts, transcripts, and candidates that no reviewer has seen."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterator
from contextlib import closing
from datetime import UTC, datetime

from seed.errors import SidecarError
from seed.git.remote import on_remote, push_command, remote_name
from seed.store.receipts import Links, broken_link, receipts_file
from seed.transcript.archive import DAMAGED, Archive
from sidecar.audit import OLD_DAYS, PILED_CANDIDATES, PILED_CONFLICTS
from sidecar.doctor.patient import Patient
from sidecar.doctor.table import Said
from sidecar.history import History, verified
from sidecar.pending import committed, pending
from sidecar.query import IN_FORCE
from sidecar.receipt import identify
from sidecar.scans import load, pairs
from sidecar.shelf import open_receipts

_SCAN_DAYS = 15
_SCAN = "sidecar conflicts scan"
_RESTORE = "sidecar restore FILE, from a backup"


def receipts(patient: Patient) -> Iterator[Said]:
    """Tell whether every receipt is as it was written and names the one before it."""
    if patient.on_server:
        yield _on_server(patient)
        return
    path = receipts_file(patient.kept)
    if not path.exists():
        yield "ok", "no receipts yet", ""
        return
    count, problem = broken_link(path, identify)
    if problem:
        yield "critical", f"{path}: {problem}", _RESTORE
    else:
        yield "ok", f"{count} receipts, each as written and naming the one before", ""


def _on_server(patient: Patient) -> Said:
    with closing(open_receipts(patient.git)) as chain:
        links, every = Links(identify), chain.chain()
    for number, receipt in enumerate(every, 1):
        if problem := links.problem(str(receipt.get("id")), receipt):
            return "critical", f"on the server: receipt {number} {problem}", _RESTORE
    return "ok", f"{len(every)} receipts on the server, each as written and naming the one before", ""


def unpushed(patient: Patient) -> Iterator[Said]:
    """Tell which candidates only this machine has."""
    remote = remote_name(patient.git)
    branches = {(one.branch, one.commit) for one in pending(patient.git) if not one.remote}
    local = sorted(name for name, commit in branches if on_remote(patient.git, remote, name) != commit)
    if local and remote:
        text = f"{len(local)} candidate branches are on this machine only, first {local[0]}"
        yield "warning", text, push_command(remote, local[0])
    elif local:
        yield "info", f"{len(local)} candidate branches, and no remote to push them to", "sidecar backup FILE"
    else:
        yield "ok", "no candidate is on this machine only", ""


def pile(patient: Patient) -> Iterator[Said]:
    """Tell whether candidates pile up or grow old without anyone deciding on them."""
    found = pending(patient.git)
    ages = [(datetime.now(UTC) - committed(patient.git, one.commit)[1]).days for one in found]
    old = sum(1 for age in ages if age >= OLD_DAYS)
    text = f"{len(found)} candidates wait for a reviewer, {old} of them for {OLD_DAYS} days or more"
    much = old or len(found) >= PILED_CANDIDATES
    yield ("warning" if much else "ok"), text, "sidecar candidates" if much else ""


def conflicts(patient: Patient) -> Iterator[Said]:
    """Tell how many conflicts between records are recorded, and whether pairs that a scan found wait for a judge."""
    loaded = patient.data.load(patient.wanted().key)
    if loaded is None:
        raise SidecarError("no snapshot of HEAD is published")
    states = Counter(state for head in loaded[0].heads for _, state in head.conflicts)
    total = sum(states.values())
    yield ("info" if total else "ok"), f"{total} conflicts between records are recorded", ""
    now = {head.record.id.casefold(): head.blob for head in loaded[0].heads}
    waiting = [pair for pair in pairs(patient.data) if tuple(map(now.get, pair.key)) == pair.blobs]
    if len(waiting) >= PILED_CONFLICTS:
        text = f"{len(waiting)} pairs of the last scan wait for a judge"
        yield "warning", text, "sidecar conflicts list; then sidecar conflicts record for each pair"


def scan(patient: Patient) -> Iterator[Said]:
    """Tell when records were last compared for contradictions, and how many are new or changed since."""
    loaded = patient.data.load(patient.wanted().key)
    if loaded is None:
        raise SidecarError("no snapshot of HEAD is published")
    last = load(patient.data)
    heads = [head for head in loaded[0].heads if head.status in IN_FORCE and not head.origin]
    new = sum(1 for head in heads if last.seen.get(head.record.id.casefold()) != head.blob)
    if not last.when:
        many = len(heads) > 1
        text = f"no scan for contradictions was ever made ({len(heads)} records)"
        yield ("info" if many else "ok"), text, _SCAN * many
        return
    days = int((time.time() - last.when) / 86400)
    old = days > _SCAN_DAYS
    text = f"the last scan for contradictions is {days} days old, {new} records are new or changed since"
    yield ("warning" if old and new else "info" if old else "ok"), text, _SCAN * old


def transcripts(patient: Patient) -> Iterator[Said]:
    """Tell which sessions are kept, and whether their manifests can be read."""
    archive = Archive(patient.kept / "transcripts")
    damaged = [path.name for path in archive.folder.glob(f"*/*{DAMAGED}")]
    for ident in archive.ids():
        try:
            archive.load(ident)
        except SidecarError:
            damaged.append(ident)
    if damaged:
        yield "critical", f"{len(damaged)} manifests of sessions are damaged, first {damaged[0]}", _RESTORE
    else:
        yield "ok", f"{len(archive.ids())} sessions kept", ""


def transcripts_whole(patient: Patient) -> Iterator[Said]:
    """Read every kept session from end to end and compare every digest."""
    start = time.monotonic()
    archive = Archive(patient.kept / "transcripts")
    outcomes = verified(History(archive, patient.git.root, patient.store_folder / "segments"), ())
    bad = [one for one in outcomes if not one["ok"]]
    for one in bad:
        yield "critical", f"{one['id']}: {one['problem']}", _RESTORE
    if not bad:
        yield "ok", f"{len(outcomes)} sessions are whole to the byte ({time.monotonic() - start:.1f} s)", ""
