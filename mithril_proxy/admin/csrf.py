"""Refuses changes that another site's page asks a signed-in browser for, by headers that a page cannot set.

1. Reading is free, and so is a call with a bearer token, which no browser adds by itself, and an API call with no
   session, which can do nothing in anybody's name.
2. A browser says where a request comes from: `Sec-Fetch-Site` must be `same-origin`, or, where it is not sent (plain
   HTTP to another machine), `Origin` must name this host.
3. The API besides asks for the header `X-Mithril-Desk`, which only a script of this origin can set. Forms of the desk
   cannot set headers and are held by rule 2 alone, so that they work without JavaScript; the session cookie is
   SameSite=Strict in any case.
"""

from __future__ import annotations

from dataclasses import dataclass
from urllib.parse import urlsplit

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Receive, Scope, Send

from mithril_proxy.admin.answers import CrossSite, answer_error

SAFE_METHODS = frozenset(("GET", "HEAD", "OPTIONS", "TRACE"))
DESK_HEADER = "x-mithril-desk"
API_PREFIX = "/api/"
SESSION_COOKIE = "mithril_session"


@dataclass(frozen=True, slots=True)
class SameOrigin:
    """Answers 403 to what may come from another site."""

    app: ASGIApp

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass on, or refuse."""
        refusal = refused(scope["method"], scope["path"], Headers(scope=scope)) if scope["type"] == "http" else None
        if refusal is None:
            await self.app(scope, receive, send)
            return
        await answer_error(CrossSite(refusal))(scope, receive, send)


def refused(method: str, path: str, headers: Headers) -> str | None:
    """Why a request is refused as another site's; None when it may pass."""
    if method in SAFE_METHODS or headers.get("authorization", "").lower().startswith("bearer "):
        return None
    if path.startswith(API_PREFIX) and f"{SESSION_COOKIE}=" not in headers.get("cookie", ""):
        return None
    if not comes_from_here(headers):
        return "this change was asked for by a page of another site"
    if path.startswith(API_PREFIX) and DESK_HEADER not in headers:
        return f"send a bearer token, or from the desk the header {DESK_HEADER}"
    return None


def comes_from_here(headers: Headers) -> bool:
    """True when the browser says that a page of this very origin made the request."""
    site, origin = headers.get("sec-fetch-site"), headers.get("origin")
    if site is not None:
        return site == "same-origin"
    if origin is not None:
        return urlsplit(origin).netloc.lower() == headers.get("host", "").lower() != ""
    return DESK_HEADER in headers
