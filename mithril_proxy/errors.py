"""Every error that Mithril raises on purpose.

MithrilError
├── ConfigurationError         a setting, policy or rule file is wrong; stops the start      (cli: exit 2)
├── RequestError               the client's call cannot be taken as it is                    (HTTP 4xx)
│   ├── MalformedBody          400: the body is not what its Content-Type says
│   ├── BodyTooLarge           413: over the policy's limit
│   ├── UnknownRoute           404: no such path, or one that is not written canonically
│   ├── UnsupportedEncoding    415: Content-Encoding other than identity
│   └── Refused                403: a route, field or value that policy does not allow
├── UpstreamUnavailable        the Cognee server cannot be reached or broke off              (HTTP 502)
│   └── UpstreamTimeout        it did not answer in time                                     (HTTP 504)
├── JudgeUnavailable           no verdict: down, slow, malformed, refusing, out of range     (a finding)
├── StoreUnavailable           nothing can be made durable                                   (HTTP 503)
├── TamperedAudit              the audit chain does not verify
├── NotFound                   no source, decision or entry of that name
├── InvalidTransition          the quarantine's life cycle does not allow this step
└── DemoFailed                 a server of the demo did not start, or decided otherwise      (cli: exit 1)

Messages say what was wrong and what to do. They never hold claim text, tokens or bodies.
"""

from __future__ import annotations

from mithril_proxy.types import Verdict


class MithrilError(Exception):
    """Root of the tree; catch this only at an edge."""


class ConfigurationError(MithrilError):
    """A setting or file is wrong. The message names file, key and reason."""


class RequestError(MithrilError):
    """The client's call cannot be taken. `code` is stable; `status` is the HTTP status of the answer."""

    status = 400
    code = "bad_request"

    def __init__(self, detail: str, *, code: str | None = None) -> None:
        super().__init__(detail)
        self.detail = detail
        if code is not None:
            self.code = code


class MalformedBody(RequestError):
    """The body is not what its Content-Type says, or is ambiguous. The detail names the field."""

    status = 400
    code = "malformed_body"


class BodyTooLarge(RequestError):
    """The body is over `max_body_bytes`."""

    status = 413
    code = "body_too_large"


class UnknownRoute(RequestError):
    """No such path here, or one that is not written canonically."""

    status = 404
    code = "unknown_route"


class UnsupportedEncoding(RequestError):
    """Content-Encoding other than identity: an uninspected body is never forwarded."""

    status = 415
    code = "unsupported_encoding"


class Refused(RequestError):
    """Policy does not allow this route, field or value."""

    status = 403
    code = "refused"


class UpstreamUnavailable(MithrilError):
    """The Cognee server cannot be reached, or broke off in the middle of its answer."""


class UpstreamTimeout(UpstreamUnavailable):
    """The Cognee server did not answer in time."""


class JudgeUnavailable(MithrilError):
    """No verdict. `reason` is a stable word: timeout, unreachable, rate_limited, misconfigured, malformed, refused,
    out_of_range, too_long, circuit_open.

    `partial` is what could be said without the missing judge (the local rules' verdict), None when nothing could.
    """

    def __init__(self, reason: str, detail: str = "", *, partial: Verdict | None = None) -> None:
        super().__init__(f"{reason}: {detail}" if detail else reason)
        self.reason = reason
        self.partial = partial


class StoreUnavailable(MithrilError):
    """The database cannot be written; nothing may be forwarded."""


class TamperedAudit(MithrilError):
    """The audit chain does not verify. The message names the first broken row."""


class NotFound(MithrilError):
    """No source, decision or entry of that name."""


class InvalidTransition(MithrilError):
    """The quarantine's life cycle does not allow this step."""


class DemoFailed(MithrilError):
    """A server of the demo did not start, or a decision was not the expected one. The message says where to look."""
