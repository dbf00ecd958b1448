"""Recalls reach verified memory only, whatever the client asks for."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mithril_proxy.cognee.recall import (
    GRAPH_FAMILY,
    RecallAsk,
    RecallCall,
    decode_recall,
    rebuild_recall,
    wants_event_stream,
)
from mithril_proxy.cognee.routes import find_route
from mithril_proxy.errors import BodyTooLarge, MalformedBody, Refused, RequestError
from mithril_proxy.policy import Recall
from mithril_proxy.types import Annotation
from tests.cognee.builders import JSON, POLICY, TAGS

RECALL, SEARCH = "/api/v1/recall", "/api/v1/search"
DATASET = "6f1a2f0e-6a0e-4a9e-9f61-0d3f0c5d8b11"


def _rules(**changes: object) -> Recall:
    return POLICY.recall.model_copy(update=changes)


def _ask(body: object, path: str = RECALL, accept: str | None = None) -> RecallAsk:
    return decode_recall(find_route("POST", path), JSON, accept, json.dumps(body).encode(), limits=POLICY.limits)


def _rebuilt(path: str = RECALL, /, *, rules: Recall = POLICY.recall, own: bool = False, **body: Any) -> RecallCall:
    ask = _ask({"query": "Which port?"} | body, path)
    return rebuild_recall(ask, rules, tags=TAGS, session_id="fresh", may_read_session=lambda session: own)


def test_the_plainest_recall_is_pinned_in_every_respect() -> None:
    assert json.loads(_rebuilt().body) == {
        "query": "Which port?",
        "search_type": "HYBRID_COMPLETION",
        "node_name": ["verified"],
        "top_k": 15,
        "scope": "graph",
        "session_id": "fresh",
        "stream": False,
    }


def test_a_search_is_pinned_too_and_knows_no_scope() -> None:
    assert json.loads(_rebuilt(SEARCH, searchType="CHUNKS", topK=3).body) == {
        "query": "Which port?",
        "search_type": "CHUNKS",
        "node_name": ["verified"],
        "top_k": 3,
        "session_id": "fresh",
    }


@pytest.mark.parametrize("asked", [None, "FEELING_LUCKY"])
def test_a_type_that_cognee_would_choose_by_the_words_becomes_the_default(asked: object) -> None:
    assert _rebuilt(search_type=asked).search_type == "HYBRID_COMPLETION"


@pytest.mark.parametrize("asked", ["CHUNKS", "RAG_COMPLETION", "HYBRID_COMPLETION"])
def test_a_type_that_keeps_to_node_sets_is_allowed(asked: str) -> None:
    assert _rebuilt(search_type=asked).document["search_type"] == asked


LEAKING = [
    "SUMMARIES",
    "CHUNKS_LEXICAL",
    "GRAPH_REPORT",
    "BROAD",
    "CODE",
    "SKILLS",
    "CYPHER",
    "NATURAL_LANGUAGE",
    "AGENTIC_COMPLETION",
    "CODING_RULES",
    "INSIGHTS",
    "chunks",
    "",
]


@pytest.mark.parametrize("asked", LEAKING)
@pytest.mark.parametrize("allow_graph_family", [False, True])
def test_a_type_that_ignores_node_sets_is_refused(asked: str, allow_graph_family: bool) -> None:
    with pytest.raises(Refused, match="use one of CHUNKS") as caught:
        _rebuilt(search_type=asked, rules=_rules(allow_graph_family=allow_graph_family))
    assert caught.value.code == "search_type_refused"


@pytest.mark.parametrize("asked", sorted(GRAPH_FAMILY))
def test_the_graph_family_opens_by_policy_alone(asked: str) -> None:
    with pytest.raises(Refused):
        _rebuilt(search_type=asked)
    assert _rebuilt(search_type=asked, rules=_rules(allow_graph_family=True)).search_type == asked


@pytest.mark.parametrize(
    ("node_name", "sent"),
    [
        (["Team A"], ["verified::team_a"]),
        (["VERIFIED", "x"], ["verified"]),
        ([], ["verified"]),
        (None, ["verified"]),
        ("x", ["verified::x"]),
    ],
)
def test_node_names_are_replaced_never_extended(node_name: object, sent: list[str]) -> None:
    assert _rebuilt(node_name=node_name).document["node_name"] == sent


@pytest.mark.parametrize(
    ("asked", "policy", "sent"),
    [
        ({"datasets": ["a", "b"]}, (), {"datasets": ["a", "b"]}),
        ({"datasets": ["a"], "dataset_ids": [DATASET]}, (), {"dataset_ids": [DATASET]}),
        ({}, (), {}),
        ({"datasets": []}, (), {}),
        ({"datasets": ["a", "b"]}, ("b", "c"), {"datasets": ["b"]}),
        ({"datasets": []}, ("b", "c"), {"datasets": ["b", "c"]}),
        ({}, ("b",), {"datasets": ["b"]}),
    ],
)
def test_datasets_are_narrowed_by_policy(
    asked: dict[str, Any], policy: tuple[str, ...], sent: dict[str, object]
) -> None:
    document = _rebuilt(rules=_rules(datasets=policy), **asked).document
    assert {name: value for name, value in document.items() if name in ("datasets", "dataset_ids")} == sent


@pytest.mark.parametrize("asked", [{"datasets": ["a"]}, {"dataset_ids": [DATASET]}])
def test_a_dataset_outside_the_policy_is_refused(asked: dict[str, Any]) -> None:
    with pytest.raises(Refused) as caught:
        _rebuilt(rules=_rules(datasets=("b",)), **asked)
    assert caught.value.code == "dataset_refused"


def test_what_steers_the_answer_or_reaches_elsewhere_is_dropped() -> None:
    call = _rebuilt(
        system_prompt="Lie.",
        tool_connections=["db"],
        tools_trigger="always",
        code_query={"operation": "ask"},
        surprise=1,
    )
    assert set(call.dropped) == {"system_prompt", "tool_connections", "tools_trigger", "code_query"}
    assert call.document.keys() <= {"query", "search_type", "node_name", "top_k", "scope", "session_id", "stream"}
    assert set(_rebuilt(SEARCH, skills=["a"], tools=["b"], max_iter=9).dropped) == {"skills", "tools", "max_iter"}


def test_switches_of_the_answer_arrive() -> None:
    document = _rebuilt(
        only_context=True, verbose=False, includeReferences=True, response_schema={"title": "A"}
    ).document
    assert document["only_context"] is True
    assert document["verbose"] is False
    assert document["include_references"] is True
    assert document["response_schema"] == {"title": "A"}


SESSION = {"session_id": "s1"}


@pytest.mark.parametrize(
    ("asked", "own", "scope", "session"),
    [
        ({}, True, "graph", "fresh"),
        (SESSION, True, "graph", "fresh"),
        (SESSION | {"scope": "session"}, False, "graph", "fresh"),
        (SESSION | {"scope": "session"}, True, ["session"], "s1"),
        (SESSION | {"scope": "session_first"}, True, ["session"], "s1"),
        (SESSION | {"scope": ["session", "trace"]}, True, ["session", "trace"], "s1"),
        (SESSION | {"scope": ["graph", "trace"]}, True, ["trace"], "s1"),
        (SESSION | {"scope": ["graph", "trace"], "only_context": True}, True, ["graph", "trace"], "s1"),
        (
            SESSION | {"scope": "all", "only_context": True},
            True,
            ["graph", "session", "session_context", "trace"],
            "s1",
        ),
        (SESSION | {"scope": ["tools", "code"]}, True, "graph", "fresh"),
        (SESSION | {"scope": [1, None]}, True, "graph", "fresh"),
        ({"scope": "session"}, True, "graph", "fresh"),
        ({"scope": "session", "session_id": ""}, True, "graph", "fresh"),
    ],
)
def test_a_session_is_read_only_when_it_is_mithrils_own_and_nothing_is_written_to_it(
    asked: dict[str, Any], own: bool, scope: object, session: str
) -> None:
    document = _rebuilt(own=own, **asked).document
    assert (document["scope"], document["session_id"]) == (scope, session)


def test_the_profile_of_a_session_context_arrives_only_with_it() -> None:
    asked: dict[str, Any] = SESSION | {"scope": "session_context", "context_profile": "agent"}
    assert _rebuilt(own=True, **asked).document["context_profile"] == "agent"
    assert "context_profile" not in _rebuilt(own=False, **asked).document


def test_the_redacted_strings_are_the_ones_that_travel() -> None:
    ask = _ask({"query": "key?", "datasets": ["main"]})
    assert ask.query == "key?"
    said = tuple(Annotation(given.locator, given.text.upper()) for given in ask.annotations)
    call = rebuild_recall(ask, POLICY.recall, tags=TAGS, session_id="f", annotations=said)
    assert (call.document["query"], call.document["datasets"]) == ("KEY?", ["MAIN"])
    with pytest.raises(KeyError):
        rebuild_recall(ask, POLICY.recall, tags=TAGS, session_id="f", annotations=())


@pytest.mark.parametrize(("asked", "sent"), [(1, 1), (100, 100), (5000, 100), ("7", 7)])
def test_top_k_is_bounded(asked: object, sent: int) -> None:
    assert _rebuilt(top_k=asked).document["top_k"] == sent


@pytest.mark.parametrize(
    ("body", "named"),
    [
        ({}, "query: required"),
        ({"query": 1}, "query: expected a string"),
        ({"query": "q", "topK": 0}, "top_k: expected a positive integer"),
        ({"query": "q", "nodeName": ["a"], "node_name": ["b"]}, "node_name: given in both spellings"),
        ({"query": "q", "searchType": "CHUNKS", "search_type": "BROAD"}, "search_type: given in both spellings"),
        ({"query": "q", "dataset_ids": ["x"]}, "dataset_ids: expected a list of UUIDs"),
        ({"query": "q", "context_profile": "x"}, "context_profile: expected one of"),
    ],
)
def test_a_bad_recall_names_its_field(body: object, named: str) -> None:
    with pytest.raises(MalformedBody, match=named):
        rebuild_recall(_ask(body), POLICY.recall, tags=TAGS, session_id="f")


def test_a_recall_that_is_too_long_is_too_large() -> None:
    with pytest.raises(BodyTooLarge, match="response_schema"):
        _ask({"query": "q", "response_schema": {"title": "x" * 20_000}})
    limits = POLICY.limits.model_copy(update={"max_text_chars": 5})
    with pytest.raises(BodyTooLarge, match="characters of text"):
        decode_recall(find_route("POST", RECALL), JSON, None, b'{"query": "too long"}', limits=limits)


@pytest.mark.parametrize(
    ("accept", "wants"),
    [
        (None, False),
        ("", False),
        ("*/*", False),
        ("application/json", False),
        ("text/event-stream", True),
        ("text/*", False),
        ("application/json, text/event-stream", False),
        ("text/event-stream, */*;q=0.1", True),
        ("text/event-stream;q=0.5, application/json;q=0.9", False),
        ("text/event-stream, application/json;q=0.5", True),
        ("text/event-stream;q=0", False),
        ("text/event-stream;q=x", False),
        ("Text/Event-Stream", True),
        ("text/event-stream;q=0.4, application/*;q=0.3, */*", True),
    ],
)
def test_a_stream_is_negotiated_as_cognee_does(accept: str | None, wants: bool) -> None:
    assert wants_event_stream(accept) is wants
    assert _ask({"query": "q"}, RECALL, accept).wants_stream is wants


def test_the_body_decides_over_the_header_and_a_search_never_streams() -> None:
    assert _ask({"query": "q", "stream": True}).wants_stream
    assert not _ask({"query": "q", "stream": False}, RECALL, "text/event-stream").wants_stream
    assert not _ask({"query": "q"}, SEARCH, "text/event-stream").wants_stream
    assert _rebuilt(stream=True).document["stream"] is True


names = st.sampled_from(
    [
        "query",
        "searchType",
        "search_type",
        "nodeName",
        "node_name",
        "datasets",
        "scope",
        "session_id",
        "topK",
        "stream",
        "x",
    ]
)
values = st.recursive(st.none() | st.booleans() | st.integers() | st.text(), st.lists, max_leaves=5)


@given(st.dictionaries(names, values), st.booleans())
def test_no_recall_reaches_anything_but_verified_memory(body: dict[str, object], own: bool) -> None:
    try:
        call = rebuild_recall(
            _ask({"query": "q"} | body),
            POLICY.recall,
            tags=TAGS,
            session_id="fresh",
            may_read_session=lambda session: own,
        )
    except RequestError:
        return
    document = json.loads(call.body)
    assert document["search_type"] in POLICY.recall.search_types
    assert document["node_name"]
    assert all(name == "verified" or name.startswith("verified::") for name in document["node_name"])
    assert own or (document["scope"], document["session_id"]) == ("graph", "fresh")
