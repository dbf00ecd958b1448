"""What readers give: one record a text, one bad line for what cannot be read."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime

from mithril_proxy.client import Document


@dataclass(frozen=True, slots=True)
class Record:
    """One text with where and whom it came from.

    `origin` is the channel or file, `line` its number in there, from 1. `claimed_at` is when it was said: it can lower
    the freshness of a claim and never raise it. `channel` and `author_id` choose the source, where the policy maps
    them; `author_id` is empty where nobody vouches for it.
    """

    text: str
    origin: str
    line: int
    filename: str
    claimed_at: datetime | None = None
    channel: str = ""
    author_id: str = ""
    metadata: Mapping[str, object] = field(default_factory=dict)

    @property
    def document(self) -> Document:
        """The text as it is sent."""
        return Document(self.text, self.filename, self.claimed_at, self.metadata)

    def digest(self, dataset: str, source: str) -> str:
        """SHA-256, hex, of everything that makes this write the same one when a run is repeated."""
        fields = (dataset, source, self.filename, self.text)
        return hashlib.sha256(json.dumps(fields).encode()).hexdigest()


@dataclass(frozen=True, slots=True)
class BadLine:
    """Something that is no record. `reason` never holds its text."""

    origin: str
    line: int
    reason: str


@dataclass(frozen=True, slots=True)
class Skipped:
    """Something that says nothing: a member who joined, a message that was deleted."""

    origin: str
    line: int


Reading = Record | BadLine | Skipped


def moment_of(value: object) -> datetime | None:
    """The aware time that a value gives: ISO 8601 text, or seconds since 1970; None when it gives none."""
    try:
        if isinstance(value, str) and not value.replace(".", "", 1).isdigit():
            moment = datetime.fromisoformat(value)
            return moment if moment.tzinfo else moment.replace(tzinfo=UTC)
        if isinstance(value, (str, int, float)) and not isinstance(value, bool):
            return datetime.fromtimestamp(float(value), UTC)
    except (ValueError, OverflowError, OSError):
        return None
    return None
