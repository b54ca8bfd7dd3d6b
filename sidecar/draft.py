"""From what an agent sent to the record that is written: validated, made a candidate, named by its content. Pure."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import date

from seed import secrets
from seed.edit import with_values, write
from seed.errors import SidecarError
from seed.reader import as_text, build_record
from seed.record import BACKWARD, FORWARD, KINDS, Record
from seed.yamltext import MAX_BYTES, YamlFaultError, parse
from sidecar.receipt import canonical

CANDIDATE = "candidate"
AGENT = "agent_generated"
_FORCED = ("id", "status", "trust", "proposed_by", "seen_again", "format")
_ORDER = (
    "id", "kind", "title", "status", "date", "body", "context", "decision", "consequences", "tags", "paths", "trust",
    "source", *FORWARD, *BACKWARD, "workspace", "valid_until",
)  # fmt: skip
_VOLATILE = ("id", "date", "proposed_by")


@dataclass(frozen=True, slots=True)
class Proposer:
    """Who proposes: the agent as its environment or client names it, its session, and the work it was at."""

    agent: str = ""
    session: str = ""
    work: str = ""


@dataclass(frozen=True, slots=True)
class Draft:
    """A record ready to be written: its values (texts at the leaves), the record, the file, and what to say of it."""

    values: dict[str, object]
    record: Record
    data: bytes
    warnings: tuple[str, ...]


def read_values(text: str | bytes, where: str) -> dict[str, object]:
    """Return the mapping of a YAML or JSON text. Raises `SidecarError` with line and reason."""
    try:
        return parse(text.encode("utf-8", "replace") if isinstance(text, str) else text).data
    except YamlFaultError as fault:
        raise SidecarError(f"{where}:{fault.line}: {fault.reason}", fault.fix) from None


def draft(given: Mapping[str, object], proposer: Proposer, today: date, *, ident: str = "", salt: int = 0) -> Draft:
    """Return the candidate that a mapping proposes, whatever id, status and trust it asks for.

    ``ident`` keeps the id of a candidate that is amended; ``salt`` gives another id where one is taken. Raises
    `SidecarError` with every fault of the record, or with the rule of a secret in it.
    """
    said = {str(key): as_text(value) for key, value in given.items()}
    kept = {key: value for key, value in said.items() if key not in _FORCED and value not in ("", [], {})}
    kept.setdefault("date", today.isoformat())
    kind = kept.get("kind") if kept.get("kind") in KINDS else "record"
    values = {**kept, "status": CANDIDATE, "trust": AGENT, "proposed_by": _proposed_by(said, proposer)}
    values["id"] = ident or f"{kind}-{today:%Y%m%d}-{_digest(values, salt)}"
    ordered = {key: values[key] for key in (*_ORDER, *sorted(values.keys() - set(_ORDER))) if key in values}
    record, warnings = _valid(ordered)
    if said.get("id") and not ident:
        warnings.insert(0, f"the id {said['id']!r} is not used: a proposal is named by its content")
    return Draft(ordered, record, file_of(ordered), tuple(warnings))


def file_of(values: Mapping[str, object]) -> bytes:
    """Return the bytes of a record's file. Raises `SidecarError` for a secret in it, or when it is too large."""
    return _allowed(values, write(values).encode())


def as_written(made: Draft, text: bytes) -> Draft:
    """Return a draft whose file is the proposed text itself, comments and order too, with what is forced set in it.

    A text in another layout (JSON, several documents) is written anew. Raises `SidecarError` for a secret in it.
    """
    if not text[:1].isalpha() and not text.startswith(b"#"):
        return made
    try:
        given = parse(text).data
        changed = {key: made.values.get(key) for key in {**given, **made.values}}
        changed = {key: value for key, value in changed.items() if given.get(key) != value}
        head = b"" if "id" in given else f"id: {changed.pop('id')}\n".encode()
        data = with_values(head + text, changed)
        if parse(data).data != made.values:
            return made
    except (SidecarError, YamlFaultError):
        return made
    return replace(made, data=_allowed(made.values, data))


def _allowed(values: Mapping[str, object], data: bytes) -> bytes:
    if len(data) > MAX_BYTES:
        raise SidecarError(f"the record has {len(data)} bytes, over the limit of 1 MiB", "link to the long part")
    refuse_secrets(values, data)
    return data


def refuse_secrets(values: Mapping[str, object], data: bytes) -> None:
    """Raise `SidecarError` naming key and rule, never the value, when a record holds what looks like a secret."""
    for key, value in values.items():
        if found := secrets.find("\n".join(_leaves(value)).encode()):
            raise _secret(key, found[0].rule)
    if found := secrets.find(data):
        raise _secret("the record", found[0].rule)


def _secret(where: str, rule: str) -> SidecarError:
    fix = "leave the value out and say where it is kept; if it was real, revoke it"
    return SidecarError(f"{where} holds what looks like a secret (rule {rule}); nothing was written", fix)


def _leaves(value: object) -> list[str]:
    if isinstance(value, dict):
        return [f"{key}: {leaf}" for key, inner in value.items() for leaf in _leaves(inner)]
    if isinstance(value, list):
        return [leaf for inner in value for leaf in _leaves(inner)]
    return [str(value)]


def _valid(values: dict[str, object]) -> tuple[Record, list[str]]:
    parsed = build_record(values)
    errors = [p for p in parsed.problems if p.level == "error" or p.fatal]
    if parsed.record is None or errors:
        reasons = "; ".join(dict.fromkeys(f"{p.reason} ({p.fix})" for p in errors))
        raise SidecarError(f"the record cannot be proposed: {reasons}", "correct it and propose it again")
    return parsed.record, [f"{p.reason} ({p.fix})" for p in parsed.problems]


def _digest(values: Mapping[str, object], salt: int) -> str:
    content = {key: value for key, value in values.items() if key not in _VOLATILE}
    return hashlib.sha256(f"{canonical(content)}{salt or ''}".encode("utf-8", "replace")).hexdigest()[:6]


def _proposed_by(said: Mapping[str, object], proposer: Proposer) -> dict[str, str]:
    """Return who proposed, by what the environment knows; what the record says of itself stands apart, as a claim."""
    own = said.get("proposed_by", "")
    claims = dict(own) if isinstance(own, dict) else {"agent": own} if own else {}
    work = proposer.work or str(claims.pop("work", ""))
    known = {"agent": proposer.agent or "unknown", "session": proposer.session, "work": work}
    parts = [f"{key} {value}" for key, value in claims.items() if value and known.get(key) != value]
    parts += [f"{key} {said[key]}" for key, forced in (("status", CANDIDATE), ("trust", AGENT))
              if said.get(key) not in (None, "", forced)]  # fmt: skip
    claimed = "; ".join(" ".join(part.split()) for part in parts)
    return {key: value for key, value in {**known, "claimed": claimed}.items() if value}
