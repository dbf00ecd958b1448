"""Signing in with a token, and out again."""

from __future__ import annotations

from dataclasses import dataclass

from starlette.requests import Request
from starlette.responses import Response

from mithril_proxy.admin.access import operator_of, peer_of
from mithril_proxy.admin.answers import TooManyFailures
from mithril_proxy.admin.csrf import SESSION_COOKIE
from mithril_proxy.admin.desk.render import Desk, see_other
from mithril_proxy.admin.requests import read_form


@dataclass(frozen=True, slots=True)
class SignIn:
    """The pages that need no operator."""

    desk: Desk

    async def show(self, request: Request) -> Response:
        """The form."""
        return self.desk.page(request, "sign_in.html", next=local(request.query_params.get("next", "/")), problem=None)

    async def sign_in(self, request: Request) -> Response:
        """A session for the holder of a token; the form again for anybody else. Raises TooManyFailures."""
        form, peer, rule = await read_form(request), peer_of(request), self.desk.operations.policy.desk
        wait_s = self.desk.failures.wait_s(peer, limit=rule.failures, window_s=rule.failure_window_s)
        if wait_s > 0:
            raise TooManyFailures(wait_s)
        target = local(form.get("next", "/"))
        session = await self.desk.gate.sign_in(form.get("token", "").strip(), peer=peer, hours=rule.session_hours)
        if session is None:
            self.desk.failures.add(peer, limit=rule.failures)
            problem = "This token is unknown or revoked. `mithril tokens add NAME --scope review` makes one."
            return self.desk.page(request, "sign_in.html", 401, next=target, problem=problem)
        response = see_other(target)
        response.set_cookie(
            SESSION_COOKIE,
            session,
            max_age=int(rule.session_hours * 3600),
            httponly=True,
            samesite="strict",
            secure=_is_https(request),
        )
        return response

    async def sign_out(self, request: Request) -> Response:
        """End the session. Raises Unauthorised."""
        await self.desk.gate.sign_out(operator_of(request))
        response = see_other("/sign-in?said=signed-out")
        response.delete_cookie(SESSION_COOKIE, httponly=True, samesite="strict", secure=_is_https(request))
        return response


def local(path: str) -> str:
    """`path` when it stands on this very desk, the overview when it would lead elsewhere."""
    is_local = path.startswith("/") and not path.startswith("//") and "\\" not in path and path.isprintable()
    return path if is_local else "/"


def _is_https(request: Request) -> bool:
    """True when the browser speaks HTTPS, also where a proxy before us ends it."""
    return request.url.scheme == "https" or request.headers.get("origin", "").startswith("https://")
