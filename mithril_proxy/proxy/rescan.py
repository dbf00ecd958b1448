"""Judges admitted memories again, with the rules, the judge and the standing of their sources of now.

Nothing is recorded and no reputation moves: the sources did nothing new. Age alone takes no memory back, so each is
judged as if it came now; joins are left out, since what came together once does not come together now.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass

from mithril_proxy.clock import Clock
from mithril_proxy.cognee.tags import Tags
from mithril_proxy.errors import NotFound
from mithril_proxy.firewall import Call, Firewall
from mithril_proxy.proxy.headers import RawHeaders
from mithril_proxy.proxy.probe import UpstreamMemory
from mithril_proxy.proxy.withdraw import Found, Withdrawals
from mithril_proxy.secrets import SecretGuard
from mithril_proxy.store.interface import Store, StoredMemory
from mithril_proxy.types import Annotation, Claim, Decision, Mode, Provenance

PAGE = 200


@dataclass(frozen=True, slots=True)
class Rescanned:
    """How a memory stands now; without a decision when its text could not be found."""

    found: Found
    decision: Decision | None

    @property
    def has_fallen(self) -> bool:
        """True when it would not be admitted today."""
        return self.decision is not None and not self.decision.status.is_admitted


@dataclass(frozen=True, slots=True)
class Rescan:
    """Judges what lies in Cognee. `firewall` is a dry one: it takes the prior of a claim for its reputation."""

    store: Store
    firewall: Firewall
    withdrawals: Withdrawals
    tags: Tags
    probe_headers: RawHeaders
    guard: SecretGuard
    clock: Clock

    async def memories(self, principal: str | None) -> AsyncIterator[Rescanned]:
        """Every memory of a principal, or of all, judged again. Raises UpstreamUnavailable, StoreUnavailable."""
        last = ""
        while page := await self._page(principal, last):
            for found in await self.withdrawals.find(page):
                yield await self._judge(found)
            last = page[-1].decision_id

    async def _page(self, principal: str | None, after: str) -> Sequence[StoredMemory]:
        if principal is None:
            return await self.store.all_stored(after=after, limit=PAGE)
        return await self.store.stored_of(principal, after=after, limit=PAGE)

    async def _judge(self, found: Found) -> Rescanned:
        text = await self.withdrawals.text_of(found) if found.standing in ("found", "shared") else None
        if text is None:
            return Rescanned(found, None)
        memory = found.memory
        named = (Annotation("filename", memory.filename),) if memory.filename else ()
        claim = Claim(self.clock.new_id("clm"), text, memory.decision_id, annotations=named)
        verified = UpstreamMemory(
            self.withdrawals.upstream,
            self.probe_headers,
            self.tags,
            self.firewall.policy.contradiction.probe_top_k,
            self.guard,
            dataset_ids=(found.dataset_id,),
        )
        call = Call(memory.decision_id, "rescan", Mode.OBSERVE)
        judgement = await self.firewall.inspect(claim, await self._sender(memory), memory=verified, call=call)
        return Rescanned(found, judgement.decision)

    async def _sender(self, memory: StoredMemory) -> Provenance:
        """Who stored it, with the reputation of now in the place of the prior."""
        try:
            source = await self.store.source(memory.principal)
        except NotFound:
            unknown = self.firewall.policy.reputation.unknown_prior
            return Provenance(memory.principal, memory.principal, unknown, dataset=memory.dataset)
        return Provenance(source.principal, source.name, source.reputation, dataset=memory.dataset)
