"""`sidecar calibrate`: measure the no-match floor and write it into the policy."""

from __future__ import annotations

import click

from sidecar.cli.common import Progress, examples, json_option, print_json, provider, repo_option


@click.command(epilog=examples("sidecar calibrate --dry-run", "sidecar calibrate"))
@click.option(
    "--method",
    type=click.Choice(["max_probe", "conformal"]),
    default="max_probe",
    show_default=True,
    help="The highest probe, or a bound of 5 % on false answers.",
)
@click.option("--dry-run", is_flag=True, help="Measure and print, write nothing.")
@json_option
@repo_option
def calibrate(method: str, dry_run: bool, as_json: bool, repo: str) -> None:
    """Measure the floor from questions that no record answers, and write it into knowledge/policy.yaml."""
    from seed.errors import SidecarError
    from sidecar import calibrate as core

    progress = Progress(quiet=as_json)
    with provider(repo) as opened:
        if not dry_run and opened.session.repo.bare:
            raise SidecarError("a bare repository has no working tree to write the policy into", "run it in a clone")
        found = core.run(opened, progress, method)
        path = None if dry_run else core.write(opened.session.repo.root, found, opened.clock())
    progress.close()
    if as_json:
        print_json({"format": 1, "floors": core.report(found), "written": str(path) if path else ""})
        return
    for floor in found:
        result = floor.result
        print(f"{floor.model}: floor {result.value:.2f} on {floor.on}, over {result.count} probes")
        print(f"  set by {result.probe!r}; without it {result.without:.2f}")
        for probe in result.left_out:
            print(f"  left out, since your records answer it: {probe!r}")
    print(f"Written to {path}; in force once committed." if path else "Nothing written.")
