"""Server programs that this program starts, waits for and ends: nothing else is ever signalled.

1. A child runs in a session of its own, so that Ctrl-C reaches it only through us, in our order.
2. Its pid is written down; when a run was killed, the next one ends what that run left behind in the same folder,
   and only when the pid still has that folder as its working directory.
3. Its output goes to a log file; a failure to start quotes the file's end.
"""

from __future__ import annotations

import contextlib
import http.client
import os
import signal
import socket
import subprocess
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from mithril_proxy.errors import DemoFailed

Progress = Callable[[str], None]

_GRACE_S = 20.0  # Cognee takes 2-3 s to close its stores (measured on 1.6.5)
_POLL_S = 0.25
_REPORT_EVERY_S = 5.0
_QUOTED_LINES = 15
_INHERITED = ("PATH", "LANG", "LC_ALL", "TZ", "TMPDIR", "SSL_CERT_FILE", "SSL_CERT_DIR", "REQUESTS_CA_BUNDLE")


@dataclass(frozen=True, slots=True)
class Program:
    """How to run one server: `folder` is its working directory and holds its log and pid."""

    name: str
    arguments: tuple[str, ...]
    folder: Path
    environment: Mapping[str, str]

    @property
    def log(self) -> Path:
        """Where its output goes."""
        return self.folder / f"{self.name}.log"

    @property
    def pid_file(self) -> Path:
        """Where its pid is written down while it runs."""
        return self.folder / f"{self.name}.pid"


def base_environment() -> dict[str, str]:
    """What a child needs of our environment; no setting of the user's reaches it by chance."""
    return {name: os.environ[name] for name in _INHERITED if name in os.environ}


def quiet(_line: str) -> None:
    """Progress that nobody wants to see."""


def free_port(preferred: int = 0) -> int:
    """`preferred` when nothing listens there, else some free port of the loopback interface."""
    for port in (preferred, 0):
        with socket.socket() as probe, contextlib.suppress(OSError):
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            probe.bind(("127.0.0.1", port))
            return int(probe.getsockname()[1])
    raise DemoFailed("no free port on 127.0.0.1")


@contextlib.contextmanager
def running(
    program: Program, ready_url: str, *, deadline_s: float = 180.0, progress: Progress = quiet
) -> Iterator[subprocess.Popen[bytes]]:
    """The program, started and answering 200 at `ready_url`; it is ended on the way out.

    Raises DemoFailed when it exits or is not ready in time.
    """
    program.folder.mkdir(parents=True, exist_ok=True)
    end_leftovers(program.folder)
    with program.log.open("ab") as log:
        child = subprocess.Popen(  # noqa: S603 - a program that this package composes
            program.arguments,
            cwd=program.folder,
            env=dict(program.environment),
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
    program.pid_file.write_text(f"{child.pid}\n")
    try:
        _wait_until_ready(program, child, ready_url, deadline_s, progress)
        yield child
    finally:
        stop(child)
        program.pid_file.unlink(missing_ok=True)


def stop(child: subprocess.Popen[bytes], grace_s: float = _GRACE_S) -> None:
    """Ends `child`: SIGTERM, and SIGKILL when it has not left after `grace_s`."""
    if child.poll() is not None:
        return
    child.terminate()
    try:
        child.wait(grace_s)
    except subprocess.TimeoutExpired:
        child.kill()
        child.wait()


def answers(url: str) -> bool:
    """True when a GET of `url` answers 200."""
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    try:
        with opener.open(url, timeout=10) as response:
            return bool(response.status == 200)
    except (OSError, http.client.HTTPException):  # URLError and HTTPError are OSErrors
        return False


def _wait_until_ready(
    program: Program, child: subprocess.Popen[bytes], url: str, deadline_s: float, progress: Progress
) -> None:
    started = reported = time.monotonic()
    while not answers(url):
        now = time.monotonic()
        waited = now - started
        if child.poll() is not None:
            raise DemoFailed(f"{program.name} exited with {child.returncode}.\n{_end_of_log(program)}")
        if waited > deadline_s:
            raise DemoFailed(f"{program.name} was not ready after {deadline_s:.0f} s.\n{_end_of_log(program)}")
        if now - reported >= _REPORT_EVERY_S:
            reported = now
            progress(f"waiting for {program.name} ({waited:.0f} s)")
        time.sleep(_POLL_S)
    progress(f"{program.name} is ready after {time.monotonic() - started:.1f} s")


def _end_of_log(program: Program) -> str:
    lines = program.log.read_text("utf-8", "replace").splitlines()[-_QUOTED_LINES:]
    return "\n".join([f"The end of {program.log}:", *lines])


def end_leftovers(folder: Path) -> None:
    """Ends the programs that an earlier, killed run left behind below `folder`."""
    for pid_file in folder.rglob("*.pid"):
        with contextlib.suppress(OSError, ValueError):
            _end(int(pid_file.read_text()), pid_file.parent)


def _end(pid: int, folder: Path) -> None:
    deadline = time.monotonic() + _GRACE_S
    sent = signal.SIGTERM
    while _runs_in(pid, folder):
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, sent)
        sent = signal.SIGKILL if time.monotonic() > deadline else sent
        time.sleep(_POLL_S)


def _runs_in(pid: int, folder: Path) -> bool:
    """True when `pid` runs with `folder` as its working directory; where that cannot be known, False."""
    try:
        return Path(os.readlink(f"/proc/{pid}/cwd")) == folder.resolve()
    except OSError:
        return False


def foreign_module(python: Path, module: str, arguments: Sequence[str]) -> tuple[str, ...]:
    """The command that runs one of our modules with another environment's Python.

    Our own folder is put last on its path: its packages stay its own, and only what it lacks comes from us.
    """
    ours = Path(__file__).resolve().parents[2]
    return (str(python), "-c", _RUN_MODULE, str(ours), module, *arguments)


_RUN_MODULE = """
import runpy, sys
sys.path.append(sys.argv[1])
sys.argv[:] = sys.argv[2:]
runpy.run_module(sys.argv[0], run_name="__main__", alter_sys=True)
"""
