"""Set single keys of a record file and keep every other byte: comments, order, quotes, line ends. Pure.

The change is made in the text and read back. Where the file's layout does not allow that (a mapping on one line, an
anchor), ruamel.yaml writes the file anew, which keeps the comments though not every space.
"""

from __future__ import annotations

import codecs
import io
import re
import warnings
from collections.abc import Mapping

import yaml

from seed.errors import SidecarError
from seed.importers.yamltext import dump, scalar
from seed.yamltext import YamlFaultError, decode, parse

_WORD = re.compile(r"[A-Za-z_][\w-]*")
_AFTER = re.compile(r"\s*(#.*)?\s*|\.\.\.\s*")
"""Lines that belong to what follows a value, not to the value: blank ones, comments, the end of the document."""
_LINE = re.compile("[^\r\n\x85\u2028\u2029]*(?:\r\n|[\r\n\x85\u2028\u2029])|[^\r\n\x85\u2028\u2029]+$")
"""A line with its end, as YAML counts lines: not only at line feeds."""
_LOADER = getattr(yaml, "CLoader", yaml.Loader)
_WIDE = 1 << 30


def write(values: Mapping[str, object]) -> str:
    """Return a mapping as YAML that reads back exactly; its leaves are texts. Raises `SidecarError`."""
    text = "".join(_entry(key, value) for key, value in values.items())
    if _reads(text) != values:
        text = yaml.safe_dump(dict(values), sort_keys=False, allow_unicode=False, width=_WIDE)
    if _reads(text) != values:
        raise SidecarError("the record holds characters that YAML cannot keep", "leave out control characters")
    return text


def with_values(data: bytes, changes: Mapping[str, object], *, after: str = "status") -> bytes:
    """Return a record file with top-level keys set, or removed where the value is None.

    A new key stands behind the key ``after``. Raises `SidecarError` for a file that cannot be read or edited.
    """
    try:
        before = parse(data).data
    except YamlFaultError as fault:
        raise SidecarError(f"line {fault.line}: {fault.reason}", fault.fix) from None
    expected = {key: value for key, value in {**before, **changes}.items() if value is not None}
    wanted = {key: value for key, value in changes.items() if before.get(key) != value}
    text = _in_place(decode(data), wanted, after)
    if _reads(text) != expected:
        text = _written_anew(data, wanted)
    if _reads(text) != expected:
        raise SidecarError(f"{', '.join(changes)} cannot be set in this layout", "edit the file by hand")
    return (codecs.BOM_UTF8 if data.startswith(codecs.BOM_UTF8) else b"") + text.encode()


def _reads(text: str) -> dict[str, object] | None:
    try:
        return parse(text.encode()).data if text.strip() else {}
    except (YamlFaultError, UnicodeEncodeError):
        return None


def _entry(key: str, value: object) -> str:
    """Return one key with its value, in the form that is easiest to read and edit."""
    if _WORD.fullmatch(key) and isinstance(value, str):
        return dump({key: value})
    if _WORD.fullmatch(key) and (inline := _inline(value)):
        return f"{key}: {inline}\n"
    if _WORD.fullmatch(key) and isinstance(value, list) and all(_flat(item) for item in value):
        return dump({key: value})
    return yaml.safe_dump({key: value}, sort_keys=False, allow_unicode=True, width=_WIDE)


def _flat(value: object) -> bool:
    return isinstance(value, dict) and bool(value) and all(isinstance(v, str) for v in value.values())


def _inline(value: object) -> str:
    """Return a value on one line, or "" for one that needs several."""
    if isinstance(value, str):
        return "" if "\n" in value else scalar(value)
    if isinstance(value, list) and all(isinstance(item, str) for item in value):
        return f"[{', '.join(scalar(item, flow=True) for item in value)}]"
    if isinstance(value, dict) and _flat(value):
        return "{" + ", ".join(f"{scalar(k, flow=True)}: {scalar(v, flow=True)}" for k, v in value.items()) + "}"
    return ""


def _in_place(text: str, changes: Mapping[str, object], after: str) -> str:
    try:
        for key, value in changes.items():
            text = _changed(text, key, value, after)
    except (YamlFaultError, yaml.YAMLError):
        return ""  # an anchor went with its value, or stands twice
    return text


def _changed(text: str, key: str, value: object, after: str) -> str:
    end = "\r\n" if "\r\n" in text else "\n"
    new = "" if value is None else write({key: value}).replace("\n", end)
    lines = parse(text.encode()).lines
    span = _spans(text).get(key)
    inline = _inline(value)
    if span and inline and "\n" not in text[span[0] : span[1]]:
        return text[: span[0]] + inline + text[span[1] :]
    if key in lines:
        start, stop = _block(text, lines, key)
        return text[:start] + new + text[stop:]
    at = _block(text, lines, after)[1] if after in lines else len(text)
    gap = "" if text[:at].endswith("\n") or not at else end
    return text[:at] + gap + new + text[at:]


def _block(text: str, lines: Mapping[str, int], key: str) -> tuple[int, int]:
    """Return the offsets of a key's lines, without the comments and blank lines that lead to the next key."""
    every = _LINE.findall(text)
    first = lines[key] - 1
    last = min((n - 1 for n in lines.values() if n - 1 > first), default=len(every))
    while last > first + 1 and _AFTER.fullmatch(every[last - 1]) and not every[last - 1].startswith((" ", "\t")):
        last -= 1
    start = sum(map(len, every[:first]))
    return start, start + sum(map(len, every[first:last]))


def _spans(text: str) -> dict[str, tuple[int, int]]:
    """Return the offsets of the value of each top-level key, for scalars and for collections in brackets."""
    root = yaml.compose(text, Loader=_LOADER)
    found: dict[str, tuple[int, int]] = {}
    for key, value in root.value if isinstance(root, yaml.MappingNode) else ():
        inline = value.style not in ("|", ">") if isinstance(value, yaml.ScalarNode) else value.flow_style
        if inline and value.start_mark.index >= key.end_mark.index:  # an alias bears the marks of its anchor
            found[key.value] = (value.start_mark.index, value.end_mark.index)
    return found


def _written_anew(data: bytes, changes: Mapping[str, object]) -> str:
    from ruamel.yaml import YAML

    editor = YAML()
    editor.preserve_quotes = True
    editor.width = _WIDE
    out = io.StringIO()
    try:
        with warnings.catch_warnings(action="ignore"):  # of what it doubts; the result is read back anyway
            document = editor.load(decode(data))
            for key, value in changes.items():
                if value is None:
                    document.pop(key, None)
                else:
                    document[key] = value
            editor.dump(document, out)
    except Exception:  # noqa: BLE001 - it resolves types and fails in as many ways as there are; all mean that it cannot
        return ""
    return out.getvalue()
