"""Answers of the admin plane: JSON, and the one shape of errors `{"error", "detail"}`."""

from __future__ import annotations

from collections.abc import Mapping

import orjson
from starlette.responses import Response

from mithril_proxy.errors import (
    ConfigurationError,
    InvalidTransition,
    MithrilError,
    NotFound,
    RequestError,
    StoreUnavailable,
    UpstreamTimeout,
    UpstreamUnavailable,
)
from mithril_proxy.jsonable import plain
from mithril_proxy.proxy.release import ReleaseRefused

STATUSES: tuple[tuple[type[MithrilError], int, str], ...] = (
    (NotFound, 404, "not_found"),
    (InvalidTransition, 409, "invalid_transition"),
    (StoreUnavailable, 503, "store_unavailable"),
    (UpstreamTimeout, 504, "upstream_timeout"),
    (UpstreamUnavailable, 502, "upstream_unavailable"),
    (ReleaseRefused, 502, "release_refused"),
    (ConfigurationError, 422, "invalid_policy"),
)


class Unauthorised(RequestError):
    """No token or session, or one that is not valid."""

    status = 401
    code = "unauthorised"


class ScopeTooSmall(RequestError):
    """The operator's token does not cover this."""

    status = 403
    code = "scope_too_small"


class TooManyFailures(RequestError):
    """This address tried too many wrong tokens. `wait_s` is how long it has to wait."""

    status = 429
    code = "too_many_failures"

    def __init__(self, wait_s: float) -> None:
        self.wait_s = max(1, round(wait_s))
        super().__init__(f"too many wrong tokens from this address; try again in {self.wait_s} s")


class CrossSite(RequestError):
    """A change that another site's page asked for, or that cannot be shown to come from the desk."""

    status = 403
    code = "cross_site"


def answer_json(value: object, status: int = 200, headers: Mapping[str, str] | None = None) -> Response:
    """One JSON answer."""
    return Response(orjson.dumps(plain(value)), status, dict(headers or {}), media_type="application/json")


def status_and_code(error: MithrilError) -> tuple[int, str]:
    """The HTTP status and the stable code of an error."""
    if isinstance(error, RequestError):
        return error.status, error.code
    return next(((status, code) for kind, status, code in STATUSES if isinstance(error, kind)), (500, "error"))


def answer_error(error: MithrilError) -> Response:
    """The error as JSON, with what HTTP wants said beside it."""
    status, code = status_and_code(error)
    headers = {}
    if status == 401:
        headers["www-authenticate"] = "Bearer"
    if isinstance(error, TooManyFailures):
        headers["retry-after"] = str(error.wait_s)
    if status == 503:
        headers["retry-after"] = "1"
    return answer_json({"error": code, "detail": str(error)}, status, headers)
