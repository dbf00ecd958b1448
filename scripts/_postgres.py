"""A PostgreSQL server of our own for the tests: an empty cluster in a temporary folder, gone afterwards."""

from __future__ import annotations

import contextlib
import os
import shutil
import socket
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path


def postgres_programs() -> Path | None:
    """The folder of initdb and pg_ctl: the newest that Debian installed, else the one on PATH."""
    installed = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"), key=lambda path: int(path.parts[-3]))
    found = str(installed[-1]) if installed else shutil.which("initdb")
    return Path(found).parent if found else None


@contextlib.contextmanager
def running_postgres() -> Iterator[str]:
    """The URL of an empty database that trusts every caller on the loopback interface."""
    programs = postgres_programs()
    assert programs is not None  # the caller has looked
    with tempfile.TemporaryDirectory(prefix="mithril-postgres-") as folder:
        if os.geteuid() == 0:
            shutil.chown(folder, "postgres")
        cluster, port = f"{folder}/cluster", _free_port()
        settings = f"-p {port} -c listen_addresses=127.0.0.1 -c unix_socket_directories={folder} -c max_connections=300"
        _as_postgres(programs / "initdb", "-D", cluster, "-U", "postgres", "-A", "trust", "--no-sync")
        _as_postgres(programs / "pg_ctl", "-D", cluster, "-w", "-l", f"{folder}/log", "-o", settings, "start")
        try:
            yield f"postgresql+asyncpg://postgres@127.0.0.1:{port}/postgres"
        finally:
            _as_postgres(programs / "pg_ctl", "-D", cluster, "-w", "-m", "immediate", "stop")


def _as_postgres(*command: str | Path) -> None:
    """Runs a command quietly, as the user `postgres` when we are root: PostgreSQL refuses root."""
    prefix = ["runuser", "-u", "postgres", "--"] if os.geteuid() == 0 else []
    subprocess.run([*prefix, *map(str, command)], cwd="/", stdout=subprocess.DEVNULL, check=True)


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])
