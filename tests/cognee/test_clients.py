"""Requests in the shape of real clients, written anew: every one of them is understood."""

from __future__ import annotations

import json

import pytest

from mithril_proxy.cognee.prepared import render
from mithril_proxy.cognee.recall import decode_recall, rebuild_recall
from mithril_proxy.cognee.routes import Match, Operation, check_open, find_route
from mithril_proxy.cognee.uploads import text_name
from mithril_proxy.cognee.writes import decode_write, forward_tags, prepare
from mithril_proxy.types import Status
from tests.cognee.builders import JSON, MULTIPART, POLICY, RULES, TAGS, File, ids, multipart

TEXT = "The billing service writes to the ledger queue."
SDK_FILE = File(TEXT.encode(), text_name(TEXT))

FORMS: dict[str, tuple[str, str, list[tuple[str, str | File]]]] = {
    "sdk remember": (
        "POST",
        "/api/v1/remember",
        [("datasetName", "team"), ("self_improvement", "true"), ("data", SDK_FILE)],
    ),
    "sdk remember in the background": (
        "POST",
        "/api/v1/remember",
        [("datasetName", "team"), ("run_in_background", "true"), ("data", SDK_FILE)],
    ),
    "sdk remember in a session": (
        "POST",
        "/api/v1/remember",
        [("datasetName", "team"), ("session_id", "s"), ("self_improvement", "true"), ("data", SDK_FILE)],
    ),
    "sdk add": ("POST", "/api/v1/add", [("datasetName", "team"), ("data", SDK_FILE)]),
    "cli remember": (
        "POST",
        "/api/v1/remember",
        [
            ("datasetName", "team"),
            ("node_set", "a"),
            ("node_set", "b"),
            ("chunk_size", "512"),
            ("data", File(b"one", "text_0.txt")),
        ],
    ),
    "mcp add": ("POST", "/api/v1/add", [("datasetName", "team"), ("node_set", '["a", "b"]'), ("data", SDK_FILE)]),
    "plugin upload": (
        "POST",
        "/api/v1/remember",
        [
            ("datasetName", "team"),
            ("node_set", "user_sessions_from_cache"),
            ("run_in_background", "true"),
            ("data", File(b"Turn 1", "user_sessions_from_cache.txt")),
        ],
    ),
    "swagger": (
        "POST",
        "/api/v1/add",
        [
            ("data", ""),
            ("raw_data", TEXT),
            ("raw_data", ""),
            ("labels", ""),
            ("external_metadata", ""),
            ("datasetName", "team"),
            ("datasetId", ""),
            ("node_set", ""),
            ("run_in_background", "false"),
        ],
    ),
}
BODIES = {
    "plugin turn": (
        "POST",
        "/api/v1/remember/entry",
        {
            "dataset_name": "team",
            "session_id": "s",
            "entry": {"type": "qa", "question": "q", "answer": "a", "context": ""},
        },
    ),
    "plugin tool call": (
        "POST",
        "/api/v1/remember/entry",
        {
            "dataset_name": "team",
            "session_id": "s",
            "entry": {
                "type": "trace",
                "origin_function": "Read",
                "status": "success",
                "method_params": {"path": "a.py", "limit": 5},
                "method_return_value": {"lines": ["x", "y"]},
                "generate_feedback_with_llm": False,
            },
        },
    ),
    "plugin improve": ("POST", "/api/v1/improve", {"dataset_name": "team", "session_ids": ["s"]}),
    "sdk cognify": ("POST", "/api/v1/cognify", {"datasets": ["team"], "run_in_background": False}),
    "new dataset": ("POST", "/api/v1/datasets/", {"name": "team"}),
}
RECALLS = {
    "sdk recall": (
        "/api/v1/recall",
        {"query": "q", "datasets": ["team"], "top_k": 15, "context_profile": "qa", "include_references": False},
    ),
    "sdk search": (
        "/api/v1/search",
        {"query": "q", "searchType": "CHUNKS", "topK": 5, "onlyContext": False, "verbose": False},
    ),
    "mcp recall": ("/api/v1/recall", {"query": "q", "top_k": 15, "search_type": None, "datasets": ["team", "other"]}),
    "frontend recall": (
        "/api/v1/recall",
        {"query": "q", "search_type": "HYBRID_COMPLETION", "include_references": True, "stream": True},
    ),
    "plugin recall": (
        "/api/v1/recall",
        {
            "query": "q",
            "session_id": "s",
            "top_k": 5,
            "scope": ["session", "graph"],
            "only_context": True,
            "datasets": ["team"],
            "context_profile": "agent",
        },
    ),
}
OTHERS = [
    ("GET", "/health", Operation.PASS),
    ("GET", "/api/v1/datasets/", Operation.READ),
    ("GET", "/api/v1/users/me", Operation.CONTROL),
    ("POST", "/api/v1/auth/login", Operation.CONTROL),
    ("POST", "/api/v1/auth/api-keys", Operation.CONTROL),
    ("POST", "/api/v1/forget", Operation.DESTRUCTIVE),
    ("POST", "/api/v1/agents/register", Operation.CONTROL),
    ("GET", "/api/v1/agents/connections/me", Operation.CONTROL),
    ("GET", "/api/v1/datasets/status", Operation.READ),
    ("GET", "/api/v1/sessions/claude-code-1718000000", Operation.READ),
    ("OPTIONS", "/api/v1/remember", Operation.PASS),
    ("GET", "/api/v1/activity/pipeline-runs", Operation.READ),
    ("GET", "/api/v1/permissions/tenants/me", Operation.CONTROL),
]


def _match(method: str, path: str) -> Match:
    match = find_route(method, path)
    check_open(match, POLICY.routes)
    return match


@pytest.mark.parametrize("name", FORMS)
def test_a_form_of_a_real_client_is_judged_and_sent(name: str) -> None:
    method, path, parts = FORMS[name]
    call = decode_write(_match(method, path), MULTIPART, "", multipart(*parts), rules=RULES, new_id=ids())
    sent = prepare(call, call.claims, tags=forward_tags(call, Status.WARN, "slack", TAGS, is_session_own=True))
    assert len(call.claims) == 1
    assert call.dropped == ()
    assert call.claims[0].text.encode() in render(sent, "B").body
    assert "verified" in [value for field, value in sent.fields if field == "node_set"]


@pytest.mark.parametrize("name", BODIES)
def test_a_json_body_of_a_real_client_is_judged_and_sent(name: str) -> None:
    method, path, body = BODIES[name]
    call = decode_write(_match(method, path), JSON, "", json.dumps(body).encode(), rules=RULES, new_id=ids())
    sent = prepare(call, call.claims, tags=(), annotations=call.annotations)
    assert sent.document == body


@pytest.mark.parametrize("name", RECALLS)
def test_a_recall_of_a_real_client_is_understood(name: str) -> None:
    path, body = RECALLS[name]
    ask = decode_recall(_match("POST", path), JSON, "*/*", json.dumps(body).encode(), limits=POLICY.limits)
    call = rebuild_recall(ask, POLICY.recall, tags=TAGS, session_id="fresh", may_read_session=lambda session: True)
    assert call.document["node_name"] == ["verified"]
    assert call.dropped == ()


@pytest.mark.parametrize(("method", "path", "operation"), OTHERS)
def test_the_other_calls_of_real_clients_pass(method: str, path: str, operation: Operation) -> None:
    assert _match(method, path).operation is operation
