"""A record as YAML text, in a fixed order, that reads back exactly."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import yaml

from seed.importers.frontmatter import load_yaml

if TYPE_CHECKING:
    from collections.abc import Iterator

    from seed.importers.model import Record, Value

_PLAIN_DATE = re.compile(r"\d{4}-\d{2}-\d{2}")


def dump(record: Record) -> str:
    """Return the record as YAML; the body as a literal block wherever that keeps every byte."""
    return "".join(part for key, value in record.items() for part in _entry(key, value))


def _entry(key: str, value: Value) -> Iterator[str]:
    if isinstance(value, str):
        yield _literal(key, value) if "\n" in value else f"{key}: {scalar(value)}\n"
    elif all(isinstance(item, str) for item in value):
        yield f"{key}: [{', '.join(scalar(str(item), flow=True) for item in value)}]\n"
    else:
        yield f"{key}:\n"
        for item in value:
            pairs = item.items() if isinstance(item, dict) else ()
            yield "".join(f"  {'-' if n == 0 else ' '} {k}: {scalar(v)}\n" for n, (k, v) in enumerate(pairs))


def scalar(text: str, *, flow: bool = False) -> str:
    """Return one line as a scalar: plain where any loader reads it back the same, else quoted."""
    if _PLAIN_DATE.fullmatch(text):
        return text  # records read scalars as text, and a date is easiest to edit as it is
    style = None if text.isprintable() and not (flow and re.search(r"[,\[\]{}]", text)) else '"'
    dumped: str = yaml.safe_dump(text, width=1 << 30, allow_unicode=True, default_style=style)
    return dumped.removesuffix("\n").removesuffix("\n...")


def _literal(key: str, text: str) -> str:
    """Write text as a literal block; text that a block would change (control characters) in double quotes."""
    kept = text.rstrip("\n")
    newlines = len(text) - len(kept)
    chomp = "-" if not newlines else "" if newlines == 1 and kept else "+"
    indent = "2" if text.startswith((" ", "\n", "\t")) else ""
    body = "\n".join(f"  {line}" if line else "" for line in text.removesuffix("\n").split("\n"))
    block = f"{key}: |{indent}{chomp}\n{body}\n"
    return block if reads_back(block, key, text) else f"{key}: {scalar_quoted(text)}\n"


def scalar_quoted(text: str) -> str:
    """Return text as one double-quoted line, every unusual character escaped."""
    dumped: str = yaml.safe_dump(text, width=1 << 30, allow_unicode=False, default_style='"')
    return dumped.removesuffix("\n")


def reads_back(block: str, key: str, text: str) -> bool:
    """Whether the YAML text yields exactly this value, for our reader."""
    try:
        return load_yaml(block) == {key: text}
    except yaml.YAMLError:
        return False
