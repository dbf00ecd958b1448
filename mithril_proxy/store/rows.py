"""Values to columns and back. Pure.

Text that a database cannot hold (NUL, lone surrogates) is replaced by U+FFFD in the columns meant for reading; what is
forwarded later comes from `prepared`, whose JSON escapes them and so keeps every character.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import asdict
from datetime import UTC, datetime
from typing import Any

import orjson

from mithril_proxy.audit import SealedRow
from mithril_proxy.store.interface import AuditRow, Incident, ReputationEvent, ReputationStep, Source
from mithril_proxy.types import Decision, HeldWrite, Memory, QuarantineEntry, Relation, ReviewState, Status

Row = Mapping[str, Any]
_SURROGATE = re.compile("[\ud800-\udfff]")


def time_text(at: datetime) -> str:
    """ISO 8601 in UTC, always 27 characters: `2026-12-01T04:37:16.000001Z`."""
    in_utc = at if at.tzinfo is UTC else at.astimezone(UTC)
    return in_utc.isoformat(timespec="microseconds")[:26] + "Z"


def time_of(text: str) -> datetime:
    """The aware time that `time_text` wrote."""
    return datetime.fromisoformat(text)


def readable(text: str) -> str:
    """`text` as both engines can store it."""
    if "\x00" in text:
        text = text.replace("\x00", "\ufffd")
    return text if text.isascii() else _SURROGATE.sub("\ufffd", text)


def readable_or_none(text: str | None) -> str | None:
    """The same for a column that may be empty."""
    return None if text is None else readable(text)


def json_text(value: Any) -> str:
    """Compact JSON of any text, also of text that the database itself could not hold.

    Raises TypeError or ValueError for what JSON cannot hold.
    """
    try:
        return orjson.dumps(value).decode()
    except TypeError:  # lone surrogates: the slower encoder escapes them
        return json.dumps(value, separators=(",", ":"), allow_nan=False)


def decision_columns(decision: Decision, at: str, quarantine_id: str | None) -> dict[str, Any]:
    """The row of one decision; `at` is its time as text."""
    who, signals = decision.provenance, decision.signals
    return {
        "id": decision.id,
        "at": at,
        "status": decision.status.value,
        "score": decision.trust.score,
        "source": readable(who.source),
        "principal": readable(who.principal),
        "is_authenticated": who.is_authenticated,
        "request_id": readable(decision.request_id),
        "route": readable(decision.route),
        "claim_id": readable(decision.claim_id),
        "claim_digest": decision.claim_digest,
        "claim_length": decision.claim_length,
        "prior": who.prior,
        "session": readable_or_none(who.session),
        "dataset": readable_or_none(who.dataset),
        "peer": readable_or_none(who.peer),
        "raw": decision.trust.raw,
        "source_reputation": signals.source_reputation,
        "corroboration": signals.corroboration,
        "freshness": signals.freshness,
        "contradiction": signals.contradiction,
        "content_danger": signals.content_danger,
        "contributions": json_text([[one.signal, one.value, one.weight] for one in decision.trust.contributions]),
        "findings": json_text(decision.findings),
        "reasons": json_text(decision.reasons),
        "mode": decision.mode.value,
        "policy_digest": decision.policy_digest,
        "judge": readable(decision.judge),
        "prompt_digest": decision.prompt_digest,
        "stage_ms": json_text({stage: round(ms, 3) for stage, ms in decision.stage_ms.items()}),
        "quarantine_id": quarantine_id,
        "outcome": None,
        "outcome_http_status": None,
        "outcome_at": None,
    }


JSON_COLUMNS = ("contributions", "findings", "reasons", "stage_ms")


def decision_of(row: Row) -> dict[str, Any]:
    """One decision as a mapping of its columns, JSON columns opened."""
    opened = dict(row)
    for column in JSON_COLUMNS:
        opened[column] = json.loads(opened[column])
    return opened


def held_columns(quarantine_id: str, decision: Decision, held: HeldWrite) -> dict[str, Any]:
    """The row of one held claim."""
    who = decision.provenance
    return {
        "id": quarantine_id,
        "decision_id": decision.id,
        "created_at": time_text(decision.at),
        "state": ReviewState.PENDING.value,
        "status": decision.status.value,
        "score": decision.trust.score,
        "source": readable(who.source),
        "principal": readable(who.principal),
        "dataset": readable_or_none(held.dataset),
        "route": readable(decision.route),
        "claim_digest": decision.claim_digest,
        "text": readable(held.text),
        "reasons": json_text(decision.reasons),
        "prepared": json_text(held.prepared),
        "context": json_text([asdict(memory) for memory in held.context]),
        "release_attempts": 0,
        "is_grant": False,
    }


def entry_of(row: Row) -> QuarantineEntry:
    """One held claim as a reviewer sees it."""
    reviewed_at = row["reviewed_at"]
    return QuarantineEntry(
        id=row["id"],
        decision_id=row["decision_id"],
        created_at=time_of(row["created_at"]),
        state=ReviewState(row["state"]),
        status=Status(row["status"]),
        score=row["score"],
        source=row["source"],
        principal=row["principal"],
        dataset=row["dataset"],
        route=row["route"],
        text=row["text"],
        reasons=tuple(json.loads(row["reasons"])),
        prepared=json.loads(row["prepared"]),
        context=tuple(_memory_of(memory) for memory in json.loads(row["context"])),
        reviewed_at=None if reviewed_at is None else time_of(reviewed_at),
        reviewer=row["reviewer"],
        review_reason=row["review_reason"],
        reevaluation=row["reevaluation"],
        is_grant=bool(row["is_grant"]),
    )


def _memory_of(stored: Mapping[str, Any]) -> Memory:
    relation = stored.get("relation")
    return Memory(**{**stored, "relation": None if relation is None else Relation(relation)})


def step_text(step: ReputationStep | None) -> str | None:
    """A step as the JSON that a later change of mind undoes it by."""
    return None if step is None else json_text(asdict(step))


def step_of(text: str | None) -> ReputationStep | None:
    """The step that `step_text` wrote."""
    return None if text is None else ReputationStep(**json.loads(text))


def source_of(row: Row, key_digests: Iterable[str]) -> Source:
    """One source with its live keys."""
    return Source(
        principal=row["principal"],
        name=row["name"],
        prior=row["prior"],
        reputation=row["reputation"],
        decisions=row["decisions"],
        created_at=time_of(row["created_at"]),
        updated_at=time_of(row["updated_at"]),
        is_registered=row["is_registered"],
        is_frozen=row["is_frozen"],
        may_declare=tuple(json.loads(row["may_declare"])),
        key_digests=tuple(key_digests),
    )


def event_of(row: Row) -> ReputationEvent:
    """One change of a reputation."""
    return ReputationEvent(
        id=row["id"],
        at=time_of(row["at"]),
        principal=row["principal"],
        before=row["before"],
        after=row["after"],
        reason=row["reason"],
        decision_id=row["decision_id"],
    )


def audit_row_of(row: SealedRow) -> AuditRow:
    """One audit row with its time and payload opened."""
    return AuditRow(
        id=row.id,
        writer=row.writer,
        sequence=row.sequence,
        at=time_of(row.at),
        kind=row.kind,
        subject=row.subject,
        payload=json.loads(row.payload),
        previous=row.previous,
        digest=row.digest,
    )


def incident_of(row: Row) -> Incident:
    """One row of the view `incidents`."""
    return Incident(**{**row, "at": time_of(row["at"])})
