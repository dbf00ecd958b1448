"""What operators may ask of the database beyond what the data plane needs: tokens, tallies, proposals, retention.

Listings read a bounded number of rows, however many there are: by an index, a page at a time.
"""

from __future__ import annotations

import enum
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Protocol

from mithril_proxy.store.interface import AuditRow, Page, Source, Store
from mithril_proxy.types import QuarantineEntry

SCORE_BUCKETS = 20  # of the score's histogram: 0.05 wide, so that the default thresholds fall on their edges
REEVALUATE_ROUTE = "reevaluate"  # decisions on held claims judged again: no traffic, so no part of the tallies


class Scope(enum.StrEnum):
    """What a token lets its holder do; each includes those before it."""

    READ = "read"
    REVIEW = "review"
    ADMIN = "admin"

    def includes(self, other: Scope) -> bool:
        """True when the holder of this scope may do what `other` asks for."""
        order = tuple(Scope)
        return order.index(self) >= order.index(other)


@dataclass(frozen=True, slots=True)
class AdminToken:
    """One bearer token of the admin plane; of the token itself only its SHA-256 is kept."""

    digest: str
    name: str
    scope: Scope
    created_at: datetime
    revoked_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class AdminSession:
    """One sign-in to the desk. It ends with its time, by signing out, or with the token it was opened with."""

    digest: str
    token_digest: str
    name: str
    scope: Scope
    created_at: datetime
    expires_at: datetime


@dataclass(frozen=True, slots=True)
class Tally:
    """How many decisions of one hour (`2026-12-01T14`) had one status and fell into one bucket of the score."""

    hour: str
    status: str
    bucket: int
    decisions: int


@dataclass(frozen=True, slots=True)
class QueueDepth:
    """How many held claims stand in each state, and since when the oldest pending one waits."""

    by_state: Mapping[str, int]
    oldest_pending: datetime | None


@dataclass(frozen=True, slots=True)
class Heads:
    """The newest row of each listing: when one of them changes, there is something new to show."""

    decision: str
    held: str
    incident: int
    audit: int


@dataclass(frozen=True, slots=True)
class ReleaseProposal:
    """What a first reviewer wants released, for a second one to confirm. `text` is None when it stays as it is."""

    quarantine_id: str
    at: datetime
    reviewer: str
    reason: str
    text: str | None


class DeskStore(Store, Protocol):
    """A Store with what the admin plane, its commands and the upkeep need."""

    # --- tokens and sessions ---------------------------------------------------------------------------------------
    async def add_token(self, name: str, *, scope: Scope, digest: str) -> AdminToken:
        """Keep a new token. Raises InvalidTransition when a live one has this name."""
        ...

    async def tokens(self) -> Sequence[AdminToken]:
        """Every token, live ones and revoked ones, by the time of their making."""
        ...

    async def token(self, digest: str) -> AdminToken | None:
        """The live token of this digest; None when it was never made or is revoked."""
        ...

    async def revoke_token(self, name: str) -> AdminToken:
        """Take a token back, with every session opened with it. Raises NotFound when no live one has this name."""
        ...

    async def open_session(self, session: AdminSession, *, peer: str) -> None:
        """Keep a sign-in with its audit row; sessions whose time has run out are forgotten."""
        ...

    async def session(self, digest: str) -> AdminSession | None:
        """The session of this digest; None when there is none or its time has run out."""
        ...

    async def end_session(self, digest: str) -> None:
        """Forget a session, with an audit row. One that is not there is no error."""
        ...

    # --- charts and listings ---------------------------------------------------------------------------------------
    async def tallies(self, since: datetime) -> Sequence[Tally]:
        """Counts of decisions since the hour of `since`, oldest first."""
        ...

    async def queue_depth(self) -> QueueDepth:
        """How full the quarantine is."""
        ...

    async def reputations(self) -> Sequence[float]:
        """The reputation of every source, in no order."""
        ...

    async def heads(self) -> Heads:
        """What is newest."""
        ...

    async def source_page(self, page: Page, *, contains: str | None = None) -> Sequence[Source]:
        """Sources in the order of their principals, after `page.before`; their keys are left out."""
        ...

    async def recent_evidence(self, limit: int) -> Sequence[Mapping[str, Any]]:
        """Signals, findings, status and score of the newest decisions on traffic."""
        ...

    async def audit_of(self, subject: str, *, limit: int = 100) -> Sequence[AuditRow]:
        """The newest audit rows about one decision, held claim or source, oldest of them first."""
        ...

    # --- a second reviewer, re-evaluation, retention ---------------------------------------------------------------
    async def proposal(self, quarantine_id: str) -> ReleaseProposal | None:
        """What a first reviewer proposed for a held claim; None when nobody has."""
        ...

    async def propose_release(
        self, quarantine_id: str, *, reviewer: str, reason: str, text: str | None
    ) -> ReleaseProposal:
        """Keep what a first reviewer wants released, in place of an earlier proposal.

        The same proposal of the same reviewer changes nothing. Raises NotFound, InvalidTransition unless it is pending.
        """
        ...

    async def awaiting_evidence(self, limit: int) -> Sequence[QuarantineEntry]:
        """Pending claims held with evidence missing and not judged with all of it since, oldest first."""
        ...

    async def mark_reevaluated(self, quarantine_id: str, decision_id: str) -> None:
        """Say which decision a held claim would get now."""
        ...

    async def expire_surplus(self, count: int) -> int:
        """Expire the `count` oldest pending claims; how many there were."""
        ...

    async def forget_held(self, before: datetime, *, limit: int = 500) -> int:
        """Delete closed entries older than `before`, with their text; decisions and audit stay. How many there were."""
        ...
