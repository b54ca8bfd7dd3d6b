"""One table put at the end of a TOML file and cut out again; every other byte stays. Pure."""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Mapping, Sequence
from typing import Any

from sidecar.jsonc import Insertion, applied


def insert(text: str, path: Sequence[str], value: Mapping[str, Any]) -> list[Insertion]:
    """Return the insertion that puts a table of strings and lists of strings at a path of bare names.

    Raises `ValueError` where the text is no TOML, the table is there, or the file's layout leaves no room for it.
    """
    before = tomllib.loads(text)
    holder: Any = before
    for name in path:
        if not isinstance(holder, dict):
            raise ValueError(f"{'.'.join(path[:-1])} is no table")  # noqa: TRY004 - a fault of the file
        holder = holder.get(name, {})
    if holder:
        raise ValueError(f"{'.'.join(path)} is there already")
    line = "\r\n" if "\r\n" in text else "\n"
    gap = "" if not text else line if text.endswith("\n") else line * 2
    rows = [f"[{'.'.join(path)}]", *(f"{key} = {json.dumps(one)}" for key, one in value.items())]
    new = gap + "".join(f"{row}{line}" for row in rows)
    try:
        tomllib.loads(applied(text, [(len(text), new)]))
    except tomllib.TOMLDecodeError:
        raise ValueError(f"{path[0]} is written in a form that a table cannot be added to") from None
    return [(len(text), new)]


def cut(text: str, path: Sequence[str]) -> str:
    """Return the text without the table at a path; unchanged where it is written in another form.

    Comments in it, and blank lines after it, stay. Raises `ValueError` where the text is no TOML.
    """
    found = re.search(rf"(?m)(?:^[ \t]*\r?\n)?^\[{re.escape('.'.join(path))}\][ \t]*(?:#.*)?\r?(?:\n|\Z)", text)
    if found is None:
        return text
    lines = [found.group().lstrip("\r\n \t"), *re.findall(r"[^\n]*\n|[^\n]+", text[found.end() :])]
    end = next((at for at, line in enumerate(lines) if at and line.lstrip().startswith("[")), len(lines))
    kept = (line if not line.strip() else line[line.index("#") :] if "#" in line else "" for line in lines[:end])
    without = text[: found.start()] + "".join((*kept, *lines[end:]))
    try:
        return without if tomllib.loads(without) == _less(tomllib.loads(text), path) else text
    except tomllib.TOMLDecodeError:
        return text


def _less(data: dict[str, Any], path: Sequence[str]) -> dict[str, Any]:
    """Return what a file holds without the table at a path, and without the tables that are empty then."""
    first, *rest = path
    below = data.get(first)
    left = _less(below, rest) if rest and isinstance(below, dict) else {}
    return {name: left if name == first else one for name, one in data.items() if name != first or left}
