"""YAML and TOML front matter as fields; every scalar is the text that was typed."""

from __future__ import annotations

import re
import tomllib
from typing import TYPE_CHECKING

import yaml

from seed.importers.fields import normal_name
from seed.importers.model import Field

if TYPE_CHECKING:
    from collections.abc import Mapping

_PAIR = re.compile(r"^([A-Za-z][\w -]*):\s*(.*)$")
_CLOSING = {"---": ("---", "..."), "+++": ("+++",)}


def read(text: str) -> tuple[tuple[Field, ...], int, tuple[str, ...]]:
    """Return the fields, the number of lines the front matter takes (0: none), and doubts."""
    lines = text.split("\n")
    start = next((n for n, line in enumerate(lines) if line.strip()), 0)
    mark = lines[start].strip()
    if mark not in _CLOSING:
        return (), 0, ()
    end = next((n for n in range(start + 1, len(lines)) if lines[n].rstrip() in _CLOSING[mark]), 0)
    if not end:
        return (), 0, ()
    source = lines[start + 1 : end]
    data, doubts = _toml(source) if mark == "+++" else _yaml(source)
    if data is None:
        return (), 0, ()
    return as_fields(data, "front matter"), end + 1, doubts


def as_fields(data: Mapping[str, object], where: str) -> tuple[Field, ...]:
    """Turn a mapping's text and lists of text (one value a line) into fields; nested values are left."""
    found = []
    for key, value in data.items():
        name = normal_name(str(key))
        values = value if isinstance(value, list) else [value]
        written = "\n".join(str(v) for v in values if isinstance(v, str | int | float) or hasattr(v, "isoformat"))
        if name and written.strip():
            found.append(Field(name, written.strip(), f"{where} key {key!r}"))
    return tuple(found)


def load_yaml(source: str) -> object:
    """Load YAML with every scalar as text.

    Raises ``yaml.YAMLError`` or ``RecursionError`` on what cannot be read.
    """
    # BaseLoader resolves no tags: it builds text, lists and mappings only, so it is safe on any input.
    return yaml.load(source, Loader=getattr(yaml, "CBaseLoader", yaml.BaseLoader))  # noqa: S506


def _yaml(source: list[str]) -> tuple[Mapping[str, object] | None, tuple[str, ...]]:
    try:
        data = load_yaml("\n".join(source))
    except (yaml.YAMLError, RecursionError, ValueError):
        pairs = {m[1]: m[2].strip(" \"'") for line in source if (m := _PAIR.match(line))}
        return pairs or None, ("the front matter is not valid YAML: read line by line",) if pairs else ()
    if data in (None, ""):
        return {}, ()
    return (data, ()) if isinstance(data, dict) else (None, ())


def _toml(source: list[str]) -> tuple[Mapping[str, object] | None, tuple[str, ...]]:
    try:
        return tomllib.loads("\n".join(source)), ()
    except (tomllib.TOMLDecodeError, RecursionError):
        return {}, ("the front matter is not valid TOML: not read",)
