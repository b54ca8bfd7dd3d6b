"""Checks of the repository: what kind it is, where HEAD stands, and what is written under knowledge/."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

from seed.checker import check_repository
from seed.errors import SidecarError
from seed.git.remote import default_branch, remote_name
from seed.git.repository import head_commit, in_progress, read_commit
from seed.git.tree import is_record_path, list_files
from seed.git.worktree import WorkingTree
from sidecar.doctor.patient import Patient
from sidecar.doctor.table import Said
from sidecar.quote import one_line

_SHOWN = 5


def opens(patient: Patient) -> Iterator[Said]:
    """Tell whether the folder's repository can be read at all; a format that libgit2 refuses is named."""
    if patient.fault is not None:
        yield "critical", patient.fault.message, patient.fault.fix
    else:
        yield "ok", f"{patient.git.name} at {patient.git.root}", ""


def kind(patient: Patient) -> Iterator[Said]:
    """Tell what kind of repository it is: plain, bare, linked worktree or submodule."""
    gitdir = Path(os.fsdecode(patient.git.git.path)).resolve()
    kinds = ["bare"] if patient.git.bare else []
    kinds += ["linked worktree"] if gitdir != patient.git.common else []
    kinds += ["submodule"] if "modules" in patient.git.common.parts else []
    yield "ok", f"{' and '.join(kinds) or 'plain'}, common folder {patient.git.common}", ""


def history(patient: Patient) -> Iterator[Said]:
    """Tell whether all history is here; a shallow clone lists fewer commits of a record."""
    if (patient.git.common / "shallow").exists():
        yield "info", "a shallow clone: a record's history ends where the clone does", "git fetch --unshallow"
    else:
        yield "ok", "all history is here", ""


def blobs(patient: Patient) -> Iterator[Said]:
    """Tell whether the clone may lack blobs, which the sidecar never fetches by itself."""
    config = patient.git.git.config
    if "extensions.partialclone" in config or "remote.origin.promisor" in config:
        fix = "git rev-list --objects HEAD -- knowledge | git cat-file --batch-check"
        yield "info", "a partial clone: a record whose blob was never fetched is unreadable", fix
    else:
        yield "ok", "no blob is left to fetch later", ""


def head(patient: Patient) -> Iterator[Said]:
    """Tell the commit that answers stand on."""
    commit = head_commit(patient.git)
    if not commit:
        yield "warning", "HEAD names no commit yet", "commit the first record"
        return
    try:
        read_commit(patient.git, commit)
    except SidecarError as exc:
        yield "critical", f"HEAD cannot be read, so nothing answers: {exc.message}", f"{exc.fix}, or git fsck"
        return
    detached = patient.git.git.head_is_detached
    yield "ok", f"HEAD is {commit[:12]}" + (", detached" if detached else f" of {patient.git.git.head.shorthand}"), ""


def sequence(patient: Patient) -> Iterator[Said]:
    """Tell whether a rebase, merge or the like is under way, during which hooks stay quiet."""
    if in_progress(patient.git):
        yield "info", "a rebase, merge, cherry-pick or revert is under way; hooks wait for its end", "git status"
    else:
        yield "ok", "no rebase or merge is under way", ""


def base(patient: Patient) -> Iterator[Said]:
    """Tell the branch that decisions are merged into, as far as this clone knows it."""
    found = default_branch(patient.git, patient.policy()[0].default_branch)
    if found is None:
        fix = "git remote set-head origin --auto, or name default_branch in knowledge/policy.yaml"
        yield "info", "no default branch is known, so no answer is held against it", fix
    else:
        yield "ok", f"{found.shown} at {found.commit[:12]}", ""


def remote(patient: Patient) -> Iterator[Said]:
    """Tell where candidates are pushed to; nothing is asked of the remote."""
    name = remote_name(patient.git)
    yield ("ok", f"candidates go to the remote {name}", "") if name else ("info", "no remote to push candidates to", "")


def records(patient: Patient) -> Iterator[Said]:
    """Tell how many record files HEAD has."""
    count = sum(1 for entry in list_files(patient.git, patient.wanted().tree) if is_record_path(entry.path))
    if count:
        yield "ok", f"{count} record files in HEAD", ""
    else:
        yield "warning", "HEAD has no record under knowledge/", "sidecar new decision TITLE"


def uncommitted(patient: Patient) -> Iterator[Said]:
    """Tell how many record files differ from HEAD: recall does not read them."""
    count = WorkingTree(patient.git).uncommitted()
    if count:
        yield "info", f"{count} record files are not committed, so they answer nothing", "git add knowledge; git commit"
    else:
        yield "ok", "every record file is committed", ""


def policy(patient: Patient) -> Iterator[Said]:
    """Tell whether policy and glossary of HEAD can be read; a faulty one leaves the shipped policy in force."""
    found, fault = patient.policy()
    if fault:
        yield (
            "warning",
            f"the shipped policy is in force: {one_line(fault)}",
            "sidecar check, then commit the correction",
        )
    else:
        yield "ok", f"policy {found.digest[:19]}", ""


def valid(patient: Patient) -> Iterator[Said]:
    """Tell what `sidecar check` says of HEAD: each unreadable record, and how many other errors."""
    found = check_repository(patient.git, commit=head_commit(patient.git)).findings
    errors = [finding for finding in found if finding.level == "error"]
    for finding in errors[:_SHOWN]:
        yield "warning", one_line(f"{finding.path}:{finding.line}: {finding.reason}", 300), one_line(finding.fix)
    if len(errors) > _SHOWN:
        yield "warning", f"{len(errors) - _SHOWN} more errors in records", "sidecar check"
    if not errors:
        yield "ok", f"no record of HEAD has an error, {len(found)} have a warning", ""
