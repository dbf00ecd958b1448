"""Audit rows in the words of OCSF."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest

from mithril_proxy.outputs.ocsf import audit_event, incident_event
from mithril_proxy.store.interface import AuditRow, Incident

AT = datetime(2026, 12, 1, 12, 0, tzinfo=UTC)


def row(kind: str, **payload: Any) -> AuditRow:
    return AuditRow(7, "wri_1", 3, AT, kind, "dec_1", payload, "0" * 64, "f" * 64)


@pytest.mark.parametrize(
    ("kind", "uid", "name"),
    [
        ("decision", 6003, "API Activity"),
        ("outcome", 6003, "API Activity"),
        ("withdraw", 6003, "API Activity"),
        ("policy", 3004, "Entity Management"),
        ("source", 3004, "Entity Management"),
        ("sign-in", 3002, "Authentication"),
    ],
)
def test_each_kind_has_its_class(kind: str, uid: int, name: str) -> None:
    event = audit_event(row(kind))
    assert (event["class_uid"], event["class_name"]) == (uid, name)
    assert event["type_uid"] == uid * 100 + event["activity_id"]
    assert event["time"] == 1796126400000
    assert event["metadata"]["uid"] == "wri_1:3"
    assert event["unmapped"]["kind"] == kind


@pytest.mark.parametrize(
    ("status", "disposition", "action", "severity"),
    [
        ("accept", "Allowed", 1, 1),
        ("warn", "Allowed", 1, 1),
        ("review", "Quarantined", 2, 2),
        ("quarantine", "Quarantined", 2, 2),
        ("reject", "Blocked", 2, 2),
    ],
)
def test_a_decision_says_what_became_of_the_call(status: str, disposition: str, action: int, severity: int) -> None:
    event = audit_event(row("decision", status=status, source="slack", route="POST /api/v1/add", request_id="req_1"))
    assert (event["disposition"], event["action_id"], event["severity_id"]) == (disposition, action, severity)
    assert event["actor"] == {"user": {"name": "slack"}}
    assert event["api"] == {"operation": "POST /api/v1/add", "request": {"uid": "req_1"}}


def test_a_refused_call_is_blocked_and_names_its_peer() -> None:
    event = audit_event(row("refused", code="route_closed", peer="192.0.2.7"))
    assert (event["disposition"], event["src_endpoint"]) == ("Blocked", {"ip": "192.0.2.7"})
    assert event["api"]["operation"] == "route_closed"


def test_an_incident_is_a_finding_with_what_to_do() -> None:
    incident = Incident(AT, "planted-credential", "high", "slack", "dec_1", "1 credential(s)", "Revoke it.", 3, 9)
    event = incident_event(incident)
    assert (event["class_uid"], event["severity_id"], event["count"]) == (2004, 4, 3)
    assert event["finding_info"]["title"] == "planted-credential"
    assert event["remediation"] == {"desc": "Revoke it."}
