"""What the rest of Mithril may ask of its database, whichever engine is behind it.

1. Every write method returns after its commit, or raises StoreUnavailable; nothing is acknowledged before that.
2. One call is one transaction: decision, held write, reputation and audit rows stand together or not at all.
3. Reputation is read and written in one transaction under the database's write lock, so that any number of writers
   lose nothing.
4. The audit is append-only and hash-chained per writer; no method changes or deletes a row of it.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Protocol

from mithril_proxy.types import Decision, HeldWrite, Provenance, QuarantineEntry, ReviewState, Status


@dataclass(frozen=True, slots=True)
class ReputationStep:
    """How one event moves a reputation: r += rate x (target - r), then clamped to floor..ceiling."""

    rate: float
    target: float
    floor: float
    ceiling: float
    reason: str


@dataclass(frozen=True, slots=True)
class Source:
    """One row of `sources`. `key_digests` are SHA-256 hex digests of issued Mithril keys that are not revoked."""

    principal: str
    name: str
    prior: float
    reputation: float
    decisions: int
    created_at: datetime
    updated_at: datetime
    is_registered: bool
    is_frozen: bool = False
    may_declare: tuple[str, ...] = ()
    key_digests: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ReputationEvent:
    """One change of a reputation. `decision_id` is None for a manual change."""

    id: int
    at: datetime
    principal: str
    before: float
    after: float
    reason: str
    decision_id: str | None


@dataclass(frozen=True, slots=True)
class AuditRow:
    """One row of the audit. `digest` is SHA-256 over all other columns but `id` (`mithril_proxy.audit.digest_of`)."""

    id: int
    writer: str
    sequence: int
    at: datetime
    kind: str
    subject: str
    payload: Mapping[str, Any]
    previous: str
    digest: str


@dataclass(frozen=True, slots=True)
class Incident:
    """One row of the view `incidents`. `occurrences` counts what one row stands for, of one kind, source and minute."""

    at: datetime
    kind: str
    severity: str
    source: str
    decision_id: str | None
    summary: str
    advice: str
    occurrences: int = 1
    id: int = 0


@dataclass(frozen=True, slots=True)
class RegisteredSource:
    """A source as it is moved from one database to another: no reputation, which is earned where it is used."""

    name: str
    prior: float
    may_declare: tuple[str, ...] = ()
    key_digests: tuple[str, ...] = ()
    is_frozen: bool = False


@dataclass(frozen=True, slots=True)
class StoredMemory:
    """Where an admitted claim lies in Cognee: its dataset and file name, and the ids that Cognee told.

    `at` is when it was recorded: the store sets it.
    """

    decision_id: str
    principal: str
    dataset: str | None
    filename: str | None
    dataset_id: str | None = None
    data_id: str | None = None
    at: datetime | None = None
    withdrawn_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class Receipt:
    """One memory that one recall showed. Ids only."""

    at: datetime
    request_id: str
    principal: str
    data_id: str
    chunk_id: str | None = None
    id: int = 0


@dataclass(frozen=True, slots=True)
class Recorded:
    """What stands in the database after a decision was recorded."""

    quarantine_id: str | None
    reputation: float


@dataclass(frozen=True, slots=True)
class Page:
    """A slice of a listing: newest first, `before` is the id of the last row of the page before (keyset paging)."""

    limit: int = 50
    before: str | None = None


@dataclass(frozen=True, slots=True)
class QuarantineFilter:
    """Which held claims to list; None means any."""

    state: ReviewState | None = ReviewState.PENDING
    source: str | None = None
    status: Status | None = None
    contains: str | None = None
    reasons: tuple[str, ...] = ()
    claim_digest: str | None = None


@dataclass(frozen=True, slots=True)
class HeldGroup:
    """Held claims with one text: how many there are, of how many principals, and the newest of them."""

    claim_digest: str
    entries: int
    principals: int
    newest_id: str
    first_at: datetime
    last_at: datetime


@dataclass(frozen=True, slots=True)
class Correction:
    """What a reviewer releases in place of what was held: the text, and the upstream write that holds it."""

    text: str
    prepared: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Release:
    """The right to forward one held claim now. `key` is the same at every attempt: it makes a repeated forward one.

    `attempt` is 1 at first, more when an earlier holder died; `lease_until` is when somebody else may take over.
    """

    entry: QuarantineEntry
    key: str
    attempt: int
    lease_until: datetime


@dataclass(frozen=True, slots=True)
class ChainReport:
    """Result of verifying the audit: rows read, heads by writer, and what is wrong with the first broken row.

    `anchor` holds the heads to keep elsewhere: those that no later chain of the audit names.
    """

    rows: int
    heads: Mapping[str, str]
    broken: str | None = None
    anchor: Mapping[str, str] = field(default_factory=dict)

    @property
    def is_intact(self) -> bool:
        """True when no row is broken."""
        return self.broken is None


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of a decision after it was recorded: forwarded, upstream_error, diverted, client_disconnect …"""

    kind: str
    http_status: int | None = None
    detail: Mapping[str, Any] = field(default_factory=dict)


class Store(Protocol):
    """The database. Construct it with `open_store(url, clock)` of `mithril_proxy.store`; close it with `close`."""

    # --- decisions -------------------------------------------------------------------------------------------------
    async def record(
        self, decision: Decision, *, held: HeldWrite | None = None, step: ReputationStep | None = None
    ) -> Recorded:
        """Make a decision durable with its audit row, its held write and the step of its source's reputation."""
        ...

    async def record_outcome(self, decision_id: str, outcome: Outcome) -> None:
        """Append the audit row that says what became of the decision, and mark the decision with it."""
        ...

    async def append_audit(self, kind: str, subject: str, payload: Mapping[str, Any]) -> None:
        """Append one audit row that belongs to no decision: refusals, policy changes, sign-ins."""
        ...

    async def decision(self, decision_id: str) -> Mapping[str, Any]:
        """One decision as stored. Raises NotFound."""
        ...

    async def decisions(
        self, page: Page, *, source: str | None = None, status: Status | None = None
    ) -> Sequence[Mapping[str, Any]]:
        """Decisions, newest first."""
        ...

    async def admitted_among(self, decision_ids: Sequence[str]) -> frozenset[str]:
        """Those of the decisions that admitted their claim, or whose claim was released, and that are not withdrawn."""
        ...

    # --- sources ---------------------------------------------------------------------------------------------------
    async def reputation_of(self, provenance: Provenance) -> float:
        """The reputation of a principal now; its prior when it has never been seen. Reads only."""
        ...

    async def source_by_key(self, key_digest: str) -> Source | None:
        """The registered source that a Mithril key (by SHA-256 hex) belongs to; None when unknown or revoked."""
        ...

    async def add_source(self, name: str, *, prior: float, key_digest: str, may_declare: Sequence[str] = ()) -> Source:
        """Register a source, or issue one more key to it. Raises InvalidTransition when the name is reserved."""
        ...

    async def source(self, name: str) -> Source:
        """One source by principal. Raises NotFound."""
        ...

    async def sources(self) -> Sequence[Source]:
        """Every source, by name."""
        ...

    async def reset_source(self, name: str, *, reputation: float, reason: str) -> Source:
        """Set a reputation by hand. Raises NotFound."""
        ...

    async def freeze_source(self, name: str, *, reason: str) -> Source:
        """Stop the reputation of a source from moving. Raises NotFound, InvalidTransition when it is frozen already."""
        ...

    async def thaw_source(self, name: str, *, reason: str) -> Source:
        """Let the reputation of a source move again. Raises NotFound, InvalidTransition when it is not frozen."""
        ...

    async def revoke_key(self, key_digest: str, *, reason: str) -> Source:
        """Take a key back for good. Raises NotFound when no such key is live."""
        ...

    async def set_prior(self, name: str, *, prior: float, reason: str) -> Source:
        """Change the prior of a source; its reputation stays. Raises NotFound."""
        ...

    async def set_may_declare(self, name: str, may_declare: Sequence[str], *, reason: str) -> Source:
        """Say which other sources a source may name. Raises NotFound."""
        ...

    async def import_source(self, entry: RegisteredSource, *, reason: str) -> Source:
        """Register a source as it is registered elsewhere, its keys too; what is known here already stays.

        Raises InvalidTransition when its name is reserved, or a key of it belongs to another source here.
        """
        ...

    async def reputation_events(self, principal: str, page: Page) -> Sequence[ReputationEvent]:
        """What moved a reputation, newest first."""
        ...

    # --- sessions --------------------------------------------------------------------------------------------------
    async def session_standing(self, owner: str, session: str) -> str | None:
        """The standing that was kept for a session of `owner`; None when it was never written through Mithril."""
        ...

    async def keep_session(self, owner: str, session: str, standing: str) -> None:
        """Keep the standing of a session; the first one that was kept stays."""
        ...

    # --- quarantine ------------------------------------------------------------------------------------------------
    async def held(self, quarantine_id: str) -> QuarantineEntry:
        """One held claim. Raises NotFound."""
        ...

    async def quarantine(self, page: Page, where: QuarantineFilter) -> Sequence[QuarantineEntry]:
        """Held claims, newest first."""
        ...

    async def held_among(self, digests: Sequence[str]) -> frozenset[str]:
        """Those of the claim digests whose text was held and never released."""
        ...

    async def review(
        self,
        quarantine_id: str,
        state: ReviewState,
        *,
        reviewer: str,
        reason: str,
        step: ReputationStep | None = None,
    ) -> QuarantineEntry:
        """Move a held claim along its life cycle, with its audit row and the step it means for its source.

        Exactly one caller wins a transition. Raises NotFound, InvalidTransition.
        """
        ...

    async def reconsider(
        self,
        quarantine_id: str,
        state: ReviewState,
        *,
        reviewer: str,
        reason: str,
        step: ReputationStep | None = None,
    ) -> QuarantineEntry:
        """Change the outcome of a review; the step that the first one took is taken back before `step`.

        Raises NotFound, InvalidTransition.
        """
        ...

    async def held_groups(self, page: Page, where: QuarantineFilter) -> Sequence[HeldGroup]:
        """Held claims grouped by text, the one with the newest entry first; `page.before` is a `newest_id`."""
        ...

    async def begin_release(
        self,
        quarantine_id: str,
        *,
        reviewer: str,
        reason: str,
        lease_s: float = 120.0,
        correction: Correction | None = None,
    ) -> Release:
        """Commit the intent to forward a held claim: call it before the upstream. Exactly one caller holds it.

        A claim whose holder died can be taken over when its lease has run out. Raises NotFound, InvalidTransition.
        """
        ...

    async def finish_release(
        self, release: Release, outcome: Outcome, *, step: ReputationStep | None = None
    ) -> QuarantineEntry:
        """Commit that the upstream took the claim. Doing it again with the same key changes nothing.

        Raises NotFound, InvalidTransition.
        """
        ...

    async def abandon_release(self, release: Release, outcome: Outcome) -> QuarantineEntry:
        """Commit that the upstream refused the claim: it waits for review again.

        Raises NotFound, and InvalidTransition when a later attempt holds the release.
        """
        ...

    async def lapsed_releases(self, limit: int = 100) -> Sequence[QuarantineEntry]:
        """Claims whose release began and whose lease ran out: a process died between intent and outcome."""
        ...

    async def grant(
        self, quarantine_id: str, *, reviewer: str, reason: str, step: ReputationStep | None = None
    ) -> QuarantineEntry:
        """Release without forwarding: the same principal's next write of the same text may pass, once.

        Raises NotFound, InvalidTransition.
        """
        ...

    async def find_grant(self, principal: str, claim_digest: str) -> QuarantineEntry | None:
        """The oldest unused grant for this principal and text; None when there is none. Reads only."""
        ...

    async def use_grant(self, quarantine_id: str, decision_id: str) -> None:
        """Spend a grant on a decision. Exactly one caller does. Raises NotFound, InvalidTransition when it is spent."""
        ...

    async def expire_held(self, before: datetime, *, limit: int = 500) -> int:
        """Expire claims that have waited since before `before`, oldest first; how many there were, at most `limit`."""
        ...

    # --- audit -----------------------------------------------------------------------------------------------------
    async def audit(self, *, after: int = 0, limit: int = 500) -> Sequence[AuditRow]:
        """Audit rows in order of their id, after the id `after`."""
        ...

    async def last_audit(self, limit: int) -> Sequence[AuditRow]:
        """The newest audit rows, at most `limit`, oldest of them first."""
        ...

    def audit_rows(self) -> AsyncIterator[AuditRow]:
        """The whole audit in order, read in short pages."""
        ...

    async def verify_audit(self, *, anchors: Mapping[str, str] | None = None) -> ChainReport:
        """Check every chain, and that each anchored head (writer → digest) is still in it."""
        ...

    async def incidents(
        self, *, since: datetime | None = None, after: int | None = None, limit: int = 100
    ) -> Sequence[Incident]:
        """Rows of the view `incidents`, newest first; with `after`, those behind that id, oldest first."""
        ...

    # --- after the fact --------------------------------------------------------------------------------------------
    async def record_stored(self, stored: Sequence[StoredMemory]) -> None:
        """Keep where admitted claims lie. A claim that is stored again lies where it does now."""
        ...

    async def stored_of(
        self, principal: str, *, after: str = "", limit: int = 500, withdrawn: bool = False
    ) -> Sequence[StoredMemory]:
        """Where the claims of a principal lie, oldest first, behind the decision `after`."""
        ...

    async def stored_by(self, decision_id: str) -> StoredMemory | None:
        """Where the claim of a decision lies; None when it was never stored."""
        ...

    async def stored_by_others(self, memory: StoredMemory) -> int:
        """How many decisions of other principals lie in Cognee as the same document."""
        ...

    async def all_stored(self, *, after: str = "", limit: int = 500) -> Sequence[StoredMemory]:
        """Every claim that lies in Cognee still, oldest first, behind the decision `after`."""
        ...

    async def record_withdrawn(self, decision_id: str, *, data_id: str, operator: str, reason: str) -> None:
        """Keep that a memory was deleted in Cognee, with its audit row."""
        ...

    async def record_receipts(self, shown: Sequence[Receipt]) -> None:
        """Keep which memories a recall showed. Ids only; no audit row of their own."""
        ...

    async def receipts_of(self, data_ids: Sequence[str]) -> Sequence[Receipt]:
        """The recalls that showed any of these memories, oldest first."""
        ...

    async def forget_receipts(self, before: datetime) -> int:
        """Delete receipts of recalls before a time; how many there were."""
        ...

    async def output_cursor(self, name: str) -> int | None:
        """The last audit row that an output was told; None when it is new."""
        ...

    async def move_output_cursor(self, name: str, cursor: int) -> None:
        """Keep how far an output has come. It never goes back."""
        ...

    # --- life ------------------------------------------------------------------------------------------------------
    @property
    def queued_writes(self) -> int:
        """Writes that wait for the next transaction."""
        ...

    async def ping(self) -> None:
        """Raise StoreUnavailable unless a row could be committed now."""
        ...

    async def close(self) -> None:
        """Commit what is queued, then close every connection."""
        ...
