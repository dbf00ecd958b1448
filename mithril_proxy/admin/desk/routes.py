"""Every page of the desk, and what an operator's token must cover to see it."""

from __future__ import annotations

from pathlib import Path

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Mount, Route
from starlette.staticfiles import StaticFiles

from mithril_proxy.admin.access import Handler, requires
from mithril_proxy.admin.desk.decisions import Decisions
from mithril_proxy.admin.desk.overview import Overview
from mithril_proxy.admin.desk.policy import Policies
from mithril_proxy.admin.desk.queue import Queue
from mithril_proxy.admin.desk.render import Desk
from mithril_proxy.admin.desk.sign_in import SignIn
from mithril_proxy.admin.desk.sources import Sources
from mithril_proxy.store.desk import Scope
from mithril_proxy.store.interface import Page

INCIDENTS = Page(100)


def desk_routes(desk: Desk) -> list[BaseRoute]:
    """The pages; a principal may hold a slash, so longer paths stand first."""
    overview, queue, decisions = Overview(desk), Queue(desk), Decisions(desk)
    sources, policy, sign_in = Sources(desk), Policies(desk), SignIn(desk)

    async def incidents(request: Request) -> Response:
        rows = await desk.operations.store.incidents(limit=INCIDENTS.limit)
        return desk.page(request, "incidents.html", incidents=rows)

    one, source = "/queue/{id}", "/sources/{principal:path}"
    return [
        Mount("/static", StaticFiles(directory=Path(__file__).parent / "static")),
        Route("/sign-in", sign_in.show),
        Route("/sign-in", sign_in.sign_in, methods=["POST"]),
        _post("/sign-out", Scope.READ, sign_in.sign_out),
        _page("/", overview.show),
        _page("/pulse", overview.pulse),
        _page("/queue", queue.show),
        _page(one, queue.entry),
        _post(f"{one}/release", Scope.REVIEW, queue.release),
        _post(f"{one}/reject", Scope.REVIEW, queue.reject),
        _post(f"{one}/reconsider", Scope.REVIEW, queue.reconsider),
        _post(f"{one}/reevaluate", Scope.REVIEW, queue.reevaluate),
        _page("/decisions", decisions.show),
        _page("/decisions/{id}", decisions.decision),
        _page("/sources", sources.show),
        _post("/sources", Scope.ADMIN, sources.add),
        _post(f"{source}/freeze", Scope.ADMIN, sources.freeze),
        _post(f"{source}/thaw", Scope.ADMIN, sources.thaw),
        _post(f"{source}/reset", Scope.ADMIN, sources.reset),
        _post(f"{source}/revoke-key", Scope.ADMIN, sources.revoke_key),
        _page(source, sources.source),
        _page("/incidents", incidents),
        _page("/policy", policy.show),
        _post("/policy/validate", Scope.ADMIN, policy.validate),
        _post("/policy/reload", Scope.ADMIN, policy.reload),
    ]


def _page(path: str, handler: Handler) -> Route:
    return Route(path, requires(Scope.READ, handler))


def _post(path: str, scope: Scope, handler: Handler) -> Route:
    return Route(path, requires(scope, handler), methods=["POST"])
