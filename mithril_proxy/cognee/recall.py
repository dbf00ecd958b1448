"""Recalls: rebuilt so that they can reach verified memory only (POST /recall and POST /search, Cognee 1.6.5).

Rules, each measured on the real server:

1. The search type comes from an allow-list; null and FEELING_LUCKY, where Cognee would choose by the query's words,
   become the policy's default. Types that ignore `node_name` are refused.
2. `node_name` is replaced, never extended: it is OR only, and an empty list means no filter.
3. The scope is `graph` and the session a fresh one, since a recall writes its question and answer into its session. A
   client's own session is read only when all its writes went through Mithril, and only where nothing is written to it.
4. What steers the answer or reaches other stores is dropped: system_prompt, tools, skills, code_query.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from mithril_proxy.cognee.calls import respoken, spoken
from mithril_proxy.cognee.fields import Field, Kind, Schema
from mithril_proxy.cognee.json_body import canonical, decode_object
from mithril_proxy.cognee.routes import Match
from mithril_proxy.cognee.table import Codec
from mithril_proxy.cognee.tags import Tags
from mithril_proxy.cognee.tree import texts_of
from mithril_proxy.errors import BodyTooLarge, MalformedBody, Refused
from mithril_proxy.policy import Limits, Recall
from mithril_proxy.types import Annotation

GRAPH_FAMILY = frozenset(
    {
        "GRAPH_COMPLETION", "GRAPH_COMPLETION_COT", "GRAPH_COMPLETION_CONTEXT_EXTENSION",
        "GRAPH_COMPLETION_DECOMPOSITION", "GRAPH_SUMMARY_COMPLETION", "TRIPLET_COMPLETION", "TEMPORAL",
    }
)  # fmt: skip
CHOSEN_BY_COGNEE = frozenset({"FEELING_LUCKY"})
SESSION_SCOPES = frozenset({"session", "session_first", "trace", "session_context"})
CHECKED_TYPE = "CHUNKS"  # its answers name every memory, so each is checked against the ledger
MAX_TOP_K = 100
MAX_SCHEMA_CHARS = 16_384
STEERING = ("system_prompt", "tool_connections", "tools_trigger", "code_query", "tools", "skills", "max_iter")

_TEXT, _TEXTS, _BOOL, _INT = Field(Kind.TEXT), Field(Kind.TEXTS), Field(Kind.BOOL), Field(Kind.INT)
_COMMON = {
    "query": _TEXT, "search_type": _TEXT, "datasets": _TEXTS, "dataset_ids": Field(Kind.UUIDS), "system_prompt": _TEXT,
    "node_name": Field(Kind.TREE), "top_k": _INT, "only_context": _BOOL, "verbose": _BOOL, "include_references": _BOOL,
    "session_id": _TEXT, "code_query": Field(Kind.OBJECT),
}  # fmt: skip
SCHEMAS: Mapping[Codec, Schema] = {
    Codec.RECALL: Schema(
        _COMMON
        | {
            "scope": Field(Kind.TREE), "tool_connections": _TEXTS, "tools_trigger": _TEXT, "stream": _BOOL,
            "context_profile": Field(Kind.CHOICE, frozenset({"qa", "agent"})), "response_schema": Field(Kind.OBJECT),
        },
        required=("query",), drops_unknown=True,
    ),
    Codec.SEARCH: Schema(
        _COMMON | {"skills": _TEXTS, "tools": _TEXTS, "max_iter": _INT}, required=("query",), drops_unknown=True
    ),
}  # fmt: skip
_KEPT = (
    "query", "datasets", "dataset_ids", "top_k", "only_context", "verbose", "include_references", "response_schema",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class RecallAsk:
    """A recall as the client meant it. `annotations` are its strings; `query` is the first of them to redact."""

    match: Match
    values: Mapping[str, object]
    annotations: tuple[Annotation, ...]
    wants_stream: bool

    @property
    def query(self) -> str:
        """The question."""
        return str(self.values["query"])


@dataclass(frozen=True, slots=True)
class RecallCall:
    """The recall that goes upstream. `dropped` names the client's fields that were left out or replaced."""

    match: Match
    document: Mapping[str, object]
    search_type: str
    wants_stream: bool
    scopes: frozenset[str]
    dropped: tuple[str, ...] = ()
    joins_chunks: bool = False

    @property
    def streams_upstream(self) -> bool:
        """True when the upstream is asked for events; of checked chunks Mithril makes the events itself."""
        return self.wants_stream and self.search_type != CHECKED_TYPE

    @property
    def body(self) -> bytes:
        """The canonical JSON body, UTF-8."""
        return json.dumps(self.document, ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode("utf-8")


def decode_recall(
    match: Match, content_type: str | None, accept: str | None, body: bytes, *, limits: Limits
) -> RecallAsk:
    """The client's recall. Raises MalformedBody or BodyTooLarge; unknown fields are dropped."""
    values = canonical(decode_object(content_type, body, limits), SCHEMAS[match.codec])
    kept = {name: value for name, value in values.items() if name in _KEPT}
    annotations = spoken(kept, SCHEMAS[match.codec].fields)
    if sum(len(annotation.text) for annotation in annotations) > limits.max_text_chars:
        raise BodyTooLarge(f"body: more than {limits.max_text_chars} characters of text")
    if len(json.dumps(values.get("response_schema"))) > MAX_SCHEMA_CHARS:
        raise BodyTooLarge(f"response_schema: more than {MAX_SCHEMA_CHARS} characters")
    stream = values.get("stream") if match.codec is Codec.RECALL else False
    wants = bool(stream) if stream is not None else wants_event_stream(accept)
    return RecallAsk(match, values, annotations, wants)


def rebuild_recall(
    ask: RecallAsk,
    rules: Recall,
    *,
    tags: Tags,
    session_id: str,
    annotations: tuple[Annotation, ...] | None = None,
    may_read_session: Callable[[str], bool] = lambda session: False,
) -> RecallCall:
    """The recall that goes upstream. Raises Refused (`search_type_refused`, `dataset_refused`) with the reason.

    `session_id` is a fresh random one; `annotations` are the ask's strings after redaction; `may_read_session` is true
    for a session whose writes all went through Mithril.
    """
    search_type = _search_type(ask, rules)
    kept = {name: value for name, value in ask.values.items() if name in _KEPT}
    texts = texts_of(ask.annotations if annotations is None else annotations)
    document = respoken(kept, SCHEMAS[ask.match.codec].fields, texts)
    document |= _datasets(document, rules)
    if document.get("datasets") == []:
        del document["datasets"]
    document["search_type"] = search_type
    document["node_name"] = list(tags.narrowed([ask.values.get("node_name")]))
    document["top_k"] = _top_k(ask)
    scopes = _scopes(ask, may_read_session)
    document |= _session(ask, scopes, session_id)
    dropped = tuple(name for name in STEERING if name in ask.values)
    is_checked = search_type == CHECKED_TYPE
    joins_chunks = is_checked and document.get("only_context") is True and scopes == {"graph"}
    if joins_chunks:
        document["only_context"] = False  # joined text cannot be checked; Mithril joins what it has checked
    if is_checked and "stream" in document:
        document["stream"] = False  # a ledger is asked before anything is shown, and chunks come all at once anyway
    return RecallCall(ask.match, document, search_type, ask.wants_stream, scopes, dropped, joins_chunks)


def wants_event_stream(accept: str | None) -> bool:
    """True when the client ranks `text/event-stream` above `application/json`: the rule of Cognee's own negotiation."""
    ranges = [_media_range(part) for part in (accept or "").split(",")]
    events = dict(ranges).get("text/event-stream", 0.0)
    return events > 0.0 and events > _quality(ranges, "application/json")


def _media_range(part: str) -> tuple[str, float]:
    name, *parameters = (piece.strip().lower() for piece in part.split(";"))
    quality = next((parameter[2:] for parameter in parameters if parameter.startswith("q=")), "1")
    try:
        return name, float(quality)
    except ValueError:
        return name, 0.0


def _quality(ranges: list[tuple[str, float]], media_type: str) -> float:
    """The client's rank of a type: the most specific range that names it counts."""
    ranks = dict(ranges)
    for name in (media_type, media_type.split("/")[0] + "/*", "*/*"):
        if name in ranks:
            return ranks[name]
    return 0.0


def _search_type(ask: RecallAsk, rules: Recall) -> str:
    asked = ask.values.get("search_type")
    if asked is None or asked in CHOSEN_BY_COGNEE:
        return rules.default_search_type
    allowed = frozenset(rules.search_types) | (GRAPH_FAMILY if rules.allow_graph_family else frozenset())
    if asked in allowed:
        return str(asked)
    raise Refused(
        "search_type: this type does not keep to verified memory, so it is refused; "
        f"use one of {', '.join(sorted(allowed))}",
        code="search_type_refused",
    )


def _datasets(document: Mapping[str, object], rules: Recall) -> dict[str, object]:
    """The datasets to look in. Names are narrowed to the policy's; ids win over names, as Cognee has it."""
    names, ids = document.get("datasets"), document.get("dataset_ids")
    if not rules.datasets:
        return {"datasets": []} if ids else {}
    if ids:
        raise Refused(
            "dataset_ids: the policy narrows recalls to named datasets; send `datasets`", code="dataset_refused"
        )
    asked = names if isinstance(names, list) and names else list(rules.datasets)
    narrowed = [name for name in asked if name in rules.datasets]
    if not narrowed:
        raise Refused("datasets: none of them is open to recalls by policy", code="dataset_refused")
    return {"datasets": narrowed}


def _top_k(ask: RecallAsk) -> int:
    top_k = ask.values.get("top_k", 15)
    if not isinstance(top_k, int) or top_k < 1:
        raise MalformedBody("top_k: expected a positive integer")
    return min(top_k, MAX_TOP_K)


def _scopes(ask: RecallAsk, may_read_session: Callable[[str], bool]) -> frozenset[str]:
    """What the recall may read: the graph, or parts of a session that Mithril knows, where nothing is written to it."""
    session = ask.values.get("session_id")
    scope = ask.values.get("scope")
    given = scope if isinstance(scope, list) else [scope]
    words = {word for word in given if isinstance(word, str)}
    wanted = SESSION_SCOPES if "all" in words else words & SESSION_SCOPES
    if not wanted or not isinstance(session, str) or not session or not may_read_session(session):
        return frozenset({"graph"})
    own = frozenset("session" if word == "session_first" else word for word in wanted)
    reads_graph = bool(words & {"graph", "graph_context", "all", "auto", "session_first"})
    return own | {"graph"} if reads_graph and ask.values.get("only_context") else own


def _session(ask: RecallAsk, scopes: frozenset[str], fresh: str) -> dict[str, object]:
    """Scope and session of the call; Cognee's /search knows no scope."""
    if ask.match.codec is Codec.SEARCH:
        return {"session_id": fresh}
    is_graph_only = scopes == {"graph"}
    profile = ask.values.get("context_profile")
    return {
        "scope": "graph" if is_graph_only else sorted(scopes),
        "session_id": fresh if is_graph_only else ask.values["session_id"],
        "stream": ask.wants_stream,
    } | ({"context_profile": profile} if profile and "session_context" in scopes else {})
