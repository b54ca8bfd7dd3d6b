"""Where a database server is: from the environment or the user's own file, never from anything that lies in Git."""

from __future__ import annotations

import os
import re
import stat
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from seed.errors import StoreError
from seed.store.paths import home

URL, REPLICAS, WORKSPACE = "SIDECAR_ENGINE_URL", "SIDECAR_ENGINE_REPLICA_URL", "SIDECAR_ENGINE_WORKSPACE"
FILE = "config.toml"
DEFAULT_WORKSPACE = "default"
_SCHEMES = ("postgresql://", "postgres://")
_OTHERS = 0o077


@dataclass(frozen=True, slots=True)
class Address:
    """A primary server, replicas that may be read from, and the workspace (tenant) whose rows are meant."""

    url: str
    replicas: tuple[str, ...] = ()
    workspace: str = DEFAULT_WORKSPACE


def address() -> Address | None:
    """Return the address that this user configured, the environment first, or None. Raises `StoreError`."""
    configured = _configured(home() / FILE)
    url = os.environ.get(URL) or str(configured.get("url", ""))
    if not url:
        return None
    named = os.environ.get(REPLICAS)
    replicas = re.split(r"[,\s]+", named.strip()) if named and named.strip() else configured.get("replicas", [])
    for one in (url, *replicas):
        if not str(one).startswith(_SCHEMES):
            raise StoreError(f"the engine's address {shown(str(one))} is no postgresql:// URL", f"set {URL} anew")
    workspace = os.environ.get(WORKSPACE) or str(configured.get("workspace", DEFAULT_WORKSPACE))
    return Address(url, tuple(map(str, replicas)), workspace)


def shown(url: str) -> str:
    """Return an address without user, password and options, for messages."""
    try:
        parts = urlsplit(url)
    except ValueError:
        return "(unreadable)"
    where = parts.netloc.rpartition("@")[2]
    socket = re.search(r"[?&]host=([^&]+)", url)
    return f"{where or (socket.group(1) if socket else 'local')}{parts.path}"


def _configured(file: Path) -> dict[str, Any]:
    """Return the table [engine] of the user's file; {} without the file. Raises `StoreError`."""
    try:
        mode = file.stat().st_mode
        import tomllib  # most users have no such file

        data = tomllib.loads(file.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return {}
    except (OSError, ValueError) as exc:
        raise StoreError(f"{file} cannot be read: {exc}", "correct it, or move it away") from None
    found = data.get("engine", {})
    if not isinstance(found, dict) or not isinstance(found.get("replicas", []), list):
        raise StoreError(f"{file}: [engine] holds url, replicas = [...] and workspace", "correct it")
    if found.get("url") and stat.S_IMODE(mode) & _OTHERS:
        raise StoreError(f"{file} holds an address and can be read by others", f"chmod 600 {file}")
    return found
