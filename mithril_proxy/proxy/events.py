"""Relays an event stream, scrubbed frame by frame.

On a failure one error event ends the stream, and not one unscrubbed byte leaves.
"""

from __future__ import annotations

from collections.abc import Callable

from mithril_proxy.cognee.sse import SseGuard
from mithril_proxy.errors import UpstreamUnavailable
from mithril_proxy.proxy.disconnect import UntilDisconnect
from mithril_proxy.proxy.exchange import Exchange
from mithril_proxy.proxy.scrub import Scrubber, note_scrubbed
from mithril_proxy.proxy.upstream import UpstreamAnswer
from mithril_proxy.secrets import StreamScrubber


async def relay_events(
    exchange: Exchange, answer: UpstreamAnswer, filter_results: Callable[[object], object] = lambda results: results
) -> int:
    """Send the upstream's events as they come, scrubbed. Returns the HTTP status. Raises ClientGone."""
    scrubber = Scrubber(exchange.services.guard)
    events = SseGuard(
        new_scrubber=lambda: StreamScrubber(exchange.services.guard),
        scrub_value=scrubber.value,
        filter_results=filter_results,
    )
    send = exchange.request.send
    headers = [pair for pair in exchange.client_headers(answer.headers) if pair[0].lower() != b"content-length"]
    await send({"type": "http.response.start", "status": answer.status, "headers": headers})
    async with UntilDisconnect(exchange.request.receive):
        last = await _relay(exchange, answer, events)
    await note_scrubbed(exchange, scrubber)
    await send({"type": "http.response.body", "body": last, "more_body": False})
    return answer.status


async def _relay(exchange: Exchange, answer: UpstreamAnswer, events: SseGuard) -> bytes:
    """Send what can be sent; the last bytes are returned, so that the client is watched no longer when they go out."""
    try:
        async for chunk in answer.stream():
            clean = events.feed(chunk)
            if clean:
                await exchange.request.send({"type": "http.response.body", "body": clean, "more_body": True})
            if events.failed:
                return b""
    except UpstreamUnavailable as error:
        return events.fail(str(error))
    return events.close()
