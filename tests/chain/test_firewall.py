"""The runner's four guarantees."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field, replace

import pytest

from mithril_proxy.chain.inspection import Inspection, NoMemory, Stage
from mithril_proxy.clock import SystemClock
from mithril_proxy.errors import StoreUnavailable
from mithril_proxy.firewall import Call, Firewall, Judgement
from mithril_proxy.policy import Policy, load_policy
from mithril_proxy.store.interface import Recorded, ReputationStep
from mithril_proxy.types import Claim, Decision, Finding, HeldWrite, Mode, Provenance, Status

POLICY = load_policy()
CLAIM = Claim("1", "The office opens at nine.", "data[0]")
TRUSTED = Provenance("wiki", "wiki", 0.98, is_authenticated=True)

Inspect = Callable[[Inspection], Awaitable[Inspection]]


@dataclass
class ScriptedStage:
    """A stage that does what the test says."""

    script: Inspect
    name: str = "scripted"

    async def inspect(self, inspection: Inspection) -> Inspection:
        return await self.script(inspection)


@dataclass
class KeepingRecorder:
    """Remembers what it was asked to make durable."""

    decisions: list[Decision] = field(default_factory=list)
    held: list[HeldWrite] = field(default_factory=list)
    fails: bool = False

    async def record(
        self, decision: Decision, *, held: HeldWrite | None = None, step: ReputationStep | None = None
    ) -> Recorded:
        if self.fails:
            raise StoreUnavailable("disk full")
        self.decisions.append(decision)
        if held is not None:
            self.held.append(held)
        return Recorded("qua_1" if held else None, 0.5)


def no_step(decision: Decision, policy: Policy) -> None:
    return None


def trusted_reputation(inspection: Inspection) -> Inspection:
    return replace(inspection, signals=replace(inspection.signals, source_reputation=0.98))


async def trust(inspection: Inspection) -> Inspection:
    return trusted_reputation(inspection)


async def decide(
    *stages: Stage, recorder: KeepingRecorder | None = None, mode: Mode = Mode.ENFORCE, policy: Policy = POLICY
) -> Judgement:
    recorder = recorder or KeepingRecorder()
    firewall = Firewall((ScriptedStage(trust, "reputation"), *stages), policy, SystemClock(), recorder, no_step)
    return await firewall.decide(
        CLAIM,
        TRUSTED,
        memory=NoMemory(),
        call=Call("req", "remember", mode),
        prepare=lambda claim, decision_id: {"text": claim.text},
    )


async def test_a_claim_with_nothing_against_it_is_admitted_by_its_reputation() -> None:
    judgement = await decide()
    assert judgement.decision.status is Status.WARN
    assert judgement.quarantine_id is None


async def test_a_stage_that_raises_never_admits_the_write() -> None:
    async def raises(inspection: Inspection) -> Inspection:
        raise RuntimeError("boom")

    judgement = await decide(ScriptedStage(raises))
    assert judgement.decision.status is Status.REVIEW
    assert "scripted.unavailable" in judgement.decision.reasons
    assert judgement.quarantine_id == "qua_1"


async def test_a_stage_that_misses_its_deadline_never_admits_the_write() -> None:
    async def hangs(inspection: Inspection) -> Inspection:
        await asyncio.Event().wait()
        return inspection

    hurried = POLICY.model_copy(update={"judge": POLICY.judge.model_copy(update={"stage_deadline_s": 0.001})})
    judgement = await decide(ScriptedStage(hangs), policy=hurried)
    assert judgement.decision.status is Status.REVIEW
    assert "scripted.unavailable" in judgement.decision.reasons


async def test_a_stage_cannot_drop_what_was_found_before_it() -> None:
    async def accuses(inspection: Inspection) -> Inspection:
        return inspection.with_findings(Finding("first", "first.accusation", "1", 0.9))

    async def forgets(inspection: Inspection) -> Inspection:
        return replace(inspection, findings=())

    judgement = await decide(ScriptedStage(accuses, "first"), ScriptedStage(forgets, "second"))
    assert {"first.accusation", "second.unavailable"} <= set(judgement.decision.reasons)


async def test_a_stage_cannot_change_who_sent_the_claim() -> None:
    async def promotes(inspection: Inspection) -> Inspection:
        return replace(inspection, provenance=replace(inspection.provenance, principal="root"))

    judgement = await decide(ScriptedStage(promotes))
    assert judgement.decision.provenance == TRUSTED
    assert "scripted.unavailable" in judgement.decision.reasons


async def test_text_that_could_not_be_redacted_is_withheld_from_everything() -> None:
    async def raises(inspection: Inspection) -> Inspection:
        raise ValueError("guard broke")

    seen: list[str] = []

    async def looks(inspection: Inspection) -> Inspection:
        seen.append(inspection.claim.text)
        return inspection

    recorder = KeepingRecorder()
    judgement = await decide(ScriptedStage(raises, "redact"), ScriptedStage(looks, "later"), recorder=recorder)
    assert judgement.is_withheld
    assert seen == [""]
    assert recorder.held == []


async def test_every_decision_is_recorded_with_the_time_of_each_stage() -> None:
    recorder = KeepingRecorder()
    judgement = await decide(recorder=recorder)
    assert recorder.decisions == [judgement.decision]
    assert set(judgement.decision.stage_ms) == {"reputation"}


async def test_a_decision_that_cannot_be_recorded_is_an_error() -> None:
    with pytest.raises(StoreUnavailable):
        await decide(recorder=KeepingRecorder(fails=True))


async def test_an_observed_claim_is_not_held() -> None:
    async def raises(inspection: Inspection) -> Inspection:
        raise RuntimeError

    recorder = KeepingRecorder()
    judgement = await decide(ScriptedStage(raises), recorder=recorder, mode=Mode.OBSERVE)
    assert judgement.decision.status is Status.REVIEW
    assert judgement.decision.mode is Mode.OBSERVE
    assert recorder.held == []


async def test_a_client_that_hangs_up_does_not_stop_the_record() -> None:
    started, may_finish = asyncio.Event(), asyncio.Event()

    class SlowRecorder(KeepingRecorder):
        finished = asyncio.Event()

        async def record(
            self, decision: Decision, *, held: HeldWrite | None = None, step: ReputationStep | None = None
        ) -> Recorded:
            started.set()
            await may_finish.wait()
            recorded = await super().record(decision, held=held, step=step)
            self.finished.set()
            return recorded

    recorder = SlowRecorder()
    task = asyncio.create_task(decide(recorder=recorder))
    await started.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    may_finish.set()
    await recorder.finished.wait()
    assert recorder.decisions[0].status is Status.WARN
