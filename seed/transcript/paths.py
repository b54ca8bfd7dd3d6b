"""Paths that a turn mentions: in a tool call by its argument's name, in text by their shape."""

from __future__ import annotations

import json
import posixpath
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from seed.transcript.facts import mapping

if TYPE_CHECKING:
    from collections.abc import Iterator

    from seed.transcript.facts import Block

PATH_KEYS = {
    "path",
    "file",
    "filename",
    "file_path",
    "filepath",
    "file_name",
    "absolute_path",
    "relative_path",
}
PATH_KEYS |= {
    "filePath",
    "fileName",
    "absolutePath",
    "notebook_path",
    "target_file",
    "relative_workspace_path",
}
WRITERS = {"write", "edit", "multiedit", "notebookedit", "write_file", "writefile", "edit_file", "editfile"}
WRITERS |= {"create_file", "createfile", "str_replace", "str_replace_editor", "str_replace_based_edit_tool"}
WRITERS |= {
    "search_replace",
    "replace",
    "apply_patch",
    "patch",
    "insert",
    "create",
    "file_write",
    "file_edit",
}
WRITERS |= {"delete_file", "update_file"}
SHELLS = {"bash", "shell", "exec", "exec_command", "local_shell_call", "run_shell_command", "run_command"}

_SEGMENT = rb"(?:[\w.@+-]++|\([\w.-]++\)|\[[\w.-]++\])++"
_SUFFIX = (
    rb"py|pyi|tsx?|jsx?|mjs|md|rst|jsonl?|ya?ml|toml|rs|go|java|kt|swift|cc?|cpp|h|hpp|cs|rb|php|sh|sql|html|css"
    rb"|scss|txt|lock|cfg|ini|xml|csv|ipynb|prisma|proto|vue|svelte"
)
# With slashes, or a bare name with a well-known suffix. After ":" or "/" stands the rest of a URL.
_MENTION = re.compile(
    rb"(?<![\w./@:+)\]-])(?:(?:~/|\.{1,2}/|/)?(?:" + _SEGMENT + rb"/)++" + _SEGMENT + rb"|"
    rb"\w[\w.-]*\.(?:" + _SUFFIX + rb")(?![\w/-]))"
)
_EXTENSION = re.compile(rb"[\w)\]]\.[A-Za-z]\w{0,9}$|/\.\w+$|/[A-Z]\w+file$")
_LIBRARY = re.compile(rb"(?:node|next|nuxt|vue|react|express|three|d3|chart|discord|alpine)\.js$", re.IGNORECASE)
# Escapes of JSON (of JSON inside JSON too) become blanks of the same length, so that offsets stay true.
_ESCAPE = re.compile(rb"\\++(?:u[0-9a-fA-F]{4}|.)?", re.DOTALL)
_PATCHED = re.compile(r"^\*\*\* (?:Add File|Update File|Delete File|Move to): (.+?)\s*$", re.MULTILINE)
_REDIRECTED = re.compile(r"(?<![0-9&=-])>>?\s*\"?([\w./@+-]*[\w-]\.\w+)")


@dataclass(frozen=True, slots=True)
class Mention:
    """A path as it is written, and its bytes in the turn."""

    path: str
    start: int
    end: int


def mentions(raw: bytes, start: int, end: int) -> Iterator[Mention]:
    """Yield the paths in ``raw[start:end]``, a JSON string or a value that holds some."""
    blank = _ESCAPE.sub(lambda match: b" " * len(match[0]), raw[start:end])
    for match in _MENTION.finditer(blank):
        found = match[0].rstrip(b".-+@")
        if _EXTENSION.search(found) and not _LIBRARY.search(found):
            yield Mention(found.decode(), start + match.start(), start + match.start() + len(found))


def arguments_of(call: Block) -> dict[str, object]:
    """Return a call's arguments by name, also where the host keeps them as JSON in a string."""
    value = call.arguments
    if isinstance(value, str):
        try:
            value = json.loads(value)
        except ValueError:
            value = None
    return mapping(value)


def named(call: Block) -> list[str]:
    """Return the paths that a call gives under an argument's name."""
    arguments = arguments_of(call)
    return [value for key, value in arguments.items() if key in PATH_KEYS and isinstance(value, str) and value]


def written(call: Block) -> list[str]:
    """Return the paths that a call writes: by its tool's name, a patch in it, or a shell's redirection."""
    name = call.name.rpartition("__")[2].rpartition(".")[2].lower()
    found = named(call) if name in WRITERS else []
    plain = call.text.replace("\\n", "\n")
    found += _PATCHED.findall(plain)
    if name in SHELLS:
        found += _REDIRECTED.findall(plain)
    return list(dict.fromkeys(found))


def relative(path: str, root: str) -> str:
    """Return ``path`` as the repository at ``root`` names it; one outside stays absolute."""
    plain = path.replace("\\", "/")
    base = root.replace("\\", "/").rstrip("/")
    if base and plain.startswith(f"{base}/"):
        plain = plain[len(base) + 1 :]
    return posixpath.normpath(plain)
