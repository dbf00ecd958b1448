"""What a run has sent already, so that the next one goes on where it stopped.

One line of JSON a record, appended and flushed to disk when its batch was answered. A line that was cut by a crash is
ignored: its record is sent again, and Cognee keeps one text under one name once.
"""

from __future__ import annotations

import fcntl
import json
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from io import TextIOWrapper
from pathlib import Path

from mithril_proxy.errors import ConfigurationError


@dataclass(slots=True)
class Journal:
    """An open journal. `done` maps the digest of a record to what became of it."""

    file: TextIOWrapper
    done: dict[str, str]

    def add(self, lines: Mapping[str, str]) -> None:
        """Keep what became of records (digest → status), durably."""
        self.done.update(lines)
        self.file.writelines(
            json.dumps({"digest": digest, "status": status}) + "\n" for digest, status in lines.items()
        )
        self.file.flush()
        os.fsync(self.file.fileno())


@contextmanager
def opened_journal(path: Path) -> Iterator[Journal]:
    """The journal at `path`, made when it is missing. Raises ConfigurationError when another run holds it."""
    try:
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o600)
    except OSError as error:
        raise ConfigurationError(f"{path}: the journal cannot be opened ({error.strerror}); see --journal") from None
    with os.fdopen(descriptor, "r+", encoding="utf-8") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise ConfigurationError(f"{path}: another run is writing this journal; wait for it") from None
        done = dict(_lines(file.read()))
        yield Journal(_ended(file), done)


def _lines(text: str) -> Iterator[tuple[str, str]]:
    for line in text.splitlines():
        try:
            kept = json.loads(line)
            yield kept["digest"], kept["status"]
        except (ValueError, KeyError, TypeError):
            continue


def _ended(file: TextIOWrapper) -> TextIOWrapper:
    """The file, so that what is added begins on a line of its own."""
    size = file.seek(0, os.SEEK_END)
    if size and os.pread(file.fileno(), 1, size - 1) != b"\n":
        file.write("\n")
    return file
