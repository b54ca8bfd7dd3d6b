"""The fixed policy of the scripted agent. It knows of the tools only what the server told it. Pure."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from seed.text import content_words

Embed = Callable[[str], NDArray[np.float32]]
_FILE = re.compile(r"\b[\w.-]+/[\w./-]*\w|\b\w+\.(?:py|md|ya?ml|toml|rs|ts)\b")
_ID = re.compile(r"\b[a-z]+-\d[\w-]*\b")
_DAY = re.compile(r"\b\d{4}-\d\d-\d\d\b")
_NUMBER = re.compile(r"\b\d{2,6}\b(?= tokens)")
_SENTENCE = re.compile(r"(?<=[.!?])\s+")


@dataclass(frozen=True, slots=True)
class Told:
    """What a server says of one tool: name, what it is for, and its arguments' JSON Schema."""

    name: str
    says: str
    arguments: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Call:
    """The tool chosen, the arguments made for it, and how near each tool's text was."""

    tool: str
    arguments: dict[str, Any]
    scores: dict[str, float]


def choose(task: str, tools: Sequence[Told], instructions: str, embed: Embed) -> Call:
    """Return the call for a task: the tool whose own words are nearest, by meaning and by shared words.

    ``embed`` gives unit vectors of shape (dimension,). A sentence of the instructions that names a tool counts as said
    of that tool too. A tool that needs what the task does not hold, such as an id, is not taken.
    """
    vector, words = embed(task), set(content_words(task))
    scores = {}
    for tool in tools:
        lines = [tool.says, *(s for s in _SENTENCE.split(instructions) if tool.name in s)]
        meaning = max(float(vector @ embed(line)) for line in lines)
        shared = words & set(content_words(f"{tool.name.replace('_', ' ')} {tool.says}"))
        scores[tool.name] = round(meaning + 0.1 * len(shared), 4)
    filled = {tool.name: fill(task, tool.arguments) for tool in tools}
    able = [tool for tool in tools if set(tool.arguments.get("required", ())) <= filled[tool.name].keys()]
    best = max(able, key=lambda tool: scores[tool.name])
    return Call(best.name, filled[best.name], scores)


def fill(task: str, schema: Mapping[str, Any]) -> dict[str, Any]:
    """Return arguments for a task, each from what its schema says it is; what nothing is known of is left out."""
    found = {}
    for name, of in schema["properties"].items():
        value = _value(task, name, of, needed=name in schema.get("required", ()))
        if value is not None:
            found[name] = value
    return found


def _value(  # noqa: PLR0911 - one line for each type of argument
    task: str, name: str, of: Mapping[str, Any], *, needed: bool
) -> Any:  # noqa: ANN401 - one JSON value
    says = f"{name} {of.get('description', '')}".lower()
    kind = of.get("type")
    if kind == "object":
        return _object(task, of) if needed else None
    if kind == "array":
        if "file" in says or "folder" in says:
            return _FILE.findall(task) or None
        return ["all"] if '["all"]' in says and re.search(r"whatever (its|their) status|every status", task) else None
    if kind == "integer":
        number = _NUMBER.search(task) if "token" in says else None
        return int(number[0]) if number else None
    if kind == "string" and ("yyyy-mm-dd" in says):
        day = _DAY.search(task)
        return day[0] if day and f"{name} " in f"{_when(task)} " else None
    if kind == "string" and re.search(r"\bid\b", says):
        known = _ID.search(task)
        return known[0] if known else None
    return task if kind == "string" and needed else None


def _when(task: str) -> str:
    return "after" if re.search(r"\b(since|after)\b", task) else "before" if re.search(r"\bbefore \d", task) else ""


def _object(task: str, of: Mapping[str, Any]) -> dict[str, Any]:
    """Return an object of the keys that its description lists first: the kind that the task names, and its words."""
    keys = re.findall(r"\w+", str(of.get("description", "")).partition(";")[0])
    head, _, tail = task.partition(": ")
    kind = next((k for k in ("decision", "fact", "finding") if k in head.lower()), "finding")
    given = {"kind": kind, "title": (tail or head).partition(". ")[0].rstrip("."), "body": tail or head}
    return {key: given[key] for key in keys if key in given} or {"body": tail or head}
