"""The admin API `/api/v1`: decisions, quarantine, sources, incidents; and `/metrics`."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any

import orjson
from prometheus_client import generate_latest
from pydantic import BaseModel, ConfigDict, Field, ValidationError
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from mithril_proxy import __version__
from mithril_proxy.admin.tokens import RequireToken
from mithril_proxy.errors import (
    InvalidTransition,
    MithrilError,
    NotFound,
    RequestError,
    StoreUnavailable,
    UpstreamUnavailable,
)
from mithril_proxy.jsonable import plain
from mithril_proxy.proxy.release import Releases
from mithril_proxy.store.interface import Page, QuarantineFilter, Store
from mithril_proxy.telemetry import Metrics
from mithril_proxy.types import ReviewState, Status

MAX_PAGE = 200
Answerer = Callable[[Request], Awaitable[Response]]


class ReviewBody(BaseModel):
    """A reviewer's word on a held claim."""

    model_config = ConfigDict(extra="forbid")

    reason: str = Field(min_length=1)
    reviewer: str = Field("admin-api", min_length=1)


def answer_json(value: object, status: int = 200) -> Response:
    """One JSON answer."""
    return Response(orjson.dumps(plain(value)), status, media_type="application/json")


def answer_error(error: MithrilError) -> Response:
    """The one error shape, with the HTTP status that fits the error."""
    statuses: tuple[tuple[type[MithrilError], int, str], ...] = (
        (NotFound, 404, "not_found"),
        (InvalidTransition, 409, "invalid_transition"),
        (StoreUnavailable, 503, "store_unavailable"),
        (UpstreamUnavailable, 502, "upstream_unavailable"),
    )
    if isinstance(error, RequestError):
        return answer_json({"error": error.code, "detail": error.detail}, error.status)
    status, code = next(((status, code) for kind, status, code in statuses if isinstance(error, kind)), (500, "error"))
    return answer_json({"error": code, "detail": str(error)}, status)


@dataclass(frozen=True, slots=True)
class AdminApi:
    """The handlers, over one store and one way to release."""

    store: Store
    releases: Releases
    metrics: Metrics

    async def health(self, request: Request) -> Response:
        """Version and whether the database takes writes."""
        await self.store.ping()
        return answer_json({"status": "ready", "version": __version__})

    async def show_metrics(self, request: Request) -> Response:
        """Prometheus text format."""
        return Response(generate_latest(self.metrics.registry), media_type="text/plain; version=0.0.4; charset=utf-8")

    async def decisions(self, request: Request) -> Response:
        """Decisions, newest first."""
        status = _member(Status, request, "status")
        rows = await self.store.decisions(_page(request), source=request.query_params.get("source"), status=status)
        return answer_json({"decisions": rows})

    async def decision(self, request: Request) -> Response:
        """One decision."""
        return answer_json(await self.store.decision(request.path_params["id"]))

    async def quarantine(self, request: Request) -> Response:
        """Held claims, newest first; `state` is pending unless given, `any` for all."""
        state = (
            None
            if request.query_params.get("state") == "any"
            else _member(ReviewState, request, "state") or ReviewState.PENDING
        )
        where = QuarantineFilter(
            state=state,
            source=request.query_params.get("source"),
            status=_member(Status, request, "status"),
            contains=request.query_params.get("contains"),
        )
        return answer_json({"quarantine": await self.store.quarantine(_page(request), where)})

    async def held(self, request: Request) -> Response:
        """One held claim with all its evidence."""
        entry = await self.store.held(request.path_params["id"])
        return answer_json({"entry": entry, "decision": await self.store.decision(entry.decision_id)})

    async def release(self, request: Request) -> Response:
        """Forward a held claim, once."""
        body = await _review_body(request)
        return answer_json(
            await self.releases.release(request.path_params["id"], reviewer=body.reviewer, reason=body.reason)
        )

    async def reject(self, request: Request) -> Response:
        """Close a held claim for good."""
        body = await _review_body(request)
        return answer_json(
            await self.releases.reject(request.path_params["id"], reviewer=body.reviewer, reason=body.reason)
        )

    async def sources(self, request: Request) -> Response:
        """Every source with its reputation; no key and no digest of one."""
        rows = [
            {**plain(source), "key_digests": None, "keys": len(source.key_digests)}
            for source in await self.store.sources()
        ]
        return answer_json({"sources": rows})

    async def incidents(self, request: Request) -> Response:
        """Rows of the view `incidents`."""
        return answer_json({"incidents": await self.store.incidents(limit=_page(request).limit)})


def build_admin(store: Store, releases: Releases, metrics: Metrics, token: str) -> RequireToken:
    """The admin plane as an ASGI application."""
    api = AdminApi(store, releases, metrics)
    routes = [
        Route("/metrics", api.show_metrics),
        Route("/api/v1/health", api.health),
        Route("/api/v1/decisions", api.decisions),
        Route("/api/v1/decisions/{id}", api.decision),
        Route("/api/v1/quarantine", api.quarantine),
        Route("/api/v1/quarantine/{id}", api.held),
        Route("/api/v1/quarantine/{id}/release", api.release, methods=["POST"]),
        Route("/api/v1/quarantine/{id}/reject", api.reject, methods=["POST"]),
        Route("/api/v1/sources", api.sources),
        Route("/api/v1/incidents", api.incidents),
    ]
    handlers: dict[Any, Any] = {MithrilError: _on_error, HTTPException: _on_http_error}
    return RequireToken(Starlette(routes=routes, exception_handlers=handlers), token)


async def _on_error(request: Request, error: MithrilError) -> Response:
    return answer_error(error)


async def _on_http_error(request: Request, error: HTTPException) -> Response:
    return answer_json({"error": f"http_{error.status_code}", "detail": error.detail}, error.status_code)


def _page(request: Request) -> Page:
    limit = request.query_params.get("limit", "50")
    if not limit.isdigit() or not 1 <= int(limit) <= MAX_PAGE:
        raise RequestError(f"limit: must be 1 to {MAX_PAGE}")
    return Page(limit=int(limit), before=request.query_params.get("before"))


def _member(kind: type[Any], request: Request, name: str) -> Any:
    """The enum member that a query parameter names, None when it is not given. Raises RequestError."""
    value = request.query_params.get(name)
    if value is None:
        return None
    try:
        return kind(value)
    except ValueError:
        raise RequestError(f"{name}: must be one of {', '.join(member.value for member in kind)}") from None


async def _review_body(request: Request) -> ReviewBody:
    try:
        return ReviewBody.model_validate_json(await request.body())
    except ValidationError as error:
        first = error.errors()[0]
        field = ".".join(str(part) for part in first["loc"]) or "body"
        raise RequestError(f"{field}: {first['msg']}") from None
