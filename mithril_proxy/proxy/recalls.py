"""A recall: rebuilt so that it reaches verified memory only, and scrubbed on its way back."""

from __future__ import annotations

import asyncio
import uuid
from dataclasses import dataclass, field

import orjson

from mithril_proxy.cognee.recall import RecallCall, decode_recall, filter_answer, rebuild_recall
from mithril_proxy.cognee.sse import SseGuard
from mithril_proxy.cognee.tags import Tags
from mithril_proxy.errors import UpstreamUnavailable
from mithril_proxy.proxy.answers import send_bytes
from mithril_proxy.proxy.disconnect import UntilDisconnect
from mithril_proxy.proxy.exchange import Exchange
from mithril_proxy.proxy.headers import header, rebuilt_request_headers, rewritten_response_headers
from mithril_proxy.proxy.passthrough import pass_through
from mithril_proxy.proxy.upstream import UpstreamAnswer, UpstreamRequest
from mithril_proxy.secrets import SecretGuard, StreamScrubber
from mithril_proxy.types import Mode

MAX_ANSWER_BYTES = 64 * 1024 * 1024
INLINE_ANSWER_BYTES = 64 * 1024  # a larger answer is parsed and scrubbed in a thread


@dataclass(slots=True)
class Scrubber:
    """Removes credentials from what a client would read, and counts them."""

    guard: SecretGuard
    rules: list[str] = field(default_factory=list)

    def value(self, value: object) -> object:
        """A JSON value with every credential in it redacted; types and ids stay."""
        redacted = self.guard.redact_value(value)
        self.rules += [found.hit.rule for found in redacted.hits]
        return redacted.value

    def text(self, text: str) -> str:
        """Text with every credential redacted."""
        redacted = self.guard.redact(text)
        self.rules += [hit.rule for hit in redacted.hits]
        return redacted.text


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
    outgoing = UpstreamRequest(call.method, call.path, headers, call.body)
    async with UntilDisconnect(request.receive):
        answer = await exchange.edge.upstream.send(outgoing)
    async with answer:
        if (header(answer.headers, b"content-type") or b"").startswith(b"text/event-stream"):
            return await _send_events(exchange, answer)
        return await _send_scrubbed(exchange, answer, tags)


async def _rebuild(exchange: Exchange, body: bytes, tags: Tags) -> RecallCall:
    """The recall as it goes out. Raises RequestError."""
    request, services = exchange.request, exchange.services
    accept = (header(request.headers, b"accept") or b"").decode("latin-1")
    ask = decode_recall(
        exchange.match, request.content_type or None, accept, body, limits=services.policy.limits
    )
    query = await services.guard.redact_async(ask.query)
    return rebuild_recall(
        ask, services.policy.recall, tags=tags, session_id=f"mithril-{uuid.uuid4()}", query=query.text
    )


async def _send_scrubbed(exchange: Exchange, answer: UpstreamAnswer, tags: Tags) -> int:
    """Read the whole answer, drop what is not verified, scrub it, send it."""
    async with UntilDisconnect(exchange.request.receive):
        raw = await answer.read(MAX_ANSWER_BYTES)
    scrubber = Scrubber(exchange.services.guard)

    def scrub() -> bytes:
        return scrubbed_answer(raw, scrubber, tags, is_error=answer.status >= 400)

    body = scrub() if len(raw) <= INLINE_ANSWER_BYTES else await asyncio.to_thread(scrub)
    await note_scrubbed(exchange, scrubber)
    headers = rewritten_response_headers(exchange.client_headers(answer.headers), len(body))
    await send_bytes(exchange.request.send, answer.status, headers, body)
    return answer.status


def scrubbed_answer(raw: bytes, scrubber: Scrubber, tags: Tags, *, is_error: bool) -> bytes:
    """A recall's JSON answer without unverified memories and credentials; an error's plain text is scrubbed as text.

    Raises UpstreamUnavailable when memories come as anything but JSON: they could not be filtered.
    """
    try:
        parsed = orjson.loads(raw)
    except orjson.JSONDecodeError:
        if not is_error:
            raise UpstreamUnavailable("the upstream answered a recall with something that is no JSON") from None
        return scrubber.text(raw.decode("utf-8", "replace")).encode()
    return orjson.dumps(filter_answer(parsed, tags=tags, redact=scrubber.value, verified_only=True).answer)


async def note_scrubbed(exchange: Exchange, scrubber: Scrubber) -> None:
    """Count what was scrubbed and leave one audit row: a credential that was found in memory is an incident."""
    for rule in scrubber.rules:
        exchange.edge.metrics.scrubbed.labels(rule).inc()
    if scrubber.rules:
        payload = {"rules": sorted(set(scrubber.rules)), "count": len(scrubber.rules), "request_id": exchange.id}
        await exchange.edge.store.append_audit("scrubbed", exchange.match.route.name, payload)


async def _send_events(exchange: Exchange, answer: UpstreamAnswer) -> int:
    """Relay an event stream, scrubbed frame by frame; on a failure an error event ends it, and nothing unscrubbed leaves."""
    scrubber = Scrubber(exchange.services.guard)
    events = SseGuard(scrub_text=StreamScrubber(exchange.services.guard), scrub_value=scrubber.value)
    send = exchange.request.send
    headers = exchange.client_headers([pair for pair in answer.headers if pair[0].lower() != b"content-length"])
    await send({"type": "http.response.start", "status": answer.status, "headers": headers})
    async with UntilDisconnect(exchange.request.receive):
        try:
            async for chunk in answer.stream():
                clean = events.feed(chunk)
                if clean:
                    await send({"type": "http.response.body", "body": clean, "more_body": True})
            last = events.close()
        except UpstreamUnavailable as error:
            last = events.fail(str(error))
    await note_scrubbed(exchange, scrubber)
    await send({"type": "http.response.body", "body": last, "more_body": False})
    return answer.status
