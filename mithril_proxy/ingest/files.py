"""Files and folders: .txt and .md are one record, .jsonl and .csv one a line, .mbox one a mail."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from mithril_proxy.cognee.uploads import decode_text
from mithril_proxy.errors import ConfigurationError
from mithril_proxy.ingest.archive import MAX_MEMBER_BYTES, Folder
from mithril_proxy.ingest.mail import mail_readings
from mithril_proxy.ingest.records import BadLine, Reading, Record, Skipped, moment_of

SUFFIXES = frozenset({".txt", ".md", ".jsonl", ".csv", ".mbox"})
TEXT_NAMES = ("text", "content", "message", "body")
TIME_NAMES = ("claimed_at", "created_at", "timestamp", "date", "time")
MAX_NAME_CHARS = 120


@dataclass(frozen=True, slots=True)
class Place:
    """One file: where it is, and what it is called in memory."""

    path: Path
    name: str

    def filename(self, line: int) -> str:
        """The name of one record of it, the same at every run."""
        return f"{self.name}__{line}.txt"


def find_files(paths: Iterable[Path]) -> tuple[Place, ...]:
    """The files that paths mean; of a folder, those of a known kind. Raises ConfigurationError for any other file."""
    found = [place for path in paths for place in _places(path)]
    if not found:
        raise ConfigurationError(f"no file of a known kind: {', '.join(sorted(SUFFIXES))}")
    return tuple(found)


def _places(path: Path) -> Iterator[Place]:
    if path.is_dir():
        for name in Folder(path).names():
            if Path(name).suffix.lower() in SUFFIXES:
                yield Place(path / name, _flat(f"{path.resolve().name}/{name}"))
        return
    if path.suffix.lower() not in SUFFIXES:
        raise ConfigurationError(f"{path}: unknown kind; known are {', '.join(sorted(SUFFIXES))} and folders of them")
    yield Place(path, _flat(path.name))


def _flat(name: str) -> str:
    """A path as one file name: two files of the same name in different folders stay apart."""
    return name.replace("/", "__")[-MAX_NAME_CHARS:]


def file_readings(places: Iterable[Place]) -> Iterator[Reading]:
    """Every record of these files, in order."""
    for place in places:
        yield from _readings(place)


def _readings(place: Place) -> Iterator[Reading]:
    suffix = place.path.suffix.lower()
    if suffix == ".mbox":
        yield from mail_readings(place.path, place.filename)
        return
    try:
        text, changed_at = _read(place.path)
    except OSError as error:
        yield BadLine(place.name, 0, f"cannot be read ({error.strerror})")
        return
    except ValueError as error:
        yield BadLine(place.name, 0, str(error))
        return
    if suffix in (".txt", ".md"):
        yield _whole(place, text, changed_at)
    else:
        yield from (_jsonl if suffix == ".jsonl" else _csv)(place, text)


def _read(path: Path) -> tuple[str, datetime]:
    """(text, when the file was last changed). Raises OSError, ValueError."""
    with path.open("rb") as file:
        content = file.read(MAX_MEMBER_BYTES + 1)
    if len(content) > MAX_MEMBER_BYTES:
        raise ValueError(f"is longer than {MAX_MEMBER_BYTES} bytes; split it")
    text = decode_text(content)
    if text is None:
        raise ValueError("is not text")
    return text, datetime.fromtimestamp(path.stat().st_mtime, UTC)


def _whole(place: Place, text: str, changed_at: datetime) -> Reading:
    if not text.strip():
        return Skipped(place.name, 1)
    return Record(text, place.name, 1, place.name, changed_at, metadata={"file": place.name})


def _jsonl(place: Place, text: str) -> Iterator[Reading]:
    """A string or an object with a text a line."""
    for number, line in enumerate(text.splitlines(), start=1):
        if not line.strip():
            continue
        try:
            value = json.loads(line)
        except (ValueError, RecursionError):
            yield BadLine(place.name, number, "is not valid JSON")
            continue
        yield _row(place, number, {"text": value} if isinstance(value, str) else value)


def _csv(place: Place, text: str) -> Iterator[Reading]:
    """A row a record; without a column of text, all columns of it with their names."""
    rows = csv.DictReader(io.StringIO(text, newline=""), strict=True, restkey="")
    try:
        for row in rows:
            yield _csv_row(place, rows.line_num, row)
    except csv.Error as error:
        yield BadLine(place.name, rows.line_num + 1, f"is no CSV: {error}")


def _csv_row(place: Place, line: int, row: Mapping[str, Any]) -> Reading:
    if "" in row and isinstance(row[""], list):
        return BadLine(place.name, line, "has more cells than the header")
    named = {name.strip().lower(): value for name, value in row.items() if name and value}
    if not any(name in named for name in TEXT_NAMES):
        spoken = [f"{name}: {value}" for name, value in row.items() if name and value]
        named["text"] = "\n".join(spoken)
    return _row(place, line, named)


def _row(place: Place, line: int, row: Any) -> Reading:
    """One record out of named values."""
    if not isinstance(row, Mapping):
        return BadLine(place.name, line, "is neither an object nor a string")
    text = next((row[name] for name in TEXT_NAMES if name in row), None)
    if not isinstance(text, str):
        return BadLine(place.name, line, f"has no text: expected one of {', '.join(TEXT_NAMES)}")
    if not text.strip():
        return Skipped(place.name, line)
    claimed_at = next((moment for name in TIME_NAMES if (moment := moment_of(row.get(name))) is not None), None)
    return Record(text, place.name, line, place.filename(line), claimed_at, metadata={"file": place.name, "line": line})
