"""Held claims: listed, read, released, rejected, judged again, exported."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import dataclass

import orjson
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse

from mithril_proxy.admin.access import operator_of
from mithril_proxy.admin.endpoint import Endpoint
from mithril_proxy.admin.held import held_claim, quarantine_filter, reviewed
from mithril_proxy.admin.operations import Operations
from mithril_proxy.admin.shapes import (
    GroupList,
    HeldClaim,
    HeldList,
    HeldQuery,
    Nothing,
    ReasonBody,
    ReconsiderBody,
    ReevaluateAllBody,
    ReevaluateBody,
    Reevaluated,
    ReevaluatedList,
    ReleaseBody,
    Reviewed,
)
from mithril_proxy.jsonable import plain
from mithril_proxy.proxy.reevaluate import Reevaluation, held_summary
from mithril_proxy.store.desk import Scope
from mithril_proxy.store.interface import Page, QuarantineFilter

EXPORT_PAGE = 200
JSON_LINES = "application/x-ndjson"


@dataclass(frozen=True, slots=True)
class Quarantine:
    """What a reviewer sees and does."""

    operations: Operations

    async def quarantine(self, request: Request, given: HeldQuery) -> HeldList:
        """Held claims, newest first."""
        page = Page(given.limit, given.before)
        return HeldList(tuple(await self.operations.store.quarantine(page, quarantine_filter(given))))

    async def groups(self, request: Request, given: HeldQuery) -> GroupList:
        """Held claims, those with one text as one."""
        page = Page(given.limit, given.before)
        return GroupList(tuple(await self.operations.store.held_groups(page, quarantine_filter(given))))

    async def export(self, request: Request, given: HeldQuery) -> Response:
        """Held claims as JSON lines, newest first; `limit` does not apply."""
        return StreamingResponse(self._lines(quarantine_filter(given), given.before), media_type=JSON_LINES)

    async def held(self, request: Request, given: Nothing) -> HeldClaim:
        """One held claim with all its evidence. Raises NotFound."""
        return await held_claim(self.operations.store, request.path_params["id"])

    async def release(self, request: Request, given: ReleaseBody) -> Reviewed:
        """Forward a held claim, once. Raises what `Releases.release` raises."""
        return reviewed(
            await self.operations.releases.release(
                request.path_params["id"], reviewer=operator_of(request).name, reason=given.reason, text=given.text
            )
        )

    async def reject(self, request: Request, given: ReasonBody) -> Reviewed:
        """Close a held claim for good. Raises NotFound, InvalidTransition."""
        return Reviewed(
            await self.operations.releases.reject(
                request.path_params["id"], reviewer=operator_of(request).name, reason=given.reason
            )
        )

    async def reconsider(self, request: Request, given: ReconsiderBody) -> Reviewed:
        """Change the outcome of a review. Raises what `Releases.reconsider` raises."""
        return reviewed(
            await self.operations.releases.reconsider(
                request.path_params["id"], given.state, reviewer=operator_of(request).name, reason=given.reason
            )
        )

    async def reevaluate(self, request: Request, given: ReevaluateBody) -> Reevaluated:
        """Judge one pending claim again. Raises NotFound, InvalidTransition, and what a release raises."""
        entry = await self.operations.store.held(request.path_params["id"])
        reevaluator = await self.operations.reevaluator()
        return _reevaluated(await reevaluator.reevaluate(entry, release=given.release))

    async def reevaluate_all(self, request: Request, given: ReevaluateAllBody) -> ReevaluatedList:
        """Judge a page of pending claims again, newest first."""
        entries = await self.operations.store.quarantine(Page(given.limit, given.before), QuarantineFilter())
        reevaluator = await self.operations.reevaluator()
        results = [_reevaluated(await reevaluator.reevaluate(entry, release=given.release)) for entry in entries]
        return ReevaluatedList(tuple(results), entries[-1].id if len(entries) == given.limit else None)

    async def _lines(self, where: QuarantineFilter, before: str | None) -> AsyncIterator[bytes]:
        while True:
            entries = await self.operations.store.quarantine(Page(EXPORT_PAGE, before), where)
            for entry in entries:
                yield orjson.dumps(plain(entry), option=orjson.OPT_APPEND_NEWLINE)
            if len(entries) < EXPORT_PAGE:
                return
            before = entries[-1].id


def _reevaluated(result: Reevaluation) -> Reevaluated:
    return Reevaluated(**held_summary(result))


def quarantine_endpoints(operations: Operations) -> tuple[Endpoint, ...]:
    """The endpoints of this subject; fixed paths stand before those with an id."""
    api = Quarantine(operations)
    one, closing, forwarding = "/quarantine/{id}", (404, 409), (404, 409, 502, 504)
    return (
        Endpoint("GET", "/quarantine", Scope.READ, "Held claims, newest first", api.quarantine, HeldList, HeldQuery),
        Endpoint("GET", "/quarantine/groups", Scope.READ, "Held claims by text", api.groups, GroupList, HeldQuery),
        Endpoint(
            "GET",
            "/quarantine/export",
            Scope.READ,
            "Held claims as JSON lines",
            api.export,
            str,
            HeldQuery,
            media_type=JSON_LINES,
        ),
        Endpoint(
            "POST",
            "/quarantine/reevaluate",
            Scope.REVIEW,
            "Judge pending claims again",
            api.reevaluate_all,
            ReevaluatedList,
            ReevaluateAllBody,
            errors=forwarding,
        ),
        Endpoint("GET", one, Scope.READ, "One held claim with its evidence", api.held, HeldClaim, errors=(404,)),
        Endpoint(
            "POST",
            f"{one}/release",
            Scope.REVIEW,
            "Forward a held claim, once",
            api.release,
            Reviewed,
            ReleaseBody,
            errors=forwarding,
        ),
        Endpoint(
            "POST",
            f"{one}/reject",
            Scope.REVIEW,
            "Close a held claim",
            api.reject,
            Reviewed,
            ReasonBody,
            errors=closing,
        ),
        Endpoint(
            "POST",
            f"{one}/reconsider",
            Scope.REVIEW,
            "Change the outcome of a review",
            api.reconsider,
            Reviewed,
            ReconsiderBody,
            errors=forwarding,
        ),
        Endpoint(
            "POST",
            f"{one}/reevaluate",
            Scope.REVIEW,
            "Judge one claim again",
            api.reevaluate,
            Reevaluated,
            ReevaluateBody,
            errors=forwarding,
        ),
    )
