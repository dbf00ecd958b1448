"""Mithril itself as a program of its own, in front of a Cognee, with its database in a folder of ours."""

from __future__ import annotations

import contextlib
import json
import subprocess
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from mithril_proxy.demo.children import Program, Progress, base_environment, free_port, quiet, running
from mithril_proxy.demo.cognee_server import Cognee
from mithril_proxy.errors import DemoFailed

_COMMAND = (sys.executable, "-m", "mithril_proxy")


@dataclass(frozen=True, slots=True)
class MithrilSetup:
    """Where Mithril keeps its files and what it stands in front of; `environment` adds or replaces settings."""

    folder: Path
    upstream: Cognee
    environment: Mapping[str, str] = field(default_factory=dict)
    port: int = 0
    admin_port: int = 0


@dataclass(frozen=True, slots=True)
class Mithril:
    """A Mithril that answers. `environment` makes `mithril` commands act on its database."""

    url: str
    admin_url: str
    folder: Path
    log: Path
    environment: Mapping[str, str]

    @property
    def database(self) -> Path:
        """Its SQLite file."""
        return self.folder / "mithril.db"

    def command(self, *arguments: str) -> str:
        """What `mithril ARGUMENTS` prints. Raises DemoFailed when it fails."""
        done = subprocess.run(  # noqa: S603 - our own command
            (*_COMMAND, *arguments), cwd=self.folder, env=dict(self.environment), capture_output=True, text=True
        )
        if done.returncode:
            raise DemoFailed(f"mithril {arguments[0]} exited with {done.returncode}: {done.stderr.strip()}")
        return done.stdout

    def add_source(self, name: str, prior: float) -> str:
        """The Mithril key of a newly registered source."""
        added: dict[str, Any] = json.loads(self.command("sources", "add", name, "--prior", str(prior), "--json"))
        return str(added["key"])


@contextlib.contextmanager
def running_mithril(setup: MithrilSetup, *, progress: Progress = quiet) -> Iterator[Mithril]:
    """`mithril serve` in front of `setup.upstream`, ready to be used. Raises DemoFailed when it does not start."""
    folder = setup.folder.resolve()
    listen, admin = (f"127.0.0.1:{free_port(port)}" for port in (setup.port, setup.admin_port))
    environment = {**_settings(folder, setup.upstream, listen, admin), **setup.environment}
    program = Program("mithril", (*_COMMAND, "serve"), folder, environment)
    with running(program, f"http://{listen}/_mithril/health/ready", deadline_s=60.0, progress=progress):
        yield Mithril(f"http://{listen}", f"http://{admin}", folder, program.log, environment)


def _settings(folder: Path, upstream: Cognee, listen: str, admin: str) -> dict[str, str]:
    key = {"MITHRIL_UPSTREAM_API_KEY": upstream.api_key} if upstream.api_key else {}
    return {
        **base_environment(),
        "PYTHONPATH": str(Path(__file__).resolve().parents[2]),
        "MITHRIL_UPSTREAM_URL": upstream.url,
        "MITHRIL_LISTEN": listen,
        "MITHRIL_ADMIN_LISTEN": admin,
        "MITHRIL_DATABASE_URL": f"sqlite+aiosqlite:///{folder / 'mithril.db'}",
        "MITHRIL_JUDGE": "local",
        **key,
    }
