"""The installed version, read from the package's metadata."""

from __future__ import annotations

from importlib.metadata import PackageNotFoundError, version

try:
    VERSION = version("knowledge-sidecar")
except PackageNotFoundError:  # run from a checkout that is not installed
    VERSION = "0+checkout"
