"""A stage that marks newcomers: writers that nobody registered and that have not been known for long.

Registered sources and those that the policy names were vouched for by an operator and are never on probation.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from typing import Protocol

from mithril_proxy.chain.inspection import Inspection
from mithril_proxy.chain.reputation_rule import PROBATION_RULE
from mithril_proxy.clock import Clock
from mithril_proxy.errors import NotFound
from mithril_proxy.policy import Policy
from mithril_proxy.store.interface import Source
from mithril_proxy.types import Finding


class SourceBook(Protocol):
    """Where principals are known by. Raises `StoreUnavailable`."""

    async def source(self, name: str) -> Source:
        """One source by principal. Raises NotFound."""
        ...


@dataclass(frozen=True, slots=True)
class Probation:
    """Adds `reputation.probation` (severity 0) to the claims of newcomers: they earn nothing beyond neutral."""

    book: SourceBook
    policy: Policy
    clock: Clock
    name: str = "probation"

    async def inspect(self, inspection: Inspection) -> Inspection:
        """The inspection, marked when its writer is on probation."""
        if inspection.provenance.is_authenticated or not await self._is_new(inspection.provenance.principal):
            return inspection
        mark = Finding(self.name, PROBATION_RULE, inspection.claim.id, 0.0, "a newcomer earns nothing beyond neutral")
        return inspection.with_findings(mark)

    async def _is_new(self, principal: str) -> bool:
        rule = self.policy.reputation
        try:
            known = await self.book.source(principal)
        except NotFound:
            return True
        age = self.clock.now() - known.created_at
        return known.decisions < rule.probation_writes or age < timedelta(hours=rule.probation_hours)
