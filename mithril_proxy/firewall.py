"""The runner: stages → score → gate → decision → audit.

It owns four guarantees, whatever a stage does:

1. Evidence is append-only: a stage that drops a finding or changes who sent the claim counts as failed.
2. A stage that raises or misses its deadline leaves a `<stage>.unavailable` finding, which caps the status.
3. Score and gate always run; the time of each stage is recorded.
4. Every decision is committed with its audit row before it is returned, also when the client has hung up.

When the redact stage fails, the text cannot be shown to anything: it is withheld from judge, database and upstream.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Protocol

from mithril_proxy.chain.gate import UNAVAILABLE_SUFFIX, gate, score_findings
from mithril_proxy.chain.inspection import Inspection, Stage
from mithril_proxy.chain.score import freshness, trust_score
from mithril_proxy.clock import Clock
from mithril_proxy.grants import GrantBook, NoGrants, is_granted, spend_grant
from mithril_proxy.policy import Policy
from mithril_proxy.store.interface import Recorded, ReputationStep
from mithril_proxy.types import (
    Claim,
    Decision,
    Finding,
    HeldWrite,
    Memory,
    Mode,
    Provenance,
    Signals,
    Status,
    VerifiedMemory,
)

WITHHELD_RULE = "redact" + UNAVAILABLE_SUFFIX

StepOf = Callable[[Decision, Policy], ReputationStep | None]
PrepareHeld = Callable[[Claim, str], Mapping[str, Any]]  # the redacted claim and the id of its decision


class Recorder(Protocol):
    """Makes a decision durable. Raises `StoreUnavailable`."""

    async def record(
        self, decision: Decision, *, held: HeldWrite | None = None, step: ReputationStep | None = None
    ) -> Recorded:
        """Commit the decision, its held write and its reputation step together."""
        ...


@dataclass(frozen=True, slots=True)
class Call:
    """The request that a claim came in."""

    request_id: str
    route: str
    mode: Mode


@dataclass(frozen=True, slots=True)
class Judgement:
    """A decision that stands in the database, with the redacted claim it is about."""

    claim: Claim
    decision: Decision
    context: tuple[Memory, ...]
    quarantine_id: str | None = None

    @property
    def is_withheld(self) -> bool:
        """True when the text could not be redacted and so may go nowhere, not even into the quarantine."""
        return any(finding.rule == WITHHELD_RULE for finding in self.decision.findings)


@dataclass(frozen=True, slots=True)
class Firewall:
    """Decides on claims. Holds configuration only; everything about one claim lives in its Inspection."""

    stages: tuple[Stage, ...]
    policy: Policy
    clock: Clock
    recorder: Recorder
    step_of: StepOf
    grants: GrantBook = field(default_factory=NoGrants)

    async def decide(
        self,
        claim: Claim,
        provenance: Provenance,
        *,
        memory: VerifiedMemory,
        call: Call,
        prepare: PrepareHeld,
        findings: tuple[Finding, ...] = (),
    ) -> Judgement:
        """The recorded decision on one claim. `prepare` gives the upstream write to keep when the claim is diverted.

        `findings` are what is known before the first stage (forged tags). Raises StoreUnavailable, and then nothing
        may be forwarded.
        """
        judgement = await self.inspect(claim, provenance, memory=memory, call=call, findings=findings)
        return await asyncio.shield(asyncio.ensure_future(self._settle(judgement, call, prepare)))

    async def inspect(
        self,
        claim: Claim,
        provenance: Provenance,
        *,
        memory: VerifiedMemory,
        call: Call,
        findings: tuple[Finding, ...] = (),
    ) -> Judgement:
        """The decision on one claim, not yet recorded: a dry run."""
        arrived_at = self.clock.now()
        signals = Signals(freshness=freshness(claim.claimed_at, arrived_at, self.policy))
        inspection = Inspection(claim, provenance, memory, signals, findings)
        stage_ms: dict[str, float] = {}
        for stage in self.stages:
            started_s = self.clock.monotonic_s()
            inspection = await self._run(stage, inspection)
            stage_ms[stage.name] = (self.clock.monotonic_s() - started_s) * 1000
        trust = trust_score(inspection.signals, self.policy)
        inspection = inspection.with_findings(*score_findings(trust, claim.id, self.policy))
        decision = Decision(
            id=self.clock.new_id("dec"),
            at=arrived_at,
            request_id=call.request_id,
            route=call.route,
            claim_id=claim.id,
            claim_digest=inspection.claim.digest,
            claim_length=len(inspection.claim.text),
            provenance=provenance,
            signals=inspection.signals,
            trust=trust,
            status=gate(trust, inspection.signals, inspection.findings, self.policy),
            findings=inspection.findings,
            mode=call.mode,
            policy_digest=self.policy.digest,
            judge=inspection.judge,
            prompt_digest=inspection.prompt_digest,
            stage_ms=stage_ms,
        )
        return Judgement(inspection.claim, decision, inspection.context)

    async def _run(self, stage: Stage, before: Inspection) -> Inspection:
        """The inspection after one stage; after a failed one, the inspection before it and a finding."""
        try:
            async with asyncio.timeout(self.policy.judge.stage_deadline_s):
                after = await stage.inspect(before)
        except Exception as error:  # noqa: BLE001 - guarantee 2: whatever went wrong, the claim is not admitted for it
            return _failed(stage, before, type(error).__name__)
        if after.findings[: len(before.findings)] != before.findings or after.provenance != before.provenance:
            return _failed(stage, before, "evidence changed")
        return after

    async def _settle(self, judgement: Judgement, call: Call, prepare: PrepareHeld) -> Judgement:
        """The judgement as it stands in the database, admitted where a grant is spent on it."""
        held = _held(judgement, call, prepare)
        if held is not None:
            granted = await spend_grant(self.grants, judgement.decision, held.prepared)
            if granted is not None:
                findings = (*judgement.decision.findings, granted)
                decision = replace(judgement.decision, status=Status.ACCEPT, findings=findings)
                judgement, held = replace(judgement, decision=decision), None
        return await self._record(judgement, held)

    async def _record(self, judgement: Judgement, held: HeldWrite | None) -> Judgement:
        decision = judgement.decision
        step = None if is_granted(decision) else self.step_of(decision, self.policy)
        recorded = await self.recorder.record(decision, held=held, step=step)
        return replace(judgement, quarantine_id=recorded.quarantine_id)


def _failed(stage: Stage, before: Inspection, reason: str) -> Inspection:
    claim = before.claim
    finding = Finding(stage.name, f"{stage.name}{UNAVAILABLE_SUFFIX}", claim.id, 0.6, reason)
    if finding.rule == WITHHELD_RULE:
        claim = replace(claim, text="", is_opaque=True, annotations=())
    return replace(before, claim=claim).with_findings(finding)


def _held(judgement: Judgement, call: Call, prepare: PrepareHeld) -> HeldWrite | None:
    """What the quarantine keeps: nothing of an admitted, an observed or a withheld claim."""
    decision = judgement.decision
    if decision.status.is_admitted or call.mode is not Mode.ENFORCE or judgement.is_withheld:
        return None
    return HeldWrite(
        decision_id=decision.id,
        text=judgement.claim.text,
        dataset=decision.provenance.dataset,
        prepared=prepare(judgement.claim, decision.id),
        context=judgement.context,
    )
