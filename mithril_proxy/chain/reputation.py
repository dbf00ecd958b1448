"""Stage 2: who says it. Reads the reputation; the decision moves it afterwards."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Protocol

from mithril_proxy.chain.inspection import Inspection
from mithril_proxy.types import Provenance


class ReputationBook(Protocol):
    """Where reputations stand. Raises `StoreUnavailable`."""

    async def reputation_of(self, provenance: Provenance) -> float:
        """The reputation of a principal now, 0..1; its prior when it has never been seen."""
        ...


class PriorReputation:
    """Everybody has the prior of its provenance: `mithril evaluate` and tests."""

    async def reputation_of(self, provenance: Provenance) -> float:
        """The prior."""
        return provenance.prior


@dataclass(frozen=True, slots=True)
class Reputation:
    """Adds the signal `source_reputation`: the value before this decision."""

    book: ReputationBook
    name: str = "reputation"

    async def inspect(self, inspection: Inspection) -> Inspection:
        """The inspection with the reputation of its principal."""
        value = await self.book.reputation_of(inspection.provenance)
        return replace(inspection, signals=replace(inspection.signals, source_reputation=value))
