"""Cognee's two WebSockets, relayed as reads: frames to the client are scrubbed, nothing but its close goes back.

Closed unless the policy opens `websockets` under [routes]. The query, which may hold `?token=`, is never logged.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from urllib.parse import parse_qsl

import orjson

from mithril_proxy.cognee.answers import scrub
from mithril_proxy.cognee.routes import Match, check_open, find_route
from mithril_proxy.errors import Refused, RequestError, UpstreamUnavailable
from mithril_proxy.proxy.asgi import HttpRequest, Receive, Scope, Send
from mithril_proxy.proxy.headers import CREDENTIALS, RawHeaders, request_headers
from mithril_proxy.proxy.identity import MITHRIL_KEY_PREFIX
from mithril_proxy.proxy.screen import without_credentials
from mithril_proxy.proxy.scrub import Scrubber
from mithril_proxy.proxy.services import Edge, Services
from mithril_proxy.types import Mode

REFUSED, BROKEN, NORMAL = 1008, 1011, 1000  # RFC 6455, section 7.4.1
HANDSHAKE = frozenset((b"sec-websocket-key", b"sec-websocket-version", b"sec-websocket-extensions", b"host"))


async def relay_websocket(services: Services, edge: Edge, scope: Scope, receive: Receive, send: Send) -> None:
    """Answer one WebSocket connection, to its end."""
    await receive()  # websocket.connect
    request = HttpRequest({**scope, "method": "WS"}, receive, send)
    try:
        match, headers = await _admitted(services, request)
        target = f"{match.path}?{request.query}" if request.query else match.path
        socket = await edge.upstream.subscribe(target, headers)
    except RequestError as error:
        edge.metrics.refusals.labels(error.code).inc()
        await edge.store.append_audit("refused", error.code, {"code": error.code, "method": "WS", "peer": request.peer})
        await send({"type": "websocket.close", "code": REFUSED, "reason": error.code})
        return
    except UpstreamUnavailable:
        await send({"type": "websocket.close", "code": BROKEN, "reason": "upstream_unavailable"})
        return
    await send({"type": "websocket.accept"})
    gone = asyncio.ensure_future(_until_closed(receive))
    frames = asyncio.ensure_future(_send_frames(Scrubber(services.guard), socket.frames(), send))
    await asyncio.wait({gone, frames}, return_when=asyncio.FIRST_COMPLETED)
    for task in (gone, frames):
        task.cancel()
    await asyncio.gather(gone, frames, return_exceptions=True)
    await socket.close()


async def _admitted(services: Services, request: HttpRequest) -> tuple[Match, RawHeaders]:
    """The route and the headers that go upstream. Raises RequestError."""
    match = find_route("WS", request.raw_path)
    if any(value.startswith(MITHRIL_KEY_PREFIX) for _, value in parse_qsl(request.query)):
        raise Refused("send a Mithril key in the X-Api-Key header, not in the address", code="key_in_query")
    identity = await services.identifier.identify(request.headers, request.peer)
    if services.policy.mode is Mode.ENFORCE:
        check_open(match, services.policy.routes)
    cleaned = request_headers(request.headers, peer=request.peer, scheme=request.scheme)
    if services.policy.mode is Mode.ENFORCE:
        cleaned = without_credentials(services.guard, cleaned)
    kept = [pair for pair in cleaned if pair[0].lower() not in HANDSHAKE | CREDENTIALS]
    return match, [*kept, *identity.credentials]


async def _until_closed(receive: Receive) -> None:
    while (await receive())["type"] != "websocket.disconnect":
        pass


async def _send_frames(scrubber: Scrubber, frames: AsyncIterator[str | bytes], send: Send) -> None:
    """Send every text frame scrubbed; a binary one ends the connection, since it cannot be read."""
    async for frame in frames:
        if not isinstance(frame, str):
            await send({"type": "websocket.close", "code": BROKEN, "reason": "unscrubbable_frame"})
            return
        await send({"type": "websocket.send", "text": scrubbed_frame(frame, scrubber)})
    await send({"type": "websocket.close", "code": NORMAL})


def scrubbed_frame(frame: str, scrubber: Scrubber) -> str:
    """A frame without credentials: as JSON when it is JSON, as text when not."""
    try:
        return orjson.dumps(scrub(orjson.loads(frame), scrubber.value)).decode()
    except orjson.JSONDecodeError:
        return scrubber.text(frame)
