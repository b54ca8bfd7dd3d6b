"""Kill a server in the middle of a load: what is lost, what is answered, and for how long nobody is.

One thread commits a new edition of every record, seeds it and asks; others ask all the time, each as a client of its
own. An answer is wrong when it is of an edition that was not HEAD's while it was asked and does not say `stale`.
"""

from __future__ import annotations

import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from seed.embed.base import ToyEmbedder
from seed.errors import SidecarError
from seed.store.receipts import Links
from sidecar.provider import Provider
from sidecar.query import Query
from sidecar.receipt import identify

RECORDS = 12
ASKERS = 2
_POLICY = "format: 1\nengine: postgresql\nembedder: {model: toy, languages: 'off'}\n"


@dataclass(slots=True)
class Told:
    """What came back, over all clients; ``gap`` is the longest time a client had no answer from a server."""

    answers: int = 0
    degraded: int = 0
    stale: int = 0
    refused: int = 0
    editions: int = 0
    gap: float = 0.0
    wrong: list[str] = field(default_factory=list)
    acknowledged: list[str] = field(default_factory=list)
    lost: list[str] = field(default_factory=list)
    reasons: set[str] = field(default_factory=set)

    def figures(self) -> dict[str, Any]:
        """Return the figures as JSON data."""
        return {
            "answers": self.answers,
            "degraded": self.degraded,
            "stale": self.stale,
            "refused": self.refused,
            "editions": self.editions,
            "longest_gap_s": round(self.gap, 2),
            "receipts_acknowledged": len(self.acknowledged),
            "receipts_lost": len(self.lost),
            "wrong_answers": len(self.wrong),
        }


class Load:
    """A repository whose records change all the time, and the clients that ask it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.told = Told()
        self._edition = 0
        self._stop = threading.Event()
        self._lock = threading.Lock()
        self._threads: list[threading.Thread] = []
        folder.mkdir(parents=True)
        self._git("init", "-q")
        self._git("remote", "add", "origin", f"https://example.org/load/{folder.name}.git")
        self._commit()

    def _git(self, *arguments: str) -> None:
        identity = ("-c", "user.name=Load", "-c", "user.email=load@localhost")
        subprocess.run(["git", *identity, *arguments], cwd=self.folder, check=True, capture_output=True)  # noqa: S603, S607

    def _commit(self) -> None:
        made = self._edition + 1
        place = self.folder / "knowledge"
        place.mkdir(exist_ok=True)
        (place / "policy.yaml").write_text(_POLICY)
        for number in range(RECORDS):
            text = f"id: decision-{number}\nkind: decision\ntitle: Orders of shop {number}\nstatus: accepted\n"
            (place / f"decision-{number}.yaml").write_text(f"{text}body: Orders of shop {number} in edition{made}x.\n")
        self._git("add", "-A")
        self._git("commit", "-q", "-m", f"edition {made}")
        self._edition = made

    def _client(self) -> Provider:
        """Return a client of its own, whose address is the one that is configured now."""
        client = Provider(self.folder, embedders=lambda _policy: [ToyEmbedder()])
        with suppress(SidecarError):
            client.receipts.newest(1)
        return client

    def start(self) -> None:
        """Let the load run; the clients are opened at once and used by a thread each."""
        work: list[Callable[[Provider], None]] = [self._write, *([self._ask] * ASKERS)]
        self._threads = [threading.Thread(target=one, args=(self._client(),)) for one in work]
        for thread in self._threads:
            thread.start()

    def stop(self) -> None:
        """End the load and wait for the last answers."""
        self._stop.set()
        for thread in self._threads:
            thread.join()

    @contextmanager
    def running(self) -> Iterator[None]:
        """Let the load run for the block."""
        self.start()
        try:
            yield
        finally:
            self.stop()

    def _write(self, opened: Provider) -> None:
        with closing(opened) as client:
            while not self._stop.is_set():
                self._commit()
                with self._lock:
                    self.told.editions += 1
                try:
                    client.seed()
                except SidecarError as exc:
                    self._refused(exc)
                self._asked(client)
                time.sleep(0.05)

    def _ask(self, opened: Provider) -> None:
        with closing(opened) as client:
            last = time.monotonic()
            while not self._stop.is_set():
                if self._asked(client):
                    self._gap(last)
                    last = time.monotonic()
                time.sleep(0.01)
            self._gap(last)

    def _gap(self, last: float) -> None:
        with self._lock:
            self.told.gap = max(self.told.gap, time.monotonic() - last)

    def _asked(self, client: Provider) -> bool:
        """Ask once and judge the answer. Returns whether it came from a server, undegraded."""
        before = self._edition
        try:
            answer = client.recall(Query("orders of shop", limit=RECORDS))
        except SidecarError as exc:
            self._refused(exc)
            return False
        after = self._edition + 1  # a commit may be made and not yet counted
        with self._lock:
            self._judge(answer, before, after)
        return "degraded" not in answer and not answer["revision"]["stale"]

    def _judge(self, answer: dict[str, Any], before: int, after: int) -> None:
        told, stale = self.told, answer["revision"]["stale"]
        told.answers += 1
        told.stale += stale
        if reason := answer.get("degraded"):
            told.degraded += 1
            told.reasons.add(reason[:160])
        if answer["receipt"]["stored"]:
            told.acknowledged.append(answer["receipt"]["id"])
        shown = {
            r["id"]: int(r["passage"]["text"].partition("edition")[2].partition("x")[0]) for r in answer["results"]
        }
        first = 1 if stale else before
        if len(set(shown.values())) > 1 or not all(first <= edition <= after for edition in shown.values()):
            told.wrong.append(f"asked at {before} to {after}, stale {stale}: {shown}")
        if len(shown) != RECORDS:
            told.wrong.append(f"{len(shown)} of {RECORDS} records: {answer.get('degraded', '')}")

    def _refused(self, exc: SidecarError) -> None:
        with self._lock:
            self.told.refused += 1
            self.told.reasons.add(str(exc)[:160])

    def settle(self) -> Told:
        """Ask once more from a new client, and look for every receipt that was acknowledged."""
        with closing(self._client()) as client:
            if not self._asked(client):
                self.told.wrong.append(f"no answer from a server in the end: {sorted(self.told.reasons)[-1:]}")
            chain, links = client.receipts.chain(), Links(identify)
            self.told.wrong += [p for one in chain if (p := links.problem(str(one["id"]), one))]
            held = {one["id"] for one in chain}
            self.told.lost = [ident for ident in self.told.acknowledged if ident not in held]
        return self.told
