"""Templates, and what every page of the desk has in common."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlencode

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup
from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response

from mithril_proxy.admin.access import operator_or_none
from mithril_proxy.admin.answers import Unauthorised, status_and_code
from mithril_proxy.admin.desk.text import shown
from mithril_proxy.admin.failures import Failures
from mithril_proxy.admin.operations import Operations
from mithril_proxy.admin.operators import Gatekeeper
from mithril_proxy.errors import MithrilError
from mithril_proxy.store.desk import Scope

FOLDER = Path(__file__).parent
SAID = {  # what a page says after a change; the address names it, so that nothing has to be remembered
    "released": "Released: the claim was forwarded to Cognee as verified memory.",
    "granted": "Granted: without a credential of Mithril's own for Cognee, the source's next write of this passes, once.",
    "proposed": "Proposed. A second reviewer has to release this claim too.",
    "rejected": "Rejected.",
    "reconsidered": "The review was changed.",
    "reevaluated": "Judged again.",
    "frozen": "Frozen: its reputation does not move.",
    "thawed": "Thawed.",
    "reset": "The reputation was set.",
    "revoked": "The key was taken back.",
    "reloaded": "The policy was loaded again.",
    "signed-out": "Signed out.",
}


def environment() -> Environment:
    """The templates; everything that is put into them is escaped."""
    made = Environment(
        loader=FileSystemLoader(FOLDER / "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made.filters |= {"shown": shown, "when": when, "segment": segment, "brief": brief}
    return made


def segment(text: str) -> str:
    """`text` as one part of a path; a slash stays, since a principal may hold one."""
    return quote(text, safe="/")


def when(moment: datetime | str) -> Markup:
    """A time to read, with the exact one behind it."""
    at = datetime.fromisoformat(moment) if isinstance(moment, str) else moment
    return Markup('<time datetime="{}">{}</time>').format(at.isoformat(), at.strftime("%Y-%m-%d %H:%M:%S"))


def brief(text: str, length: int = 160) -> str:
    """`text` on one line, cut after `length` characters."""
    line = " ".join(text.split())
    return line if len(line) <= length else line[: length - 1] + "…"


def address(path: str, **query: object) -> str:
    """A path with a query string of what is not None."""
    given = urlencode({name: value for name, value in query.items() if value is not None})
    return f"{path}?{given}" if given else path


@dataclass(frozen=True, slots=True)
class Desk:
    """What pages are made from."""

    operations: Operations
    gate: Gatekeeper
    failures: Failures
    templates: Environment = field(default_factory=environment)

    def page(self, request: Request, template: str, status: int = 200, **values: Any) -> Response:
        """A rendered page."""
        operator = operator_or_none(request)
        said = SAID.get(request.query_params.get("said", ""))
        text = self.templates.get_template(template).render(
            operator=operator,
            may_review=operator is not None and operator.may(Scope.REVIEW),
            may_admin=operator is not None and operator.may(Scope.ADMIN),
            here=request.url.path,
            said=said,
            policy=self.operations.policy,
            **values,
        )
        return HTMLResponse(text, status)

    def error(self, request: Request, error: MithrilError) -> Response:
        """A page that says what went wrong; who is not signed in is asked to."""
        path = request.url.path
        back = path if request.method in ("GET", "HEAD") else path.rpartition("/")[0] or "/"
        if isinstance(error, Unauthorised):
            return see_other(address("/sign-in", next=back))
        status, code = status_and_code(error)
        return self.page(request, "error.html", status, code=code, detail=str(error), back=back)


def see_other(path: str) -> Response:
    """Sends the browser on to a page, with GET."""
    return RedirectResponse(path, 303)
