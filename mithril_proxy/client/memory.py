"""Remember and recall as Cognee's own clients send them, with what Mithril decided of each text."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

import orjson

from mithril_proxy.cognee.prepared import FilePart, PreparedWrite
from mithril_proxy.cognee.uploads import text_name
from mithril_proxy.errors import MithrilError
from mithril_proxy.proxy.forward import Forwarded, forward_write
from mithril_proxy.proxy.headers import REPORT_HEADER, RawHeaders, rebuilt_request_headers
from mithril_proxy.proxy.upstream import Upstream, UpstreamRequest

REMEMBER_PATH = "/api/v1/remember"
RECALL_PATH = "/api/v1/recall"
RECALL_ANSWER_BYTES = 64 * 1024 * 1024
NOTHING_YET = frozenset((404, 409))  # Cognee's ways to say that there is no such dataset, or nothing in it
EXPLANATION_CHARS = 400


class CallFailed(MithrilError):
    """The call was not taken. `status` is the HTTP status, `code` the stable word, `detail` what to do."""

    def __init__(self, status: int, code: str, detail: str) -> None:
        super().__init__(f"{code} ({status}): {detail}")
        self.status = status
        self.code = code
        self.detail = detail


@dataclass(frozen=True, slots=True)
class Document:
    """One text to remember. Without a file name it gets one made of the text, as Cognee's SDK does it."""

    text: str
    filename: str = ""
    claimed_at: datetime | None = None
    metadata: Mapping[str, object] = field(default_factory=dict)

    @property
    def external_metadata(self) -> Mapping[str, object] | None:
        """What travels beside the text; None when nothing does."""
        claimed = {} if self.claimed_at is None else {"claimed_at": self.claimed_at.isoformat()}
        return {**self.metadata, **claimed} or None


@dataclass(frozen=True, slots=True)
class Decided:
    """What became of one text: a status as clients read it (accept, warn, review, quarantined, rejected).

    `passed` is a text that was stored without Mithril saying what it decided: the policy only observes, or is off.
    """

    status: str
    decision_id: str
    quarantine_id: str | None
    score: float
    reasons: tuple[str, ...]

    @property
    def is_stored(self) -> bool:
        """True when it went on to memory."""
        return self.status in ("accept", "warn", "passed")


@dataclass(frozen=True, slots=True)
class MemoryClient:
    """A client of one data plane. `credentials` are its headers: a key, and for some a declared source."""

    upstream: Upstream
    credentials: RawHeaders

    async def remember(
        self, documents: Sequence[Document], *, dataset: str, tags: Sequence[str] = (), source: str | None = None
    ) -> tuple[Decided, ...]:
        """The decision on each document, in order, once those that were admitted are stored.

        `source` is declared in X-Mithril-Source. Raises CallFailed, UpstreamUnavailable.
        """
        headers = [*self._headers(source), (REPORT_HEADER, b"items")]
        forwarded = await forward_write(self.upstream, _remember(documents, dataset, tags), headers)
        return _decided(forwarded, len(documents))

    async def recall(self, query: str, *, top_k: int, dataset: str | None = None) -> list[Mapping[str, Any]]:
        """The chunks of verified memory near a query, as Cognee gives them; none when there is no memory yet.

        Raises CallFailed, UpstreamUnavailable.
        """
        document: dict[str, object] = {"query": query, "search_type": "CHUNKS", "top_k": top_k, "only_context": False}
        if dataset:
            document["datasets"] = [dataset]
        headers = rebuilt_request_headers(
            self._headers(None), content_type=b"application/json", accept=b"application/json"
        )
        request = UpstreamRequest("POST", RECALL_PATH, headers, orjson.dumps(document))
        async with await self.upstream.send(request) as answer:
            body = await answer.read(RECALL_ANSWER_BYTES)
            return _recalled(Forwarded(answer.status, answer.headers, body))

    def _headers(self, source: str | None) -> RawHeaders:
        declared = [] if source is None else [(b"x-mithril-source", source.encode("latin-1", "replace"))]
        host = (b"host", self.upstream.netloc.encode())
        return [host, (b"user-agent", b"mithril"), *self.credentials, *declared]


def _remember(documents: Sequence[Document], dataset: str, tags: Sequence[str]) -> PreparedWrite:
    fields = [("datasetName", dataset), *(("node_set", tag) for tag in tags)]
    metadata = [document.external_metadata for document in documents]
    if any(metadata):
        fields.append(("external_metadata", orjson.dumps(metadata).decode()))
    files = [FilePart("data", one.filename or text_name(one.text), text=one.text) for one in documents]
    return PreparedWrite("POST", REMEMBER_PATH, fields=tuple(fields), files=tuple(files))


def _decided(forwarded: Forwarded, expected: int) -> tuple[Decided, ...]:
    """The decisions of an answer. Raises CallFailed when it holds none, or says that nothing could be forwarded."""
    body = _parsed(forwarded)
    known = body if isinstance(body, dict) else {}
    is_judged = forwarded.is_success or str(known.get("error", "")).startswith("write_")
    if not is_judged:
        raise _failure(forwarded, body)
    listed = known["items"] if "decision_id" in known else []
    if len(listed) != expected:
        return (Decided("passed", "", None, 1.0, ()),) * expected
    return tuple(
        Decided(one["status"], one["decision_id"], one["quarantine_id"], one["score"], tuple(one["reasons"]))
        for one in listed
    )


def _recalled(forwarded: Forwarded) -> list[Mapping[str, Any]]:
    body = _parsed(forwarded)
    if forwarded.status in NOTHING_YET:
        return []
    if forwarded.status != 200 or not isinstance(body, list):
        raise _failure(forwarded, body)
    return [entry for entry in body if isinstance(entry, dict) and entry.get("source", "graph") == "graph"]


def _parsed(forwarded: Forwarded) -> Any:
    try:
        return orjson.loads(forwarded.body)
    except orjson.JSONDecodeError:
        return None


def _failure(forwarded: Forwarded, body: Any) -> CallFailed:
    """The failure that an answer is, in its own words."""
    known = body if isinstance(body, dict) else {}
    code, detail = known.get("error"), known.get("detail")
    is_own = isinstance(code, str) and isinstance(detail, str)
    words = str(detail or code or "no reason was given")[:EXPLANATION_CHARS]
    return CallFailed(forwarded.status, str(code) if is_own else "upstream_error", words)
