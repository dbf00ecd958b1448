"""Finds out which operator asks, once a request, and holds each route to the scope that it names."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from starlette.requests import Request
from starlette.responses import Response
from starlette.types import ASGIApp, Receive, Scope, Send

from mithril_proxy.admin.answers import ScopeTooSmall, TooManyFailures, Unauthorised
from mithril_proxy.admin.csrf import SESSION_COOKIE
from mithril_proxy.admin.failures import Failures
from mithril_proxy.admin.operators import Gatekeeper, Operator
from mithril_proxy.errors import MithrilError
from mithril_proxy.policy import Desk
from mithril_proxy.store import desk

OPERATOR = "mithril.operator"  # of the ASGI scope

Handler = Callable[[Request], Awaitable[Response]]


@dataclass(frozen=True, slots=True)
class Access:
    """Puts the operator into the scope: by bearer token, else by session.

    What keeps somebody from being one is put there as an error, raised where an operator is asked for: pages and calls
    that are open to anybody stay open.
    """

    app: ASGIApp
    gate: Gatekeeper
    failures: Failures
    rule: Callable[[], Desk]

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass on with the operator, or with the error."""
        if scope["type"] == "http":
            try:
                scope[OPERATOR] = await self._operator(Request(scope))
            except MithrilError as error:
                scope[OPERATOR] = error
        await self.app(scope, receive, send)

    async def _operator(self, request: Request) -> Operator | None:
        """Raises Unauthorised for a wrong bearer token, TooManyFailures, StoreUnavailable."""
        scheme, _, given = request.headers.get("authorization", "").partition(" ")
        if scheme.lower() != "bearer":
            session = request.cookies.get(SESSION_COOKIE)
            return None if session is None else await self.gate.by_session(session)
        rule, peer = self.rule(), peer_of(request)
        wait_s = self.failures.wait_s(peer, limit=rule.failures, window_s=rule.failure_window_s)
        if wait_s > 0:
            raise TooManyFailures(wait_s)
        operator = await self.gate.by_token(given.strip())
        if operator is None:
            self.failures.add(peer, limit=rule.failures)
            raise Unauthorised("this token is unknown or revoked; `mithril tokens add NAME` makes one")
        return operator


def peer_of(request: Request) -> str:
    """The address that a request comes from."""
    return request.client.host if request.client else "unknown"


def operator_of(request: Request) -> Operator:
    """Who asks. Raises Unauthorised when nobody is signed in, TooManyFailures, StoreUnavailable."""
    found = request.scope.get(OPERATOR)
    if isinstance(found, MithrilError):
        raise found
    if not isinstance(found, Operator):
        raise Unauthorised("send an admin token: Authorization: Bearer …")
    return found


def operator_or_none(request: Request) -> Operator | None:
    """Who asks; None when nobody is signed in."""
    found = request.scope.get(OPERATOR)
    return found if isinstance(found, Operator) else None


def requires(scope: desk.Scope, handler: Handler) -> Handler:
    """The handler, for operators whose token covers `scope`. It raises Unauthorised or ScopeTooSmall for others."""

    async def guarded(request: Request) -> Response:
        operator = operator_of(request)
        if not operator.may(scope):
            raise ScopeTooSmall(f"this needs the scope {scope}; the token {operator.name!r} has {operator.scope}")
        return await handler(request)

    return guarded
