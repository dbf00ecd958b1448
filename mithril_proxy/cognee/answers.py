"""Answers to recalls: what may not be in them is taken out, the rest is scrubbed, ids and types stay (Cognee 1.6.5).

- /recall answers a list of objects told apart by `source`; text stands in `text`, `raw` and `structured`.
- /search answers, with access control, `[{dataset_id, dataset_name, search_result, …}]`, else a bare list.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from mithril_proxy.cognee.tags import Tags

Redact = Callable[[object], object]

# `source` of the entries that no scope has to ask for: the graph itself, and Cognee's note that it is warming up.
ALWAYS = frozenset({"graph", "system"})

_ID = re.compile(r"(?i)[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}")
_HASH = re.compile(r"(?i)[0-9a-f]{32,128}")
_HASH_KEY = re.compile(r"(?i)(\A|_)(ids?|hash|digest|checksum|sha\d*|md5)\Z|(Id|Ids|Hash)\Z")


@dataclass(frozen=True, slots=True)
class Filtered:
    """An answer that may be shown. `removed` counts the memories that were taken out of it."""

    answer: object
    removed: int


def filter_answer(
    answer: object, *, search_type: str, scopes: frozenset[str], tags: Tags, redact: Redact
) -> Filtered:
    """The answer without memory that is not verified, scrubbed. `redact` gives any JSON value without credentials."""
    kept, removed = _without_unverified(answer, search_type, scopes, tags)
    return Filtered(scrub(kept, redact), removed)


def scrub(value: object, redact: Redact) -> object:
    """`value` after `redact`, with UUIDs and hashes as they were."""
    return _with_ids(value, redact(value), "")


def _without_unverified(
    answer: object, search_type: str, scopes: frozenset[str], tags: Tags
) -> tuple[object, int]:
    if not isinstance(answer, list):
        return answer, 0
    kept: list[object] = []
    removed = 0
    for entry in answer:
        inner = entry.get("search_result") if isinstance(entry, dict) else None
        if isinstance(entry, dict) and isinstance(inner, list):
            below, count = _without_unverified(inner, search_type, scopes, tags)
            kept.append(entry | {"search_result": below})
            removed += count
        elif _may_show(entry, search_type, scopes, tags):
            kept.append(entry)
        else:
            removed += 1
    return kept, removed


def _may_show(entry: object, search_type: str, scopes: frozenset[str], tags: Tags) -> bool:
    if not isinstance(entry, dict):
        return True
    source = entry.get("source")
    if isinstance(source, str) and source not in ALWAYS | scopes:
        return False
    node_sets = _node_sets(entry)
    is_chunk = entry.get("kind") == "chunk" or (search_type == "CHUNKS" and node_sets is not None)
    return not is_chunk or (node_sets is None and _is_joined(entry)) or tags.is_verified(node_sets)


def _node_sets(entry: Mapping[str, object]) -> object:
    """The node sets that Cognee stored with a chunk: in `raw` for /recall, in the chunk itself for /search."""
    raw = entry.get("raw")
    holder = raw if isinstance(raw, Mapping) and "belongs_to_set" in raw else entry
    return holder.get("belongs_to_set")


def _is_joined(entry: Mapping[str, object]) -> bool:
    """True for the one entry that joins all chunks of an `only_context` answer: it names no chunk of its own."""
    metadata = entry.get("metadata")
    return not (isinstance(metadata, Mapping) and metadata.get("chunk_id"))


def _with_ids(before: object, after: object, key: str) -> object:
    """`after`, with every id of `before` put back where the two still have one shape."""
    if isinstance(before, str):
        return before if _is_id(before, key) else after
    if isinstance(before, dict) and isinstance(after, dict):
        return {name: _with_ids(before.get(name), value, name) for name, value in after.items()}
    if isinstance(before, list) and isinstance(after, list) and len(before) == len(after):
        return [_with_ids(old, new, key) for old, new in zip(before, after, strict=True)]
    return after


def _is_id(text: str, key: str) -> bool:
    return bool(_ID.fullmatch(text)) or bool(_HASH_KEY.search(key) and _HASH.fullmatch(text))
