from __future__ import annotations

import os
import subprocess
import sys

import pytest

ASKED = (
    "import os, sys; from sidecar.cli import main; early = 'numpy' in sys.modules; main(['--version']);"
    " import numpy; status = open('/proc/self/status').read();"
    " print(early, os.environ['OPENBLAS_NUM_THREADS'], status.split('Threads:')[1].split()[0])"
)


@pytest.mark.skipif(sys.platform != "linux", reason="threads are counted where Linux tells them")
@pytest.mark.parametrize(("given", "wanted"), [("", ["False", "1", "1"]), ("2", ["False", "2"])])
def test_every_command_multiplies_by_one_thread(given: str, wanted: list[str]) -> None:
    """It is set before NumPy is loaded, whichever command runs, unless the user has set it."""
    environment = {name: value for name, value in os.environ.items() if not name.endswith("_NUM_THREADS")}
    environment |= {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    if given:
        environment["OPENBLAS_NUM_THREADS"] = given
    done = subprocess.run([sys.executable, "-c", ASKED], capture_output=True, text=True, env=environment, check=True)
    assert done.stdout.split("\n")[-2].split()[: len(wanted)] == wanted
