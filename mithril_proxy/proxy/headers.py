"""Which headers cross the proxy, in either direction. Pure; raw lists, so order and repeats survive.

1. Hop-by-hop headers and every header that Connection names stay on their side.
2. The client's Host goes on, so that the upstream builds its links with the name that the client uses.
3. X-Forwarded-* say what Mithril saw, never what the client typed.
4. A Location that points at the upstream or back at this proxy becomes relative, so no redirect leads past it.
"""

from __future__ import annotations

from collections.abc import Iterable
from urllib.parse import urlsplit

RawHeaders = list[tuple[bytes, bytes]]

HOP_BY_HOP = frozenset(
    {
        b"connection", b"http2-settings", b"keep-alive", b"proxy-authenticate", b"proxy-authorization",
        b"proxy-connection", b"te", b"trailer", b"transfer-encoding", b"upgrade",
    }
)  # fmt: skip
REPORT_HEADER = b"x-mithril-report"  # `items`: the answer to a write is Mithril's own, with the decision on each claim
NEVER_FORWARDED = HOP_BY_HOP | {
    b"expect",
    b"forwarded",
    b"x-http-method-override",
    b"x-method-override",
    b"x-original-url",
    b"x-rewrite-url",
    b"x-mithril-source",
    REPORT_HEADER,
}
CREDENTIALS = frozenset((b"authorization", b"x-api-key", b"cookie"))
BODY_HEADERS = frozenset((b"content-length", b"content-type", b"content-encoding", b"content-md5", b"digest"))
VALIDATORS = frozenset((b"etag", b"content-md5", b"digest", b"content-digest", b"repr-digest", b"accept-ranges"))


def header(headers: Iterable[tuple[bytes, bytes]], name: bytes) -> bytes | None:
    """The first value of a header, None when it is missing."""
    return next((value for key, value in headers if key.lower() == name), None)


def all_values(headers: Iterable[tuple[bytes, bytes]], name: bytes) -> tuple[bytes, ...]:
    """Every value of a header, in order."""
    return tuple(value for key, value in headers if key.lower() == name)


def _named_by_connection(headers: RawHeaders) -> frozenset[bytes]:
    tokens = b",".join(all_values(headers, b"connection")).split(b",")
    return frozenset(token.strip().lower() for token in tokens)


def request_headers(headers: RawHeaders, *, peer: str | None, scheme: str) -> RawHeaders:
    """The client's headers as the upstream may see them, with Mithril's own X-Forwarded-*."""
    dropped = NEVER_FORWARDED | _named_by_connection(headers)
    kept = [
        (key, value)
        for key, value in headers
        if key.lower() not in dropped and not key.lower().startswith(b"x-forwarded-")
    ]
    kept.append((b"x-forwarded-proto", scheme.encode()))
    host = header(headers, b"host")
    if host is not None:
        kept.append((b"x-forwarded-host", host))
    if peer is not None:
        kept.append((b"x-forwarded-for", peer.encode()))
    return kept


def rebuilt_request_headers(headers: RawHeaders, *, content_type: bytes, accept: bytes) -> RawHeaders:
    """Headers for a body that Mithril wrote: nothing that described the client's body, no compression back.

    Takes what `request_headers` returns.
    """
    dropped = BODY_HEADERS | {
        b"accept",
        b"accept-encoding",
        b"range",
        b"if-none-match",
        b"if-modified-since",
        b"if-range",
    }
    kept = [(key, value) for key, value in headers if key.lower() not in dropped]
    return [*kept, (b"content-type", content_type), (b"accept", accept), (b"accept-encoding", b"identity")]


def response_headers(headers: RawHeaders, *, upstream_netloc: str, client_host: str | None) -> RawHeaders:
    """The upstream's headers as the client may see them."""
    dropped = HOP_BY_HOP | _named_by_connection(headers)
    own = {upstream_netloc.lower(), (client_host or "").lower()}
    return [
        (key, _relative(value, own) if key.lower() == b"location" else value)
        for key, value in headers
        if key.lower() not in dropped
    ]


def _relative(location: bytes, own_hosts: set[str]) -> bytes:
    """A Location without scheme and host when it points at one of `own_hosts`."""
    parts = urlsplit(location.decode("latin-1"))
    if parts.netloc.lower() not in own_hosts or not parts.netloc:
        return location
    relative = parts._replace(scheme="", netloc="").geturl()
    return (relative if relative.startswith("/") and not relative.startswith("//") else "/").encode("latin-1")


def rewritten_response_headers(headers: RawHeaders, length: int) -> RawHeaders:
    """Headers for an answer whose body Mithril changed: right length, no validators of the old bytes."""
    dropped = VALIDATORS | {b"content-length", b"content-encoding"}
    kept = [(key, value) for key, value in headers if key.lower() not in dropped]
    return [*kept, (b"content-length", str(length).encode())]
