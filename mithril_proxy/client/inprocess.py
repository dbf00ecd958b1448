"""An ASGI application as an upstream: the data plane of this process, reached without a socket."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from types import TracebackType

from starlette.types import ASGIApp, Message, Scope

from mithril_proxy.errors import UpstreamUnavailable
from mithril_proxy.proxy.headers import RawHeaders
from mithril_proxy.proxy.upstream import Subscription, UpstreamAnswer, UpstreamRequest


@dataclass(slots=True)
class InProcess:
    """Sends requests to an application. The whole answer is read before it is given back."""

    app: ASGIApp
    netloc: str = "mithril.local"

    async def subscribe(self, target: str, headers: RawHeaders) -> Subscription:
        """Raise UpstreamUnavailable: no client of this process needs a WebSocket."""
        raise UpstreamUnavailable("WebSockets are not carried inside a process")

    async def send(self, request: UpstreamRequest) -> UpstreamAnswer:
        """The application's answer. Raises UpstreamUnavailable when it ends without one."""
        body = request.body if isinstance(request.body, bytes) else await _joined(request.body)
        exchange = _Exchange(body)
        await self.app(_scope(request, len(body)), exchange.receive, exchange.send)
        if exchange.status is None:
            raise UpstreamUnavailable("the data plane gave no answer")
        return WholeAnswer(exchange.status, exchange.headers, bytes(exchange.body))


async def _joined(body: AsyncIterator[bytes] | None) -> bytes:
    return b"" if body is None else b"".join([chunk async for chunk in body])


def _scope(request: UpstreamRequest, length: int) -> Scope:
    path, _, query = request.target.partition("?")
    given = [(key.lower(), value) for key, value in request.headers if key.lower() != b"content-length"]
    return {
        "type": "http",
        "http_version": "1.1",
        "method": request.method,
        "scheme": "http",
        "path": path,
        "raw_path": path.encode("latin-1"),
        "query_string": query.encode("latin-1"),
        "headers": [*given, (b"content-length", str(length).encode())],
        "client": None,
        "server": None,
    }


@dataclass(slots=True)
class _Exchange:
    """Both ends of one call: gives the body once, and collects the answer."""

    request_body: bytes | None
    status: int | None = None
    headers: RawHeaders = field(default_factory=list)
    body: bytearray = field(default_factory=bytearray)
    _is_answered: asyncio.Event = field(default_factory=asyncio.Event)

    async def receive(self) -> Message:
        """The request, and then nothing until it was answered."""
        if self.request_body is None:
            await self._is_answered.wait()
            return {"type": "http.disconnect"}
        body, self.request_body = self.request_body, None
        return {"type": "http.request", "body": body, "more_body": False}

    async def send(self, message: Message) -> None:
        """Take one message of the answer."""
        if message["type"] == "http.response.start":
            self.status, self.headers = message["status"], list(message["headers"])
            return
        self.body += message.get("body", b"")
        if not message.get("more_body", False):
            self._is_answered.set()


@dataclass(slots=True)
class WholeAnswer:
    """An answer that is complete."""

    status: int
    headers: RawHeaders
    body: bytes

    async def stream(self) -> AsyncIterator[bytes]:
        """The body, at once."""
        yield self.body

    async def read(self, limit_bytes: int) -> bytes:
        """The body. Raises UpstreamUnavailable when it is longer than `limit_bytes`."""
        if len(self.body) > limit_bytes:
            raise UpstreamUnavailable(f"the answer is longer than {limit_bytes} bytes")
        return self.body

    async def __aenter__(self) -> WholeAnswer:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None: ...
