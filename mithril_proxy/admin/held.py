"""What the API and the desk both say of a held claim."""

from __future__ import annotations

from mithril_proxy.admin.shapes import HeldClaim, HeldQuery, Reviewed, stored_decision
from mithril_proxy.admin.words import why_held
from mithril_proxy.store.desk import DeskStore
from mithril_proxy.store.interface import QuarantineFilter
from mithril_proxy.types import QuarantineEntry, ReviewState

SECOND_REVIEWER = "a second reviewer"


def quarantine_filter(query: HeldQuery) -> QuarantineFilter:
    """The filter that a query asks for."""
    return QuarantineFilter(
        state=query.state if isinstance(query.state, ReviewState) else None,
        source=query.source,
        status=query.status,
        contains=query.contains,
        reasons=(query.reason,) if query.reason else (),
    )


async def held_claim(store: DeskStore, quarantine_id: str) -> HeldClaim:
    """One held claim with everything a reviewer should see. Raises NotFound."""
    entry = await store.held(quarantine_id)
    decision = stored_decision(await store.decision(entry.decision_id))
    proposal = await store.proposal(quarantine_id)
    history = await store.audit_of(quarantine_id)
    return HeldClaim(entry, decision, why_held(decision), proposal, tuple(history))


def reviewed(entry: QuarantineEntry) -> Reviewed:
    """A held claim after a release was asked for: it moved, or it waits for somebody else to ask for it too."""
    return Reviewed(entry, None if entry.state is ReviewState.RELEASED else SECOND_REVIEWER)
