"""Calls that go through as they are: streamed both ways, no byte changed but for headers."""

from __future__ import annotations

from collections.abc import AsyncIterator

from mithril_proxy.proxy.asgi import Send
from mithril_proxy.proxy.disconnect import UntilDisconnect
from mithril_proxy.proxy.exchange import Exchange
from mithril_proxy.proxy.headers import header
from mithril_proxy.proxy.screen import is_screened, refuse_credentials_in_body
from mithril_proxy.proxy.upstream import UpstreamAnswer, UpstreamRequest
from mithril_proxy.types import Mode

BODILESS = frozenset((b"0", None))


async def pass_through(exchange: Exchange, body: bytes | None = None) -> int:
    """Forward the request, streamed, or with a `body` that was read already. Returns the upstream's status.

    Raises UpstreamUnavailable before the first byte of the answer; RequestError, ClientGone.
    """
    request, policy = exchange.request, exchange.services.policy
    if body is None and policy.mode is Mode.ENFORCE and is_screened(exchange.match) and _has_body(exchange):
        request.require_identity_encoding()
        body = await request.body(policy.limits.max_body_bytes)
        await refuse_credentials_in_body(exchange.services.guard, body)
    outgoing = UpstreamRequest(
        request.method, exchange.target(), exchange.upstream_headers(), body if body is not None else _body(exchange)
    )
    async with await exchange.edge.upstream.send(outgoing) as answer:
        await relay(exchange, answer)
        return answer.status


def _body(exchange: Exchange) -> AsyncIterator[bytes] | None:
    """The client's body as it arrives; None when it announces none."""
    limit_bytes = exchange.services.policy.limits.max_body_bytes
    return exchange.request.chunks(limit_bytes) if _has_body(exchange) else None


def _has_body(exchange: Exchange) -> bool:
    headers = exchange.request.headers
    return header(headers, b"content-length") not in BODILESS or header(headers, b"transfer-encoding") is not None


async def relay(exchange: Exchange, answer: UpstreamAnswer) -> None:
    """Send the upstream's answer to the client as it arrives; stop when the client goes."""
    send = exchange.request.send
    headers = exchange.client_headers(answer.headers)
    await send({"type": "http.response.start", "status": answer.status, "headers": headers})
    async with UntilDisconnect(exchange.request.receive):
        await _relay_body(send, answer)
    await send({"type": "http.response.body", "body": b"", "more_body": False})


async def _relay_body(send: Send, answer: UpstreamAnswer) -> None:
    async for chunk in answer.stream():
        await send({"type": "http.response.body", "body": chunk, "more_body": True})
