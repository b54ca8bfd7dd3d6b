"""`gates.yaml`: what a set must reach, as a frozen dataclass. pydantic at the edge, JSON Schema for editors."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator

from evals.controls import RULES
from evals.metrics import FIGURES
from seed.errors import SidecarError
from seed.yamltext import YamlFaultError, parse


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid")


class LimitsModel(_Strict):
    """Bounds on figures, named as in the result of `sidecar eval --json`."""

    minimum: dict[str, float] = Field({}, description="figure -> the least it may be, such as 'recall@3: 0.9'")
    maximum: dict[str, float] = Field({}, description="figure -> the most it may be, such as 'false_answers: 0'")

    @field_validator("minimum", "maximum")
    @classmethod
    def _known(cls, value: dict[str, float]) -> dict[str, float]:
        for name in value:
            if name not in FIGURES:
                raise ValueError(f"figure {name!r} is not one of {', '.join(FIGURES)}")
        return value


class GatesModel(LimitsModel):
    """gates.yaml: bounds on the headline figures, on other languages, and on the set itself."""

    format: Literal["1"] = "1"
    questions: dict[str, int] = Field({}, description="class or kind -> the least number of questions in it")
    languages: dict[str, LimitsModel] = Field({}, description="language -> bounds on its figures")
    controls: list[Literal["floor", "weights", "instruction", "status", "lexical", "dense"]] = Field(
        [], description="rules without which this gate has to fail"
    )
    fragile: float = Field(0.005, ge=0, le=1, description="how near to the floor evidence counts as fragile")


@dataclass(frozen=True, slots=True)
class Limit:
    """One bound on one figure; ``language`` is "" for the headline."""

    figure: str
    bound: float
    at_least: bool
    language: str = ""

    @property
    def name(self) -> str:
        """Return the figure's name with its language."""
        return f"{self.figure} ({self.language})" if self.language else self.figure


@dataclass(frozen=True, slots=True)
class Gates:
    """What has to be reached, and the sha256 of the file that says so."""

    limits: tuple[Limit, ...] = ()
    questions: dict[str, int] = field(default_factory=dict)
    controls: tuple[str, ...] = ()
    fragile: float = 0.005
    digest: str = ""


def load_gates(path: Path) -> Gates:
    """Read a gates file. Raises `SidecarError` with line, key and reason of the first fault."""
    try:
        data = path.read_bytes()
    except OSError as exc:
        raise SidecarError(f"{path} cannot be read: {exc.strerror}", "name a gates file (YAML)") from None
    return parse_gates(data, str(path))


def parse_gates(data: bytes, where: str = "gates.yaml") -> Gates:
    """Return the gates of a file's bytes. Raises `SidecarError`."""
    try:
        document = parse(data)
        model = GatesModel.model_validate(document.data)
    except YamlFaultError as fault:
        raise SidecarError(f"{where}:{fault.line}: {fault.reason}", fault.fix) from None
    except ValidationError as exc:
        first = exc.errors(include_url=False)[0]
        key = ".".join(str(part) for part in first["loc"])
        line = document.lines.get(str(first["loc"][0]), 1)
        reason = f"{where}:{line}: {key}: {first['msg'].removeprefix('Value error, ')}"
        raise SidecarError(reason, "see 'sidecar eval --schema gates' for what is allowed") from None
    limits = _limits(model, "")
    for language, more in model.languages.items():
        limits += _limits(more, language)
    digest = "sha256:" + hashlib.sha256(data).hexdigest()
    return Gates(tuple(limits), dict(model.questions), tuple(model.controls), model.fragile, digest)


def _limits(model: LimitsModel, language: str) -> list[Limit]:
    least = [Limit(name, bound, at_least=True, language=language) for name, bound in model.minimum.items()]
    return least + [Limit(name, bound, at_least=False, language=language) for name, bound in model.maximum.items()]


def gates_schema() -> dict[str, Any]:
    """Return the JSON Schema of a gates file, for editors."""
    schema = GatesModel.model_json_schema()
    schema["$schema"] = "https://json-schema.org/draft/2020-12/schema"
    schema["properties"]["format"] = {"enum": [1, "1"], "default": 1}
    for limits in (schema, schema["$defs"]["LimitsModel"]):
        for key in ("minimum", "maximum"):
            limits["properties"][key]["propertyNames"] = {"enum": list(FIGURES)}
    schema["properties"]["controls"]["items"] = {"enum": list(RULES)}
    return schema
