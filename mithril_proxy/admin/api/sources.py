"""Sources: who may write, how far each is trusted, and what an operator can change about it."""

from __future__ import annotations

import secrets
from dataclasses import dataclass

from starlette.requests import Request

from mithril_proxy.admin.endpoint import Endpoint
from mithril_proxy.admin.operations import Operations
from mithril_proxy.admin.operators import token_digest
from mithril_proxy.admin.shapes import (
    EventsQuery,
    IssuedKey,
    KeyBody,
    NewSource,
    ReasonBody,
    ResetBody,
    SourceHistory,
    SourceLine,
    SourceList,
    SourcesQuery,
    source_line,
)
from mithril_proxy.errors import NotFound
from mithril_proxy.proxy.identity import MITHRIL_KEY_PREFIX
from mithril_proxy.store.desk import Scope
from mithril_proxy.store.interface import Page


async def register(operations: Operations, given: NewSource) -> IssuedKey:
    """Register a source, or issue one more key to it. Raises InvalidTransition for a reserved name."""
    key = MITHRIL_KEY_PREFIX + secrets.token_urlsafe(32)
    prior = operations.policy.prior_of(given.name) if given.prior is None else given.prior
    source = await operations.store.add_source(
        given.name, prior=prior, key_digest=token_digest(key), may_declare=given.may_declare
    )
    return IssuedKey(source_line(source), key)


async def reset(operations: Operations, principal: str, reputation: float | None, reason: str) -> SourceLine:
    """Set a reputation by hand, to the prior when none is given. Raises NotFound."""
    before = await operations.store.source(principal)
    wanted = before.prior if reputation is None else reputation
    return source_line(await operations.store.reset_source(principal, reputation=wanted, reason=reason))


async def revoke(operations: Operations, principal: str, key_digest: str, reason: str) -> SourceLine:
    """Take back a key of this source. Raises NotFound."""
    source = await operations.store.source(principal)
    if key_digest not in source.key_digests:
        raise NotFound(f"source {principal!r} has no live key of this digest")
    return source_line(await operations.store.revoke_key(key_digest, reason=reason))


@dataclass(frozen=True, slots=True)
class Sources:
    """The calls about sources."""

    operations: Operations

    async def sources(self, request: Request, given: SourcesQuery) -> SourceList:
        """Sources by principal."""
        rows = await self.operations.store.source_page(Page(given.limit, given.before), contains=given.contains)
        return SourceList(tuple(source_line(row) for row in rows))

    async def source(self, request: Request, given: EventsQuery) -> SourceHistory:
        """One source with its history. Raises NotFound."""
        source = await self.operations.store.source(request.path_params["principal"])
        events = await self.operations.store.reputation_events(source.principal, Page(given.limit, given.before))
        return SourceHistory(source_line(source), source.key_digests, tuple(events))

    async def add(self, request: Request, given: NewSource) -> IssuedKey:
        """Register a source."""
        return await register(self.operations, given)

    async def freeze(self, request: Request, given: ReasonBody) -> SourceLine:
        """Stop a reputation from moving. Raises NotFound, InvalidTransition."""
        principal = request.path_params["principal"]
        return source_line(await self.operations.store.freeze_source(principal, reason=given.reason))

    async def thaw(self, request: Request, given: ReasonBody) -> SourceLine:
        """Let a reputation move again. Raises NotFound, InvalidTransition."""
        principal = request.path_params["principal"]
        return source_line(await self.operations.store.thaw_source(principal, reason=given.reason))

    async def reset(self, request: Request, given: ResetBody) -> SourceLine:
        """Set a reputation by hand. Raises NotFound."""
        return await reset(self.operations, request.path_params["principal"], given.reputation, given.reason)

    async def revoke_key(self, request: Request, given: KeyBody) -> SourceLine:
        """Take a key back. Raises NotFound."""
        return await revoke(self.operations, request.path_params["principal"], given.key_digest, given.reason)


def source_endpoints(operations: Operations) -> tuple[Endpoint, ...]:
    """The endpoints of this subject. A principal may hold a slash (`unknown-agent/…`), so longer paths stand first."""
    api = Sources(operations)
    one, known, moving = "/sources/{principal:path}", (404,), (404, 409)
    return (
        Endpoint("GET", "/sources", Scope.READ, "Sources by principal", api.sources, SourceList, SourcesQuery),
        Endpoint(
            "POST",
            "/sources",
            Scope.ADMIN,
            "Register a source, or issue a key",
            api.add,
            IssuedKey,
            NewSource,
            status=201,
            errors=(409,),
        ),
        Endpoint("POST", f"{one}/freeze", Scope.ADMIN, "Freeze", api.freeze, SourceLine, ReasonBody, errors=moving),
        Endpoint("POST", f"{one}/thaw", Scope.ADMIN, "Thaw", api.thaw, SourceLine, ReasonBody, errors=moving),
        Endpoint(
            "POST", f"{one}/reset", Scope.ADMIN, "Set a reputation", api.reset, SourceLine, ResetBody, errors=known
        ),
        Endpoint(
            "POST",
            f"{one}/keys/revoke",
            Scope.ADMIN,
            "Take a key back",
            api.revoke_key,
            SourceLine,
            KeyBody,
            errors=known,
        ),
        Endpoint(
            "GET", one, Scope.READ, "One source with its history", api.source, SourceHistory, EventsQuery, errors=known
        ),
    )
