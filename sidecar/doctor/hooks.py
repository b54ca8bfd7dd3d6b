"""Checks of hooks: which really fire, whether their interpreter is alive, and what went wrong last."""

from __future__ import annotations

from collections.abc import Iterator

from sidecar.doctor.patient import Patient
from sidecar.doctor.probe import probe
from sidecar.doctor.table import Said
from sidecar.hooks import log
from sidecar.hooks.status import status
from sidecar.quote import one_line

_FAULTS = ("failed", "is gone", "Error", "No module", "cannot")
_RECENT = 20
_INSTALL = "sidecar hooks install"


def folder(patient: Patient) -> Iterator[Said]:
    """Tell where Git looks for hooks, who set that, and whether it runs any."""
    found = status(patient.git)
    by = f", set by {found.folder.set_by}" if found.folder.set_by else ""
    if found.folder.off:
        yield "info", found.folder.off, "run 'sidecar seed' after a push" if patient.git.bare else ""
    else:
        yield "ok", f"Git runs hooks from {found.folder.path}{by}", ""
    for note in found.notes:
        yield "info", note, ""


def fire(patient: Patient) -> Iterator[Said]:
    """Tell for each hook which of ours and theirs Git runs; without ours the store is seeded by the next question."""
    found = status(patient.git)
    if not found.python and not any(hook.fires in ("ours", "theirs", "both") for hook in found.hooks):
        yield "info", f"none of {', '.join(hook.name for hook in found.hooks)} fires", _INSTALL
        return
    for hook in found.hooks:
        text = f"{hook.name}: {hook.fires}" + (f" ({hook.reason})" if hook.reason else "")
        if hook.fires in ("ours", "both"):
            yield "ok", text, ""
        else:
            # Installed and yet silent is a fault; never installed is a choice.
            yield ("warning" if found.python and not found.folder.off else "info"), text, _INSTALL


def interpreter(patient: Patient) -> Iterator[Said]:
    """Tell whether the interpreter that hooks were installed with is still there."""
    found = status(patient.git)
    if not found.python:
        yield "info", "hooks are not installed; the first question after a commit seeds it", _INSTALL
    elif found.obstacle:
        yield "warning", found.obstacle, _INSTALL
    else:
        yield "ok", f"hooks run {found.python}", ""


def errors(patient: Patient) -> Iterator[Said]:
    """Tell what went wrong among the newest lines of the hooks' log."""
    path = patient.store_folder / log.NAME
    bad = [line for line in log.last_lines(path, _RECENT) if any(word in line for word in _FAULTS)]
    if bad:
        yield "warning", f"{len(bad)} of the last {_RECENT} lines, the last: {one_line(bad[-1], 300)}", f"cat {path}"
    else:
        yield "ok", "no error among the last lines of the hooks' log", ""


def probed(patient: Patient) -> Iterator[Said]:
    """Commit once in a temporary clone with the same hooks, and tell which of ours ran."""
    found = status(patient.git)
    if found.folder.off or not found.python:
        yield "info", found.folder.off or "hooks are not installed, so there is nothing to probe", ""
        return
    ran = probe(patient.git, found.folder.path)
    if ran.problem:
        yield "warning", f"the probe commit failed: {one_line(ran.problem, 300)}", "sidecar hooks status"
    elif not ran.ours:
        yield "warning", "a probe commit in a temporary clone ran none of our hooks", _INSTALL
    else:
        yield "ok", f"a probe commit in a temporary clone ran {', '.join(ran.ours)}", ""
