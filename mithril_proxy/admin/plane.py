"""The admin plane as one ASGI application, from the outside in: log, headers, same origin, operator, routes."""

from __future__ import annotations

from typing import Any

from prometheus_client import generate_latest
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route
from starlette.types import ASGIApp

from mithril_proxy.admin.access import Access
from mithril_proxy.admin.answers import answer_error, answer_json
from mithril_proxy.admin.api import api_endpoints
from mithril_proxy.admin.csrf import SameOrigin
from mithril_proxy.admin.desk import Desk, desk_routes
from mithril_proxy.admin.endpoint import PREFIX, api_routes
from mithril_proxy.admin.failures import Failures
from mithril_proxy.admin.openapi import openapi_document
from mithril_proxy.admin.operations import Operations
from mithril_proxy.admin.operators import Gatekeeper
from mithril_proxy.admin.request_log import RequestLog
from mithril_proxy.admin.security_headers import SecurityHeaders
from mithril_proxy.errors import MithrilError
from mithril_proxy.judge.usage import usage_of
from mithril_proxy.telemetry import observe_store

MAX_BODY_BYTES = 32 * 1024 * 1024  # a corrected text of the default limit, with every character escaped
MACHINE_PATHS = ("/api/", "/metrics", "/pulse")  # whose errors are JSON; everything else is read by a person
METRICS_TYPE = "text/plain; version=0.0.4; charset=utf-8"


def build_admin(operations: Operations, gate: Gatekeeper, extra_routes: tuple[BaseRoute, ...] = ()) -> ASGIApp:
    """The admin plane. `extra_routes` stand beside its own, behind the same walls."""
    failures = Failures(operations.clock)
    desk = Desk(operations, gate, failures)
    routes = [*_own_routes(operations), *extra_routes, *desk_routes(desk)]

    async def on_error(request: Request, error: Exception) -> Response:
        assert isinstance(error, MithrilError)
        if request.url.path.startswith(MACHINE_PATHS):
            return answer_error(error)
        return desk.error(request, error)

    async def on_http_error(request: Request, error: Exception) -> Response:
        assert isinstance(error, HTTPException)
        problem = {"error": f"http_{error.status_code}", "detail": error.detail}
        return answer_json(problem, error.status_code, dict(error.headers or {}))

    handlers: dict[Any, Any] = {MithrilError: on_error, HTTPException: on_http_error, Exception: _on_fault}
    app: ASGIApp = Starlette(routes=routes, exception_handlers=handlers, max_body_size=MAX_BODY_BYTES)
    app = Access(app, gate, failures, lambda: operations.policy.desk)
    return RequestLog(SecurityHeaders(SameOrigin(app)), operations.clock, operations.log)


def _own_routes(operations: Operations) -> list[BaseRoute]:
    endpoints = api_endpoints(operations)
    document = openapi_document(endpoints)

    async def show_metrics(request: Request) -> Response:
        operations.metrics.count_usage(usage_of(operations.services().judge))
        await observe_store(operations.metrics, operations.store, operations.clock)
        return Response(generate_latest(operations.metrics.registry), media_type=METRICS_TYPE)

    async def show_document(request: Request) -> Response:
        return answer_json(document)

    return [
        Route("/metrics", show_metrics),
        Route(f"{PREFIX}/openapi.json", show_document),
        *api_routes(endpoints),
    ]


async def _on_fault(request: Request, error: Exception) -> Response:
    return answer_json({"error": "internal_error", "detail": "a fault in Mithril; its log says where"}, 500)
