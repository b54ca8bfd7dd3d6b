"""Run the command line as ``python -m sidecar``."""

from sidecar.cli import run

if __name__ == "__main__":
    run()
