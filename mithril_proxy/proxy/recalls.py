"""A recall: rebuilt so that it reaches verified memory only, and scrubbed on its way back."""

from __future__ import annotations

import asyncio
import uuid

import orjson

from mithril_proxy.cognee.answers import filter_answer, without_unverified
from mithril_proxy.cognee.recall import RecallCall, decode_recall, rebuild_recall
from mithril_proxy.cognee.sessions import Standing
from mithril_proxy.cognee.tags import Tags
from mithril_proxy.errors import UpstreamUnavailable
from mithril_proxy.proxy.answers import send_bytes
from mithril_proxy.proxy.disconnect import UntilDisconnect
from mithril_proxy.proxy.events import relay_events
from mithril_proxy.proxy.exchange import Exchange
from mithril_proxy.proxy.headers import header, rebuilt_request_headers, rewritten_response_headers
from mithril_proxy.proxy.passthrough import pass_through
from mithril_proxy.proxy.receipts import keep_receipts
from mithril_proxy.proxy.scrub import (
    INLINE_ANSWER_BYTES,
    MAX_ANSWER_BYTES,
    Scrubber,
    note_scrubbed,
    redacted_annotations,
)
from mithril_proxy.proxy.sessions import standing_of
from mithril_proxy.proxy.upstream import UpstreamAnswer, UpstreamRequest
from mithril_proxy.types import Mode


async def answer_recall(exchange: Exchange) -> int:
    """Answer a recall. Returns the HTTP status. Raises RequestError, UpstreamUnavailable, ClientGone."""
    request, services = exchange.request, exchange.services
    if services.policy.mode is not Mode.ENFORCE:
        return await pass_through(exchange)
    request.require_identity_encoding()
    body = await request.body(services.policy.limits.max_body_bytes)
    tags = await services.tags()
    call = await _rebuild(exchange, body, tags)
    accept = b"text/event-stream" if call.wants_stream else b"application/json"
    headers = rebuilt_request_headers(exchange.upstream_headers(), content_type=b"application/json", accept=accept)
    outgoing = UpstreamRequest(call.match.method, call.match.path, headers, call.body)
    async with UntilDisconnect(request.receive):
        answer = await exchange.edge.upstream.send(outgoing)
    async with answer:
        if (header(answer.headers, b"content-type") or b"").startswith(b"text/event-stream"):
            return await _send_events(exchange, answer, call, tags)
        return await _send_scrubbed(exchange, answer, call, tags)


async def _rebuild(exchange: Exchange, body: bytes, tags: Tags) -> RecallCall:
    """The recall as it goes out. Raises RequestError."""
    request, services = exchange.request, exchange.services
    accept = (header(request.headers, b"accept") or b"").decode("latin-1") or None
    ask = decode_recall(exchange.match, request.content_type or None, accept, body, limits=services.policy.limits)
    annotations = await redacted_annotations(services.guard, ask.annotations)
    session = ask.values.get("session_id")
    is_own = isinstance(session, str) and await standing_of(exchange, session) is Standing.OWN
    return rebuild_recall(
        ask,
        services.policy.recall,
        tags=tags,
        session_id=f"mithril-{uuid.uuid4()}",
        annotations=annotations,
        may_read_session=lambda _: is_own,
    )


async def _send_scrubbed(exchange: Exchange, answer: UpstreamAnswer, call: RecallCall, tags: Tags) -> int:
    """Read the whole answer, drop what is not verified, scrub it, send it."""
    async with UntilDisconnect(exchange.request.receive):
        raw = await answer.read(MAX_ANSWER_BYTES)
    scrubber = Scrubber(exchange.services.guard)

    def scrub() -> tuple[bytes, object]:
        return scrubbed_answer(raw, scrubber, call, tags, is_error=answer.status >= 400)

    body, shown = scrub() if len(raw) <= INLINE_ANSWER_BYTES else await asyncio.to_thread(scrub)
    await note_scrubbed(exchange, scrubber)
    headers = rewritten_response_headers(exchange.client_headers(answer.headers), len(body))
    await send_bytes(exchange.request.send, answer.status, headers, body)
    await keep_receipts(exchange, shown)
    return answer.status


def scrubbed_answer(
    raw: bytes, scrubber: Scrubber, call: RecallCall, tags: Tags, *, is_error: bool
) -> tuple[bytes, object]:
    """A recall's JSON answer without unverified memories and credentials, as bytes and as a value.

    An error's plain text is scrubbed as text.

    Raises UpstreamUnavailable when memories come as anything but JSON: they could not be filtered.
    """
    try:
        parsed = orjson.loads(raw)
    except orjson.JSONDecodeError:
        if not is_error:
            raise UpstreamUnavailable("the upstream answered a recall with something that is no JSON") from None
        return scrubber.text(raw.decode("utf-8", "replace")).encode(), None
    kept = filter_answer(parsed, search_type=call.search_type, scopes=call.scopes, tags=tags, redact=scrubber.value)
    return orjson.dumps(kept.answer), kept.answer


async def _send_events(exchange: Exchange, answer: UpstreamAnswer, call: RecallCall, tags: Tags) -> int:
    """Relay a recall's event stream: unverified memories dropped from its results, every frame scrubbed."""

    shown: list[object] = []

    def verified(results: object) -> object:
        shown.append(without_unverified(results, search_type=call.search_type, scopes=call.scopes, tags=tags))
        return shown[-1]

    status = await relay_events(exchange, answer, verified)
    await keep_receipts(exchange, shown)
    return status
