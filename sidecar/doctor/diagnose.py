"""The table of all checks, and the one loop that runs them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from seed.errors import SidecarError
from seed.store.database import DatabaseFault
from sidecar.doctor import agents, embedder, engine, environment, hooks, kept, repository, store
from sidecar.doctor.finding import Finding, Report
from sidecar.doctor.patient import Patient, examined
from sidecar.doctor.table import Check

_UNSEEN = "could not be looked at: "

CHECKS: tuple[Check, ...] = (
    Check("python", environment.python, needs=""),
    Check("package", environment.package, needs=""),
    Check("dependencies", environment.dependencies, needs=""),
    Check("git", environment.git, needs=""),
    Check("libgit2", environment.libgit2, needs=""),
    Check("sqlite", environment.sqlite, needs=""),
    Check("home", environment.folder, needs=""),
    Check("disk", environment.disk, needs=""),
    Check("variables", environment.variables, needs=""),
    Check("encoding", environment.encoding, needs=""),
    Check("repository", repository.opens, needs=""),
    Check("kind", repository.kind),
    Check("history", repository.history),
    Check("blobs", repository.blobs),
    Check("head", repository.head),
    Check("sequence", repository.sequence),
    Check("base", repository.base),
    Check("remote", repository.remote),
    Check("records", repository.records),
    Check("uncommitted", repository.uncommitted),
    Check("policy", repository.policy),
    Check("valid", repository.valid),
    Check("hooks-folder", hooks.folder),
    Check("hooks-fire", hooks.fire),
    Check("hooks-interpreter", hooks.interpreter),
    Check("hooks-log", hooks.errors),
    Check("hooks-probe", hooks.probed, deep=True),
    Check("embedder", embedder.main),
    Check("embedder-second", embedder.second),
    Check("embedder-second-loads", embedder.second_loads, deep=True),
    Check("floor", embedder.floor),
    Check("engine", engine.engine),
    Check("store", store.opens),
    Check("store-indexes", store.deep, needs="store", deep=True),
    Check("snapshot", store.fresh, needs="store"),
    Check("snapshots-load", store.loads, needs="store"),
    Check("unreadable", store.unreadable, needs="store"),
    Check("coverage", store.coverage, needs="store"),
    Check("vectors", store.vectors, needs="store"),
    Check("orphans", store.orphans, needs="store"),
    Check("size", store.size),
    Check("permissions", store.private),
    Check("leftovers", store.leftovers),
    Check("lock", store.lock),
    Check("receipts", kept.receipts),
    Check("candidates-unpushed", kept.unpushed),
    Check("candidates-waiting", kept.pile),
    Check("conflicts", kept.conflicts, needs="store"),
    Check("scan", kept.scan, needs="store"),
    Check("transcripts", kept.transcripts),
    Check("transcripts-whole", kept.transcripts_whole, deep=True),
    *agents.checks(),
)


def diagnose(folder: Path, *, deep: bool = False, user: Path | None = None) -> Report:
    """Run every check on a folder; nothing is written, and no state of it makes this fail.

    ``user`` is the home folder in which agents' configurations are looked for.
    """
    findings: list[Finding] = []
    skipped: list[tuple[str, str]] = []
    told: set[str] = set()
    with examined(folder, user or Path.home()) as patient:
        for check in CHECKS:
            if reason := _left_out(check, patient, deep=deep):
                skipped.append((check.name, reason))
            else:
                found = list(_look(check, patient))
                again = [finding.evidence for finding in found if finding.evidence in told]
                skipped += [(check.name, evidence) for evidence in again]  # one broken link is told once
                findings += [finding for finding in found if finding.evidence not in again]
                told |= {finding.evidence for finding in found if finding.evidence.startswith(_UNSEEN)}
    return Report(tuple(findings), tuple(skipped), deep)


def _left_out(check: Check, patient: Patient, *, deep: bool) -> str:
    if check.deep and not deep:
        return "only with --deep"
    if check.needs and patient.repo is None:
        return "there is no repository to look at"
    if check.needs == "store" and patient.store is None:
        return "there is no store to look at"
    return ""


def _look(check: Check, patient: Patient) -> Iterator[Finding]:
    """Run one check; one that cannot be carried out is itself a finding and never ends the others."""
    try:
        for severity, evidence, fix in check.look(patient):
            yield Finding(check.name, severity, evidence, fix)
    except SidecarError as exc:
        yield Finding(check.name, "warning", f"{_UNSEEN}{exc.message}", exc.fix)
    except (OSError, DatabaseFault, ValueError, KeyError) as exc:
        yield Finding(check.name, "warning", f"{_UNSEEN}{type(exc).__name__}: {exc}")
