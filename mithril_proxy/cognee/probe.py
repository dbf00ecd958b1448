"""The contradiction probe: verified chunks near a text, one embedding and no model call on Cognee's side."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping

from mithril_proxy.cognee.json_body import parse_json
from mithril_proxy.cognee.tags import Tags
from mithril_proxy.errors import MalformedBody, UpstreamUnavailable
from mithril_proxy.types import Memory

PROBE_PATH = "/api/v1/recall"
MAX_PROBE_CHARS = 8_000  # an embedding sees about 8,191 tokens at most; more text only adds noise

# 200: chunks, or a marker that memory is warming up. 404 and 409: no data, no such dataset, no collection yet.
NO_EVIDENCE = frozenset({404, 409})


def probe_body(
    text: str, *, tags: Tags, top_k: int, datasets: Iterable[str] = (), dataset_ids: Iterable[str] = ()
) -> bytes:
    """The JSON body of a probe. With neither names nor ids, it looks in every dataset that the caller may read."""
    names, ids = list(datasets), list(dataset_ids)
    document: dict[str, object] = {
        "query": text[:MAX_PROBE_CHARS],
        "search_type": "CHUNKS",
        "node_name": [tags.verified],
        "top_k": top_k,
        "only_context": False,
        "scope": "graph",
        "stream": False,
    }
    target: dict[str, object] = {"dataset_ids": ids} if ids else {"datasets": names} if names else {}
    return json.dumps(document | target, ensure_ascii=False, separators=(",", ":")).encode("utf-8")


def parse_probe(status: int, body: bytes, *, tags: Tags) -> tuple[Memory, ...]:
    """The verified memories of a probe's answer, nearest first; empty when there is no evidence.

    The node sets are checked here again, whatever the server filtered. Raises UpstreamUnavailable for any other status
    or an answer that is not one.
    """
    if status in NO_EVIDENCE:
        return ()
    if status != 200:
        raise UpstreamUnavailable(f"the probe was answered with {status}")
    try:
        answer = parse_json(body, "answer")
    except MalformedBody:
        raise UpstreamUnavailable("the probe's answer is not JSON") from None
    if not isinstance(answer, list):
        raise UpstreamUnavailable("the probe's answer is not a list")
    found = [memory for entry in answer if (memory := _memory(entry, tags)) is not None]
    return tuple(sorted(found, key=lambda memory: memory.distance if memory.distance is not None else 2.0))


def _memory(entry: object, tags: Tags) -> Memory | None:
    if not isinstance(entry, Mapping) or entry.get("source", "graph") != "graph":
        return None
    raw = entry.get("raw")
    node_sets = raw.get("belongs_to_set") if isinstance(raw, Mapping) else None
    text = entry.get("text")
    if not isinstance(text, str) or not isinstance(node_sets, list) or not tags.is_verified(node_sets):
        return None
    metadata = entry.get("metadata")
    places = metadata if isinstance(metadata, Mapping) else {}
    return Memory(
        text=text,
        source=tags.source_of(node_sets),
        distance=_distance(entry.get("score")),
        data_id=_word(places.get("data_id")),
        chunk_id=_word(places.get("chunk_id")),
    )


def _distance(score: object) -> float | None:
    is_number = isinstance(score, (int, float)) and not isinstance(score, bool)
    return float(score) if is_number else None  # type: ignore[arg-type]


def _word(value: object) -> str | None:
    return value if isinstance(value, str) else None
