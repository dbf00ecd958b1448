"""The contradiction probe: what is asked, and what counts as evidence."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mithril_proxy.cognee.probe import parse_probe, probe_body
from mithril_proxy.errors import UpstreamUnavailable
from mithril_proxy.types import Memory
from tests.cognee.builders import TAGS

DATASET = "6f1a2f0e-6a0e-4a9e-9f61-0d3f0c5d8b11"


def _entry(text: object, node_sets: object, score: object = 0.2, **more: object) -> dict[str, object]:
    return {
        "source": "graph",
        "text": text,
        "score": score,
        "raw": {"belongs_to_set": node_sets},
        "metadata": {"data_id": "d", "chunk_id": "c"},
        **more,
    }


def _parsed(*entries: object) -> tuple[Memory, ...]:
    return parse_probe(200, json.dumps(entries).encode(), tags=TAGS)


def test_a_probe_asks_for_verified_chunks_and_nothing_else() -> None:
    assert json.loads(probe_body("The port is 8443.", tags=TAGS, top_k=8)) == {
        "query": "The port is 8443.",
        "search_type": "CHUNKS",
        "node_name": ["verified"],
        "top_k": 8,
        "only_context": False,
        "scope": "graph",
        "stream": False,
    }


def test_ids_win_over_names_and_a_long_text_is_cut() -> None:
    assert json.loads(probe_body("x", tags=TAGS, top_k=1, datasets=["a"]))["datasets"] == ["a"]
    by_id = json.loads(probe_body("x" * 9000, tags=TAGS, top_k=1, datasets=["a"], dataset_ids=[DATASET]))
    assert by_id["dataset_ids"] == [DATASET]
    assert "datasets" not in by_id
    assert len(by_id["query"]) == 8000


def test_verified_chunks_are_memories_nearest_first() -> None:
    far, near = _entry("far", ["verified", "slack"], 0.9), _entry("near", ["verified", "wiki"], 0.1)
    assert _parsed(far, near, _entry("unknown", ["verified"], None)) == (
        Memory("near", "wiki", 0.1, "d", "c"),
        Memory("far", "slack", 0.9, "d", "c"),
        Memory("unknown", None, None, "d", "c"),
    )


@pytest.mark.parametrize(
    "entry",
    [
        _entry("x", ["other"]),
        _entry("x", ["VERIFIED"]),
        _entry("x", []),
        _entry("x", None),
        _entry("x", "verified"),
        _entry(5, ["verified"]),
        _entry("x", ["verified"]) | {"source": "system"},
        _entry("x", ["verified"]) | {"raw": None},
        "text",
        None,
    ],
)
def test_what_is_not_a_verified_chunk_is_no_evidence(entry: object) -> None:
    assert _parsed(entry) == ()


@pytest.mark.parametrize("status", [404, 409])
def test_an_empty_store_is_no_evidence(status: int) -> None:
    assert parse_probe(status, b'{"detail": "no data"}', tags=TAGS) == ()


@pytest.mark.parametrize(
    ("status", "body"),
    [(500, b""), (401, b"[]"), (403, b"[]"), (422, b"[]"), (302, b""), (200, b""), (200, b"{}"), (200, b"<html>")],
)
def test_anything_else_means_that_there_is_no_answer(status: int, body: bytes) -> None:
    with pytest.raises(UpstreamUnavailable):
        parse_probe(status, body, tags=TAGS)


def test_odd_metadata_is_no_id() -> None:
    (memory,) = _parsed(_entry("x", ["verified"], True, metadata=5))
    assert memory == Memory("x")
    (memory,) = _parsed(_entry("x", ["verified"], metadata={"data_id": 5}))
    assert memory.data_id is None


@given(st.integers(100, 599), st.binary(max_size=100))
def test_no_answer_raises_anything_but_unavailable(status: int, body: bytes) -> None:
    try:
        parse_probe(status, body, tags=TAGS)
    except UpstreamUnavailable:
        return
