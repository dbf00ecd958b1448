"""A throw-away PostgreSQL server for tests: `python tests/postgres.py COMMAND…` runs a command with one.

It lives in a temporary folder, listens on a free port of 127.0.0.1 and is gone when the command ends. The command finds
it in MITHRIL_TEST_POSTGRES_URL. PostgreSQL refuses to run as root, so then it runs as the user `postgres`.
"""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

URL_VARIABLE = "MITHRIL_TEST_POSTGRES_URL"


def binaries() -> Path:
    """The folder of initdb and pg_ctl: on the PATH, or where Debian puts the newest version."""
    on_path = shutil.which("pg_ctl")
    if on_path is not None:
        return Path(on_path).resolve().parent
    found = sorted(Path("/usr/lib/postgresql").glob("*/bin/pg_ctl"), key=lambda path: int(path.parts[-3]))
    if not found:
        raise SystemExit("no PostgreSQL server here; on Debian: apt-get install postgresql")
    return found[-1].parent


def as_user() -> list[str]:
    """The words before a command that must not run as root."""
    return ["setpriv", "--reuid=postgres", "--regid=postgres", "--clear-groups"] if os.geteuid() == 0 else []


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@contextmanager
def cluster() -> Iterator[str]:
    """The URL of a running server with an empty database."""
    folder, port, tools, user = tempfile.mkdtemp(prefix="mithril-postgres-"), free_port(), binaries(), as_user()
    if user:
        shutil.chown(folder, "postgres", "postgres")
    control = [*user, str(tools / "pg_ctl"), "-D", f"{folder}/data", "-s", "-w"]
    options = f"-c listen_addresses=127.0.0.1 -c port={port} -c unix_socket_directories={folder} -c fsync=off"
    try:
        subprocess.run(
            [*user, str(tools / "initdb"), "-D", f"{folder}/data", "-U", "mithril", "-A", "trust", "--no-sync"],
            check=True,
            cwd=folder,
            stdout=subprocess.DEVNULL,
        )
        subprocess.run([*control, "-l", f"{folder}/log", "-o", options, "start"], check=True, cwd=folder)
        try:
            yield f"postgresql+asyncpg://mithril@127.0.0.1:{port}/postgres"
        finally:
            subprocess.run([*control, "-m", "immediate", "stop"], check=True, cwd=folder)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def main() -> int:
    if len(sys.argv) < 2:
        raise SystemExit("usage: python tests/postgres.py COMMAND…")
    with cluster() as url:
        return subprocess.run(sys.argv[1:], check=False, env={**os.environ, URL_VARIABLE: url}).returncode


if __name__ == "__main__":
    sys.exit(main())
