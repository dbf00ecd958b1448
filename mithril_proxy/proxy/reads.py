"""Reads other than recall: histories, raw data, graphs, exports. Scrubbed, or refused where the policy says so."""

from __future__ import annotations

import asyncio

import orjson

from mithril_proxy.cognee.reads import ScrubKind, scrub_json, scrub_kind
from mithril_proxy.errors import Refused
from mithril_proxy.proxy.answers import send_bytes
from mithril_proxy.proxy.disconnect import UntilDisconnect
from mithril_proxy.proxy.events import relay_events
from mithril_proxy.proxy.exchange import Exchange
from mithril_proxy.proxy.headers import header, rewritten_response_headers
from mithril_proxy.proxy.history import is_history, without_held_claims
from mithril_proxy.proxy.passthrough import pass_through, relay
from mithril_proxy.proxy.screen import refuse_credentials_in_body
from mithril_proxy.proxy.scrub import INLINE_ANSWER_BYTES, MAX_ANSWER_BYTES, Scrubber, note_scrubbed
from mithril_proxy.proxy.upstream import UpstreamAnswer, UpstreamRequest
from mithril_proxy.types import Mode

BODILESS_METHODS = frozenset(("HEAD", "OPTIONS"))  # no text comes back, and Content-Length stays the upstream's


async def answer_read(exchange: Exchange) -> int:
    """Answer a read with credentials scrubbed. Raises Refused, UpstreamUnavailable, ClientGone."""
    request = exchange.request
    if exchange.services.policy.mode is not Mode.ENFORCE or request.method in BODILESS_METHODS:
        return await pass_through(exchange)
    request.require_identity_encoding()
    body = await request.body(exchange.services.policy.limits.max_body_bytes)
    await refuse_credentials_in_body(exchange.services.guard, body)
    dropped = (b"accept-encoding", b"range", b"if-range", b"content-length", b"if-none-match", b"if-modified-since")
    headers = [pair for pair in exchange.upstream_headers() if pair[0].lower() not in dropped]
    outgoing = UpstreamRequest(
        request.method, exchange.target(), [*headers, (b"accept-encoding", b"identity")], body or None
    )
    async with UntilDisconnect(request.receive):
        answer = await exchange.edge.upstream.send(outgoing)
    async with answer:
        return await _send(exchange, answer)


async def _send(exchange: Exchange, answer: UpstreamAnswer) -> int:
    content_type = (header(answer.headers, b"content-type") or b"").decode("latin-1")
    kind = scrub_kind(exchange.match, content_type)
    if kind is ScrubKind.REFUSE:
        raise Refused(
            "this answer cannot be scrubbed of credentials, so it is not passed on", code="unscrubbable_answer"
        )
    if kind is ScrubKind.EVENTS:
        return await relay_events(exchange, answer)
    if kind is ScrubKind.STREAM:
        await relay(exchange, answer)
        return answer.status
    async with UntilDisconnect(exchange.request.receive):
        raw = await answer.read(MAX_ANSWER_BYTES)
    if is_history(exchange):
        raw = await _history_without_held_claims(exchange, raw)
    scrubber = Scrubber(exchange.services.guard)

    def scrub() -> bytes:
        return _scrubbed(exchange, kind, raw, scrubber)

    body = scrub() if len(raw) <= INLINE_ANSWER_BYTES else await asyncio.to_thread(scrub)
    await note_scrubbed(exchange, scrubber)
    upstream_headers = exchange.client_headers(answer.headers)
    headers_out = rewritten_response_headers(upstream_headers, len(body))
    await send_bytes(exchange.request.send, answer.status, headers_out, body)
    return answer.status


async def _history_without_held_claims(exchange: Exchange, raw: bytes) -> bytes:
    """The history's body without the words of held claims; an error's body as it is. Raises StoreUnavailable."""
    try:
        rows = orjson.loads(raw)
    except orjson.JSONDecodeError:
        return raw
    kept = await without_held_claims(exchange, rows)
    return raw if kept == rows else orjson.dumps(kept)


def _scrubbed(exchange: Exchange, kind: ScrubKind, raw: bytes, scrubber: Scrubber) -> bytes:
    """The body without credentials; byte for byte the same when there were none."""
    if not raw:
        return raw
    if kind is ScrubKind.JSON:
        try:
            parsed = orjson.loads(raw)
        except orjson.JSONDecodeError:
            return _scrubbed_text(raw, scrubber)
        clean = scrub_json(exchange.match, parsed, scrubber.value)
        return raw if not scrubber.rules and clean == parsed else orjson.dumps(clean)
    return _scrubbed_text(raw, scrubber)


def _scrubbed_text(raw: bytes, scrubber: Scrubber) -> bytes:
    text = raw.decode("utf-8", "surrogateescape")
    clean = scrubber.text(text)
    return raw if clean == text else clean.encode("utf-8", "surrogateescape")
