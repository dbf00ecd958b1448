"""Which call of Cognee a request is, decided on the decoded path; everything else is refused.

Rules:

1. A path is percent-decoded once and must match a whole template of the table; what is forwarded is the template's own
   text with its parameters encoded anew, never the client's spelling.
2. Control characters, `%2f`, a backslash, `;`, empty and dot segments are not canonical: 404, whatever they would mean.
3. A trailing slash is taken away or added inside; no redirect is ever answered, since Cognee's would name its own host.
4. A mutating call that the table does not list is refused with 403, another with 404.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cache
from types import MappingProxyType
from urllib.parse import quote, unquote_to_bytes

from mithril_proxy.cognee.table import ROUTES, Codec, Operation, Route
from mithril_proxy.errors import Refused, UnknownRoute
from mithril_proxy.policy import Routes

__all__ = ["ROUTES", "Codec", "Match", "Operation", "Route", "check_open", "find_route", "unlisted"]

READING_METHODS = frozenset({"GET", "HEAD", "OPTIONS", "WS"})

_ENCODED_SLASH = re.compile(rb"%2f|%5c", re.IGNORECASE)
_PARAMETER = re.compile(r"\{(\w+)\}")
_MAX_PARAMETER_CHARS = 512


@dataclass(frozen=True, slots=True)
class Match:
    """A request that the table names. `path` is what is forwarded, in place of what the client wrote."""

    route: Route
    method: str
    path: str
    parameters: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))

    @property
    def operation(self) -> Operation:
        """What the call does to memory."""
        return self.route.operation

    @property
    def codec(self) -> Codec:
        """Which decoder reads its body."""
        return self.route.codec


def find_route(method: str, raw_path: bytes | str) -> Match:
    """The row of the table that `method` and `raw_path` (percent-encoded, without query) mean.

    `method` is an HTTP method or `WS`. Raises Refused (403) for a mutating call that is not listed, UnknownRoute (404)
    for any other one and for a path that is not canonical.
    """
    verb = method.upper()
    segments = _segments(raw_path)
    for route in _candidates(verb):
        parameters = _fit(route, segments)
        if parameters is not None:
            return Match(route, verb, _forward_path(route, parameters), MappingProxyType(parameters))
    if verb == "OPTIONS":
        return _preflight(segments)
    if verb in READING_METHODS:
        raise UnknownRoute("no such route: it is not in Mithril's table of Cognee's routes")
    raise Refused(
        f"{verb} on this path is not in Mithril's table of Cognee's routes, so it is refused by default",
        code="unknown_route",
    )


def check_open(match: Match, rules: Routes) -> None:
    """Return when the policy lets this route pass. Raises Refused (`route_closed`) when it does not."""
    if match.operation is Operation.DENY and not match.route.switch:
        raise Refused(f"{match.route.name} is refused: {match.route.note}", code="route_closed")
    switch = match.route.switch
    if switch and not getattr(rules, switch):
        raise Refused(
            f"{match.route.name} is closed by policy ({match.route.note}); "
            f"an operator opens it with `{switch} = true` under [routes]",
            code="route_closed",
        )


def unlisted(calls: Iterable[tuple[str, str]]) -> tuple[tuple[str, str], ...]:
    """Those (method, template) pairs of an upstream's OpenAPI document that the table does not name."""
    known = {(route.method, _shape(route.template)) for route in ROUTES}
    return tuple((method, path) for method, path in calls if (method.upper(), _shape(path)) not in known)


def _shape(template: str) -> str:
    return _PARAMETER.sub("{}", template)


def _segments(raw_path: bytes | str) -> tuple[str, ...]:
    """The decoded segments of a canonical path, the last one empty when it ended in a slash."""
    raw = raw_path.encode("utf-8", "surrogateescape") if isinstance(raw_path, str) else raw_path
    if not raw.startswith(b"/") or _ENCODED_SLASH.search(raw):
        raise _not_canonical()
    try:
        path = unquote_to_bytes(raw).decode("utf-8")
    except UnicodeDecodeError:
        raise _not_canonical() from None
    if any(not char.isprintable() or char in "\\;?#" for char in path):
        raise _not_canonical()
    segments = tuple(path[1:].split("/"))
    if any(segment in ("", ".", "..") for segment in segments[:-1]) or segments[-1] in (".", ".."):
        raise _not_canonical()
    return segments


def _not_canonical() -> UnknownRoute:
    return UnknownRoute(
        "the path is not canonical: no control characters, encoded slashes, backslashes, `;`, empty or dot segments",
        code="path_not_canonical",
    )


@cache
def _candidates(verb: str) -> tuple[Route, ...]:
    """The rows of one method, those with fewer parameters first, so that `status` is never taken for an id."""
    return tuple(sorted((row for row in ROUTES if row.method == verb), key=lambda row: row.template.count("{")))


def _fit(route: Route, segments: tuple[str, ...]) -> dict[str, str] | None:
    """The parameters of `segments` in the template, None when they do not fit. A trailing slash counts for nothing."""
    expected = _bare(tuple(route.template[1:].split("/")))
    given = _bare(segments)
    if len(expected) != len(given):
        return None
    parameters: dict[str, str] = {}
    for pattern, value in zip(expected, given, strict=True):
        name = _PARAMETER.fullmatch(pattern)
        if name is None and pattern != value:
            return None
        if name is not None:
            parameters[name[1]] = value
    return parameters if all(len(value) <= _MAX_PARAMETER_CHARS for value in parameters.values()) else None


def _bare(segments: tuple[str, ...]) -> tuple[str, ...]:
    return segments[:-1] if len(segments) > 1 and segments[-1] == "" else segments


def _forward_path(route: Route, parameters: Mapping[str, str]) -> str:
    return _PARAMETER.sub(lambda name: quote(parameters[name[1]], safe=""), route.template)


def _preflight(segments: tuple[str, ...]) -> Match:
    """A CORS preflight for a path that the table names under any other method."""
    for route in ROUTES:
        parameters = _fit(route, segments) if route.method != "WS" else None
        if parameters is not None:
            row = Route("OPTIONS", route.template, Operation.PASS, Codec.NONE, "", "CORS preflight")
            return Match(row, "OPTIONS", _forward_path(route, parameters), MappingProxyType(parameters))
    raise UnknownRoute("no such route: it is not in Mithril's table of Cognee's routes")
