"""Sources: how far each is trusted, the line of its reputation, and every event that moved it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from markupsafe import Markup
from starlette.requests import Request
from starlette.responses import Response

from mithril_proxy.admin.api.sources import register, reset, revoke
from mithril_proxy.admin.desk.charts import reputation_line
from mithril_proxy.admin.desk.render import Desk, address, see_other, segment
from mithril_proxy.admin.requests import read_form, validated
from mithril_proxy.admin.shapes import KeyBody, NewSource, ReasonBody, ResetBody
from mithril_proxy.store.interface import Page, ReputationEvent, Source

PAGE = 50
EVENTS = 100  # on one page, and in the line


@dataclass(frozen=True, slots=True)
class Sources:
    """The pages about sources."""

    desk: Desk

    async def show(self, request: Request) -> Response:
        """Sources by principal."""
        before, contains = (request.query_params.get(name) or None for name in ("before", "contains"))
        rows = await self.desk.operations.store.source_page(Page(PAGE, before), contains=contains)
        more = address("/sources", contains=contains, before=rows[-1].principal) if len(rows) == PAGE else None
        return self.desk.page(request, "sources.html", sources=rows, contains=contains or "", more=more, issued=None)

    async def source(self, request: Request) -> Response:
        """One source with its events, newest first. Raises NotFound."""
        store, before = self.desk.operations.store, request.query_params.get("before", "")
        source = await store.source(request.path_params["principal"])
        is_id = before.isascii() and before.isdigit() and len(before) < 19
        events = await store.reputation_events(source.principal, Page(EVENTS, before if is_id else None))
        path = f"/sources/{segment(source.principal)}"
        return self.desk.page(
            request,
            "source.html",
            source=source,
            events=events,
            chart=_line(source, events),
            decisions=await store.decisions(Page(10), source=source.name),
            more=address(path, before=events[-1].id) if len(events) == EVENTS else None,
        )

    async def add(self, request: Request) -> Response:
        """Register a source; its key is on the answer and nowhere else."""
        form = await read_form(request)
        declared = tuple(form.get("may_declare", "").replace(",", " ").split())
        wanted = {"name": form.get("name", ""), "prior": form.get("prior") or None, "may_declare": declared}
        issued = await register(self.desk.operations, validated(NewSource, wanted))
        rows = await self.desk.operations.store.source_page(Page(PAGE))
        return self.desk.page(request, "sources.html", sources=rows, contains="", more=None, issued=issued)

    async def freeze(self, request: Request) -> Response:
        """Stop its reputation from moving."""
        principal, reason = await _asked(request)
        await self.desk.operations.store.freeze_source(principal, reason=reason)
        return _back(principal, "frozen")

    async def thaw(self, request: Request) -> Response:
        """Let its reputation move again."""
        principal, reason = await _asked(request)
        await self.desk.operations.store.thaw_source(principal, reason=reason)
        return _back(principal, "thawed")

    async def reset(self, request: Request) -> Response:
        """Set its reputation by hand."""
        form, principal = await read_form(request), request.path_params["principal"]
        body = validated(ResetBody, {"reason": form.get("reason", ""), "reputation": form.get("reputation") or None})
        await reset(self.desk.operations, principal, body.reputation, body.reason)
        return _back(principal, "reset")

    async def revoke_key(self, request: Request) -> Response:
        """Take a key back."""
        form, principal = await read_form(request), request.path_params["principal"]
        body = validated(KeyBody, {"reason": form.get("reason", ""), "key_digest": form.get("key_digest", "")})
        await revoke(self.desk.operations, principal, body.key_digest, body.reason)
        return see_other(address(f"/sources/{segment(principal)}", said="revoked"))


def _line(source: Source, events: Sequence[ReputationEvent]) -> Markup | None:
    """The reputation over the events shown, oldest first; None when nothing moved it."""
    if not events:
        return None
    values = [events[-1].before, *(event.after for event in reversed(events))]
    return reputation_line(values, source.prior, f"Reputation of {source.principal} over its last {len(events)} events")


async def _asked(request: Request) -> tuple[str, str]:
    """The principal and the reason of a form."""
    body = validated(ReasonBody, {"reason": (await read_form(request)).get("reason", "")})
    return request.path_params["principal"], body.reason


def _back(principal: str, said: str) -> Response:
    return see_other(address(f"/sources/{segment(principal)}", said=said))
