"""Made-up records, repositories and vectors, the same in every run. Figures on them say so."""

from __future__ import annotations

import hashlib
import itertools
import random
import subprocess
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from seed.embed.identity import Identity

DIMENSION = 384
_BLOCK = 20_000
_RELATED = 0.05
_KINDS = ("decision",) * 4 + ("adr",) * 2 + ("fact",) * 2 + ("finding",)


class Synthetic:
    """An embedder whose vectors follow from the text and mean nothing: it costs next to nothing."""

    def __init__(self, dimension: int = DIMENSION) -> None:
        self.identity = Identity("synthetic", "none", "none", dimension, 10_000, "mean", normalized=True,
                                 question_instruction="", passage_instruction="", projection="bench")  # fmt: skip

    def passages(self, texts: Sequence[str]) -> Iterator[NDArray[np.float32]]:
        """Yield the vector of each text."""
        return (self.question(text) for text in texts)

    def question(self, text: str) -> NDArray[np.float32]:
        """Return the unit vector of a text."""
        seed = int.from_bytes(hashlib.blake2b(text.encode(), digest_size=8).digest(), "big")
        found = np.random.default_rng(seed).standard_normal(self.identity.dimension, dtype=np.float32)
        return found / np.float32(np.linalg.norm(found))


def words(count: int, chance: random.Random, known: Sequence[str], weights: Sequence[float]) -> str:
    """Return so many words, the frequent ones more often."""
    return " ".join(chance.choices(known, cum_weights=weights, k=count))


def records(count: int, seed: int = 7) -> Iterator[tuple[str, str]]:
    """Yield (path, YAML) of records with tags, paths, one to three paragraphs, and some relations."""
    chance = random.Random(seed)  # noqa: S311 - made-up text, no secret
    syllables = [a + b for a in "bcdfghklmnprstvz" for b in "aeiou"]
    known = ["".join(chance.choices(syllables, k=chance.randint(2, 4))) for _ in range(6000)]
    weights = list(itertools.accumulate(1 / (n + 3) for n in range(len(known))))

    def some(number: int) -> str:
        return words(number, chance, known, weights)

    for n in range(count):
        kind = chance.choice(_KINDS)
        status = "verified" if kind == "fact" else "accepted"
        body = "\n\n".join("  " + some(chance.randint(40, 110)) for _ in range(chance.randint(1, 3)))
        relation = f"supersedes: [decision-{chance.randrange(count):06}]\n" if chance.random() < _RELATED else ""
        yield (
            f"knowledge/{n // 1000:03}/{kind}-{n:06}.yaml",
            (
                f"id: {kind}-{n:06}\nkind: {kind}\ntitle: {some(7).capitalize()} {n}\nstatus: {status}\n"
                f"date: 20{chance.randint(20, 26)}-{chance.randint(1, 12):02}-{chance.randint(1, 28):02}\n"
                f"tags: [{some(1)}, {some(1)}]\npaths: [src/{some(1)}/{some(1)}.py]\n{relation}body: |\n{body}\n"
            ),
        )


def repository(folder: Path, count: int, *, floor: float = 0.0) -> Path:
    """Make a repository of made-up records, checked out; with ``floor`` its policy names one for `Synthetic`."""
    git(folder.parent, "init", "-q", "-b", "main", str(folder))
    for key, value in (("user.name", "bench"), ("user.email", "bench@localhost"), ("gc.auto", "0")):
        git(folder, "config", key, value)
    policy = "format: 1\nembedder: {model: toy, languages: 'off'}\n"
    if floor:
        policy += f"floors:\n  - {{embedder: '{Synthetic().identity.digest}', on: fused, value: {floor}}}\n"
    commit(folder, {"knowledge/policy.yaml": policy, **dict(records(count))})
    git(folder, "reset", "-q", "--hard")
    return folder


def commit(folder: Path, files: dict[str, str], branch: str = "main") -> None:
    """Commit files on a branch without a working tree: the whole of it goes to git in one stream."""
    known = subprocess.run(["git", "rev-parse", "-q", "--verify", branch], cwd=folder, capture_output=True, check=False)  # noqa: S603, S607 - our own scratch repository
    parent = f"from {known.stdout.decode().strip()}\n" if known.returncode == 0 else ""
    parts = [f"commit refs/heads/{branch}\ncommitter bench <bench@localhost> 1767225600 +0000\ndata 1\nx\n{parent}"]
    for path, text in files.items():
        data = text.encode()
        parts.append(f"M 100644 inline {path}\ndata {len(data)}\n{text}\n")
    stream = "".join(parts).encode()
    subprocess.run(["git", "fast-import", "--quiet", "--force"], cwd=folder, input=stream, check=True)  # noqa: S607 - git as users have it


def git(folder: Path, *arguments: str) -> None:
    """Run git quietly."""
    subprocess.run(["git", *arguments], cwd=folder, check=True, capture_output=True)  # noqa: S603, S607 - our own scratch repository


def matrix(path: Path, rows: int, dimension: int) -> NDArray[np.float32]:
    """Write random unit vectors to a file and return it memory-mapped, (rows, dimension)."""
    chance = np.random.default_rng(0)
    with path.open("wb") as file:
        for first in range(0, rows, _BLOCK):
            part = chance.standard_normal((min(_BLOCK, rows - first), dimension), dtype=np.float32)
            part /= np.linalg.norm(part, axis=1, keepdims=True)
            file.write(part.tobytes())
    return np.memmap(path, dtype="<f4", mode="r", shape=(rows, dimension))


def owners(passages: int) -> NDArray[np.uint32]:
    """Return the record of each passage: one to three passages a record."""
    runs = np.random.default_rng(1).integers(1, 4, size=passages)
    return np.repeat(np.arange(passages, dtype=np.uint32), runs)[:passages]
