"""The data plane: one ASGI application that speaks Cognee's API."""

from __future__ import annotations

import asyncio

from structlog.typing import FilteringBoundLogger

from mithril_proxy.clock import Clock
from mithril_proxy.cognee.routes import Match, Operation, check_open, find_route
from mithril_proxy.errors import (
    Refused,
    RequestError,
    StoreUnavailable,
    UpstreamTimeout,
    UpstreamUnavailable,
)
from mithril_proxy.proxy.answers import send_error, send_json
from mithril_proxy.proxy.asgi import ClientGone, HttpRequest, Message, Receive, Scope, Send
from mithril_proxy.proxy.exchange import Exchange
from mithril_proxy.proxy.passthrough import pass_through
from mithril_proxy.proxy.reads import answer_read
from mithril_proxy.proxy.recalls import answer_recall
from mithril_proxy.proxy.screen import refuse_credentials_in_address
from mithril_proxy.proxy.services import Edge, Services
from mithril_proxy.proxy.upstream import Upstream
from mithril_proxy.proxy.websockets import relay_websocket
from mithril_proxy.proxy.writes import take_write
from mithril_proxy.store.desk import DeskStore
from mithril_proxy.telemetry import Metrics
from mithril_proxy.types import Mode

OWN_PREFIX = "/_mithril/"


class Answer:
    """Watches what is sent, so that an error after the first byte is not answered a second time."""

    def __init__(self, send: Send) -> None:
        self._send = send
        self.status: int | None = None

    async def __call__(self, message: Message) -> None:
        """Send one message on."""
        if message["type"] == "http.response.start":
            self.status = message["status"]
        await self._send(message)


class DataPlane:
    """Cognee's API with the firewall in it. `services` is swapped whole when the policy is loaded again."""

    def __init__(
        self,
        services: Services,
        store: DeskStore,
        upstream: Upstream,
        metrics: Metrics,
        clock: Clock,
        log: FilteringBoundLogger,
    ) -> None:
        self.services = services
        self.edge = Edge(store, upstream, metrics, clock, log)
        self.is_draining = False

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one connection."""
        if scope["type"] == "http":
            await self._http(scope, receive, send)
        elif scope["type"] == "websocket":
            await relay_websocket(self.services, self.edge, scope, receive, send)

    async def _http(self, scope: Scope, receive: Receive, send: Send) -> None:
        answer = Answer(send)
        request = HttpRequest(scope, receive, answer)
        if request.raw_path.startswith(OWN_PREFIX):
            await self._own(request)
            return
        started_s = self.edge.clock.monotonic_s()
        request_id = self.edge.clock.new_id("req")
        outcome = await self._answered(request, answer, request_id)
        seconds = self.edge.clock.monotonic_s() - started_s
        status = str(answer.status or 499)
        self.edge.metrics.requests.labels(outcome, status).inc()
        self.edge.metrics.request_seconds.labels(outcome).observe(seconds)
        self.edge.log.info(
            "request",
            request_id=request_id,
            operation=outcome,
            method=request.method,
            status=status,
            ms=round(seconds * 1000, 1),
        )

    async def _answered(self, request: HttpRequest, answer: Answer, request_id: str) -> str:
        """Answer the request, whatever happens; returns its operation, for logs and metrics."""
        operation = "unrecognised"
        try:
            match = find_route(request.method, request.raw_path)
            operation = match.operation.value
            await self._dispatch(request, match, request_id)
        except RequestError as error:
            await self._refuse(request, answer, error, request_id)
        except UpstreamTimeout as error:
            await _fail(answer, 504, "upstream_timeout", str(error))
        except UpstreamUnavailable as error:
            await _fail(answer, 502, "upstream_unavailable", str(error))
        except StoreUnavailable as error:
            await _fail(answer, 503, "store_unavailable", f"{error}; nothing was forwarded, send it again")
        except ClientGone:
            self.edge.log.info("client_disconnect", request_id=request_id, operation=operation)
        except asyncio.CancelledError:
            raise
        # The outermost handler: a fault of ours must not admit anything, nor say what it read.
        except Exception as error:  # noqa: BLE001
            self.edge.log.error(
                "fault", request_id=request_id, operation=operation, error=type(error).__name__, at=_place(error)
            )
            await _fail(
                answer, 500, "internal_error", f"a fault in Mithril; nothing more was forwarded (request {request_id})"
            )
        return operation

    async def _dispatch(self, request: HttpRequest, match: Match, request_id: str) -> None:
        services = self.services
        identity = await services.identifier.identify(request.headers, request.peer)
        exchange = Exchange(request_id, request, match, identity, services, self.edge)
        if services.policy.mode is Mode.ENFORCE:
            check_open(match, services.policy.routes)
            _check_key(exchange)
            refuse_credentials_in_address(services.guard, match, request.query)
        match match.operation:
            case Operation.WRITE:
                await take_write(exchange)
            case Operation.RECALL:
                await answer_recall(exchange)
            case Operation.READ:
                await answer_read(exchange)
            case _:
                await pass_through(exchange)

    async def _refuse(self, request: HttpRequest, answer: Answer, error: RequestError, request_id: str) -> None:
        """Answer a call that is not taken; counted and audited."""
        self.edge.metrics.refusals.labels(error.code).inc()
        try:
            payload = {"code": error.code, "method": request.method, "request_id": request_id, "peer": request.peer}
            await self.edge.store.append_audit("refused", error.code, payload)
        except StoreUnavailable as unavailable:
            self.edge.log.error("audit.unavailable", request_id=request_id, reason=str(unavailable))
        await _fail(answer, error.status, error.code, error.detail)

    async def _own(self, request: HttpRequest) -> None:
        """`/_mithril/health/live` and `/_mithril/health/ready`; nothing else of Mithril stands on this listener."""
        path = request.raw_path.removeprefix(OWN_PREFIX)
        if path == "health/live":
            await send_json(request.send, 200, {"status": "live"})
        elif path == "health/ready":
            await self._ready(request)
        else:
            await send_error(
                request.send,
                404,
                "not_found",
                "this listener has only /_mithril/health/live and /_mithril/health/ready",
            )

    async def _ready(self, request: HttpRequest) -> None:
        if self.is_draining:
            await send_error(request.send, 503, "draining", "this process is stopping")
            return
        try:
            await self.edge.store.ping()
        except StoreUnavailable as error:
            await send_error(request.send, 503, "store_unavailable", str(error))
            return
        await send_json(request.send, 200, {"status": "ready"})


def _check_key(exchange: Exchange) -> None:
    """A Mithril key stands for memory only: it must not turn into the service user's rights over users and settings."""
    is_control = exchange.match.operation is Operation.CONTROL and exchange.request.method not in (
        "GET",
        "HEAD",
        "OPTIONS",
    )
    if exchange.identity.holds_mithril_key and is_control:
        raise Refused(
            "a Mithril key cannot be used for this call; use a Cognee credential", code="mithril_key_not_allowed"
        )


async def _fail(answer: Answer, status: int, code: str, detail: str) -> None:
    """Answer with an error, unless an answer has begun: then the connection is broken off by the server."""
    if answer.status is None:
        await send_error(answer, status, code, detail)


def _place(error: Exception) -> str:
    """File and line where an exception rose: never its message, which may hold text."""
    trace = error.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    return "" if trace is None else f"{trace.tb_frame.f_code.co_filename.rpartition('/')[2]}:{trace.tb_lineno}"
