"""The audit's hash chains: how a row is sealed, linked, checked and written out. Pure.

1. Every writer has a chain of its own: rows numbered from 1, each holding the digest of the one before.
2. The first row of a chain is of kind `writer`. It is numbered among all chains of the database (`ordinal`), names the
   first row of the chain opened before it (`predecessor`) and the row that stood last in the whole audit (`after`).
   So a chain that is taken out as a whole leaves a gap, and a chain whose end was cut off is missed by the next one.
3. What a chain cannot show is the loss of its own newest rows, or that all of it was computed anew. An anchor, the
   digests of the last rows kept somewhere else, shows both.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Protocol

import orjson

GENESIS = "0" * 64
WRITER_KIND = "writer"


@dataclass(frozen=True, slots=True)
class SealedRow:
    """One row as it is stored. `at` is ISO 8601 text, `payload` canonical JSON: the digest covers these bytes."""

    id: int
    writer: str
    sequence: int
    at: str
    kind: str
    subject: str
    payload: str
    previous: str
    digest: str


@dataclass(frozen=True, slots=True)
class Link:
    """The end of a chain: what its next row has to continue."""

    writer: str
    sequence: int = 0
    digest: str = GENESIS


def canonical(payload: Mapping[str, Any]) -> str:
    """The one JSON text of a payload: keys sorted, no white space, no number that JSON lacks.

    Raises TypeError or ValueError for what JSON cannot hold.
    """
    try:
        return orjson.dumps(payload, option=orjson.OPT_SORT_KEYS).decode()
    except TypeError:  # lone surrogates, very long integers: the slower encoder escapes them
        return json.dumps(payload, sort_keys=True, separators=(",", ":"), ensure_ascii=True, allow_nan=False)


def digest_of(link: Link, at: str, kind: str, subject: str, payload: str) -> str:
    """SHA-256, hex, of the row that follows `link`, over its fields as a JSON list: none can leak into another."""
    fields = (link.writer, link.sequence + 1, at, kind, subject, payload, link.digest)
    return hashlib.sha256(orjson.dumps(fields)).hexdigest()


def seal(link: Link, at: str, kind: str, subject: str, payload: str) -> tuple[dict[str, Any], Link]:
    """The columns of the row that follows `link`, and the new end of the chain."""
    digest = digest_of(link, at, kind, subject, payload)
    columns = {
        "writer": link.writer,
        "sequence": link.sequence + 1,
        "at": at,
        "kind": kind,
        "subject": subject,
        "payload": payload,
        "previous": link.digest,
        "digest": digest,
    }
    return columns, Link(link.writer, link.sequence + 1, digest)


def opening(ordinal: int, predecessor: str, after: str) -> str:
    """The payload of a chain's first row."""
    return canonical({"ordinal": ordinal, "predecessor": predecessor, "after": after})


@dataclass(slots=True)
class ChainVerifier:
    """Checks an audit row by row, in order of id. `broken` names the first row that is wrong.

    Feed every row to `check`, then call `finish`. It holds one entry a writer, however long the audit is.
    """

    anchors: Mapping[str, str] = field(default_factory=dict)
    rows: int = 0
    broken: str | None = None
    heads: dict[str, str] = field(default_factory=dict)
    _sequences: dict[str, int] = field(default_factory=dict)
    _missing: dict[str, str] = field(init=False)
    _covered: set[str] = field(default_factory=set)
    _chains: int = 0
    _last_opening: str = GENESIS
    _last_digest: str = GENESIS

    def __post_init__(self) -> None:
        self._missing = dict(self.anchors)

    def check(self, row: SealedRow) -> None:
        """Take the next row into account. Nothing after the first broken row is judged."""
        self.rows += 1
        if self.broken is not None:
            return
        fault = self._fault(row)
        if fault is not None:
            self.broken = f"row {row.id} (writer {row.writer}, sequence {row.sequence}): {fault}"
            return
        self._accept(row)

    def finish(self) -> None:
        """Say which anchored rows never came, unless something was broken before."""
        if self.broken is None and self._missing:
            writer, digest = next(iter(sorted(self._missing.items())))
            self.broken = f"anchored row {digest} of writer {writer} is missing: its chain was cut or written anew"

    @property
    def open_heads(self) -> dict[str, str]:
        """The ends of chains that no later chain names: what an anchor has to keep."""
        return {writer: digest for writer, digest in self.heads.items() if digest not in self._covered}

    def _fault(self, row: SealedRow) -> str | None:
        """What is wrong with a row, given all rows before it."""
        end = Link(row.writer, self._sequences.get(row.writer, 0), self.heads.get(row.writer, GENESIS))
        if row.sequence != end.sequence + 1:
            return f"sequence {end.sequence + 1} was due: rows are missing, doubled or out of order"
        if row.previous != end.digest:
            return "it does not continue the row before it"
        if row.digest != digest_of(end, row.at, row.kind, row.subject, row.payload):
            return "its digest does not match its content"
        if (row.sequence == 1) != (row.kind == WRITER_KIND):
            return "a chain begins with a row of kind `writer`, and has only one"
        if row.sequence == 1 and row.payload != opening(self._chains + 1, self._last_opening, self._last_digest):
            return "it does not follow the chains opened before it: a chain, or the end of one, is missing"
        return None

    def _accept(self, row: SealedRow) -> None:
        if row.sequence == 1:
            self._chains += 1
            self._last_opening = row.digest
            self._covered.add(self._last_digest)
        self._sequences[row.writer] = row.sequence
        self.heads[row.writer] = self._last_digest = row.digest
        if self._missing.get(row.writer) == row.digest:
            del self._missing[row.writer]


def anchor_line(at: str, rows: int, heads: Mapping[str, str]) -> str:
    """An anchor as one line of JSON, to be kept where the database's writers cannot reach."""
    return canonical({"mithril_anchor": 1, "at": at, "rows": rows, "heads": dict(heads)})


def read_anchor(line: str) -> dict[str, str]:
    """The heads (writer → digest) of a line that `anchor_line` wrote. Raises ValueError when it is none."""
    anchor = json.loads(line)
    if not isinstance(anchor, dict) or anchor.get("mithril_anchor") != 1 or not isinstance(anchor.get("heads"), dict):
        raise ValueError("not an anchor: expected a line printed by `mithril audit anchor`")
    return {str(writer): str(digest) for writer, digest in anchor["heads"].items()}


_SEVERITY_BY_STATUS = {"review": 2, "quarantine": 3, "reject": 4}  # OCSF: 1 informational, 2 low, 3 medium, 4 high
_SEVERITY_BY_KIND = {"refused": 3}


class AuditRecord(Protocol):
    """An audit row with its time and payload opened: `mithril_proxy.store.interface.AuditRow`."""

    @property
    def id(self) -> int:
        """Its number among all rows of the database."""
        ...

    @property
    def writer(self) -> str:
        """Its chain."""
        ...

    @property
    def sequence(self) -> int:
        """Its number in the chain."""
        ...

    @property
    def at(self) -> datetime:
        """When it was appended."""
        ...

    @property
    def kind(self) -> str:
        """What it tells: decision, outcome, release …"""
        ...

    @property
    def subject(self) -> str:
        """What it is about: the id of a decision, an entry, a source."""
        ...

    @property
    def payload(self) -> Mapping[str, Any]:
        """The facts."""
        ...

    @property
    def previous(self) -> str:
        """The digest of the row before it in its chain."""
        ...

    @property
    def digest(self) -> str:
        """Its own digest."""
        ...


def export_line(row: AuditRecord) -> str:
    """One row as a line of JSON with the names of OCSF 1.4, class 6003 (API Activity); its chain is in `unmapped`."""
    payload = row.payload
    status = payload.get("status")
    who = {"name": payload.get("source") or payload.get("reviewer"), "uid": payload.get("principal")}
    return canonical(
        {
            "time": int(row.at.timestamp() * 1000),
            "category_uid": 6,
            "class_uid": 6003,
            "class_name": "API Activity",
            "activity_id": 99,
            "activity_name": row.kind,
            "type_uid": 600399,
            "severity_id": _SEVERITY_BY_STATUS.get(str(status)) or _SEVERITY_BY_KIND.get(row.kind, 1),
            "status_detail": status,
            "actor": {"user": who},
            "resources": [{"uid": row.subject, "type": row.kind}],
            "metadata": {
                "version": "1.4.0",
                "uid": f"{row.writer}:{row.sequence}",
                "sequence": row.id,
                "product": {"name": "Mithril", "vendor_name": "Mithril"},
            },
            "unmapped": {
                "writer": row.writer,
                "sequence": row.sequence,
                "previous": row.previous,
                "digest": row.digest,
                "payload": dict(payload),
            },
        }
    )
