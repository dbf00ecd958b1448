"""The one seam to the Cognee server: send a request, get status, raw headers and a byte stream.

1. No cookie jar: a shared one replays one caller's login on the next caller's request.
2. No retries: a write that reached the upstream must not run twice.
3. No redirects, no decompression, no path normalisation, no environment proxies: bytes as they are.
4. Connections are closed after 3 s of idleness, before the upstream's own 5 s, so none is used while it closes.

aiohttp carries it because it measured five times faster than httpx2 here (RATIONALE.md, "The upstream client").
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from types import TracebackType
from typing import Protocol
from urllib.parse import urlsplit

import aiohttp
from multidict import CIMultiDict
from yarl import URL

from mithril_proxy.errors import UpstreamTimeout, UpstreamUnavailable
from mithril_proxy.proxy.headers import RawHeaders, header

KEEPALIVE_S = 3.0  # uvicorn, which carries Cognee, closes idle connections after 5 s
FRAMING = frozenset((b"content-length", b"transfer-encoding"))
MAX_FRAME_BYTES = 64 * 1024 * 1024  # a frame may hold a whole graph


@dataclass(frozen=True, slots=True)
class UpstreamRequest:
    """One request as it goes out. `target` is an encoded path with its query; `body` None means no body."""

    method: str
    target: str
    headers: RawHeaders
    body: bytes | AsyncIterator[bytes] | None = None


class UpstreamAnswer(Protocol):
    """An answer whose head has arrived. Use as an async context manager, so that its connection is given back."""

    status: int
    headers: RawHeaders

    def stream(self) -> AsyncIterator[bytes]:
        """The body as it arrives. Raises UpstreamUnavailable when it breaks off."""
        ...

    async def read(self, limit_bytes: int) -> bytes:
        """The whole body. Raises UpstreamUnavailable when it breaks off or is longer than `limit_bytes`."""
        ...

    async def __aenter__(self) -> UpstreamAnswer: ...

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None: ...


class Subscription(Protocol):
    """One open WebSocket of the upstream, read only."""

    def frames(self) -> AsyncIterator[str | bytes]:
        """Text and binary frames as they come; ends when the upstream closes."""
        ...

    async def close(self) -> None:
        """Close it."""
        ...


class Upstream(Protocol):
    """The Cognee server."""

    netloc: str

    async def subscribe(self, target: str, headers: RawHeaders) -> Subscription:
        """Open a WebSocket. Raises UpstreamUnavailable when the upstream does not accept it."""
        ...

    async def send(self, request: UpstreamRequest) -> UpstreamAnswer:
        """The answer's head. Raises UpstreamUnavailable, UpstreamTimeout."""
        ...


@dataclass(slots=True)
class AiohttpUpstream:
    """Upstream over aiohttp. Construct it inside a running event loop; close it with `close`."""

    url: str
    connect_timeout_s: float
    read_timeout_s: float
    netloc: str = field(init=False)
    _session: aiohttp.ClientSession = field(init=False)

    def __post_init__(self) -> None:
        self.netloc = urlsplit(self.url).netloc
        self._session = aiohttp.ClientSession(
            connector=aiohttp.TCPConnector(limit=0, keepalive_timeout=KEEPALIVE_S, ttl_dns_cache=30),
            cookie_jar=aiohttp.DummyCookieJar(),
            auto_decompress=False,
            trust_env=False,
            skip_auto_headers=("User-Agent", "Accept", "Accept-Encoding", "Content-Type"),
            timeout=aiohttp.ClientTimeout(
                total=None, sock_connect=self.connect_timeout_s, sock_read=self.read_timeout_s
            ),
        )
        self._session._retry_connection = False  # aiohttp would repeat a DELETE or PUT on a stale connection

    async def send(self, request: UpstreamRequest) -> UpstreamAnswer:
        """The answer's head. Raises UpstreamUnavailable, UpstreamTimeout."""
        try:
            answer = await self._session.request(
                request.method,
                URL(self.url + request.target, encoded=True),
                headers=_multidict(framed(request)),
                data=request.body,
                allow_redirects=False,
            )
        except (TimeoutError, aiohttp.ServerTimeoutError) as error:
            raise _unanswered(error, self.url, self.read_timeout_s) from None
        except (aiohttp.ClientError, OSError) as error:
            raise UpstreamUnavailable(f"{self.url} cannot be reached ({type(error).__name__})") from None
        return AiohttpAnswer(answer)

    async def subscribe(self, target: str, headers: RawHeaders) -> Subscription:
        """Open a WebSocket. Raises UpstreamUnavailable when the upstream does not accept it."""
        try:
            socket = await self._session.ws_connect(
                URL(self.url + target, encoded=True), headers=_multidict(headers), max_msg_size=MAX_FRAME_BYTES
            )
        except (aiohttp.ClientError, OSError, TimeoutError) as error:
            raise UpstreamUnavailable(f"{self.url} did not accept a WebSocket ({type(error).__name__})") from None
        return AiohttpSubscription(socket)

    async def close(self) -> None:
        """Close every pooled connection."""
        await self._session.close()
        await asyncio.sleep(0)  # aiohttp closes transports in the next turn of the loop


def framed(request: UpstreamRequest) -> RawHeaders:
    """The request's headers with the one framing that its body has, whatever framing they spoke of before.

    A Content-Length without its body would make the upstream read the next request as this one's body.
    """
    kept = [pair for pair in request.headers if pair[0].lower() not in FRAMING]
    if isinstance(request.body, bytes):
        return [*kept, (b"content-length", str(len(request.body)).encode())]
    if request.body is None:
        return kept
    declared = header(request.headers, b"content-length")
    return kept if declared is None else [*kept, (b"content-length", declared)]


def _multidict(headers: RawHeaders) -> CIMultiDict[str]:
    return CIMultiDict((key.decode("latin-1"), value.decode("latin-1")) for key, value in headers)


class AiohttpSubscription:
    """A WebSocket over aiohttp."""

    def __init__(self, socket: aiohttp.ClientWebSocketResponse[bool]) -> None:
        self._socket = socket

    async def frames(self) -> AsyncIterator[str | bytes]:
        """Text and binary frames as they come."""
        async for message in self._socket:
            if message.type in (aiohttp.WSMsgType.TEXT, aiohttp.WSMsgType.BINARY):
                yield message.data

    async def close(self) -> None:
        """Close it."""
        await self._socket.close()


def _unanswered(error: Exception, url: str, read_timeout_s: float) -> UpstreamUnavailable:
    if isinstance(error, aiohttp.ConnectionTimeoutError):
        return UpstreamTimeout(f"{url} did not accept a connection in time")
    return UpstreamTimeout(f"{url} did not answer within {read_timeout_s:g} s")


class AiohttpAnswer:
    """An answer over aiohttp."""

    def __init__(self, answer: aiohttp.ClientResponse) -> None:
        self._answer = answer
        self.status = answer.status
        self.headers: RawHeaders = list(answer.raw_headers)

    async def stream(self) -> AsyncIterator[bytes]:
        """The body as it arrives."""
        try:
            async for chunk in self._answer.content.iter_any():
                yield chunk
        except (TimeoutError, aiohttp.ServerTimeoutError):
            raise UpstreamTimeout("the upstream fell silent in the middle of its answer") from None
        except (aiohttp.ClientError, OSError) as error:
            raise UpstreamUnavailable(f"the upstream broke off its answer ({type(error).__name__})") from None

    async def read(self, limit_bytes: int) -> bytes:
        """The whole body, at most `limit_bytes`."""
        chunks: list[bytes] = []
        length = 0
        async for chunk in self.stream():
            length += len(chunk)
            if length > limit_bytes:
                raise UpstreamUnavailable(f"the upstream's answer is longer than {limit_bytes} bytes")
            chunks.append(chunk)
        return b"".join(chunks)

    async def __aenter__(self) -> AiohttpAnswer:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        # An answer that was not read to its end leaves a connection that cannot be used again.
        if kind is None and self._answer.content.at_eof():
            self._answer.release()
        else:
            self._answer.close()
