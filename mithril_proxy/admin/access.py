"""Finds out which operator asks, once a request, and holds each route to the scope that it names."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from starlette.requests import Request
from starlette.responses import Response
from starlette.types import ASGIApp, Receive, Scope, Send

from mithril_proxy.admin.answers import ScopeTooSmall, TooManyFailures, Unauthorised, answer_error
from mithril_proxy.admin.failures import Failures
from mithril_proxy.admin.operators import Gatekeeper, Operator
from mithril_proxy.errors import MithrilError
from mithril_proxy.policy import Desk
from mithril_proxy.store import desk

SESSION_COOKIE = "mithril_session"
OPERATOR = "mithril.operator"  # of the ASGI scope

Handler = Callable[[Request], Awaitable[Response]]


@dataclass(frozen=True, slots=True)
class Access:
    """Puts the operator into the scope: by bearer token, else by session. None when there is neither."""

    app: ASGIApp
    gate: Gatekeeper
    failures: Failures
    rule: Callable[[], Desk]

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass on with the operator, or answer with the error."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        try:
            scope[OPERATOR] = await self._operator(Request(scope))
        except MithrilError as error:
            await answer_error(error)(scope, receive, send)
            return
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
    """Who asks. Raises Unauthorised when nobody is signed in."""
    operator: Operator | None = request.scope.get(OPERATOR)
    if operator is None:
        raise Unauthorised("send an admin token: Authorization: Bearer …")
    return operator


def requires(scope: desk.Scope, handler: Handler) -> Handler:
    """The handler, for operators whose token covers `scope`. It raises Unauthorised or ScopeTooSmall for others."""

    async def guarded(request: Request) -> Response:
        operator = operator_of(request)
        if not operator.may(scope):
            raise ScopeTooSmall(f"this needs the scope {scope}; the token {operator.name!r} has {operator.scope}")
        return await handler(request)

    return guarded
