"""Seeding, opening and asking, on a made-up repository: what our part costs beside the model's."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from functools import partial
from pathlib import Path

from evals.bench import made
from evals.bench.figure import Figure, figure, milliseconds, slope, timed
from evals.bench.spine import Timed
from seed.policy import Policy
from sidecar.provider import Provider
from sidecar.query import Query

RECORDS, QUICK_RECORDS, MANY = 10_000, 1000, 100_000
_FLOOR = 0.9
_MODEL_TEXTS = 120
_ROUNDS = 9
_MEGABYTE = 1024


class Bench:
    """One repository with a provider whose model counts its own seconds."""

    def __init__(self, folder: Path, records: int) -> None:
        self.folder = made.repository(folder, records, floor=_FLOOR)
        self.files = [path for path, _ in made.records(records)]
        self.model = Timed(made.Synthetic())
        self.provider = Provider(self.folder, embedders=self._choose)

    def _choose(self, _policy: Policy) -> list[Timed]:
        return [self.model]

    def seed(self) -> float:
        """Return the milliseconds of seeding HEAD beyond the model."""
        before = self.model.seconds
        return milliseconds(lambda: self.provider.seed(second=False)) - (self.model.seconds - before) * 1000

    def change(self, files: int, mark: str, branch: str = "main") -> None:
        """Commit a new paragraph in so many records."""
        texts = dict(made.records(len(self.files)))
        made.commit(self.folder, {p: f"{texts[p]}\n  New here: {mark}.\n" for p in self.files[:files]}, branch)


def figures(scratch: Path, *, quick: bool, full: bool = False) -> Iterator[Figure]:
    """Measure a first seeding, none, one change, a switch of branches, opening, questions, and growth with changes."""
    records = QUICK_RECORDS if quick else RECORDS
    bench = Bench(scratch / "repository", records)
    what = f"{records:,} records"
    first = bench.seed() / 1000
    told = bench.provider.seed(second=False)["records"]
    if told != records:
        raise AssertionError(f"{told} of {records} records were seeded")
    yield figure(f"first seeding beyond the model, {what}", [first], "s", note=_share(first, bench.model, records))
    yield timed(f"seeding with nothing new, {what}", bench.seed, aim=30)
    yield from _changes(bench, what)
    yield from _questions(bench, what)
    yield from _opening(bench, what)
    bench.provider.close()
    yield from _growth(scratch, MANY if full else records)


def _share(ours: float, model: Timed, records: int) -> str:
    """Say what share the shipped model would have, at the rate it has in this run."""
    from evals.bench.throughput import rate
    from seed.embed.minilm import MiniLm

    texts = [text for _, text in made.records(_MODEL_TEXTS)]
    shipped = MiniLm()
    list(shipped.passages(texts[:2]))
    passages = model.passages_made
    model_seconds = passages / rate(lambda: list(shipped.passages([t[:900] for t in texts])), len(texts))
    share = model_seconds / (model_seconds + ours)
    return (f"synthetic vectors; with the shipped model the {passages:,} passages of {records:,} records take "
            f"{model_seconds:.0f} s by its rate in this run, {share:.0%} of the whole")  # fmt: skip


def _changes(bench: Bench, what: str) -> Iterator[Figure]:
    spent = []
    for n in range(_ROUNDS):
        bench.change(1, f"round {n}")
        spent.append(bench.seed())
    yield figure(f"seeding one change beyond the model, {what}", spent, aim=100,
                 note="its floor is in the policy")  # fmt: skip
    made.git(bench.folder, "branch", "other", "main~3")
    switched = []
    for n in range(_ROUNDS):
        made.git(bench.folder, "symbolic-ref", "HEAD", "refs/heads/" + ("other", "main")[n % 2])
        switched.append(bench.seed())
    made.git(bench.folder, "symbolic-ref", "HEAD", "refs/heads/main")
    yield figure(f"switch of branches, snapshot there, {what}", switched, aim=50)
    unseen = []
    for n in range(_ROUNDS):  # a tree that was never seen, made of blobs that all were
        made.git(bench.folder, "symbolic-ref", "HEAD", f"refs/heads/new{n}")
        texts = dict(made.records(n + 2))
        made.git(bench.folder, "branch", f"new{n}", "main")
        made.commit(
            bench.folder, {f"knowledge/moved{n}.yaml": texts[bench.files[n + 1]].replace("id: ", "id: m")}, f"new{n}"
        )
        bench.seed()
        made.commit(bench.folder, {f"knowledge/moved{n}.yaml": texts[bench.files[0]]}, f"new{n}")
        unseen.append(bench.seed())
    made.git(bench.folder, "symbolic-ref", "HEAD", "refs/heads/main")
    yield figure(f"switch to a tree not seen before, nothing to embed, {what}", unseen, aim=50)


def _questions(bench: Bench, what: str) -> Iterator[Figure]:
    titles = [text.split("title: ")[1].split("\n")[0] for _, text in made.records(200)]
    queries = [Query(" ".join(title.split()[:6])) for title in titles]
    bench.provider.recall(queries[0])
    spent = [milliseconds(partial(bench.provider.recall, query)) for query in queries]
    filtered = [
        milliseconds(partial(bench.provider.recall, Query(query.question, kinds=("adr",)))) for query in queries
    ]
    yield figure(f"recall, warm, {what}", spent, note="with its receipt; synthetic vectors")
    yield figure(f"recall, warm, filtered by kind, {what}", filtered)


def _opening(bench: Bench, what: str) -> Iterator[Figure]:
    session = bench.provider.session

    def opened() -> object:
        session._forget()  # noqa: SLF001 - opening is what is measured
        view = session.view()
        return session.plane(view.corpus, bench.model, "en")

    yield timed(f"opening a snapshot with its vectors, {what}", opened)
    script = "import sys; from pathlib import Path; from evals.bench import seeding; seeding.memory(Path(sys.argv[1]))"
    command = [sys.executable, "-P", "-c", script, str(bench.folder)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)  # noqa: S603 - ourselves
    yield figure(f"memory beyond libraries, model and vectors, {what}", [float(done.stdout)], "MB", aim=60)


def memory(folder: Path) -> None:
    """Print the megabytes that opening and twenty questions add to a process that has imported everything.

    Pages of the memory-mapped vectors are no memory of ours and do not count.
    """

    def own() -> float:
        status = Path("/proc/self/status").read_text(encoding="ascii")
        return int(status.split("RssAnon:")[1].split()[0]) / _MEGABYTE

    provider = Provider(folder, embedders=lambda _: [made.Synthetic()])
    made.Synthetic().question("warm")
    before = own()
    for _, text in made.records(20):
        provider.recall(Query(" ".join(text.split("title: ")[1].split()[:6])))
    print(own() - before)


def _growth(scratch: Path, records: int) -> Iterator[Figure]:
    """Change more and more files of one repository; the notes give the points of a log-log plot."""
    bench = Bench(scratch / "growth", records)
    whole = bench.seed()
    spent: dict[int, float] = {}
    for n, size in enumerate(10**n for n in range(6) if 10**n < records):
        bench.change(size, f"growth {n}")
        spent[size] = bench.seed()
        yield figure(f"seeding {size:,} changed of {records:,}", [spent[size]])
    yield figure(f"seeding {records:,} changed of {records:,}", [whole], note="the first seeding")
    bench.provider.close()
    points = sorted({**spent, records: whole}.items())
    yield figure(f"growth of seeding from {records // 100:,} to {records:,} changed", [slope(points)], "slope",
                 note="of a line on two logarithmic axes: 1 is linear, 2 quadratic")  # fmt: skip
