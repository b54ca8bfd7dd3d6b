"""Calibrate the floor over a snapshot from the shipped probes and the project's own, and write it into the policy."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from datetime import datetime
from io import StringIO
from pathlib import Path
from typing import Any

from seed.errors import SidecarError
from seed.git.repository import KNOWLEDGE
from seed.text import is_cjk
from seed.yamltext import YamlFaultError, parse
from sidecar.floor import Calibration
from sidecar.floors import EVIDENCE, calibrate, shipped_probes
from sidecar.meaning import route
from sidecar.provider import Provider
from sidecar.session import Progress

PROBES = "probes.yaml"
_BUDGET_SECONDS = 3600.0


@dataclass(frozen=True, slots=True)
class Calibrated:
    """One floor as it was measured, for one embedder."""

    model: str
    embedder: str
    on: str
    language: str
    result: Calibration


def run(provider: Provider, progress: Progress | None = None, method: str = "max_probe") -> list[Calibrated]:
    """Measure the floor of every embedder of the policy over HEAD's snapshot. Raises `SidecarError`."""
    session = provider.session
    view = session.view(second=True, budget=_BUDGET_SECONDS, progress=progress)
    corpus, policy = view.corpus, view.corpus.snapshot.policy
    if not corpus.heads:
        raise SidecarError("there are no records to calibrate on", "commit records under knowledge/ first")
    own, on = own_probes(session.repo.root), EVIDENCE[policy.fusion]
    found = []
    for text in ("en", "中文"):
        way = route(text, policy, cjk_records=corpus.cjk)
        probes = (*shipped_probes()[way.language], *(probe for probe in own if _same(probe, text)))
        phrases = [provider.meaning.phrase(probe, corpus, way) for probe in probes]
        embedder = session.embedders(policy)[-1 if way.second else 0]
        result = calibrate(corpus, phrases, policy.fusion, method)
        found.append(Calibrated(embedder.identity.model, embedder.identity.digest, on, way.language, result))
    return list({c.embedder: c for c in reversed(found)}.values())


def _same(probe: str, text: str) -> bool:
    return is_cjk(probe) == is_cjk(text)


def own_probes(root: Path) -> tuple[str, ...]:
    """Return the project's own probes (knowledge/probes.yaml is no record: a list under ``probes``)."""
    path = root / "evals" / PROBES
    if not path.is_file():
        return ()
    try:
        items = parse(path.read_bytes()).data.get("probes", [])
    except YamlFaultError as fault:
        raise SidecarError(f"{path}:{fault.line}: {fault.reason}", fault.fix, code=1) from None
    return tuple(str(item) for item in items) if isinstance(items, list) else ()


def write(root: Path, found: list[Calibrated], now: datetime) -> Path:
    """Write the floors into knowledge/policy.yaml of the working tree, keeping its comments. Returns the file."""
    from ruamel.yaml import YAML

    path = root / KNOWLEDGE / "policy.yaml"
    yaml = YAML()
    yaml.width = 120
    data: Any = yaml.load(path.read_text(encoding="utf-8")) if path.is_file() else {"format": 1}
    data = data or {"format": 1}
    measured = [_entry(c, now) for c in found]
    mine = {entry["embedder"] for entry in measured}
    data["floors"] = [*(f for f in data.get("floors") or [] if f.get("embedder") not in mine), *measured]
    out = StringIO()
    yaml.dump(data, out)
    path.parent.mkdir(exist_ok=True)
    path.write_text(out.getvalue(), encoding="utf-8")
    return path


def _entry(found: Calibrated, now: datetime) -> dict[str, Any]:
    return {
        "embedder": found.embedder,
        "on": found.on,
        "method": found.result.method,
        "value": found.result.value,
        "probes": found.result.probes,
        "probe": found.result.probe,
        "date": now.date().isoformat(),
    }


def report(found: list[Calibrated]) -> list[dict[str, Any]]:
    """Return the measured floors as JSON data."""
    return [
        {**asdict(c.result), "model": c.model, "embedder": c.embedder, "on": c.on, "language": c.language}
        for c in found
    ]
