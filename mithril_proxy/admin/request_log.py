"""One event a request of the admin plane: what was asked, by whom, how it ended. Never a query, a body or a text."""

from __future__ import annotations

from dataclasses import dataclass

from starlette.types import ASGIApp, Message, Receive, Scope, Send
from structlog.typing import FilteringBoundLogger

from mithril_proxy.admin.access import OPERATOR
from mithril_proxy.admin.operators import Operator
from mithril_proxy.clock import Clock

QUIET_PATHS = ("/pulse", "/static/", "/metrics")  # asked for every few seconds; they say nothing
REQUEST_ID = b"x-request-id"


@dataclass(frozen=True, slots=True)
class RequestLog:
    """Logs each request under a new id, which the answer carries too."""

    app: ASGIApp
    clock: Clock
    log: FilteringBoundLogger

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer, then log."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        request_id, started_s, status = self.clock.new_id("adm"), self.clock.monotonic_s(), 0

        async def send_with_id(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                message["headers"] = [*message["headers"], (REQUEST_ID, request_id.encode())]
            await send(message)

        try:
            await self.app(scope, receive, send_with_id)
        finally:
            if not scope["path"].startswith(QUIET_PATHS):
                self._write(scope, request_id, status, self.clock.monotonic_s() - started_s)

    def _write(self, scope: Scope, request_id: str, status: int, seconds: float) -> None:
        operator = scope.get(OPERATOR)
        self.log.info(
            "admin.request",
            request_id=request_id,
            method=scope["method"],
            path=scope["path"],
            status=status,
            operator=operator.name if isinstance(operator, Operator) else None,
            ms=round(seconds * 1000, 1),
        )
