"""The command line: one small function a command, loaded only when it is called. The only package that prints."""

from __future__ import annotations

import os
import sys
from contextlib import suppress
from typing import Any

from seed.errors import SidecarError
from sidecar.quote import one_line

# command -> (module, attribute). A command's module is imported when it is called or when its help is shown.
COMMANDS: dict[str, tuple[str, str]] = {
    "init": ("sidecar.cli.init_cmd", "init"),
    "seed": ("sidecar.cli.seed_cmd", "seed"),
    "recall": ("sidecar.cli.recall_cmd", "recall"),
    "show": ("sidecar.cli.read_cmd", "show"),
    "list": ("sidecar.cli.read_cmd", "list_"),
    "why": ("sidecar.cli.read_cmd", "why"),
    "graph": ("sidecar.cli.graph_cmd", "graph"),
    "check": ("sidecar.cli.check_cmd", "check"),
    "new": ("sidecar.cli.write_cmd", "new"),
    "renumber": ("sidecar.cli.write_cmd", "renumber"),
    "propose": ("sidecar.cli.propose_cmd", "propose"),
    "candidates": ("sidecar.cli.propose_cmd", "candidates"),
    "promote": ("sidecar.cli.propose_cmd", "promote"),
    "withdraw": ("sidecar.cli.propose_cmd", "withdraw"),
    "done": ("sidecar.cli.propose_cmd", "done"),
    "review": ("sidecar.cli.review_cmd", "review"),
    "conflicts": ("sidecar.cli.conflicts_cmd", "conflicts"),
    "audit": ("sidecar.cli.audit_cmd", "audit"),
    "context": ("sidecar.cli.context_cmd", "context"),
    "receipts": ("sidecar.cli.receipts_cmd", "receipts"),
    "calibrate": ("sidecar.cli.calibrate_cmd", "calibrate"),
    "import": ("sidecar.cli.import_cmd", "command"),
    "export": ("sidecar.cli.export_cmd", "export"),
    "transcript": ("sidecar.cli.transcript_cmd", "command"),
    "hooks": ("sidecar.cli.hooks_cmd", "hooks"),
    "serve": ("sidecar.cli.serve_cmd", "serve"),
    "explore": ("sidecar.cli.explore_cmd", "explore"),
    "schema": ("sidecar.cli.check_cmd", "schema"),
    "completion": ("sidecar.cli.completion_cmd", "completion"),
    "doctor": ("sidecar.cli.doctor_cmd", "doctor"),
    "gc": ("sidecar.cli.keep_cmd", "gc"),
    "backup": ("sidecar.cli.keep_cmd", "backup"),
    "restore": ("sidecar.cli.keep_cmd", "restore"),
}


_SYSTEM = (OSError, MemoryError, RecursionError)


def main(arguments: list[str] | None = None) -> int:
    """Run one command and return its exit code: 0 fine, 1 a gate or check failed, 2 wrong usage or a failure.

    This is the one place of the command line that turns errors into exit codes.
    """
    # What is multiplied here waits for memory, not for arithmetic, and threads of it wait for each other where others
    # use the cores. NumPy reads this when it is loaded; the models' own threads are another library's.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    import click

    from sidecar.cli.group import sidecar

    _plain_streams()
    try:
        result = sidecar.main(arguments, prog_name="sidecar", standalone_mode=False)
    except click.exceptions.NoArgsIsHelpError as exc:
        exc.show()
        return 2
    except BrokenPipeError:
        sys.stderr.close()
        return 0
    except (
        SidecarError,
        click.ClickException,
        click.Abort,
        KeyboardInterrupt,
        UnicodeDecodeError,
        *_SYSTEM,
    ) as exc:
        return _fail(exc, as_json="--json" in (sys.argv[1:] if arguments is None else arguments))
    return result if isinstance(result, int) else 0


def _told(exc: BaseException) -> tuple[str, str, int]:
    """Return what happened, what to do about it, and the exit code."""
    import click

    if isinstance(exc, SidecarError):
        return exc.message, exc.fix, exc.code
    if isinstance(exc, click.ClickException):
        hint = f"see '{exc.ctx.command_path} --help'" if isinstance(exc, click.UsageError) and exc.ctx else ""
        return exc.format_message(), hint, 2
    if isinstance(exc, UnicodeDecodeError):
        return "the input is not UTF-8 text", "save it as UTF-8, or name the file that was meant", 2
    if isinstance(exc, (click.Abort, KeyboardInterrupt)):
        return "stopped", "nothing half-done is kept", 130
    where = getattr(exc, "filename", None)
    if where:
        reason = getattr(exc, "strerror", None) or exc
        return f"{where}: {reason}", "check that it exists, is readable, and that the disk has room", 2
    return str(exc or type(exc).__name__), "see 'sidecar doctor'", 2


def _fail(exc: BaseException, *, as_json: bool) -> int:
    """Say the error in one line on standard error; with --json also as an object, so that its reader gets one.

    An error that holds several problems of one file in ``lines`` is a line for each.
    """
    message, fix, code = _told(exc)
    for line in getattr(exc, "lines", None) or [f"{message} - {fix}" if fix else message]:
        print("sidecar: " + one_line(line), file=sys.stderr)  # a repository it quotes must not steer a terminal
    if as_json:
        from sidecar.cli.common import print_json

        with suppress(OSError):  # the reader may be what failed
            print_json({"format": 1, "error": {"message": message, "fix": fix, "code": code}})
            sys.stdout.flush()
    return code


def _plain_streams() -> None:
    """Let a console that cannot show a character print an escape for it, never a traceback."""
    for stream in (sys.stdout, sys.stderr):
        reconfigure: Any = getattr(stream, "reconfigure", None)
        if reconfigure is not None:
            reconfigure(errors="backslashreplace")


def run() -> None:
    """Entry point of the installed command."""
    sys.exit(main())
