"""The admin API: what each call gives, changes and refuses."""

from __future__ import annotations

import sqlite3
from contextlib import closing

import orjson
import pytest

from mithril_proxy.admin.api import api_endpoints
from mithril_proxy.admin.openapi import openapi_document
from mithril_proxy.errors import UpstreamUnavailable
from mithril_proxy.store.desk import Scope
from mithril_proxy.types import ReviewState
from tests.admin.conftest import AdminBench
from tests.harness import json_answer

HONEST = "The canteen opens at nine."
POISONED = "The refund window is 5 days."


async def test_health_says_that_the_database_takes_writes(admin: AdminBench) -> None:
    answer = await admin.as_token(None).get("/api/v1/health")
    assert answer.json()["status"] == "ready"


async def test_decisions_are_listed_and_shown(admin: AdminBench) -> None:
    entry = await admin.hold(POISONED)
    await admin.hold(HONEST)
    listed = (await admin.client.get("/api/v1/decisions")).json()["decisions"]
    assert [one["status"] for one in listed] == ["review", "reject"]
    rejected = (await admin.client.get("/api/v1/decisions?status=reject&source=slack")).json()["decisions"]
    assert [one["id"] for one in rejected] == [entry.decision_id]
    one = (await admin.client.get(f"/api/v1/decisions/{entry.decision_id}")).json()
    assert one["contradiction"] > 0.3
    assert one["contributions"][0] == {"signal": "source_reputation", "value": 0.6, "weight": 0.4}
    older = (await admin.client.get(f"/api/v1/decisions?limit=1&before={listed[0]['id']}")).json()["decisions"]
    assert [one["id"] for one in older] == [entry.decision_id]


async def test_a_held_claim_comes_with_its_evidence_and_why_it_was_held(admin: AdminBench) -> None:
    entry = await admin.hold(POISONED)
    claim = (await admin.client.get(f"/api/v1/quarantine/{entry.id}")).json()
    assert claim["why"].startswith("Rejected because it contradicts verified memory (0.90)")
    assert claim["entry"]["context"][0]["relation"] == "contradicts"
    assert claim["decision"]["findings"]
    assert claim["proposal"] is None


async def test_held_claims_are_filtered_and_grouped(admin: AdminBench) -> None:
    await admin.hold(HONEST)
    await admin.hold(HONEST, source="email", prior=0.5)
    await admin.hold(POISONED)
    by_text = (await admin.client.get("/api/v1/quarantine/groups")).json()["groups"]
    assert [(group["entries"], group["principals"]) for group in by_text] == [(1, 1), (2, 2)]
    for query, count in (
        ("", 3),
        ("?source=email", 1),
        ("?status=reject", 1),
        ("?contains=CANTEEN", 2),
        ("?reason=contradiction.number", 1),
        ("?state=rejected", 0),
        ("?state=any", 3),
        ("?limit=2", 2),
    ):
        listed = (await admin.client.get(f"/api/v1/quarantine{query}")).json()["quarantine"]
        assert len(listed) == count, query


async def test_the_export_is_json_lines_of_every_page(admin: AdminBench, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("mithril_proxy.admin.api.quarantine.EXPORT_PAGE", 2)
    for number in range(5):
        await admin.hold(f"Room {number} is free.")
    answer = await admin.client.get("/api/v1/quarantine/export")
    assert answer.headers["content-type"] == "application/x-ndjson"
    texts = [orjson.loads(line)["text"] for line in answer.content.splitlines()]
    assert texts == [f"Room {number} is free." for number in range(4, -1, -1)]


async def test_a_release_forwards_once_in_the_name_of_the_token(admin: AdminBench) -> None:
    entry = await admin.hold(HONEST)
    reviewer = await admin.as_operator("marta", Scope.REVIEW)
    answer = await reviewer.post(f"/api/v1/quarantine/{entry.id}/release", json={"reason": "true"})
    assert answer.json()["waits_for"] is None
    assert answer.json()["entry"]["state"] == "released"
    assert answer.json()["entry"]["reviewer"] == "marta"
    again = await reviewer.post(f"/api/v1/quarantine/{entry.id}/release", json={"reason": "true"})
    assert (again.status_code, again.json()["error"]) == (409, "invalid_transition")
    assert len(admin.bench.upstream.sent) == 1


async def test_a_corrected_text_is_forwarded_redacted(admin: AdminBench) -> None:
    entry = await admin.hold(HONEST)
    key = "AKIA" + "QYLPMN5HFIQR7XYA"
    body = {"reason": "better", "text": f"The canteen opens at ten, key {key}."}
    answer = await admin.client.post(f"/api/v1/quarantine/{entry.id}/release", json=body)
    assert answer.status_code == 200
    assert b"opens at ten" in admin.bench.upstream.sent[-1].body
    assert key.encode() not in admin.bench.upstream.sent[-1].body
    assert key.encode() not in admin.bench.database_bytes()
    assert "opens at ten" in answer.json()["entry"]["text"]


async def test_an_upstream_that_is_away_or_refuses_leaves_the_claim_pending(admin: AdminBench) -> None:
    entry = await admin.hold(HONEST)
    admin.bench.upstream.script = lambda sent: UpstreamUnavailable("away")
    answer = await admin.client.post(f"/api/v1/quarantine/{entry.id}/release", json={"reason": "true"})
    assert (answer.status_code, answer.json()["error"]) == (502, "upstream_unavailable")
    admin.bench.upstream.script = lambda sent: json_answer({"error": "no such dataset"}, 404)
    answer = await admin.client.post(f"/api/v1/quarantine/{entry.id}/release", json={"reason": "true"})
    assert (answer.status_code, answer.json()["error"]) == (502, "release_refused")
    assert "no such dataset" in answer.json()["detail"]
    assert (await admin.bench.store.held(entry.id)).state is ReviewState.PENDING


async def test_a_review_can_be_changed_and_what_it_taught_is_undone(admin: AdminBench) -> None:
    entry = await admin.hold(HONEST)
    base = f"/api/v1/quarantine/{entry.id}"

    async def reputation() -> float:
        return (await admin.bench.store.source("slack")).reputation

    await admin.client.post(f"{base}/reject", json={"reason": "false"})
    assert await reputation() == pytest.approx(0.6 * 0.78)
    answer = await admin.client.post(f"{base}/reconsider", json={"reason": "true after all", "state": "released"})
    assert answer.status_code == 200, answer.text
    assert answer.json()["entry"]["state"] == "released"
    assert len(admin.bench.upstream.sent) == 1
    assert await reputation() == pytest.approx(0.6 + 0.1 * 0.4)
    answer = await admin.client.post(f"{base}/reconsider", json={"reason": "no", "state": "rejected"})
    assert answer.json()["entry"]["state"] == "rejected"
    assert await reputation() == pytest.approx(0.6 * 0.78)
    answer = await admin.client.post(f"{base}/reconsider", json={"reason": "no", "state": "expired"})
    assert answer.status_code == 409


async def test_a_claim_is_judged_again_with_the_memory_of_now(admin: AdminBench) -> None:
    entry = await admin.hold(POISONED)
    admin.bench.upstream.memories = []
    answer = await admin.client.post(f"/api/v1/quarantine/{entry.id}/reevaluate", json={})
    assert answer.json()["before"] == "reject"
    assert answer.json()["now"] in ("review", "quarantine")
    assert answer.json()["released"] is False
    kept = await admin.bench.store.held(entry.id)
    assert kept.state is ReviewState.PENDING
    assert kept.reevaluation is not None
    every = await admin.client.post("/api/v1/quarantine/reevaluate", json={"limit": 1})
    assert len(every.json()["results"]) == 1
    assert every.json()["next"] == entry.id
    rest = await admin.client.post("/api/v1/quarantine/reevaluate", json={"limit": 1, "before": entry.id})
    assert rest.json() == {"results": [], "next": None}


async def test_a_source_is_registered_frozen_reset_and_loses_its_key(admin: AdminBench) -> None:
    made = await admin.client.post("/api/v1/sources", json={"name": "wiki", "prior": 0.9, "may_declare": ["faq"]})
    assert made.status_code == 201
    key = made.json()["key"]
    assert key.startswith("mk_")
    assert key.encode() not in admin.bench.database_bytes()
    history = (await admin.client.get("/api/v1/sources/wiki")).json()
    assert (history["source"]["prior"], history["source"]["may_declare"]) == (0.9, ["faq"])
    base, why = "/api/v1/sources/wiki", {"reason": "to see"}
    assert (await admin.client.post(f"{base}/freeze", json=why)).json()["is_frozen"] is True
    assert (await admin.client.post(f"{base}/freeze", json=why)).status_code == 409
    assert (await admin.client.post(f"{base}/thaw", json=why)).json()["is_frozen"] is False
    assert (await admin.client.post(f"{base}/reset", json={**why, "reputation": 0.2})).json()["reputation"] == 0.2
    assert (await admin.client.post(f"{base}/reset", json=why)).json()["reputation"] == 0.9
    events = (await admin.client.get(f"{base}?limit=1")).json()["events"]
    assert [event["reason"] for event in events] == ["reset: to see"]
    older = (await admin.client.get(f"{base}?before={events[0]['id']}")).json()["events"]
    assert [event["after"] for event in older] == [0.2]
    digest = history["key_digests"][0]
    assert (await admin.client.post(f"{base}/keys/revoke", json={**why, "key_digest": digest})).status_code == 200
    assert (await admin.client.post(f"{base}/keys/revoke", json={**why, "key_digest": digest})).status_code == 404
    assert (await admin.client.get(f"{base}?before=x")).status_code == 400


async def test_sources_with_a_slash_in_their_principal_can_be_read_and_changed(admin: AdminBench) -> None:
    await admin.bench.remember("Somebody wrote this.")
    listed = (await admin.client.get("/api/v1/sources?contains=unknown")).json()["sources"]
    assert [one["principal"] for one in listed] == ["unknown-agent/anonymous"]
    frozen = await admin.client.post("/api/v1/sources/unknown-agent/anonymous/freeze", json={"reason": "flood"})
    assert frozen.json()["is_frozen"] is True
    shown = await admin.client.get("/api/v1/sources/unknown-agent/anonymous")
    assert shown.json()["source"]["name"] == "unknown-agent"


async def test_incidents_and_counts_are_given(admin: AdminBench) -> None:
    await admin.hold(POISONED, source="wiki", prior=0.9)
    incidents = (await admin.client.get("/api/v1/incidents")).json()["incidents"]
    assert [one["kind"] for one in incidents] == ["trusted-contradiction"]
    assert (await admin.client.get(f"/api/v1/incidents?after={incidents[0]['id']}")).json() == {"incidents": []}
    stats = (await admin.client.get("/api/v1/stats?hours=1")).json()
    assert [(one["status"], one["decisions"]) for one in stats["tallies"]] == [("reject", 1)]
    assert stats["queue"]["by_state"] == {"pending": 1}


async def test_the_policy_is_shown_validated_simulated_and_loaded_again(admin: AdminBench) -> None:
    await admin.hold(HONEST)
    shown = (await admin.client.get("/api/v1/policy")).json()
    assert shown["values"]["thresholds"]["warn"] == 0.6
    for text, is_valid in (("name = 'mine'", True), ("nonsense = 1", False), ("[", False)):
        verdict = (await admin.client.post("/api/v1/policy/validate", json={"text": text})).json()
        assert verdict["is_valid"] is is_valid
    numbers = {"thresholds": {"accept": 0.85, "warn": 0.5, "review": 0.4, "quarantine": 0.2}}
    simulated = (await admin.client.post("/api/v1/policy/simulate", json=numbers)).json()
    assert simulated == {
        "decisions": 1,
        "changed": 1,
        "moves": [{"before": "review", "after": "warn", "decisions": 1}],
    }
    nothing = dict.fromkeys(("source_reputation", "corroboration", "freshness", "contradiction", "content_danger"), 0)
    assert (await admin.client.post("/api/v1/policy/simulate", json={"weights": nothing})).status_code == 400
    reloaded = (await admin.client.post("/api/v1/policy/reload")).json()
    assert reloaded["digest"] == shown["digest"]


@pytest.mark.parametrize(
    ("path", "detail"),
    [
        ("/api/v1/decisions?limit=0", "limit"),
        ("/api/v1/decisions?limit=abc", "limit"),
        ("/api/v1/decisions?status=good", "status"),
        ("/api/v1/decisions?stauts=review", "stauts"),
        ("/api/v1/decisions?source=a&source=b", "source"),
        ("/api/v1/quarantine?state=gone", "state"),
        ("/api/v1/stats?hours=1000", "hours"),
    ],
)
async def test_a_wrong_query_names_the_field(admin: AdminBench, path: str, detail: str) -> None:
    answer = await admin.client.get(path)
    assert answer.status_code == 400
    assert answer.json()["detail"].startswith(detail)


@pytest.mark.parametrize(
    "body", [b"", b"[]", b"{", b'{"reason": ""}', b'{"reason": "x", "who": "me"}', b'{"reason":" "}']
)
async def test_a_wrong_body_is_400_and_changes_nothing(admin: AdminBench, body: bytes) -> None:
    entry = await admin.hold(HONEST)
    answer = await admin.client.post(f"/api/v1/quarantine/{entry.id}/reject", content=body)
    assert answer.status_code == 400
    assert set(answer.json()) == {"error", "detail"}
    assert (await admin.bench.store.held(entry.id)).state is ReviewState.PENDING


async def test_what_is_not_there_is_404_in_the_one_shape(admin: AdminBench) -> None:
    for path in ("/api/v1/decisions/x", "/api/v1/quarantine/x", "/api/v1/sources/x", "/api/v1/nothing"):
        answer = await admin.client.get(path)
        assert answer.status_code == 404
        assert set(answer.json()) == {"error", "detail"}
    answer = await admin.client.delete("/api/v1/decisions")
    assert answer.status_code == 405
    assert "GET" in answer.headers["allow"]


async def test_a_database_that_is_away_is_503(admin: AdminBench) -> None:
    with closing(sqlite3.connect(admin.bench.folder / "mithril.db")) as connection:
        connection.execute("DROP TABLE alembic_version")
    answer = await admin.client.get("/api/v1/health")
    assert (answer.status_code, answer.json()["error"]) == (503, "store_unavailable")


def test_operation_ids_are_unique_and_every_reference_leads_somewhere() -> None:
    document = openapi_document(api_endpoints(None))  # type: ignore[arg-type]
    operations = [one["operationId"] for path in document["paths"].values() for one in path.values()]
    assert len(operations) == len(set(operations))
    text = orjson.dumps(document).decode()
    references = {piece.split('"')[0] for piece in text.split('"$ref":"#/components/schemas/')[1:]}
    assert references <= set(document["components"]["schemas"])
