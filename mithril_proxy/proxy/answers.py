"""Answers that are Mithril's own: errors and diverted writes, in one shape each."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import orjson

from mithril_proxy.proxy.asgi import Send
from mithril_proxy.proxy.headers import RawHeaders

RETRY_AFTER_S = 5


async def send_json(
    send: Send, status: int, body: Mapping[str, Any], headers: Sequence[tuple[bytes, bytes]] = ()
) -> None:
    """Send one JSON object."""
    await send_bytes(send, status, [(b"content-type", b"application/json"), *headers], orjson.dumps(body))


async def send_bytes(send: Send, status: int, headers: RawHeaders, body: bytes) -> None:
    """Send a whole answer at once; Content-Length is set from the body."""
    kept = [(key, value) for key, value in headers if key.lower() != b"content-length"]
    kept.append((b"content-length", str(len(body)).encode()))
    await send({"type": "http.response.start", "status": status, "headers": kept})
    await send({"type": "http.response.body", "body": body})


async def send_error(send: Send, status: int, code: str, detail: str, **extra: Any) -> None:
    """Send `{"error": code, "detail": detail}`: both strings, as Cognee's clients expect, extra keys beside them."""
    headers: list[tuple[bytes, bytes]] = []
    if status == 503:
        headers.append((b"retry-after", str(RETRY_AFTER_S).encode()))
    if status in (413, 400):
        headers.append((b"connection", b"close"))
    await send_json(send, status, {"error": code, "detail": detail, **extra}, headers)
