"""The edge for configuration files: pydantic models of policy and glossary, and the JSON Schemas for editors."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator
from pydantic_core import ErrorDetails

from seed import policy as core
from seed.errors import SidecarError
from seed.record import BACKWARD, FORWARD, KINDS, SOURCES, STATUSES, TRUSTS, VERDICTS, Problem
from seed.yamltext import Document, YamlFaultError, parse


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid")


class EmbedderModel(_Strict):
    """Which model embeds records, and which one serves questions in another language than the records."""

    model: str = Field(
        default="minilm-l6-v2",
        min_length=1,
        description="'minilm-l6-v2' (shipped) or a hub model by its fastembed name",
    )
    languages: str = Field(default="use-multilingual-v3", description="'use-multilingual-v3' or 'off'")

    @field_validator("languages")
    @classmethod
    def _known(cls, value: str) -> str:
        value = {"false": "off", "no": "off"}.get(value, value)
        if value not in ("use-multilingual-v3", "off"):
            raise ValueError("use 'use-multilingual-v3' or 'off'")
        return value


class RetrievalModel(_Strict):
    """How evidence is combined and how records are cut."""

    fusion: Literal["hybrid", "cosine", "lexical"] = Field(
        default="hybrid", description="words and meaning together, meaning alone, or words alone"
    )
    passage_chars: int = Field(
        default=900, ge=200, le=4000, description="about how many characters are embedded at once"
    )
    beta: float = Field(
        default=0.0, ge=0, le=1, description="share of a record's evidence that goes to those the graph joins it with"
    )


class FloorModel(_Strict):
    """One calibrated floor, written by `sidecar calibrate`."""

    embedder: str = Field(description="digest of the embedder's identity")
    value: float = Field(ge=0, le=4, description="evidence at or below it is no answer")
    on: Literal["fused", "cosine", "lexical"] = Field(default="fused", description="which evidence it is held against")
    method: Literal["max_probe", "conformal"] = Field(
        default="max_probe", description="the highest probe, or a bound of 5 % on false answers"
    )
    probes: str = Field(default="", description="digest of the probe questions")
    probe: str = Field(default="", description="the question that set it")
    date: str = Field(default="", description="when it was measured")


class WeightsModel(_Strict):
    """The weight of each kind; a missing one keeps the shipped value."""

    decision: float = Field(default=core.WEIGHTS["decision"], gt=0, le=10)
    adr: float = Field(default=core.WEIGHTS["adr"], gt=0, le=10)
    fact: float = Field(default=core.WEIGHTS["fact"], gt=0, le=10)
    finding: float = Field(default=core.WEIGHTS["finding"], gt=0, le=10)
    unverified_fact: float = Field(default=core.WEIGHTS["unverified_fact"], gt=0, le=10)
    history: float = Field(default=core.WEIGHTS["history"], gt=0, le=10)
    candidate: float = Field(default=core.WEIGHTS["candidate"], gt=0, le=10)


class CandidatesModel(_Strict):
    """What happens with an agent's proposal."""

    push: Literal["never", "ask", "auto"] = Field(default="ask", description="whether a proposal is pushed")
    per_session: int = Field(default=10, ge=1, le=1000, description="how many one session may leave waiting")


class PolicyModel(_Strict):
    """knowledge/policy.yaml: every part is optional."""

    format: Literal["1"] = "1"
    embedder: EmbedderModel = EmbedderModel()
    retrieval: RetrievalModel = RetrievalModel()
    floors: list[FloorModel] = []
    weights: WeightsModel = WeightsModel()
    workspaces: dict[str, str] = Field(default={}, description="name: folder; a session works in the one it starts in")
    candidates: CandidatesModel = CandidatesModel()
    default_branch: str = Field(default="", description="what `on_base` compares with; else the remote's HEAD")
    engine: Literal["sqlite", "postgresql"] = Field(
        default="sqlite", description="where the store is; an address comes from the user, never from this file"
    )


def parse_policy(data: bytes, path: str = "knowledge/policy.yaml") -> core.Policy:
    """Return the policy of a file's bytes. Raises `SidecarError` with line, key and reason of the first fault."""
    model, problems = _read_policy(data)
    if model is None:
        raise _fault(path, problems[0])
    return _to_core(model)


def policy_problems(data: bytes) -> list[Problem]:
    """Return every fault of a policy file, none for a valid one."""
    return _read_policy(data)[1]


def _read_policy(data: bytes) -> tuple[PolicyModel | None, list[Problem]]:
    try:
        document = parse(data) if data.strip() else Document({}, {})
        return PolicyModel.model_validate(document.data), []
    except YamlFaultError as fault:
        return None, [Problem(fault.line, fault.reason, fault.fix)]
    except ValidationError as exc:
        return None, [_problem(error, document) for error in exc.errors(include_url=False)]


def _problem(error: ErrorDetails, document: Document) -> Problem:
    key = ".".join(str(part) for part in error["loc"]) or "policy"
    line = document.lines.get(str(error["loc"][0]) if error["loc"] else "", 1)
    return Problem(line, f"{key}: {error['msg']}", "see 'sidecar schema policy' for what is allowed")


def _fault(path: str, problem: Problem) -> SidecarError:
    return SidecarError(f"{path}:{problem.line}: {problem.reason}", problem.fix, code=1)


def _to_core(model: PolicyModel) -> core.Policy:
    return core.Policy(
        model=model.embedder.model,
        languages=model.embedder.languages,
        fusion=model.retrieval.fusion,
        passage_chars=model.retrieval.passage_chars,
        beta=model.retrieval.beta,
        floors=tuple(core.Floor(**floor.model_dump()) for floor in model.floors),
        weights=model.weights.model_dump(),
        workspaces={name: folder.strip("/") for name, folder in model.workspaces.items()},
        push=model.candidates.push,
        per_session=model.candidates.per_session,
        default_branch=model.default_branch,
        engine=model.engine,
    )


def parse_glossary(data: bytes, path: str = "knowledge/glossary.yaml") -> dict[str, tuple[str, ...]]:
    """Return term -> synonyms. Raises `SidecarError` with the line of the first fault."""
    found, problems = _read_glossary(data)
    if problems:
        raise _fault(path, problems[0])
    return found


def glossary_problems(data: bytes) -> list[Problem]:
    """Return every fault of a glossary file, none for a valid one."""
    return _read_glossary(data)[1]


def _read_glossary(data: bytes) -> tuple[dict[str, tuple[str, ...]], list[Problem]]:
    try:
        document = parse(data) if data.strip() else Document({}, {})
    except YamlFaultError as fault:
        return {}, [Problem(fault.line, fault.reason, fault.fix)]
    fix = "write 'term: [synonym, other synonym]'"
    terms = document.data.get("terms", {k: v for k, v in document.data.items() if k != "format"})
    if not isinstance(terms, dict):
        return {}, [Problem(document.lines["terms"], "terms is not a mapping", fix)]
    found: dict[str, tuple[str, ...]] = {}
    problems = []
    for term, synonyms in terms.items():
        items = [synonyms] if isinstance(synonyms, str) else synonyms
        if isinstance(items, list) and all(isinstance(i, str) for i in items):
            found[term] = tuple(str(i) for i in items)
        else:
            line = document.lines.get(term, document.lines.get("terms", 1))
            problems.append(Problem(line, f"{term} is not a list of texts", fix))
    return found, problems


def record_schema() -> dict[str, Any]:
    """Return the JSON Schema of a record file, from the tables that the parser itself uses."""
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "Knowledge record",
        "type": "object",
        "required": ["id", "kind", "title", "status"],
        "properties": {**_what_it_says(), **_where_it_stands()},
    }


_TEXT: dict[str, Any] = {"type": ["string", "number", "boolean"]}
_IDS: dict[str, Any] = {"anyOf": [_TEXT, {"type": "array", "items": _TEXT, "uniqueItems": True}]}


def _what_it_says() -> dict[str, Any]:
    section = {"type": "string", "description": "Instead of a body: joined in this order"}
    return {
        "format": {"enum": [1, "1"]},
        "id": {"type": "string", "pattern": "^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$", "description": "Unique"},
        "kind": {"enum": list(KINDS)},
        "title": {**_TEXT, "description": "One sentence that says what holds"},
        "status": {"enum": [*STATUSES, "draft"], "description": "Anything else never answers"},
        "date": {**_TEXT, "description": "ISO 8601"},
        "body": {"type": "string", "description": "Markdown"},
        **dict.fromkeys(("context", "decision", "consequences"), section),
        "tags": {**_IDS, "description": "Words to filter by; they count as a label too"},
        "paths": {**_IDS, "description": "Files and folders it speaks of"},
    }


def _where_it_stands() -> dict[str, Any]:
    source = {"type": "object", "properties": dict.fromkeys(SOURCES, _TEXT), "minProperties": 1}
    either = {"anyOf": [source, {"type": "string"}]}
    return {
        **{key: {**_IDS, "description": "Ids of other records"} for key in FORWARD},
        **{key: {**_IDS, "description": "The same, from the other end"} for key in BACKWARD},
        "workspace": {"type": "string", "description": "The part of the repository it holds in; absent: every one"},
        "trust": {"enum": list(TRUSTS), "description": "Absent ranks as document_extracted"},
        "source": {
            "description": "Where it was learnt: a path, url, commit or transcript",
            "anyOf": [{"type": "array", "items": either}, source, {"type": "string"}],
        },
        "valid_until": {**_TEXT, "description": "ISO 8601 day, inclusive, UTC"},
        "proposed_by": {"type": "object", "description": "Agent, session and work, written by propose"},
        "conflict": {
            "type": "object",
            "description": "A verdict on two records, written by 'sidecar conflicts record'",
            "required": ["relation", "between"],
            "properties": {"relation": {"enum": list(VERDICTS)}, "between": {"type": "array", "minItems": 2}},
        },
    }


def policy_schema() -> dict[str, Any]:
    """Return the JSON Schema of knowledge/policy.yaml."""
    schema = PolicyModel.model_json_schema()
    schema["$schema"] = "https://json-schema.org/draft/2020-12/schema"
    schema["properties"]["format"] = {"enum": [1, "1"], "default": 1}
    return schema
