"""Answers to recalls: what may not be in them is taken out, the rest is scrubbed, ids and types stay (Cognee 1.6.5).

- /recall answers a list of objects told apart by `source`; text stands in `text`, `raw` and `structured`.
- /search answers, with access control, `[{dataset_id, dataset_name, search_result, …}]`, else a bare list.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from mithril_proxy.cognee.receipts import receipt_of
from mithril_proxy.cognee.tags import Tags

Redact = Callable[[object], object]

# `source` of the entries that no scope has to ask for: the graph itself, and Cognee's note that it is warming up.
ALWAYS = frozenset({"graph", "system"})

# Where /search keeps the results of one dataset; the last two only with `verbose`.
NESTED = ("search_result", "objects_result", "context_result")

_ID = re.compile(r"(?i)[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}")
_HASH = re.compile(r"(?i)[0-9a-f]{32,128}")
_HASH_KEY = re.compile(r"(?i)(\A|_)(ids?|hash|digest|checksum|sha\d*|md5)\Z|(Id|Ids|Hash)\Z")


@dataclass(frozen=True, slots=True)
class Filtered:
    """An answer that may be shown. `removed` counts the memories that were taken out of it."""

    answer: object
    removed: int


@dataclass(frozen=True, slots=True)
class ShowRules:
    """What an answer may show. `admitted` holds the decision ids that the ledger vouches for; None: not asked."""

    search_type: str
    scopes: frozenset[str]
    tags: Tags
    admitted: frozenset[str] | None = None


def filter_answer(
    answer: object,
    *,
    search_type: str,
    scopes: frozenset[str],
    tags: Tags,
    redact: Redact,
    admitted: frozenset[str] | None = None,
) -> Filtered:
    """The answer without memory that is not verified, scrubbed. `redact` gives any JSON value without credentials."""
    kept, removed = _without_unverified(answer, ShowRules(search_type, scopes, tags, admitted))
    return Filtered(scrub(kept, redact), removed)


def without_unverified(
    answer: object,
    *,
    search_type: str,
    scopes: frozenset[str],
    tags: Tags,
    admitted: frozenset[str] | None = None,
) -> object:
    """The answer without memory that is not verified, not yet scrubbed."""
    return _without_unverified(answer, ShowRules(search_type, scopes, tags, admitted))[0]


def joined_chunks(answer: object) -> object:
    """Checked chunks as Cognee answers `only_context`: one entry a dataset, the texts joined by line breaks."""
    if not isinstance(answer, list):
        return answer
    if any(isinstance(entry, dict) and "search_result" in entry for entry in answer):
        return [entry | {"search_result": joined_chunks(entry.get("search_result"))} for entry in answer]
    if not any(isinstance(entry, dict) and "source" in entry for entry in answer):
        texts = [entry["text"] for entry in answer if isinstance(entry, dict) and isinstance(entry.get("text"), str)]
        return ["\n".join(texts)] if texts else []
    by_dataset: dict[object, list[dict[str, object]]] = {}
    others: list[object] = []
    for entry in answer:
        if isinstance(entry, dict) and entry.get("kind") == "chunk":
            by_dataset.setdefault(entry.get("dataset_id"), []).append(entry)
        else:
            others.append(entry)
    return [*(_joined(entries) for entries in by_dataset.values()), *others]


def _joined(entries: list[dict[str, object]]) -> dict[str, object]:
    text = "\n".join(str(entry.get("text", "")) for entry in entries)
    return entries[0] | {"text": text, "score": None, "metadata": {}, "raw": {"value": text}}


def scrub(value: object, redact: Redact) -> object:
    """`value` after `redact`, with UUIDs and hashes as they were."""
    return _with_ids(value, redact(value), "")


def _without_unverified(answer: object, rules: ShowRules) -> tuple[object, int]:
    if not isinstance(answer, list):
        return answer, 0
    kept: list[object] = []
    removed = 0
    for entry in answer:
        if not _may_show(entry, rules):
            removed += 1
            continue
        shown, count = _nested(entry, rules)
        kept.append(shown)
        removed += count
    return kept, removed


def _nested(entry: object, rules: ShowRules) -> tuple[object, int]:
    """One entry of /search: its results stand a level below, for each dataset."""
    if not isinstance(entry, dict):
        return entry, 0
    below = {name: entry[name] for name in NESTED if isinstance(entry.get(name), list)}
    filtered = {name: _without_unverified(value, rules) for name, value in below.items()}
    rebuilt = entry | {name: value for name, (value, _) in filtered.items()}
    return rebuilt, sum(count for _, count in filtered.values())


def _may_show(entry: object, rules: ShowRules) -> bool:
    if not isinstance(entry, dict):
        return True
    source = entry.get("source")
    if isinstance(source, str) and source not in ALWAYS | rules.scopes:
        return False
    node_sets = _node_sets(entry)
    if not (node_sets or _is_one_chunk(entry, rules.search_type)):
        return True
    return rules.tags.is_verified(node_sets) and _is_vouched_for(entry, rules)


def _is_vouched_for(entry: Mapping[str, object], rules: ShowRules) -> bool:
    """False for a memory whose receipt names no decision that admitted it: forged, withdrawn, of another ledger."""
    receipt = receipt_of(entry)
    return receipt is None or rules.admitted is None or receipt in rules.admitted


def _node_sets(entry: Mapping[str, object]) -> object:
    """The node sets that Cognee stored with a memory: in `raw` for /recall, in the memory itself for /search."""
    raw = entry.get("raw")
    return raw.get("belongs_to_set") if isinstance(raw, Mapping) else entry.get("belongs_to_set")


def _is_one_chunk(entry: Mapping[str, object], search_type: str) -> bool:
    """True for an entry that is one stored chunk, as against the joined text of an `only_context` answer."""
    metadata = entry.get("metadata")
    named = isinstance(metadata, Mapping) and bool(metadata.get("chunk_id"))
    bare = search_type == "CHUNKS" and "source" not in entry and "text" in entry
    return named or bare or "chunk_index" in entry


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
