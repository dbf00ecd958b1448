"""Sends a prepared write to the upstream: used for admitted claims and for releases alike."""

from __future__ import annotations

import secrets
from dataclasses import dataclass

from mithril_proxy.cognee.prepared import PreparedWrite, render
from mithril_proxy.proxy.headers import RawHeaders, rebuilt_request_headers
from mithril_proxy.proxy.upstream import Upstream, UpstreamRequest

WRITE_ANSWER_BYTES = 64 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class Forwarded:
    """The upstream's whole answer to one forwarded write."""

    status: int
    headers: RawHeaders
    body: bytes

    @property
    def is_success(self) -> bool:
        """True for 2xx."""
        return 200 <= self.status < 300


async def forward_write(upstream: Upstream, prepared: PreparedWrite, headers: RawHeaders) -> Forwarded:
    """Send it once; never again by itself. Raises UpstreamUnavailable, UpstreamTimeout.

    `headers` are the caller's, already cleaned and with its upstream credentials.
    """
    rendered = render(prepared, boundary=f"mithril-{secrets.token_hex(16)}")
    target = f"{rendered.path}?{rendered.query}" if rendered.query else rendered.path
    outgoing = rebuilt_request_headers(
        headers, content_type=rendered.content_type.encode("latin-1"), accept=b"application/json"
    )
    async with await upstream.send(UpstreamRequest(rendered.method, target, outgoing, rendered.body)) as answer:
        return Forwarded(answer.status, answer.headers, await answer.read(WRITE_ANSWER_BYTES))
