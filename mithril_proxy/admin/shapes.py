"""What the API takes and gives. Answers are dataclasses, from which the OpenAPI document is written."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from datetime import datetime
from typing import Annotated, Any

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field

from mithril_proxy.policy import Thresholds, Weights
from mithril_proxy.store.desk import QueueDepth, ReleaseProposal, Scope, Tally
from mithril_proxy.store.interface import AuditRow, HeldGroup, Incident, ReputationEvent, Source
from mithril_proxy.types import Contribution, Finding, Mode, QuarantineEntry, ReviewState, Signals, Status, Trust

MAX_PAGE = 200
NAME = Field(pattern=r"^[a-z0-9][a-z0-9_-]{0,62}$")
Text = Annotated[str, Field(min_length=1, max_length=500)]
Reason = Annotated[str, Field(min_length=1, max_length=2000, pattern=r"\S")]


def _whole(value: object) -> object:
    """21.0 is an integer to JSON Schema, and so here."""
    return int(value) if isinstance(value, float) and value.is_integer() else value


class _Input(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Nothing(_Input):
    """No fields."""


class Paging(_Input):
    """Which part of a listing: at most `limit` rows, after the row `before` of the page before."""

    limit: Annotated[int, Field(ge=1, le=MAX_PAGE)] = 50
    before: Text | None = None


class DecisionsQuery(Paging):
    """Which decisions to list."""

    source: Text | None = None
    status: Status | None = None


class HeldQuery(Paging):
    """Which held claims to list; pending ones unless `state` says otherwise, `any` for all."""

    state: ReviewState | Annotated[str, Field(pattern="^any$")] = ReviewState.PENDING
    source: Text | None = None
    status: Status | None = None
    contains: Text | None = None
    reason: Text | None = None


class SourcesQuery(Paging):
    """Which sources to list; `before` is a principal."""

    contains: Text | None = None


class EventsQuery(_Input):
    """Which events of a source to list; `before` is the id of one."""

    limit: Annotated[int, Field(ge=1, le=MAX_PAGE)] = 50
    before: Annotated[str, Field(pattern="^[0-9]{1,18}$")] | None = None


class IncidentsQuery(_Input):
    """Newest first; with `after`, those behind that id, oldest first."""

    limit: Annotated[int, Field(ge=1, le=MAX_PAGE)] = 50
    after: Annotated[int, Field(ge=0, le=2**62)] | None = None


class StatsQuery(_Input):
    """How far back to count."""

    hours: Annotated[int, Field(ge=1, le=168)] = 24


class ReasonBody(_Input):
    """Why; it stands in the audit."""

    reason: Reason


class ReleaseBody(ReasonBody):
    """A release, with the text to forward in place of the held one when it is to be corrected."""

    text: Annotated[str, Field(min_length=1)] | None = None


class ReconsiderBody(ReasonBody):
    """What a closed claim should have become."""

    state: ReviewState


class ReevaluateBody(_Input):
    """Whether a claim that passes now is released at once."""

    release: bool = False


class ReevaluateAllBody(ReevaluateBody):
    """Which pending claims: at most `limit`, older than `before`."""

    limit: Annotated[int, BeforeValidator(_whole), Field(ge=1, le=100)] = 20
    before: Text | None = None


class NewSource(_Input):
    """A source to register, or to issue one more key to."""

    name: Annotated[str, NAME]
    prior: Annotated[float, Field(ge=0.0, le=1.0)] | None = None
    may_declare: tuple[Annotated[str, NAME], ...] = ()


class KeyBody(ReasonBody):
    """The SHA-256 of a key to take back."""

    key_digest: Annotated[str, Field(pattern="^[0-9a-f]{64}$")]


class ResetBody(ReasonBody):
    """The reputation to set; the source's prior when it is left out."""

    reputation: Annotated[float, Field(ge=0.0, le=1.0)] | None = None


class PolicyText(_Input):
    """A policy file as text."""

    text: Annotated[str, Field(max_length=200_000)]


class SimulationBody(_Input):
    """Weights and thresholds to try; what is left out stays as the loaded policy has it."""

    weights: Weights | None = None
    thresholds: Thresholds | None = None


@dataclass(frozen=True, slots=True)
class StoredDecision:
    """One decision as it stands in the database."""

    id: str
    at: str
    status: Status
    score: float
    source: str
    principal: str
    is_authenticated: bool
    request_id: str
    route: str
    claim_id: str
    claim_digest: str
    claim_length: int
    prior: float
    session: str | None
    dataset: str | None
    peer: str | None
    raw: float
    source_reputation: float
    corroboration: float
    freshness: float
    contradiction: float
    content_danger: float
    contributions: tuple[Contribution, ...]
    findings: tuple[Finding, ...]
    reasons: tuple[str, ...]
    mode: Mode
    policy_digest: str
    judge: str
    prompt_digest: str
    stage_ms: Mapping[str, float]
    quarantine_id: str | None
    outcome: str | None
    outcome_http_status: int | None
    outcome_at: str | None

    @property
    def signals(self) -> Signals:
        """What the stages measured."""
        return Signals(
            self.source_reputation, self.corroboration, self.freshness, self.contradiction, self.content_danger
        )

    @property
    def trust(self) -> Trust:
        """The score with what each signal contributed."""
        return Trust(self.score, self.raw, self.contributions)


def stored_decision(row: Mapping[str, Any]) -> StoredDecision:
    """A row of the store as a value; columns that a later version adds are left out."""
    known = {field.name: row[field.name] for field in fields(StoredDecision)}
    known["status"], known["mode"] = Status(row["status"]), Mode(row["mode"])
    known["contributions"] = tuple(Contribution(*one) for one in row["contributions"])
    known["findings"] = tuple(Finding(**one) for one in row["findings"])
    known["reasons"] = tuple(row["reasons"])
    return StoredDecision(**known)


@dataclass(frozen=True, slots=True)
class Health:
    """That this process answers and its database takes writes."""

    status: str
    version: str


@dataclass(frozen=True, slots=True)
class Problem:
    """What was wrong and what to do: the shape of every error."""

    error: str
    detail: str


@dataclass(frozen=True, slots=True)
class DecisionList:
    """One page of decisions, newest first."""

    decisions: tuple[StoredDecision, ...]


@dataclass(frozen=True, slots=True)
class HeldList:
    """One page of held claims, newest first."""

    quarantine: tuple[QuarantineEntry, ...]


@dataclass(frozen=True, slots=True)
class GroupList:
    """One page of held claims grouped by text; the next page begins before the last `newest_id`."""

    groups: tuple[HeldGroup, ...]


@dataclass(frozen=True, slots=True)
class HeldClaim:
    """One held claim with its decision, a first reviewer's proposal, and why it was held in one sentence."""

    entry: QuarantineEntry
    decision: StoredDecision
    why: str
    proposal: ReleaseProposal | None
    history: tuple[AuditRow, ...]


@dataclass(frozen=True, slots=True)
class Reviewed:
    """A held claim after a review. `waits_for` says what is missing when it did not move."""

    entry: QuarantineEntry
    waits_for: str | None = None


@dataclass(frozen=True, slots=True)
class Reevaluated:
    """How a held claim stands now."""

    quarantine_id: str
    before: Status
    now: Status
    score: float
    released: bool
    reasons: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ReevaluatedList:
    """How several stand now; `next` is the `before` of the next call, None when there are no more."""

    results: tuple[Reevaluated, ...]
    next: str | None


@dataclass(frozen=True, slots=True)
class SourceLine:
    """One source; of its keys only their number."""

    principal: str
    name: str
    prior: float
    reputation: float
    decisions: int
    created_at: datetime
    updated_at: datetime
    is_registered: bool
    is_frozen: bool
    may_declare: tuple[str, ...]


def source_line(source: Source) -> SourceLine:
    """A source without its keys."""
    return SourceLine(**{field.name: getattr(source, field.name) for field in fields(SourceLine)})


@dataclass(frozen=True, slots=True)
class SourceList:
    """One page of sources, by principal."""

    sources: tuple[SourceLine, ...]


@dataclass(frozen=True, slots=True)
class SourceHistory:
    """One source, the digests of its live keys, and what moved its reputation, newest first."""

    source: SourceLine
    key_digests: tuple[str, ...]
    events: tuple[ReputationEvent, ...]


@dataclass(frozen=True, slots=True)
class IssuedKey:
    """A registered source with a new key, which is shown this once."""

    source: SourceLine
    key: str


@dataclass(frozen=True, slots=True)
class IncidentList:
    """Incidents."""

    incidents: tuple[Incident, ...]


@dataclass(frozen=True, slots=True)
class LoadedPolicy:
    """A policy with everything it says, defaults filled in."""

    name: str
    digest: str
    values: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Verdict:
    """Whether a policy text is valid, with its digest or what is wrong with it."""

    is_valid: bool
    digest: str | None = None
    problem: str | None = None


@dataclass(frozen=True, slots=True)
class Reloaded:
    """The policy that is loaded now."""

    name: str
    digest: str


@dataclass(frozen=True, slots=True)
class Moved:
    """How many of the last decisions went from one status to another under the numbers tried."""

    before: Status
    after: Status
    decisions: int


@dataclass(frozen=True, slots=True)
class Simulated:
    """How the last decisions would have fallen."""

    decisions: int
    changed: int
    moves: tuple[Moved, ...]


@dataclass(frozen=True, slots=True)
class Stats:
    """What the charts are drawn from: counts by hour, status and score, the queue, the thresholds."""

    since: datetime
    tallies: tuple[Tally, ...]
    queue: QueueDepth
    thresholds: Mapping[str, float]


@dataclass(frozen=True, slots=True)
class Identity:
    """Who the caller is to Mithril."""

    name: str
    scope: Scope
