"""A client of a server on pipes: one line of JSON-RPC out, one in. It knows no SDK, so that any server will do."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any


class Rpc:
    """A server process that was initialized. Raises `RuntimeError` where it ends or answers with an error."""

    def __init__(self, command: Sequence[str], folder: Path, environment: Mapping[str, str] | None = None) -> None:
        self._log = (folder / "server.log").open("w", encoding="utf-8")
        self.process = subprocess.Popen(  # noqa: S603 - what the benchmark is told to measure
            list(command), cwd=folder, env={**os.environ, **(environment or {})}, text=True,
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self._log,
        )  # fmt: skip
        self._asked = 0
        hello = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "bench", "version": "1"}}
        self.call("initialize", hello)
        self._send({"jsonrpc": "2.0", "method": "notifications/initialized"})

    def _send(self, message: Mapping[str, object]) -> None:
        if self.process.stdin is None:
            raise RuntimeError("the server has no standard input")
        self.process.stdin.write(json.dumps(message) + "\n")
        self.process.stdin.flush()

    def call(self, method: str, params: Mapping[str, object]) -> dict[str, Any]:
        """Return the result of one call."""
        self._asked += 1
        self._send({"jsonrpc": "2.0", "id": self._asked, "method": method, "params": params})
        while self.process.stdout is not None and (line := self.process.stdout.readline()):
            answer: dict[str, Any] = json.loads(line)
            if answer.get("id") == self._asked:
                if "error" in answer or answer["result"].get("isError"):
                    raise RuntimeError(str(answer)[:300])
                found: dict[str, Any] = answer["result"]
                return found
        raise RuntimeError(f"the server ended in {method}")

    def tool(self, name: str, arguments: Mapping[str, object]) -> str:
        """Return the text that a tool answers with."""
        found = self.call("tools/call", {"name": name, "arguments": arguments})
        return str(found["content"][0]["text"])

    @property
    def megabytes(self) -> float:
        """Return the resident memory of the server."""
        status = Path(f"/proc/{self.process.pid}/status").read_text(encoding="ascii")
        return int(status.split("VmRSS:")[1].split()[0]) / 1024

    def close(self) -> None:
        """End the server."""
        self.process.kill()
        self.process.wait()
        self._log.close()
