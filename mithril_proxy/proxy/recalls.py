"""A recall: rebuilt so that it reaches verified memory only, and scrubbed on its way back."""

from __future__ import annotations

import asyncio
import uuid

import orjson

from mithril_proxy.cognee.answers import filter_answer, joined_chunks, without_unverified
from mithril_proxy.cognee.recall import RecallCall, decode_recall, rebuild_recall
from mithril_proxy.cognee.receipts import receipts_in
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
from mithril_proxy.proxy.services import Services
from mithril_proxy.proxy.sessions import standing_of
from mithril_proxy.proxy.upstream import UpstreamAnswer, UpstreamRequest
from mithril_proxy.types import Mode

NO_JSON = object()
EVENT_HEADERS = [(b"content-type", b"text/event-stream; charset=utf-8"), (b"cache-control", b"no-cache")]


async def answer_recall(exchange: Exchange) -> int:
    """Answer a recall. Returns the HTTP status. Raises RequestError, UpstreamUnavailable, ClientGone."""
    request, services = exchange.request, exchange.services
    if services.policy.mode is not Mode.ENFORCE:
        return await pass_through(exchange)
    request.require_identity_encoding()
    body = await request.body(services.policy.limits.max_body_bytes)
    tags = await services.tags()
    call = await _rebuild(exchange, body, tags)
    accept = b"text/event-stream" if call.streams_upstream else b"application/json"
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
    is_own = isinstance(session, str) and await standing_of(exchange, _name(services, session)) is Standing.OWN
    return rebuild_recall(
        ask,
        services.policy.recall,
        tags=tags,
        session_id=f"mithril-{uuid.uuid4()}",
        annotations=annotations,
        may_read_session=lambda _: is_own,
    )


def _name(services: Services, session: str) -> str:
    """A session's name as it goes upstream."""
    return services.guard.redact(session).text


async def _send_scrubbed(exchange: Exchange, answer: UpstreamAnswer, call: RecallCall, tags: Tags) -> int:
    """Read the whole answer, drop what is not verified, scrub it, send it."""
    async with UntilDisconnect(exchange.request.receive):
        raw = await answer.read(MAX_ANSWER_BYTES)
    is_large = len(raw) > INLINE_ANSWER_BYTES
    scrubber = Scrubber(exchange.services.guard)
    parsed = await asyncio.to_thread(_parsed, raw) if is_large else _parsed(raw)
    shown: object = None
    if parsed is NO_JSON:
        body = _unparsed(raw, scrubber, is_error=answer.status >= 400)
    else:
        admitted = await exchange.edge.store.admitted_among(list(receipts_in(parsed)))

        def scrub() -> tuple[bytes, object]:
            return shown_answer(parsed, scrubber, call, tags, admitted)

        body, shown = await asyncio.to_thread(scrub) if is_large else scrub()
    await note_scrubbed(exchange, scrubber)
    headers = exchange.client_headers(answer.headers)
    if call.wants_stream and answer.status == 200:
        body = b'event: stage\ndata: {"stage": "retrieving"}\n\nevent: final\ndata: {"results": ' + body + b"}\n\n"
        headers = [*(pair for pair in headers if pair[0].lower() != b"content-type"), *EVENT_HEADERS]
    await send_bytes(exchange.request.send, answer.status, rewritten_response_headers(headers, len(body)), body)
    await keep_receipts(exchange, shown)
    return answer.status


def _parsed(raw: bytes) -> object:
    try:
        return orjson.loads(raw)
    except orjson.JSONDecodeError:
        return NO_JSON


def _unparsed(raw: bytes, scrubber: Scrubber, *, is_error: bool) -> bytes:
    """An error's plain text, scrubbed. Raises UpstreamUnavailable for memories that could not be filtered."""
    if not is_error:
        raise UpstreamUnavailable("the upstream answered a recall with something that is no JSON")
    return scrubber.text(raw.decode("utf-8", "replace")).encode()


def shown_answer(
    parsed: object, scrubber: Scrubber, call: RecallCall, tags: Tags, admitted: frozenset[str]
) -> tuple[bytes, object]:
    """A recall's answer without memories that are not verified or that the ledger does not know, and scrubbed.

    As it is sent, and with all that is in it.
    """
    kept = filter_answer(
        parsed,
        search_type=call.search_type,
        scopes=call.scopes,
        tags=tags,
        redact=scrubber.value,
        admitted=admitted,
    )
    return orjson.dumps(joined_chunks(kept.answer) if call.joins_chunks else kept.answer), kept.answer


async def _send_events(exchange: Exchange, answer: UpstreamAnswer, call: RecallCall, tags: Tags) -> int:
    """Relay a recall's event stream: unverified memories dropped from its results, every frame scrubbed."""

    shown: list[object] = []

    def verified(results: object) -> object:
        shown.append(without_unverified(results, search_type=call.search_type, scopes=call.scopes, tags=tags))
        return shown[-1]

    status = await relay_events(exchange, answer, verified)
    await keep_receipts(exchange, shown)
    return status
