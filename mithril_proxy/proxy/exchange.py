"""One request on its way through the data plane: what every handler needs of it."""

from __future__ import annotations

from dataclasses import dataclass

from mithril_proxy.cognee.routes import Match
from mithril_proxy.proxy.asgi import HttpRequest
from mithril_proxy.proxy.headers import CREDENTIALS, RawHeaders, request_headers, response_headers
from mithril_proxy.proxy.identity import Identity
from mithril_proxy.proxy.screen import without_credentials
from mithril_proxy.proxy.services import Edge, Services
from mithril_proxy.types import Mode


@dataclass(frozen=True, slots=True)
class Exchange:
    """A request that was recognised and whose sender is known."""

    id: str
    request: HttpRequest
    match: Match
    identity: Identity
    services: Services
    edge: Edge

    def upstream_headers(self) -> RawHeaders:
        """The client's headers, cleaned, with the credentials that stand for it at the upstream."""
        cleaned = request_headers(self.request.headers, peer=self.request.peer, scheme=self.request.scheme)
        plain = [(key, value) for key, value in cleaned if key.lower() not in CREDENTIALS]
        if self.services.policy.mode is Mode.ENFORCE:
            plain = without_credentials(self.services.guard, plain)
        return [*plain, *self.identity.credentials]

    def client_headers(self, upstream: RawHeaders) -> RawHeaders:
        """The upstream's headers as this client may see them."""
        return response_headers(upstream, upstream_netloc=self.edge.upstream.netloc, client_host=self.request.host)

    def target(self) -> str:
        """The canonical path with the client's query string."""
        return f"{self.match.path}?{self.request.query}" if self.request.query else self.match.path
