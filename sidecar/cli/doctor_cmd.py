"""`sidecar doctor`: what is wrong here, how that shows, and what mends it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from sidecar.cli.common import examples, json_option, print_json, repo_option
from sidecar.quote import one_line

if TYPE_CHECKING:
    from sidecar.doctor.finding import Report


@click.command(epilog=examples("sidecar doctor", "sidecar doctor --deep --json"))
@click.option(
    "--deep", is_flag=True, help="Also probe hooks by a commit in a temporary clone, and read all that is kept."
)
@click.option("--all", "everything", is_flag=True, help="Show what is in order too.")
@json_option
@repo_option
def doctor(deep: bool, everything: bool, as_json: bool, repo: str) -> int:
    """Examine everything that answers stand on; reads only. Exit code 1 with a warning, 2 with a critical finding."""
    from sidecar.doctor.diagnose import diagnose

    report = diagnose(Path(repo), deep=deep)
    if as_json:
        print_json(report.to_data())
    else:
        print("\n".join(lines(report, everything=everything)))
    return report.code


def lines(report: Report, *, everything: bool) -> list[str]:
    """Return the text of a report: one line a finding, its fix below it, and one line that sums up."""
    found = []
    for finding in report.findings:
        if everything or finding.severity != "ok":
            found.append(f"{finding.severity:<8} {finding.check}: {one_line(finding.evidence)}")
            found += [f"{'':<8} -> {one_line(finding.fix)}"] if finding.fix else []
    counts = {name: sum(f.severity == name for f in report.findings) for name in ("critical", "warning", "info", "ok")}
    told = ", ".join(f"{count} {name}" for name, count in counts.items() if count)
    hint = "" if everything else "; --all shows what is in order"
    return [*found, f"{len(report.findings)} findings: {told}{hint}."]
