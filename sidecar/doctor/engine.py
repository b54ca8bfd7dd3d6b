"""Checks of the engine: which one policy asks for, and whether its server can be reached from here."""

from __future__ import annotations

from collections.abc import Iterator

from seed.errors import SidecarError
from seed.git.shared import shared_name
from seed.store.address import FILE, URL, address
from seed.store.opening import look_at_server
from seed.store.paths import home
from sidecar.doctor.patient import Patient
from sidecar.doctor.table import Said
from sidecar.shelf import SERVER


def engine(patient: Patient) -> Iterator[Said]:
    """Tell the engine of HEAD's policy, and what a server says of itself, of its tables and of HEAD's snapshot."""
    wanted, found = patient.policy()[0].engine, address()
    if wanted != SERVER:
        unused = f"; the address in {URL} or {FILE} is not used here" if found else ""
        yield "ok", f"the embedded store ({wanted}){unused}", ""
        return
    if found is None:
        fix = f"export {URL}=postgresql://..., or [engine] url in {home() / FILE}"
        yield "warning", f"policy asks for {wanted}, which has no address here: the embedded store answers", fix
        return
    try:
        seen = look_at_server(found, shared_name(patient.git), patient.wanted().key)
    except SidecarError as exc:
        yield "critical", f"policy asks for {wanted}: {exc.message}; the embedded store answers", exc.fix
        return
    yield ("warning" if seen.mends else "ok"), f"{wanted}: {seen.text}", seen.mends
    for replica in seen.away:
        yield "warning", f"the replica {replica} does not answer: the primary is read from", "start it, or leave it out"
