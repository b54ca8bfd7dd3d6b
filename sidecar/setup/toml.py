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
    """Return the text without the table at a path; unchanged where it is written in another form."""
    head = re.escape(".".join(path))
    without = re.sub(rf"(?m)(?:^[ \t]*\r?\n)?^\[{head}\][^\n]*\n(?:(?!\[)[^\n]*(?:\n|\Z))*", "", text, count=1)
    return without if tomllib.loads(without) != tomllib.loads(text) else text
