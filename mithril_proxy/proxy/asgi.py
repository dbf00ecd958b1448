"""The names of ASGI, and reading a request body within bounds."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import dataclass
from typing import cast

from starlette.types import Message, Receive, Scope, Send

from mithril_proxy.errors import BodyTooLarge, MalformedBody, UnsupportedEncoding
from mithril_proxy.proxy.headers import RawHeaders, all_values, header

__all__ = ["ClientGone", "HttpRequest", "Message", "Receive", "Scope", "Send"]


class ClientGone(Exception):
    """The client closed its connection before its request was complete. Not an error of ours."""


@dataclass(frozen=True, slots=True)
class HttpRequest:
    """One request: its head, and its body still to be received."""

    scope: Scope
    receive: Receive
    send: Send

    @property
    def method(self) -> str:
        """Upper case, as uvicorn gives it."""
        return cast(str, self.scope["method"])

    @property
    def raw_path(self) -> str:
        """The path as it was sent, percent-encoding and all."""
        return cast(bytes, self.scope["raw_path"]).decode("latin-1")

    @property
    def query(self) -> str:
        """The query string as it was sent, without the question mark."""
        return cast(bytes, self.scope["query_string"]).decode("latin-1")

    @property
    def headers(self) -> RawHeaders:
        """Raw headers, names in lower case."""
        return cast(RawHeaders, self.scope["headers"])

    @property
    def peer(self) -> str | None:
        """The address of the client's end of the connection."""
        client = self.scope.get("client")
        return cast(str, client[0]) if client else None

    @property
    def scheme(self) -> str:
        """http or https."""
        return cast(str, self.scope.get("scheme", "http"))

    @property
    def host(self) -> str | None:
        """The Host header."""
        value = header(self.headers, b"host")
        return value.decode("latin-1") if value is not None else None

    @property
    def content_type(self) -> str:
        """The Content-Type header, empty when missing. Raises MalformedBody when there are several."""
        values = all_values(self.headers, b"content-type")
        if len(values) > 1:
            raise MalformedBody("Content-Type: sent more than once; send it once")
        return values[0].decode("latin-1") if values else ""

    def require_identity_encoding(self) -> None:
        """Raise UnsupportedEncoding when the body is compressed: what cannot be read is not forwarded."""
        for value in all_values(self.headers, b"content-encoding"):
            if value.strip().lower() not in (b"", b"identity"):
                raise UnsupportedEncoding("Content-Encoding: only identity is taken; send the body uncompressed")

    def declared_length(self) -> int | None:
        """Content-Length, None when the body is chunked or absent. Raises MalformedBody when it is no number."""
        value = header(self.headers, b"content-length")
        if value is None:
            return None
        if not value.isdigit():
            raise MalformedBody("Content-Length: is not a number")
        return int(value)

    async def chunks(self, limit_bytes: int) -> AsyncIterator[bytes]:
        """The body as it arrives.

        Raises BodyTooLarge past the limit (before reading when the length is declared), ClientGone.
        """
        too_large = BodyTooLarge(f"the body is longer than limits.max_body_bytes = {limit_bytes}")
        if (self.declared_length() or 0) > limit_bytes:
            raise too_large
        received = 0
        while True:
            message = await self.receive()
            if message["type"] == "http.disconnect":
                raise ClientGone
            chunk = message.get("body", b"")
            received += len(chunk)
            if received > limit_bytes:
                raise too_large
            if chunk:
                yield chunk
            if not message.get("more_body", False):
                return

    async def body(self, limit_bytes: int) -> bytes:
        """The whole body. Raises BodyTooLarge, ClientGone."""
        return b"".join([chunk async for chunk in self.chunks(limit_bytes)])
