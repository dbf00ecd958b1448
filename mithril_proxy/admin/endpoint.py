"""One call of the API: where it stands, who may make it, what it takes and gives."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from pydantic import BaseModel
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from mithril_proxy.admin.access import Handler, requires
from mithril_proxy.admin.answers import answer_json
from mithril_proxy.admin.requests import read_json, read_query
from mithril_proxy.admin.shapes import Nothing
from mithril_proxy.store.desk import Scope

PREFIX = "/api/v1"
Answer = Callable[[Request, Any], Awaitable[object]]


@dataclass(frozen=True, slots=True)
class Endpoint:
    """A row of the table that both the routes and the OpenAPI document are made from.

    `answer` gets the request and its validated input (`takes`, from the query of a GET, from the JSON body else); what
    it returns is an instance of `gives`, or a ready Response. `scope` is None for what anybody may ask.
    """

    method: str
    path: str
    scope: Scope | None
    summary: str
    answer: Answer
    gives: Any
    takes: type[BaseModel] = Nothing
    status: int = 200
    errors: tuple[int, ...] = ()
    media_type: str = "application/json"

    @property
    def guarded(self) -> Handler:
        """The handler, behind the scope."""
        return self.handle if self.scope is None else requires(self.scope, self.handle)

    async def handle(self, request: Request) -> Response:
        """Validate, answer, and put the answer into JSON. Raises MithrilError."""
        has_body = self.method != "GET" and self.takes is not Nothing
        given = await read_json(request, self.takes) if has_body else read_query(request, self.takes)
        answered = await self.answer(request, given)
        return answered if isinstance(answered, Response) else answer_json(answered, self.status)


def api_routes(endpoints: Iterable[Endpoint]) -> list[Route]:
    """One route a path, in the order of the table, so that a 405 names every method that the path has."""
    by_path: dict[str, dict[str, Handler]] = {}
    for endpoint in endpoints:
        by_path.setdefault(endpoint.path, {})[endpoint.method] = endpoint.guarded
    return [Route(PREFIX + path, _by_method(handlers), methods=list(handlers)) for path, handlers in by_path.items()]


def _by_method(handlers: Mapping[str, Handler]) -> Handler:
    async def dispatch(request: Request) -> Response:
        method = "GET" if request.method == "HEAD" else request.method
        return await handlers[method](request)

    return dispatch
