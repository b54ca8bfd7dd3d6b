"""Check a repository: read every file under knowledge/ where it stands and give all of it to `seed.check`."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

from seed import secrets
from seed.check import Finding, LineOf, check, in_order
from seed.errors import SidecarError
from seed.git.repository import KNOWLEDGE, Repository, head_commit
from seed.git.sources import Source, of_commit, of_index, of_worktree, repository_path
from seed.git.tree import CONFIGURATION, UnreadableBlobError, is_record_path, list_files, subtree
from seed.neighbours import changed, parsed
from seed.record import Problem
from seed.yamltext import YamlFaultError, parse


@dataclass(frozen=True, slots=True)
class Checked:
    """What one check looked at: how many files, and every finding in order."""

    files: int
    findings: tuple[Finding, ...]

    @property
    def failed(self) -> bool:
        """Tell whether any finding is an error."""
        return any(finding.level == "error" for finding in self.findings)


def check_repository(repo: Repository, *, staged: bool = False, only: Sequence[str] = (), commit: str = "") -> Checked:
    """Check the working tree, the index (``staged``), a ``commit``, or HEAD of a bare repository.

    Of the index only what it changes against HEAD is reported, and what that breaks elsewhere: a commit waits for its
    own files, not for the whole corpus. ``only`` narrows what is reported to these files and folders; every file is
    then read, since a fault may lie between two of them. Raises `SidecarError` when one names nothing under knowledge/.
    """
    if staged and not only and not repo.bare and head_commit(repo):
        news = changed(repo)
        if news is not None:
            found = _findings(news.fresh, news.fresh, news.beside, news.about)
            return Checked(len(_read(news.fresh)), tuple(in_order(found)))
    sources = of_index(repo) if staged else of_commit(repo, commit) if commit or repo.bare else of_worktree(repo)
    findings = _findings(sources, _changed(repo, sources) if staged else sources)
    paths = [source.path for source in _read(sources)]
    scope = _scope(repo, only, {*paths, *(finding.path for finding in findings)})
    files = sum(1 for path in paths if _within(path, scope))
    return Checked(files, tuple(in_order([finding for finding in findings if _within(finding.path, scope)])))


def _read(sources: Sequence[Source]) -> list[Source]:
    read = (source for source in sources if not source.refused)
    return [source for source in read if is_record_path(source.path) or source.path in CONFIGURATION]


def _findings(
    sources: Sequence[Source],
    fresh: Sequence[Source],
    beside: Sequence[Source] = (),
    about: frozenset[str] | None = None,
) -> list[Finding]:
    """Return what is wrong in files and between them, and in ``fresh`` ones the secrets and the configuration.

    Files ``beside`` them count only for what is wrong between two.
    """
    records = [source for source in _read(sources) if source.path not in CONFIGURATION]
    whole = [(source.path, parsed(source)) for source in records]
    whole += [(source.path, replace(parsed(source), problems=())) for source in beside]
    found = check(whole, _line_finder([*records, *beside]), about)
    found += [finding for source in fresh if not source.refused for finding in _secrets(source)]
    found += [finding for source in sources for finding in _not_read(source)]
    settings = [source for source in _read(fresh) if source.path in CONFIGURATION]
    return found + [finding for source in settings for finding in _configuration(source)]


def _secrets(source: Source) -> Iterator[Finding]:
    """Yield what looks like a secret: the rule and the line, never the value, which would go on into logs."""
    try:
        data = source.read()
    except UnreadableBlobError:
        return
    for secret in secrets.find(data):
        line = data.count(b"\n", 0, secret.start) + 1
        fix = "leave the value out and say where it is kept; if it was real, revoke it"
        yield Finding(source.path, line, "error", f"what looks like a secret (rule {secret.rule})", fix)


def _line_finder(records: Sequence[Source]) -> LineOf:
    by_path = {source.path: source for source in records}

    @lru_cache(maxsize=256)
    def lines(path: str) -> dict[str, int]:
        try:
            return parse(by_path[path].read()).lines
        except (YamlFaultError, UnreadableBlobError):
            return {}  # changed since it was read: the finding then names line 1

    return lambda path, key: lines(path).get(key, 1)


def _not_read(source: Source) -> Iterator[Finding]:
    """Yield what there is to say about a file that is not read although it looks like a record."""
    stem, dot, suffix = source.path.rsplit("/", 1)[-1].rpartition(".")
    looks = suffix.casefold() in ("yaml", "yml")
    if source.refused and (looks or not dot):
        fix = "put the record itself there, as a regular file"
        yield Finding(source.path, 1, "error" if looks else "warning", f"{source.refused} is not read", fix)
    elif looks and suffix != "yaml":
        folder = source.path.rsplit("/", 1)[0]
        fix = f"git mv {source.path} {folder}/{stem}.yaml"
        yield Finding(source.path, 1, "error", f"a file that ends in .{suffix} is not read", fix)


def _changed(repo: Repository, sources: Sequence[Source]) -> list[Source]:
    """Return what the index holds otherwise than HEAD: to load pydantic for an old policy costs 0.1 s a commit."""
    head = head_commit(repo)
    committed = {(e.path, e.blob) for e in list_files(repo, subtree(repo, head))} if head else set()
    return [source for source in sources if (source.path, source.blob) not in committed]


def _configuration(source: Source) -> Iterator[Finding]:
    from seed.schema import glossary_problems, policy_problems

    problems = policy_problems if source.path == CONFIGURATION[0] else glossary_problems
    try:
        found = problems(source.read())
    except UnreadableBlobError as exc:
        found = [Problem(1, exc.reason, exc.fix)]
    for problem in found:
        yield Finding(source.path, problem.line, problem.level, problem.reason, problem.fix)


def _scope(repo: Repository, only: Sequence[str], known: Collection[str]) -> tuple[str, ...]:
    scope = []
    for text in only:
        path = repository_path(repo, text)
        if not any(_within(name, (path,)) for name in known):
            raise SidecarError(f"{text} names no record or configuration file", f"name one under {KNOWLEDGE}/")
        scope.append(path)
    return tuple(scope)


def _within(path: str, scope: Collection[str]) -> bool:
    return not scope or any(part in (".", path) or path.startswith(part + "/") for part in scope)
