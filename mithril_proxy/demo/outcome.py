"""What Mithril decided, read from its database as any operator can, and where a text left traces on disk."""

from __future__ import annotations

import contextlib
import json
import sqlite3
from dataclasses import dataclass
from pathlib import Path

from mithril_proxy.types import Status

_QUERY = """
select decisions.*, events.after as reputation_after
from decisions left join reputation_events as events on events.decision_id = decisions.id
order by decisions.at, decisions.id
"""


@dataclass(frozen=True, slots=True)
class Decided:
    """One row of the table `decisions`, as far as the demo shows it."""

    id: str
    source: str
    status: Status
    score: float
    source_reputation: float
    reputation_after: float | None
    corroboration: float
    freshness: float
    contradiction: float
    content_danger: float
    reasons: tuple[str, ...]


def decisions(database: Path) -> list[Decided]:
    """Every decision in the database, oldest first."""
    with contextlib.closing(sqlite3.connect(f"file:{database}?mode=ro", uri=True)) as connection:
        connection.row_factory = sqlite3.Row
        return [_decided(row) for row in connection.execute(_QUERY)]


def files_that_hold(folder: Path, needle: bytes) -> list[Path]:
    """The files below `folder` that hold `needle`, byte for byte."""
    return [path for path in sorted(folder.rglob("*")) if path.is_file() and needle in _bytes(path)]


def _bytes(path: Path) -> bytes:
    """What stands in a file; nothing when a server removed it meanwhile."""
    with contextlib.suppress(FileNotFoundError):
        return path.read_bytes()
    return b""


def _decided(row: sqlite3.Row) -> Decided:
    plain = {name: row[name] for name in Decided.__dataclass_fields__}
    return Decided(**{**plain, "status": Status(plain["status"]), "reasons": tuple(json.loads(plain["reasons"]))})
