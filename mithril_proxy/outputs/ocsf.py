"""Audit rows and incidents as OCSF 1.3 events. Pure; what OCSF has no name for stands in `unmapped`.

| audit row | class |
| --- | --- |
| decision, outcome, refused, scrubbed, release, reject, expire, withdraw | API Activity (6003) |
| policy, source, reputation, writer, token | Entity Management (3004) |
| sign-in | Authentication (3002) |
| an incident | Detection Finding (2004) |
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from mithril_proxy import __version__
from mithril_proxy.jsonable import plain
from mithril_proxy.store.interface import AuditRow, Incident

OCSF_VERSION = "1.3.0"


@dataclass(frozen=True, slots=True)
class EventClass:
    """One class of OCSF."""

    uid: int
    name: str
    category_uid: int
    category_name: str


API = EventClass(6003, "API Activity", 6, "Application Activity")
ENTITY = EventClass(3004, "Entity Management", 3, "Identity & Access Management")
AUTHENTICATION = EventClass(3002, "Authentication", 3, "Identity & Access Management")
FINDING = EventClass(2004, "Detection Finding", 2, "Findings")

_CLASSES = {
    "policy": ENTITY, "source": ENTITY, "reputation": ENTITY, "writer": ENTITY, "token": ENTITY,
    "sign-in": AUTHENTICATION,
}  # fmt: skip
_SEVERITIES = {"informational": 1, "low": 2, "medium": 3, "high": 4, "critical": 5}
_DISPOSITIONS = {
    "accept": (1, "Allowed"),
    "warn": (1, "Allowed"),
    "review": (3, "Quarantined"),
    "quarantine": (3, "Quarantined"),
    "reject": (2, "Blocked"),
}
_OTHER_ACTIVITY = 99


def audit_event(row: AuditRow) -> dict[str, Any]:
    """One audit row as an event."""
    kind = _CLASSES.get(row.kind, API)
    payload = dict(row.payload)
    severity = "low" if _is_held(payload) else "informational"
    event = {
        **_head(kind, row.at, severity, activity=row.kind),
        "metadata": _metadata(uid=f"{row.writer}:{row.sequence}", sequence=row.id),
        "message": f"{row.kind} {row.subject}",
        "actor": {"user": {"name": _actor(row)}},
        "unmapped": {"kind": row.kind, "subject": row.subject, "digest": row.digest, "payload": plain(payload)},
    }
    if kind is API:
        event |= _api(row, payload)
    if kind is ENTITY:
        event["entity"] = {"type": row.kind, "uid": row.subject, "name": row.subject}
    if kind is AUTHENTICATION:
        event["user"] = {"name": row.subject}
    return event


def incident_event(incident: Incident) -> dict[str, Any]:
    """One incident as a finding."""
    return {
        **_head(FINDING, incident.at, incident.severity, activity="create", activity_id=1),
        "metadata": _metadata(uid=f"incident:{incident.id}", sequence=incident.id),
        "message": incident.summary,
        "count": incident.occurrences,
        "finding_info": {
            "uid": str(incident.id),
            "title": incident.kind,
            "desc": incident.summary,
            "created_time": _milliseconds(incident.at),
        },
        "remediation": {"desc": incident.advice},
        "actor": {"user": {"name": incident.source}},
        "unmapped": {"decision_id": incident.decision_id},
    }


def _head(
    kind: EventClass, at: datetime, severity: str, *, activity: str, activity_id: int = _OTHER_ACTIVITY
) -> dict[str, Any]:
    return {
        "class_uid": kind.uid,
        "class_name": kind.name,
        "category_uid": kind.category_uid,
        "category_name": kind.category_name,
        "activity_id": activity_id,
        "activity_name": activity,
        "type_uid": kind.uid * 100 + activity_id,
        "time": _milliseconds(at),
        "severity_id": _SEVERITIES.get(severity, 99),
        "severity": severity.capitalize(),
    }


def _metadata(*, uid: str, sequence: int) -> dict[str, Any]:
    product = {"name": "Mithril", "vendor_name": "Mithril", "version": __version__}
    return {"version": OCSF_VERSION, "product": product, "uid": uid, "sequence": sequence}


def _api(row: AuditRow, payload: Mapping[str, Any]) -> dict[str, Any]:
    operation = str(payload.get("route") or payload.get("code") or row.kind)
    api = {"operation": operation, "request": {"uid": str(payload.get("request_id") or row.subject)}}
    event: dict[str, Any] = {"api": api, "src_endpoint": {"ip": payload["peer"]} if payload.get("peer") else {}}
    disposition = _DISPOSITIONS.get(str(payload.get("status")))
    if row.kind == "refused":
        disposition = (2, "Blocked")
    if disposition is not None:
        event["disposition_id"], event["disposition"] = disposition
        event["action_id"] = 1 if disposition[0] == 1 else 2
    return event


def _actor(row: AuditRow) -> str:
    names = ("reviewer", "operator", "source", "principal")
    return str(next((row.payload[name] for name in names if row.payload.get(name)), "mithril"))


def _is_held(payload: Mapping[str, Any]) -> bool:
    return payload.get("status") in ("review", "quarantine", "reject")


def _milliseconds(at: datetime) -> int:
    return int(at.timestamp() * 1000)
