"""The values everything else is built from: frozen, without I/O, without policy.

Trust is good when it is high, severity is bad when it is high; both are 0..1 and are never mixed.
"""

from __future__ import annotations

import enum
import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Protocol


class Status(enum.StrEnum):
    """What becomes of one claim, from best to worst."""

    ACCEPT = "accept"
    WARN = "warn"
    REVIEW = "review"
    QUARANTINE = "quarantine"
    REJECT = "reject"

    @property
    def is_admitted(self) -> bool:
        """True when the claim goes on to the upstream."""
        return self in (Status.ACCEPT, Status.WARN)

    @property
    def rank(self) -> int:
        """Position from best (0, accept) to worst (4, reject)."""
        return tuple(Status).index(self)

    def worst(self, other: Status) -> Status:
        """The worse of the two."""
        return max(self, other, key=lambda status: status.rank)


class Mode(enum.StrEnum):
    """What the firewall does with its decisions."""

    ENFORCE = "enforce"
    OBSERVE = "observe"
    OFF = "off"


class ReviewState(enum.StrEnum):
    """Where a held claim stands in its life cycle (`mithril_proxy.quarantine` has the transitions).

    `RELEASING` lasts from the intent to forward it until its outcome is known: after a crash it says what to finish.
    """

    PENDING = "pending"
    RELEASING = "releasing"
    RELEASED = "released"
    REJECTED = "rejected"
    EXPIRED = "expired"


class Relation(enum.StrEnum):
    """How one verified memory stands to a claim."""

    ALIGNED = "aligned"
    CONTRADICTS = "contradicts"
    UNRELATED = "unrelated"


@dataclass(frozen=True, slots=True)
class Annotation:
    """Short text that travels with a claim (file name, label, metadata string, prompt) and is judged with it."""

    locator: str
    text: str


@dataclass(frozen=True, slots=True)
class Claim:
    """One piece of text that a client wants remembered.

    `locator` says where in the request it stood (`data[0]`, `entry.answer`); `claimed_at` is the time the client
    gives for the fact, None when it gives none. An opaque claim has no text that could be judged.
    """

    id: str
    text: str
    locator: str
    media_type: str = "text/plain"
    is_opaque: bool = False
    claimed_at: datetime | None = None
    annotations: tuple[Annotation, ...] = ()

    @property
    def digest(self) -> str:
        """SHA-256 of the text, hex: what the audit keeps in place of the text."""
        return hashlib.sha256(self.text.encode("utf-8", "surrogatepass")).hexdigest()


@dataclass(frozen=True, slots=True)
class Provenance:
    """Who sends a claim, as far as it was authenticated.

    `principal` is the bucket that carries reputation; `source` the name that tags the memory (a slug); they are the
    same for registered sources and differ for `unknown-agent`, which has one bucket a credential. `session` and
    `dataset` are the client's words and never identity.
    """

    principal: str
    source: str
    prior: float
    is_authenticated: bool = False
    session: str | None = None
    dataset: str | None = None
    peer: str | None = None


@dataclass(frozen=True, slots=True)
class Finding:
    """One observation of a stage. `rule` is `stage.kebab-name`; `detail` never holds a secret or claim text."""

    stage: str
    rule: str
    claim_id: str
    severity: float
    detail: str = ""


@dataclass(frozen=True, slots=True)
class Signals:
    """What the stages measured, each in its own range, before any weight.

    source_reputation 0..1, corroboration 0..0.30, freshness 0..1 (good); contradiction 0..1, content_danger 0..1 (bad).
    """

    source_reputation: float = 0.0
    corroboration: float = 0.0
    freshness: float = 1.0
    contradiction: float = 0.0
    content_danger: float = 0.0


@dataclass(frozen=True, slots=True)
class Contribution:
    """What one signal added to the raw score: `value` x `weight` (negative for evidence against the claim)."""

    signal: str
    value: float
    weight: float

    @property
    def amount(self) -> float:
        """The signed share of the raw score."""
        return self.value * self.weight


@dataclass(frozen=True, slots=True)
class Trust:
    """The score of one claim, 0..1, with what each signal contributed."""

    score: float
    raw: float
    contributions: tuple[Contribution, ...] = ()


@dataclass(frozen=True, slots=True)
class Memory:
    """One verified memory that a probe returned. `distance` is cosine distance: lower is nearer, None is unknown.

    `relation` is how it stands to the claim, once a judge has said so.
    """

    text: str
    source: str | None = None
    distance: float | None = None
    data_id: str | None = None
    chunk_id: str | None = None
    relation: Relation | None = None


@dataclass(frozen=True, slots=True)
class Verdict:
    """What a judge says of one claim. `relations` holds one entry per context memory, in its order.

    `findings` carry rule ids without the `judge.` prefix's stage being decided: their stage is `contradiction`.
    """

    contradiction: float
    content_danger: float
    relations: tuple[Relation, ...] = ()
    findings: tuple[Finding, ...] = ()
    model: str = "local"
    prompt_digest: str = ""


@dataclass(frozen=True, slots=True)
class Decision:
    """What was decided of one claim and why. Times are UTC; `stage_ms` maps stage name to milliseconds."""

    id: str
    at: datetime
    request_id: str
    route: str
    claim_id: str
    claim_digest: str
    claim_length: int
    provenance: Provenance
    signals: Signals
    trust: Trust
    status: Status
    findings: tuple[Finding, ...]
    mode: Mode
    policy_digest: str
    judge: str = ""
    prompt_digest: str = ""
    stage_ms: Mapping[str, float] = field(default_factory=dict)

    @property
    def reasons(self) -> tuple[str, ...]:
        """The rule ids that speak against the claim, worst first, each once."""
        ordered = sorted(self.findings, key=lambda finding: -finding.severity)
        return tuple(dict.fromkeys(finding.rule for finding in ordered if finding.severity > 0))


@dataclass(frozen=True, slots=True)
class HeldWrite:
    """A diverted claim with all that is needed to forward it later.

    `text` is the redacted text; `prepared` the JSON form of the upstream write that would have been sent
    (`mithril_proxy.cognee.prepared`), holding this claim alone.
    """

    decision_id: str
    text: str
    dataset: str | None
    prepared: Mapping[str, Any]
    context: tuple[Memory, ...] = ()


@dataclass(frozen=True, slots=True)
class QuarantineEntry:
    """One row of the quarantine as a reviewer sees it. `reevaluation` is the decision it got when judged again.

    A grant was released without a forward: the same write of the same principal may pass once.
    """

    id: str
    decision_id: str
    created_at: datetime
    state: ReviewState
    status: Status
    score: float
    source: str
    principal: str
    dataset: str | None
    route: str
    text: str
    reasons: tuple[str, ...]
    prepared: Mapping[str, Any]
    context: tuple[Memory, ...] = ()
    reviewed_at: datetime | None = None
    reviewer: str | None = None
    review_reason: str | None = None
    reevaluation: str | None = None
    is_grant: bool = False


class Judge(Protocol):
    """Scores a claim against verified context. Raises `JudgeUnavailable`, nothing else."""

    @property
    def name(self) -> str:
        """What decisions and logs call it."""
        ...

    async def judge(self, text: str, context: tuple[Memory, ...]) -> Verdict:
        """Contradiction and danger of `text`, each 0..1."""
        ...


class VerifiedMemory(Protocol):
    """Looks up verified memory near a text, with the caller's own rights. Raises `UpstreamUnavailable`."""

    async def related(self, text: str) -> tuple[Memory, ...]:
        """The nearest verified memories, nearest first; empty when there is no evidence."""
        ...
