"""A signed webhook: a JSON list of events, with an HMAC that the receiver can check.

`X-Mithril-Signature: v1=<hex>` is HMAC-SHA256 of `<X-Mithril-Timestamp>.<body>` with the shared secret; the timestamp
is part of it, so that a delivery cannot be replayed later. `X-Mithril-Delivery: <first id>-<last id>` is the same when
a delivery is repeated.
"""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Sequence
from dataclasses import dataclass
from urllib.parse import urlsplit

import orjson

from mithril_proxy.clock import Clock
from mithril_proxy.errors import ConfigurationError, UpstreamUnavailable
from mithril_proxy.outputs.receiver import Event, ReceiverAway
from mithril_proxy.proxy.headers import RawHeaders
from mithril_proxy.proxy.upstream import Upstream, UpstreamRequest

ANSWER_BYTES = 64 * 1024
CONNECT_S, ANSWER_S = 5.0, 15.0


@dataclass(frozen=True, slots=True)
class Address:
    """A webhook's URL, in the two parts that an HTTP client takes."""

    origin: str
    target: str


def parse_address(url: str) -> Address:
    """The two parts of an http or https URL. Raises ConfigurationError."""
    parts = urlsplit(url)
    if parts.scheme not in ("http", "https") or not parts.hostname or parts.username or parts.fragment:
        raise ConfigurationError("MITHRIL_AUDIT_WEBHOOK_URL: must be http:// or https://, without user or fragment")
    query = f"?{parts.query}" if parts.query else ""
    return Address(f"{parts.scheme}://{parts.netloc}", (parts.path or "/") + query)


def signature(secret: str, timestamp: str, body: bytes) -> str:
    """What X-Mithril-Signature holds."""
    digest = hmac.new(secret.encode(), timestamp.encode() + b"." + body, hashlib.sha256)
    return f"v1={digest.hexdigest()}"


@dataclass(slots=True)
class Webhook:
    """A receiver behind HTTP. `secret` signs every delivery."""

    http: Upstream
    target: str
    secret: str
    name: str
    clock: Clock

    async def send(self, events: Sequence[Event]) -> None:
        """Deliver events in one request. Raises ReceiverAway unless it is answered with 2xx."""
        body = orjson.dumps([event.body for event in events])
        request = UpstreamRequest("POST", self.target, self._headers(events, body), body)
        try:
            async with await self.http.send(request) as answer:
                await answer.read(ANSWER_BYTES)
                status = answer.status
        except UpstreamUnavailable as error:
            raise ReceiverAway(f"webhook: {type(error).__name__}") from None
        if not 200 <= status < 300:
            raise ReceiverAway(f"webhook: answered {status}")

    async def close(self) -> None:
        """Nothing is held: the HTTP client belongs to the application."""

    def _headers(self, events: Sequence[Event], body: bytes) -> RawHeaders:
        timestamp = str(int(self.clock.now().timestamp()))
        return [
            (b"host", self.http.netloc.encode()),
            (b"user-agent", b"mithril"),
            (b"content-type", b"application/json"),
            (b"x-mithril-timestamp", timestamp.encode()),
            (b"x-mithril-signature", signature(self.secret, timestamp, body).encode()),
            (b"x-mithril-delivery", f"{events[0].id}-{events[-1].id}".encode()),
        ]
