"""Answers: unverified memory taken out, credentials scrubbed, ids and types as they were."""

from __future__ import annotations

import pytest

from mithril_proxy.cognee.answers import filter_answer, scrub, without_unverified
from tests.cognee.builders import TAGS

UUID = "6f1a2f0e-6a0e-4a9e-9f61-0d3f0c5d8b11"
GRAPH = frozenset({"graph"})


def _redact(value: object) -> object:
    """Stands for the secrets guard: any string with `secret` in it, and greedily any long id."""
    if isinstance(value, str):
        return "[REDACTED]" if "secret" in value or len(value) >= 32 else value
    if isinstance(value, dict):
        return {key: _redact(inner) for key, inner in value.items()}
    return [_redact(inner) for inner in value] if isinstance(value, list) else value


def _chunk(text: str, node_sets: object, **more: object) -> dict[str, object]:
    raw = {"id": UUID, "text": text, "belongs_to_set": node_sets}
    return {
        "kind": "chunk",
        "search_type": "CHUNKS",
        "text": text,
        "score": 0.2,
        "metadata": {"chunk_id": UUID, "chunk_index": 0},
        "raw": raw,
        "structured": None,
        "source": "graph",
        **more,
    }


def _texts(answer: object, search_type: str = "CHUNKS", scopes: frozenset[str] = GRAPH) -> tuple[list[object], int]:
    filtered = filter_answer(answer, search_type=search_type, scopes=scopes, tags=TAGS, redact=_redact)
    assert isinstance(filtered.answer, list)
    return [entry.get("text") if isinstance(entry, dict) else entry for entry in filtered.answer], filtered.removed


def test_a_chunk_that_is_not_verified_is_taken_out() -> None:
    answer = [_chunk("good", ["verified", "slack"]), _chunk("bad", ["other"]), _chunk("bare", []), _chunk("none", None)]
    assert _texts(answer) == (["good"], 3)


def test_a_chunk_under_another_spelling_of_verified_is_taken_out() -> None:
    assert _texts([_chunk("bad", ["VERIFIED"])]) == ([], 1)


def test_the_joined_context_of_chunks_is_kept() -> None:
    joined = {
        "kind": "chunk",
        "search_type": "CHUNKS",
        "text": "a\nb",
        "metadata": {},
        "raw": {"value": "a\nb"},
        "source": "graph",
    }
    assert _texts([joined]) == (["a\nb"], 0)


@pytest.mark.parametrize("source", ["tools", "code", "skills", "session", "trace", "session_context", "surprise"])
def test_a_source_that_was_not_asked_for_is_taken_out(source: str) -> None:
    assert _texts([{"source": source, "text": "x"}], "RAG_COMPLETION") == ([], 1)


@pytest.mark.parametrize("source", ["session", "trace", "session_context"])
def test_a_session_that_may_be_read_is_shown(source: str) -> None:
    assert _texts([{"source": source, "text": "x"}], "RAG_COMPLETION", GRAPH | {source}) == (["x"], 0)


def test_the_warming_up_marker_and_completions_are_kept() -> None:
    answer = [
        {"source": "system", "text": "warming"},
        {"source": "graph", "kind": "graph_completion", "text": "answer", "raw": {"value": "answer"}},
    ]
    assert _texts(answer, "HYBRID_COMPLETION") == (["warming", "answer"], 0)


def test_a_bare_search_answer_is_filtered() -> None:
    chunk = {"id": UUID, "text": "bad", "belongs_to_set": ["other"]}
    assert _texts([chunk | {"text": "good", "belongs_to_set": ["verified"]}, chunk, {"text": "untagged"}]) == (
        ["good"],
        2,
    )
    assert _texts(["an answer"], "RAG_COMPLETION") == (["an answer"], 0)


def test_a_search_answer_by_dataset_is_filtered_a_level_below() -> None:
    good, bad = {"text": "good", "belongs_to_set": ["verified"]}, {"text": "bad", "belongs_to_set": []}
    entry = {
        "dataset_id": UUID,
        "dataset_name": "main",
        "search_result": [good, bad],
        "objects_result": [bad],
        "context_result": "text",
    }
    filtered = filter_answer([entry], search_type="CHUNKS", scopes=GRAPH, tags=TAGS, redact=lambda value: value)
    assert filtered.removed == 2
    assert filtered.answer == [entry | {"search_result": [good], "objects_result": []}]


def test_a_verbose_node_of_another_set_is_taken_out_whatever_the_type() -> None:
    entry = {
        "search_result": [{"name": "bad", "belongs_to_set": ["other"]}, {"name": "neutral", "belongs_to_set": None}]
    }
    filtered = filter_answer(
        [entry], search_type="HYBRID_COMPLETION", scopes=GRAPH, tags=TAGS, redact=lambda value: value
    )
    assert filtered.answer == [{"search_result": [{"name": "neutral", "belongs_to_set": None}]}]


def test_an_error_body_is_only_scrubbed() -> None:
    filtered = filter_answer({"detail": "a secret"}, search_type="CHUNKS", scopes=GRAPH, tags=TAGS, redact=_redact)
    assert (filtered.answer, filtered.removed) == ({"detail": "[REDACTED]"}, 0)


def test_text_is_scrubbed_wherever_it_stands_and_types_stay() -> None:
    entry = _chunk(
        "a secret", ["verified"], structured={"answer": "a secret", "n": 1, "ok": True, "none": None, "f": 0.5}
    )
    filtered = filter_answer([entry], search_type="CHUNKS", scopes=GRAPH, tags=TAGS, redact=_redact)
    assert isinstance(filtered.answer, list)
    (shown,) = filtered.answer
    assert (shown["text"], shown["raw"]["text"]) == ("[REDACTED]", "[REDACTED]")
    assert shown["structured"] == {"answer": "[REDACTED]", "n": 1, "ok": True, "none": None, "f": 0.5}
    assert (shown["raw"]["id"], shown["metadata"]["chunk_id"], shown["score"]) == (UUID, UUID, 0.2)


HASH = "0123456789abcdef" * 4


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        ({"id": UUID}, {"id": UUID}),
        ({"text": UUID}, {"text": UUID}),
        ({"content_hash": HASH}, {"content_hash": HASH}),
        ({"dataset_ids": [HASH]}, {"dataset_ids": [HASH]}),
        ({"dataId": HASH}, {"dataId": HASH}),
        ({"text": HASH}, {"text": "[REDACTED]"}),
        ({"api_key": HASH}, {"api_key": "[REDACTED]"}),
        ({"id": "a secret"}, {"id": "[REDACTED]"}),
        ([UUID, "a secret"], [UUID, "[REDACTED]"]),
    ],
)
def test_ids_are_never_touched_and_nothing_passes_for_one(value: object, shown: object) -> None:
    assert scrub(value, _redact) == shown


def test_a_redacted_key_or_shape_is_left_as_it_came() -> None:
    assert scrub({"secret": UUID}, lambda value: {"[KEY]": "x"}) == {"[KEY]": "x"}
    assert scrub([UUID], lambda value: ["a", "b"]) == ["a", "b"]
    assert scrub({"id": UUID}, lambda value: None) is None


def test_results_of_a_stream_are_filtered_before_they_are_scrubbed() -> None:
    results = [_chunk("a secret", ["verified"]), _chunk("bad", [])]
    assert without_unverified(results, search_type="CHUNKS", scopes=GRAPH, tags=TAGS) == results[:1]
