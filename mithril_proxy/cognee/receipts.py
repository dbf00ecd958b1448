"""Receipts: the decision that admitted a memory, kept beside it and given back with every chunk of it (Cognee 1.6.5).

Cognee stores a document's `external_metadata` and copies it, as JSON text, onto each of its chunks. Mithril puts the id
of its decision there, so that a chunk can be checked against Mithril's own ledger, whatever its tags say.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping

RECEIPT = "mithril"


def receipt_of(chunk: Mapping[str, object]) -> str | None:
    """The decision id that a chunk carries; None when it carries none (a session turn, an update, an older memory)."""
    raw = chunk.get("raw")
    holder = raw if isinstance(raw, Mapping) and "external_metadata" in raw else chunk
    metadata = _parsed(holder.get("external_metadata"))
    receipt = metadata.get(RECEIPT) if isinstance(metadata, Mapping) else None
    decision_id = receipt.get("decision") if isinstance(receipt, Mapping) else None
    return decision_id if isinstance(decision_id, str) else None


def receipts_in(answer: object) -> Iterator[str]:
    """Every decision id that an answer's chunks carry."""
    if isinstance(answer, list):
        for entry in answer:
            yield from receipts_in(entry)
    elif isinstance(answer, Mapping):
        found = receipt_of(answer)
        if found is not None:
            yield found
        for name in ("results", "search_result"):
            yield from receipts_in(answer.get(name))


def _parsed(metadata: object) -> object:
    if not isinstance(metadata, str):
        return metadata
    try:
        return json.loads(metadata)
    except (ValueError, RecursionError):
        return None
