"""`mithril serve` as a process: its first words, its health, reload and stop. No Cognee is there."""

from __future__ import annotations

import os
import re
import signal
import socket
import sqlite3
import subprocess
import sys
import threading
import urllib.error
import urllib.request
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest

WAIT_S = 90.0


@dataclass
class Served:
    """A running `mithril serve` and what it wrote to stderr so far."""

    process: subprocess.Popen[str]
    folder: Path
    lines: list[str] = field(default_factory=list)
    said: threading.Condition = field(default_factory=threading.Condition)

    def listen(self) -> None:
        """Collect stderr until it ends; runs in a thread."""
        assert self.process.stderr is not None
        for line in self.process.stderr:
            with self.said:
                self.lines.append(line)
                self.said.notify_all()

    def wait_for(self, pattern: str) -> re.Match[str]:
        """The first match in what it said."""

        def found() -> re.Match[str] | None:
            return re.search(pattern, "".join(self.lines))

        with self.said:
            assert self.said.wait_for(found, WAIT_S), "".join(self.lines)
        match = found()
        assert match is not None
        return match

    def get(self, path: str, *, url: str | None = None) -> tuple[int, bytes]:
        """Status and body of a GET on the data plane."""
        opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
        base = url or self.wait_for(r"proxy +(http://\S+)")[1]
        try:
            with opener.open(base + path, timeout=30) as answer:
                return answer.status, answer.read()
        except urllib.error.HTTPError as error:
            return error.code, error.read()

    def audit(self, kind: str) -> list[str]:
        """Payloads of the audit rows of one kind."""
        with sqlite3.connect(self.folder / "mithril.db") as database:
            return [row[0] for row in database.execute("select payload from audit where kind = ? order by id", (kind,))]


@pytest.fixture
def served(tmp_path: Path) -> Iterator[Served]:
    (tmp_path / "policy.toml").write_text('name = "mine"\n')
    with socket.create_server(("127.0.0.1", 0)) as closed:
        port = closed.getsockname()[1]
    command = (
        sys.executable, "-m", "mithril_proxy", "serve", "--upstream", f"http://127.0.0.1:{port}",
        "--listen", "127.0.0.1:0", "--admin-listen", "127.0.0.1:0", "--policy", "policy.toml",
    )  # fmt: skip
    path = os.pathsep.join((str(Path(__file__).resolve().parents[2]), os.environ.get("PYTHONPATH", "")))
    environment = {**os.environ, "PYTHONPATH": path, "MITHRIL_JUDGE": "local"}
    process = subprocess.Popen(
        command, cwd=tmp_path, env=environment, stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True
    )
    running = Served(process, tmp_path)
    listener = threading.Thread(target=running.listen)
    listener.start()
    yield running
    process.kill()
    process.wait(WAIT_S)
    listener.join(WAIT_S)
    assert process.stderr is not None
    process.stderr.close()


def test_it_says_where_it_is_how_strict_and_what_to_do_next(served: Served) -> None:
    served.wait_for(r"policy +mine \([0-9a-f]{12}\), mode enforce")
    served.wait_for(r"judge +local")
    served.wait_for(r"unknown writers start at 0\.30")
    served.wait_for(r"mithril sources add my-agent --prior 0\.9")
    token = served.wait_for(r"admin token +(\S+)")[1]
    assert served.get("/_mithril/health/live") == (200, b'{"status":"live"}')
    assert served.get("/_mithril/health/ready")[0] == 200
    assert served.get("/api/v1/datasets")[0] == 502
    admin = served.wait_for(r"review desk +(http://\S+)")[1]
    assert served.get("/api/v1/quarantine", url=admin)[0] == 401
    assert token.encode() not in (served.folder / "mithril.db").read_bytes()


def test_a_wrong_policy_is_refused_on_reload_and_a_right_one_is_taken(served: Served) -> None:
    served.wait_for(r"admin token")
    policy = served.folder / "policy.toml"
    policy.write_text("[thresholds]\nwarn = 2.0\n")
    served.process.send_signal(signal.SIGHUP)
    served.wait_for(r"reload_refused.*thresholds\.warn")
    policy.write_text('name = "second"\n')
    served.process.send_signal(signal.SIGHUP)
    served.wait_for(r"policy\.reloaded")
    assert "reload_refused" in served.audit("policy")[1]
    assert '"event":"reloaded"' in served.audit("policy")[2]


def test_it_stops_when_it_is_told_to(served: Served) -> None:
    served.wait_for(r"admin token")
    assert served.get("/_mithril/health/live")[0] == 200
    served.process.send_signal(signal.SIGTERM)
    assert served.process.wait(WAIT_S) == 0
