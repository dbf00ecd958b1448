"""Whole requests through the data plane, with a scripted upstream."""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from mithril_proxy.errors import JudgeUnavailable, StoreUnavailable, UpstreamTimeout, UpstreamUnavailable
from mithril_proxy.store.interface import Page, QuarantineFilter
from mithril_proxy.types import Memory, Mode, ReviewState, Verdict
from tests.harness import SERVICE_KEY, Bench, FakeAnswer, FakeUpstream, Sent, bench, chunk, json_answer, multipart

HONEST = "The office opens at nine."


def github_token() -> str:
    return "ghp_" + "k7Qw2Zr9Lm4Xc8Vb1Nj5Hg3Fd6Sa0PoIuYtR"


@pytest.fixture
async def setup(tmp_path: Path) -> AsyncIterator[Bench]:
    async with bench(tmp_path) as ready:
        await ready.register("wiki", 0.98)
        yield ready


async def audit_kinds(setup: Bench) -> list[str]:
    return [row.kind for row in await setup.store.audit()]


# --- identity -------------------------------------------------------------------------------------------------------


async def test_a_mithril_key_is_swapped_for_the_service_credential(setup: Bench) -> None:
    await setup.remember(HONEST, source="wiki")
    [sent] = setup.upstream.sent
    assert sent.header("x-api-key") == SERVICE_KEY
    assert b"mk_" not in b"".join(value for _, value in sent.headers) + sent.body


async def test_the_probe_uses_the_callers_own_credential(setup: Bench) -> None:
    await setup.call("POST", "/api/v1/recall", headers=[("authorization", "Bearer own-token")], body=b"{}")
    body, content_type = multipart([("datasetName", "main")], [("data", "a.txt", HONEST.encode())])
    await setup.call(
        "POST",
        "/api/v1/remember",
        headers=[("content-type", content_type), ("authorization", "Bearer own-token")],
        body=body,
    )
    [probe] = setup.upstream.probes
    assert probe.header("authorization") == "Bearer own-token"
    assert probe.header("x-api-key") is None


async def test_a_key_that_was_never_issued_is_refused(setup: Bench) -> None:
    reply = await setup.call("GET", "/api/v1/datasets", headers=[("x-api-key", "mk_never_issued")])
    assert (reply.status, reply.json()["error"]) == (401, "unknown_key")
    assert setup.upstream.sent == []


async def test_a_mithril_key_does_not_open_accounts(setup: Bench) -> None:
    reply = await setup.call("POST", "/api/v1/auth/api-keys", source="wiki", body=b"{}")
    assert (reply.status, reply.json()["error"]) == (403, "mithril_key_not_allowed")
    assert setup.upstream.sent == []


async def test_two_unknown_credentials_have_two_reputations(setup: Bench) -> None:
    for key in ("first", "second", "second"):
        body, content_type = multipart([("datasetName", "main")], [("data", "a.txt", HONEST.encode())])
        await setup.call(
            "POST", "/api/v1/remember", headers=[("content-type", content_type), ("x-api-key", key)], body=body
        )
    counts = {source.principal: source.decisions for source in await setup.store.sources()}
    for key, count in (("first", 1), ("second", 2)):
        assert counts["unknown-agent/" + hashlib.sha256(key.encode()).hexdigest()[:16]] == count


async def test_nobody_becomes_another_source_by_a_header(setup: Bench) -> None:
    body, content_type = multipart([("datasetName", "main")], [("data", "a.txt", HONEST.encode())])
    headers = [("content-type", content_type), ("x-mithril-source", "wiki")]
    reply = await setup.call("POST", "/api/v1/remember", headers=headers, body=body)
    assert reply.header("x-mithril-status") == "quarantine"
    assert "provenance.undeclarable-source" in reply.json()["reasons"]


# --- bad input ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("body", "content_type"),
    [
        (b"{not json", "application/json"),
        (b'{"query": "a", "query": "b"}', "application/json"),
        (b'{"query": "a", "searchType": "CHUNKS", "search_type": "CHUNKS"}', "application/json"),
        (b'{"query": "\\ud800"}', "application/json"),
        (b'{"query": "a", "top_k": NaN}', "application/json"),
        (b'{"query": "a", "top_k": 1e400}', "application/json"),
        (b"[" * 10_000 + b"]" * 10_000, "application/json"),
        (b"[]", "application/json"),
        (b"query=a", "application/x-www-form-urlencoded"),
    ],
)
async def test_a_recall_that_is_not_what_it_says_is_refused_by_name(
    setup: Bench, body: bytes, content_type: str
) -> None:
    reply = await setup.call("POST", "/api/v1/recall", headers=[("content-type", content_type)], body=body)
    assert reply.status == 400, reply.body
    assert set(reply.json()) >= {"error", "detail"}
    assert setup.upstream.sent == []


@pytest.mark.parametrize("encoding", ["gzip", "br", "deflate", "identity, gzip"])
async def test_a_compressed_body_is_never_forwarded_unread(setup: Bench, encoding: str) -> None:
    headers = [("content-type", "application/json"), ("content-encoding", encoding)]
    for path in ("/api/v1/recall", "/api/v1/remember", "/api/v1/remember/entry"):
        reply = await setup.call("POST", path, headers=headers, body=b'{"query": "a"}')
        assert reply.status == 415, path
    assert setup.upstream.sent == []


async def test_a_declared_length_over_the_limit_is_refused_before_it_is_read(setup: Bench) -> None:
    headers = [("content-type", "application/json"), ("content-length", str(65 * 1024 * 1024))]
    reply = await setup.call("POST", "/api/v1/remember", headers=headers, pieces=[])
    assert (reply.status, reply.json()["error"]) == (413, "body_too_large")
    assert "max_body_bytes" in reply.json()["detail"]


async def test_a_chunked_body_over_the_limit_is_refused_when_it_passes_it(tmp_path: Path) -> None:
    policy = tmp_path / "small.toml"
    policy.write_text("[limits]\nmax_body_bytes = 2048\n")
    async with bench(tmp_path, policy=str(policy)) as setup:
        for path in ("/api/v1/remember", "/api/v1/recall", "/api/v1/auth/login"):
            reply = await setup.call(
                "POST", path, headers=[("content-type", "text/plain"), ("transfer-encoding", "chunked")],
                pieces=[b"x" * 1500] * 3,
            )  # fmt: skip
            assert reply.status == 413, path


# --- the upstream, the store and the judge fail ---------------------------------------------------------------------


@pytest.mark.parametrize(
    ("error", "status", "code"),
    [
        (UpstreamUnavailable("down"), 502, "upstream_unavailable"),
        (UpstreamTimeout("slow"), 504, "upstream_timeout"),
    ],
)
async def test_an_admitted_write_that_cannot_be_forwarded_is_said_to_be_so(
    tmp_path: Path, error: Exception, status: int, code: str
) -> None:
    async with bench(tmp_path, upstream=FakeUpstream(script=lambda sent: error)) as setup:
        await setup.register("wiki", 0.98)
        reply = await setup.remember(HONEST, source="wiki")
        assert (reply.status, reply.json()["error"]) == (status, code)
        decision = await setup.store.decision(reply.json()["items"][0]["decision_id"])
        assert decision["outcome"] == "upstream_error"
        reply = await setup.recall({"query": "office"}, source="wiki")
        assert (reply.status, reply.json()["error"]) == (status, code)


async def test_without_verified_memory_to_look_at_a_write_is_held(setup: Bench) -> None:
    setup.upstream.probe_error = UpstreamUnavailable("down")
    reply = await setup.remember(HONEST, source="wiki")
    assert reply.header("x-mithril-status") == "review"
    assert "probe.unavailable" in reply.json()["reasons"]
    assert setup.upstream.sent == []


class DeadJudge:
    name = "dead"

    def __init__(self, error: BaseException) -> None:
        self._error = error

    async def judge(self, text: str, context: tuple[Memory, ...]) -> Verdict:
        raise self._error


def replace_judge(setup: Bench, judge: Any) -> None:
    """Put a judge into the running chain."""
    import dataclasses

    firewall = setup.plane.services.firewall
    stages = tuple(
        dataclasses.replace(stage, judge=judge) if stage.name == "contradiction" else stage  # type: ignore[type-var]
        for stage in firewall.stages
    )
    setup.plane.services = dataclasses.replace(
        setup.plane.services, firewall=dataclasses.replace(firewall, stages=stages)
    )


@pytest.mark.parametrize("reason", ["timeout", "unreachable", "malformed", "refused", "out_of_range", "circuit_open"])
async def test_without_a_verdict_a_write_is_held_never_admitted_never_lost(setup: Bench, reason: str) -> None:
    replace_judge(setup, DeadJudge(JudgeUnavailable(reason)))
    reply = await setup.remember(HONEST, source="wiki")
    assert (reply.status, reply.header("x-mithril-status")) == (202, "review")
    assert "judge.unavailable" in reply.json()["reasons"]
    entry = await setup.store.held(reply.json()["quarantine_id"])
    assert entry.text == HONEST
    assert setup.upstream.sent == []


async def test_a_judge_with_a_fault_of_its_own_admits_nothing(setup: Bench) -> None:
    replace_judge(setup, DeadJudge(ZeroDivisionError("boom")))
    reply = await setup.remember(HONEST, source="wiki")
    assert "contradiction.unavailable" in reply.json()["reasons"]
    assert setup.upstream.sent == []


async def test_without_a_database_nothing_is_forwarded(setup: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    async def fails(*args: object, **kwargs: object) -> None:
        raise StoreUnavailable("disk full")

    monkeypatch.setattr(setup.store, "record", fails)
    reply = await setup.remember(HONEST, source="wiki")
    assert (reply.status, reply.json()["error"]) == (503, "store_unavailable")
    assert reply.header("retry-after") == "5"
    assert setup.upstream.sent == []


# --- writes ---------------------------------------------------------------------------------------------------------


async def test_several_claims_of_one_call_are_decided_one_by_one(setup: Bench) -> None:
    setup.upstream.memories = [chunk("The Atlas server listens on port 8443.", "verified", "ops")]
    files = [
        ("data", "a.txt", b"The canteen serves soup on Fridays."),
        ("data", "b.txt", b"The Atlas server listens on port 9999."),
    ]
    body, content_type = multipart([("datasetName", "main")], files)
    reply = await setup.call("POST", "/api/v1/add", source="wiki", headers=[("content-type", content_type)], body=body)
    assert reply.status == 202
    assert reply.json()["items"][0]["status"] == "warn"
    assert reply.json()["items"][1]["status"] in ("rejected", "quarantined", "review")
    assert reply.json()["upstream"] == {"status": "completed"}
    [sent] = setup.upstream.sent
    assert b"soup" in sent.body
    assert b"9999" not in sent.body


async def test_a_planted_credential_reaches_neither_upstream_nor_database_and_costs_trust(setup: Bench) -> None:
    token = github_token()
    reply = await setup.remember(f"The deploy token is {token} for now.", source="wiki")
    assert reply.status == 200
    [sent] = setup.upstream.sent
    assert token.encode() not in sent.body
    assert b"[REDACTED:github_token]" in sent.body
    assert int(sent.header("content-length") or len(sent.body)) == len(sent.body)
    assert token.encode() not in b"".join(probe.body for probe in setup.upstream.probes)
    assert token.encode() not in setup.database_bytes()
    source = await setup.store.source("wiki")
    assert source.reputation == pytest.approx(0.98 * (1 - 0.22))


async def test_the_audit_holds_decision_and_outcome_in_that_order(setup: Bench) -> None:
    await setup.remember(HONEST, source="wiki")
    await setup.remember("The canteen serves soup on Fridays.")
    kinds = [kind for kind in await audit_kinds(setup) if kind in ("decision", "outcome")]
    assert kinds == ["decision", "outcome", "decision", "outcome"]
    assert (await setup.store.verify_audit()).is_intact


async def test_an_upstream_that_refuses_an_admitted_write_is_heard(tmp_path: Path) -> None:
    script = FakeUpstream(script=lambda sent: json_answer({"detail": "same filename"}, 409))
    async with bench(tmp_path, upstream=script) as setup:
        await setup.register("wiki", 0.98)
        reply = await setup.remember(HONEST, source="wiki")
        assert (reply.status, reply.json()) == (409, {"detail": "same filename"})
        assert reply.header("x-mithril-status") == "warn"


async def test_a_held_claim_is_released_once_with_the_tags_of_an_accepted_one(setup: Bench) -> None:
    from mithril_proxy.errors import InvalidTransition

    held = (await setup.remember(HONEST)).json()["quarantine_id"]
    releases = setup.plane.services.releases(setup.store, setup.upstream)
    entry = await releases.release(held, reviewer="ada", reason="checked")
    assert entry.state is ReviewState.RELEASED
    [sent] = setup.upstream.sent
    assert HONEST.encode() in sent.body
    assert b"verified" in sent.body
    assert b"low_confidence" not in sent.body
    assert sent.header("x-api-key") == SERVICE_KEY
    with pytest.raises(InvalidTransition):
        await releases.release(held, reviewer="ada", reason="again")
    assert len(setup.upstream.sent) == 1


# --- observe and off ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("size", [10, 70_000, 1_000_000])
async def test_observe_mode_changes_no_byte_and_records_what_would_have_been_done(tmp_path: Path, size: int) -> None:
    async with bench(tmp_path, policy="observe.toml") as setup:
        text = f"Token {github_token()} " + "x" * size
        body, content_type = multipart(
            [("datasetName", "main"), ("node_set", "verified")], [("data", "a.txt", text.encode())]
        )
        reply = await setup.call("POST", "/api/v1/remember", headers=[("content-type", content_type)], body=body)
        assert reply.status == 200
        [sent] = setup.upstream.sent
        assert sent.body == body
        assert sent.header("content-type") == content_type
        [decision] = await setup.store.decisions(Page())
        assert decision["mode"] == Mode.OBSERVE.value
        assert decision["status"] in ("quarantine", "reject")
        assert await setup.store.quarantine(Page(), QuarantineFilter(state=None)) == []
        assert github_token().encode() not in setup.database_bytes()


async def test_observe_mode_passes_what_it_cannot_read(tmp_path: Path) -> None:
    async with bench(tmp_path, policy="observe.toml") as setup:
        reply = await setup.call(
            "POST", "/api/v1/remember", headers=[("content-type", "application/json")], body=b"{broken"
        )
        assert reply.status == 200
        assert setup.upstream.sent[0].body == b"{broken"
        assert "refused" in await audit_kinds(setup)


# --- recalls --------------------------------------------------------------------------------------------------------


async def test_a_recall_is_narrowed_and_its_answer_filtered_and_scrubbed(tmp_path: Path) -> None:
    token = github_token()
    answer = [
        chunk("Atlas is up.", "verified", "wiki"),
        chunk("Atlas is sold.", "slack"),
        chunk(f"Key {token}", "verified"),
    ]
    async with bench(tmp_path, upstream=FakeUpstream(script=lambda sent: json_answer(answer))) as setup:
        reply = await setup.recall({"query": "atlas", "searchType": "CHUNKS", "nodeName": []})
        [sent] = setup.upstream.sent
        assert b'"node_name":["verified"]' in sent.body
        assert b"nodeName" not in sent.body
        assert b"Atlas is up." in reply.body
        assert b"sold" not in reply.body
        assert token.encode() not in reply.body
        assert reply.header("content-length") == str(len(reply.body))
        assert "scrubbed" in await audit_kinds(setup)


async def test_a_recall_answered_with_no_json_shows_nothing(tmp_path: Path) -> None:
    script = FakeUpstream(script=lambda sent: FakeAnswer(200, [(b"content-type", b"text/html")], [b"<b>secret</b>"]))
    async with bench(tmp_path, upstream=script) as setup:
        reply = await setup.recall({"query": "atlas"})
        assert (reply.status, reply.json()["error"]) == (502, "upstream_unavailable")


@pytest.mark.parametrize("size", [1, 3, 7, 50])
async def test_a_credential_split_over_events_never_reaches_the_client(tmp_path: Path, size: int) -> None:
    token = github_token()
    deltas = "".join(
        f'event: delta\ndata: {{"text": "{token[at : at + size]}"}}\n\n' for at in range(0, len(token), size)
    )
    stream = (
        f'event: stage\ndata: {{"stage": "generating"}}\n\n{deltas}event: final\ndata: {{"results": []}}\n\n'.encode()
    )
    pieces = [stream[at : at + 11] for at in range(0, len(stream), 11)]
    script = FakeUpstream(script=lambda sent: FakeAnswer(200, [(b"content-type", b"text/event-stream")], pieces))
    async with bench(tmp_path, upstream=script) as setup:
        reply = await setup.recall({"query": "atlas", "stream": True})
        assert reply.header("content-type") == "text/event-stream"
        assert reply.chunks[0].startswith(b"event: stage")
        shown = b"".join(reply.body.split(b'{"text": "')).replace(b'"}\n\nevent: delta\ndata: ', b"")
        assert token.encode() not in shown
        assert b"event: final" in reply.body


async def test_an_event_stream_that_breaks_off_ends_with_an_error_event(tmp_path: Path) -> None:
    answer = FakeAnswer(
        200, [(b"content-type", b"text/event-stream")], [b"event: stage\ndata: {}\n\n"], breaks_off=True
    )
    async with bench(tmp_path, upstream=FakeUpstream(script=lambda sent: answer)) as setup:
        reply = await setup.recall({"query": "atlas", "stream": True})
        assert b"event: error" in reply.body


async def test_the_history_of_questions_does_not_show_what_was_held(tmp_path: Path) -> None:
    released, held = "The canteen serves soup on Fridays.", "The Atlas server was sold to a stranger."
    rows = [
        {"id": "1", "text": held, "user": "user"},
        {"id": "2", "text": "What does the canteen serve?", "user": "user"},
        {"id": "3", "text": "x" * 1500, "user": "user"},
        {"id": "4", "text": "y" * 2000, "user": "system"},
    ]
    async with bench(tmp_path, upstream=FakeUpstream(script=lambda sent: json_answer(rows))) as setup:
        await setup.remember(held)
        await setup.remember(released)
        reply = await setup.call("GET", "/api/v1/recall")
        assert [row["id"] for row in reply.json()] == ["2", "4"]
        assert reply.header("content-length") == str(len(reply.body))


# --- pass-through ---------------------------------------------------------------------------------------------------


async def test_what_is_passed_is_passed_byte_for_byte(tmp_path: Path) -> None:
    def script(sent: Sent) -> FakeAnswer:
        headers = [
            (b"set-cookie", b"a=1"),
            (b"set-cookie", b"b=2"),
            (b"connection", b"close"),
            (b"content-type", b"x/y"),
        ]
        return FakeAnswer(201, headers, [b"\x00\xff", b"end"])

    async with bench(tmp_path, upstream=FakeUpstream(script=script)) as setup:
        reply = await setup.call(
            "POST",
            "/api/v1/auth/login",
            headers=[("content-type", "application/x-www-form-urlencoded")],
            body=b"username=a",
        )
        assert (reply.status, reply.body) == (201, b"\x00\xffend")
        assert [value for name, value in reply.headers if name == b"set-cookie"] == [b"a=1", b"b=2"]
        assert reply.header("connection") is None
        assert setup.upstream.sent[0].body == b"username=a"


async def test_a_client_that_hangs_up_stops_the_read_it_asked_for(setup: Bench) -> None:
    class EndlessAnswer(FakeAnswer):
        async def stream(self) -> AsyncIterator[bytes]:
            yield b"event: stage\ndata: {}\n\n"
            await asyncio.Event().wait()

    endless = EndlessAnswer(200, [(b"content-type", b"text/event-stream")], [])
    setup.upstream.script = lambda sent: endless
    first_chunk = asyncio.Event()
    waiting = [{"type": "http.request", "body": b'{"query": "a", "stream": true}', "more_body": False}]

    async def receive() -> Any:
        if waiting:
            return waiting.pop()
        await first_chunk.wait()
        return {"type": "http.disconnect"}

    async def send(message: Any) -> None:
        if message.get("body"):
            first_chunk.set()

    scope: Any = {
        "type": "http", "method": "POST", "scheme": "http", "path": "/api/v1/recall", "raw_path": b"/api/v1/recall",
        "query_string": b"", "headers": [(b"content-type", b"application/json")], "client": None,
    }  # fmt: skip
    await asyncio.wait_for(setup.plane(scope, receive, send), 5)
    assert endless.is_closed


@pytest.mark.parametrize(("path", "status"), [("health/live", 200), ("health/ready", 200), ("metrics", 404)])
async def test_only_its_health_stands_on_the_data_plane(setup: Bench, path: str, status: int) -> None:
    reply = await setup.call("GET", f"/_mithril/{path}")
    assert reply.status == status


async def test_a_process_that_stops_is_not_ready(setup: Bench) -> None:
    setup.plane.is_draining = True
    assert (await setup.call("GET", "/_mithril/health/ready")).status == 503


async def test_a_credential_in_older_memory_reaches_neither_judge_nor_database(setup: Bench) -> None:
    seen: list[str] = []

    class LookingJudge:
        name = "looking"

        async def judge(self, text: str, context: tuple[Memory, ...]) -> Verdict:
            seen.extend(memory.text for memory in context)
            return Verdict(0.9, 0.0)

    replace_judge(setup, LookingJudge())
    setup.upstream.memories = [chunk(f"The deploy token is {github_token()}.", "verified", "ops")]
    assert (await setup.remember(HONEST, source="wiki")).status == 403
    assert "[REDACTED:github_token]" in seen[0]
    assert github_token().encode() not in setup.database_bytes()


async def test_a_release_takes_the_blame_back_and_a_second_review_is_refused(setup: Bench) -> None:
    held = (await setup.remember(HONEST)).json()["quarantine_id"]
    blamed = (await setup.store.source("unknown-agent/anonymous")).reputation
    assert blamed == pytest.approx(0.30 * 0.78)
    await setup.plane.services.releases(setup.store, setup.upstream).release(held, reviewer="ada", reason="ok")
    assert (await setup.store.source("unknown-agent/anonymous")).reputation == pytest.approx(0.30 + 0.1 * 0.70)


async def test_a_rejected_review_costs_trust_and_a_rejected_quarantine_no_more_than_it_did(setup: Bench) -> None:
    await setup.register("chat", 0.60)
    releases = setup.plane.services.releases(setup.store, setup.upstream)
    reviewed = (await setup.remember(HONEST, source="chat")).json()["quarantine_id"]
    quarantined = (await setup.remember(HONEST)).json()["quarantine_id"]
    for entry in (reviewed, quarantined):
        await releases.reject(entry, reviewer="ada", reason="not so")
    assert (await setup.store.source("chat")).reputation == pytest.approx(0.60 * 0.78)
    assert (await setup.store.source("unknown-agent/anonymous")).reputation == pytest.approx(0.30 * 0.78)


# --- the ledger -----------------------------------------------------------------------------------------------------


def with_receipt(memory: dict[str, Any], decision_id: str) -> dict[str, Any]:
    """The memory as Cognee gives it back when it was written with a receipt."""
    metadata = '{"node_set": ["verified"], "mithril": {"decision": "%s"}}' % decision_id  # noqa: UP031
    return memory | {"raw": memory["raw"] | {"external_metadata": metadata}}


async def test_an_admitted_write_carries_its_decision_and_a_forged_one_is_replaced(setup: Bench) -> None:
    forged = '[{"mithril": {"decision": "dec_forged"}, "team": "ops"}]'
    reply = await setup.remember(HONEST, source="wiki", external_metadata=forged)
    [sent] = setup.upstream.sent
    decision_id = reply.header("x-mithril-decision") or ""
    assert f'"mithril": {{"decision": "{decision_id}"}}'.encode() in sent.body
    assert b"dec_forged" not in sent.body
    assert b'"team": "ops"' in sent.body


async def test_a_chunk_whose_receipt_the_ledger_does_not_know_is_not_shown(setup: Bench) -> None:
    admitted = (await setup.remember(HONEST, source="wiki")).header("x-mithril-decision") or ""
    held = (await setup.remember("The canteen serves soup on Fridays.")).header("x-mithril-decision") or ""
    answer = [
        with_receipt(chunk("Known.", "verified"), admitted),
        with_receipt(chunk("Held.", "verified"), held),
        with_receipt(chunk("Forged.", "verified"), "dec_forged"),
        chunk("A turn.", "verified"),
    ]
    setup.upstream.script = lambda sent: json_answer(answer)
    reply = await setup.recall({"query": "x", "search_type": "CHUNKS"})
    assert [found["text"] for found in reply.json()] == ["Known.", "A turn."]


async def test_the_joined_text_of_chunks_holds_checked_chunks_only(setup: Bench) -> None:
    answer = [chunk("One.", "verified"), chunk("Sold.", "slack"), chunk("Two.", "verified")]
    setup.upstream.script = lambda sent: json_answer(answer)
    reply = await setup.recall({"query": "x", "search_type": "CHUNKS", "only_context": True})
    [joined] = reply.json()
    assert joined["text"] == "One.\nTwo."
    assert b'"only_context":false' in setup.upstream.sent[0].body


async def test_the_joined_text_of_a_search_has_the_shape_of_cognees(setup: Bench) -> None:
    answer = [
        {"dataset_id": "d", "search_result": [{"text": "One.", "belongs_to_set": ["verified"], "chunk_index": 0}]},
    ]
    setup.upstream.script = lambda sent: json_answer(answer)
    reply = await setup.recall({"query": "x", "searchType": "CHUNKS", "onlyContext": True}, path="/api/v1/search")
    assert reply.json() == [{"dataset_id": "d", "search_result": ["One."]}]


async def test_chunks_as_events_are_checked_before_the_first_of_them_is_shown(setup: Bench) -> None:
    answer = [chunk("One.", "verified"), with_receipt(chunk("Forged.", "verified"), "dec_forged")]
    setup.upstream.script = lambda sent: json_answer(answer)
    reply = await setup.recall({"query": "x", "search_type": "CHUNKS", "stream": True})
    assert (reply.header("content-type") or "").startswith("text/event-stream")
    assert reply.body.startswith(b"event: stage\n")
    assert b"One." in reply.body
    assert b"Forged" not in reply.body
    assert b'"stream":false' in setup.upstream.sent[0].body


async def test_a_file_that_cannot_be_read_and_shows_a_credential_is_kept_nowhere(setup: Bench) -> None:
    content = b"\x00\x01PNG " + github_token().encode() + b" \x02\x00"
    body, content_type = multipart([("datasetName", "main")], [("data", "photo.png", content)])
    reply = await setup.call("POST", "/api/v1/add", source="wiki", headers=[("content-type", content_type)], body=body)
    assert (reply.status, reply.json()["error"]) == (403, "credential_in_file")
    assert github_token().encode() not in reply.body + setup.database_bytes()
    assert setup.upstream.sent == []
