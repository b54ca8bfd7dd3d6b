"""Checks of the store: whether it can be read, whether it stands for HEAD, and whether every part of it is whole."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

from seed.assemble import Wanted
from seed.errors import SidecarError, StoreError
from seed.store import inspect
from seed.store.lock import holder
from sidecar.doctor.patient import Patient
from sidecar.doctor.table import Said

_LARGE = 2 << 30
_LOOSE_SHARE = 0.5
_SEED = "sidecar seed"


def opens(patient: Patient) -> Iterator[Said]:
    """Tell whether the store's file is there, of this format and undamaged."""
    path = patient.store_folder / "store.db"
    if patient.store is None and not patient.store_fault and patient.on_server:
        yield "ok", "the store is on a server, and no embedded one had to stand in for it", ""
    elif patient.store is not None:
        yield "ok", f"{path}, format {inspect.store_format(patient.store.database)}", ""
    elif patient.store_fault:
        yield "critical", f"{path}: {patient.store_fault}", f"mv {path.parent} {path.parent}.old && {_SEED}"
    else:
        yield "warning", f"{path} is not there yet", _SEED


def deep(patient: Patient) -> Iterator[Said]:
    """Compare every index of the store's file with its table."""
    fault = inspect.fault(patient.data.database, thorough=True)
    if fault:
        yield "critical", fault, f"mv {patient.store_folder} {patient.store_folder}.old && {_SEED}"
    else:
        yield "ok", "tables and indexes agree", ""


def fresh(patient: Patient) -> Iterator[Said]:
    """Tell whether a snapshot of HEAD with its candidates is published, and if not, what has moved since."""
    want = patient.wanted()
    published = inspect.snapshots(patient.data.database)
    if patient.data.has(want.key):
        yield "ok", f"the snapshot of {want.commit[:12] or 'no commit'} is published", ""
    elif published:
        key, commit, made = published[0]
        when = datetime.fromtimestamp(made, UTC).strftime("%Y-%m-%d %H:%M UTC")
        yield "warning", f"the newest snapshot is of {commit[:12]} ({when}): {_moved(patient, key, want)}", _SEED
    else:
        yield "warning", "no snapshot is published", _SEED


def _moved(patient: Patient, key: str, want: Wanted) -> str:
    """Say what makes another snapshot of what is wanted than the published one."""
    loaded = patient.data.load(key)
    if loaded is None:
        return "it cannot be read"
    moved = [f"the records of HEAD ({want.commit[:12] or 'no commit'}) differ"] if loaded[0].tree != want.tree else []
    if loaded[0].candidates != want.candidates_digest:
        moved.append("branches of candidates have changed")
    return " and ".join(moved) or "this version reads records in another way"


def unreadable(patient: Patient) -> Iterator[Said]:
    """Tell how many files of the snapshot gave no record."""
    loaded = patient.data.load(patient.wanted().key) or patient.data.load("")
    if loaded is None:
        raise SidecarError("no snapshot is published")
    bad = loaded[0].unreadable
    if bad:
        first = bad[0]
        text = f"{len(bad)} files give no record, first {first.path}:{first.problem.line}: {first.problem.reason}"
        yield "warning", text, "sidecar check"
    else:
        yield "ok", f"all {len(loaded[0].heads)} records are readable", ""


def loads(patient: Patient) -> Iterator[Said]:
    """Read every published snapshot, as an answer would."""
    keys = [key for key, _, _ in inspect.snapshots(patient.data.database)]
    for key in keys:
        try:
            patient.data.load(key)
        except (StoreError, ValueError, KeyError, TypeError) as exc:
            yield "critical", f"snapshot {key[:19]} cannot be read: {exc}", f"rm -r {patient.store_folder} && {_SEED}"
            return
    yield "ok", f"{len(keys)} snapshots can be read", ""


def orphans(patient: Patient) -> Iterator[Said]:
    """Tell how much of the store no snapshot refers to."""
    database = patient.data.database
    keys = [key for key, _, _ in inspect.snapshots(database)]
    kept = inspect.documents(database, keys)
    loose = inspect.loose(database, keys, kept)
    text = f"{len(loose.passages)} passages and {len(loose.blobs)} files belong to no snapshot, {len(kept)} are in use"
    many = len(loose.passages) > _LOOSE_SHARE * max(len(kept), 1)
    yield ("info" if many else "ok"), text, "sidecar gc" if many else ""


def vectors(patient: Patient) -> Iterator[Said]:
    """Compare every vector with its checksum, and tell files that are missing or cut off."""
    damaged = inspect.damaged_vectors(patient.data.database, patient.data.folder)
    for identity, count in damaged.items():
        text = f"{count} vectors of the embedder {identity[:19]} are damaged or missing"
        yield "critical", text, f"rm -r {patient.store_folder} && {_SEED}"
    if not damaged:
        yield "ok", "every vector matches its checksum", ""


def coverage(patient: Patient) -> Iterator[Said]:
    """Tell how many passages of HEAD's snapshot have no vector yet, for each embedder of the policy."""
    from seed.embed.choose import choose

    key, policy = patient.wanted().key, patient.policy()[0]
    if not patient.data.has(key):
        raise SidecarError("no snapshot of HEAD is published")
    for embedder in choose(policy):
        plane = patient.data.plane(key, embedder.identity)
        rows = plane[0] if plane else None
        missing = int((rows < 0).sum()) if rows is not None else 0
        name = embedder.identity.model
        if rows is None:
            yield "info", f"{name}: nothing is embedded yet", _SEED
        else:
            text = f"{name}: {len(rows) - missing} of {len(rows)} passages embedded"
            yield ("info" if missing else "ok"), text, _SEED if missing else ""


def private(patient: Patient) -> Iterator[Said]:
    """Tell what other users of the machine can read of store, receipts and transcripts."""
    found: list[Path] = []
    for folder in (patient.store_folder, patient.kept):
        found += inspect.open_to_others(folder)
    if found:
        fix = f"chmod -R go-rwx {patient.store_folder} {patient.kept}"
        yield "warning", f"{len(found)} files or folders are open to other users, first {found[0]}", fix
    else:
        yield "ok", "folders are 0700 and files 0600", ""


def size(patient: Patient) -> Iterator[Said]:
    """Tell how much room the store takes."""
    total = inspect.size(patient.store_folder)
    large = total > _LARGE
    yield (
        ("info" if large else "ok"),
        f"{total / (1 << 20):.1f} MiB in {patient.store_folder}",
        "sidecar gc" if large else "",
    )


def leftovers(patient: Patient) -> Iterator[Said]:
    """Tell which damaged files were set aside: they are of no use any more."""
    found = sorted(patient.store_folder.glob("*.damaged-*"))
    if found:
        fix = f"rm {patient.store_folder}/*.damaged-*"
        yield "info", f"{len(found)} damaged files were set aside and rebuilt, the last {found[-1].name}", fix
    else:
        yield "ok", "no damaged file was set aside", ""


def lock(patient: Patient) -> Iterator[Said]:
    """Tell who is seeding right now."""
    pid = holder(patient.store_folder / "seeding.lock")
    if pid:
        yield "info", f"process {pid} is seeding; answers come from the last snapshot meanwhile", ""
    else:
        yield "ok", "nobody is seeding", ""
