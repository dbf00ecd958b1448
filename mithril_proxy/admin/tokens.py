"""Who may use the admin plane: the holder of its bearer token."""

from __future__ import annotations

import hmac
from dataclasses import dataclass

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.types import ASGIApp, Receive, Scope, Send

OPEN_PATHS = frozenset(("/metrics", "/api/v1/health"))  # numbers and liveness only; no text, no names of people


@dataclass(frozen=True, slots=True)
class RequireToken:
    """Lets through what carries `Authorization: Bearer <token>`; compares in constant time."""

    app: ASGIApp
    token: str

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer 401 to everything else."""
        if scope["type"] != "http" or scope["path"] in OPEN_PATHS or self._is_authorised(Request(scope)):
            await self.app(scope, receive, send)
            return
        response: Response = JSONResponse(
            {"error": "unauthorised", "detail": "send the admin token: Authorization: Bearer …"},
            status_code=401,
            headers={"www-authenticate": "Bearer"},
        )
        await response(scope, receive, send)

    def _is_authorised(self, request: Request) -> bool:
        scheme, _, given = request.headers.get("authorization", "").partition(" ")
        return scheme.lower() == "bearer" and hmac.compare_digest(given.strip().encode(), self.token.encode())
