"""A question set: YAML at the edge, frozen questions inside. Every fault of a file is told, each in one line."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator, model_validator

from seed.errors import SidecarError
from seed.record import STATUSES
from seed.text import is_cjk
from seed.yamltext import Item, YamlFaultError, parse_list

Unanswerable = Literal["", "off_topic", "near_topic"]


class QuestionModel(BaseModel):
    """One entry of a question set. Unknown keys are kept."""

    model_config = ConfigDict(extra="allow")

    id: str = Field(min_length=1, description="unique in the set")
    question: str = Field(min_length=1, description="avoid the words of the record's title")
    question_zh: str = Field("", description="the same question in Chinese; reported under its own language")
    expected: list[str] = Field(description="every record that truly answers; [] when nothing should come back")
    kind: str = Field("paraphrase", min_length=1, description="paraphrase, keyword, path, status, deep, or your own")
    unanswerable: Unanswerable = Field("", description="with 'expected: []': off_topic or near_topic")
    forbid: list[str] = Field([], description="records that must not come back")
    above: list[tuple[str, str]] = Field([], description="pairs: the first must rank above the second")
    statuses: list[str] = Field([], description="'all' or a list of statuses; what answers by default without it")
    corpus: str = Field("", description="reported under this name; without it, under the prefix of the expected ids")
    by_construction: bool = Field(
        default=False, description="the label comes from what is searched, so the figure shows no more than that"
    )

    @field_validator("statuses", mode="before")
    @classmethod
    def _listed(cls, value: object) -> object:
        return [value] if isinstance(value, str) else value

    @field_validator("statuses")
    @classmethod
    def _known(cls, value: list[str]) -> list[str]:
        for status in value:
            if status not in (*STATUSES, "all"):
                raise ValueError(f"status {status!r} is not one of {', '.join(STATUSES)} or all")
        return value

    @model_validator(mode="after")
    def _consistent(self) -> QuestionModel:
        if self.expected and self.unanswerable:
            raise ValueError("unanswerable is set although records are expected: remove one of the two")
        if both := {i.casefold() for i in self.expected} & {i.casefold() for i in self.forbid}:
            raise ValueError(f"{min(both)} is both expected and forbidden: remove one of the two")
        return self


@dataclass(frozen=True, slots=True)
class Question:
    """One labelled question. ``texts`` maps language to wording; its first entry is the headline wording."""

    id: str
    texts: dict[str, str]
    expected: tuple[str, ...]
    kind: str = "paraphrase"
    unanswerable: str = ""
    forbid: tuple[str, ...] = ()
    above: tuple[tuple[str, str], ...] = ()
    statuses: tuple[str, ...] = ()
    corpus: str = ""
    by_construction: bool = False
    line: int = 1
    extra: dict[str, Any] = field(default_factory=dict)

    @property
    def language(self) -> str:
        """Return the language of the headline wording."""
        return next(iter(self.texts))

    @property
    def classes(self) -> tuple[str, ...]:
        """Return what kind of answer is right: answerable, or unanswerable with its off_topic or near_topic."""
        if self.expected:
            return ("answerable",)
        return ("unanswerable", self.unanswerable) if self.unanswerable else ("unanswerable",)


@dataclass(frozen=True, slots=True)
class QuestionSet:
    """The questions of one file and the sha256 of its bytes."""

    questions: tuple[Question, ...]
    digest: str


class QuestionSetError(SidecarError):
    """A question set that cannot be used; ``lines`` holds one text for each problem."""

    def __init__(self, lines: list[str]) -> None:
        self.lines = lines
        super().__init__("\n".join(lines))


def load_questions(path: Path) -> QuestionSet:
    """Read a question set. Raises `QuestionSetError` with every problem, or `SidecarError` where there is no file."""
    try:
        data = path.read_bytes()
    except OSError as exc:
        raise SidecarError(f"{path} cannot be read: {exc.strerror}", "name a question set (YAML)") from None
    found = parse_questions(data, str(path))
    if not found.questions:
        raise QuestionSetError([f"{path}:1: the set has no question, so nothing is measured - add some, '- id: ...'"])
    return found


def parse_questions(data: bytes, where: str = "questions.yaml") -> QuestionSet:
    """Return the question set of a file's bytes. Raises `QuestionSetError`: ``where:line: reason - what to do``."""
    try:
        items = parse_list(data)
    except YamlFaultError as fault:
        raise QuestionSetError([f"{where}:{fault.line}: {fault.reason} - {fault.fix}"]) from None
    questions, faults = [], []
    seen: dict[str, int] = {}
    for item in items:
        question, problems = _question(item)
        faults += [f"{where}:{line}: {problem}" for line, problem in problems]
        if question is None:
            continue
        if (first := seen.setdefault(question.id, question.line)) != question.line:
            faults.append(f"{where}:{question.line}: id {question.id} stands in line {first} too - give it a free id")
        questions.append(question)
    if faults:
        raise QuestionSetError(faults)
    return QuestionSet(tuple(questions), "sha256:" + hashlib.sha256(data).hexdigest())


def _question(item: Item) -> tuple[Question | None, list[tuple[int, str]]]:
    if not isinstance(item.value, dict):
        return None, [(item.line, "the entry is not a mapping - write '- id: ...' with 'question' and 'expected'")]
    try:
        return _to_core(QuestionModel.model_validate(item.value), item.line), []
    except ValidationError as exc:
        return None, [_told(item, error) for error in exc.errors(include_url=False)]


def _told(item: Item, error: Any) -> tuple[int, str]:  # noqa: ANN401 - pydantic's own dictionary
    """Return (line, text) of one of pydantic's errors."""
    key = str(error["loc"][0]) if error["loc"] else ""
    name = item.value.get("id", "") if isinstance(item.value, dict) else ""
    what = ".".join(str(part) for part in error["loc"])
    if error["type"] == "missing":
        fix = "write [] when nothing should come back" if key == "expected" else f"add '{key}: ...'"
        reason = f"{key} is missing"
    else:
        reason = f"{what}: {error['msg']}" if what else str(error["msg"]).removeprefix("Value error, ")
        fix = "see 'sidecar eval --schema questions' for what is allowed"
    return item.lines.get(key, item.line), f"question {name or '(no id)'}: {reason} - {fix}"


def _to_core(model: QuestionModel, line: int) -> Question:
    texts = {"zh" if is_cjk(model.question) else "en": model.question}
    if model.question_zh.strip():
        texts.setdefault("zh", model.question_zh)
    return Question(
        id=model.id,
        texts=texts,
        expected=tuple(model.expected),
        kind=model.kind,
        unanswerable=model.unanswerable,
        forbid=tuple(model.forbid),
        above=tuple(model.above),
        statuses=tuple(model.statuses),
        corpus=model.corpus,
        by_construction=model.by_construction,
        line=line,
        extra=dict(model.model_extra or {}),
    )


def questions_schema() -> dict[str, Any]:
    """Return the JSON Schema of a question set, for editors."""
    entry = QuestionModel.model_json_schema()
    statuses = {"anyOf": [{"const": "all"}, entry["properties"]["statuses"]]}
    entry["properties"]["statuses"] = statuses
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "Question set",
        "type": "array",
        "items": entry,
    }
