"""Decisions as the runner would make them, for tests of the rules that read them."""

from __future__ import annotations

from dataclasses import replace

from mithril_proxy.chain.gate import gate
from mithril_proxy.chain.score import trust_score
from mithril_proxy.policy import Policy, load_policy
from mithril_proxy.store.interface import ReputationStep
from mithril_proxy.types import Decision, Finding, Mode, Provenance, Signals
from tests.judge.fakes import START

DEFAULT = load_policy()
NAMED = Provenance("slack", "slack", 0.60, is_authenticated=True)
UNKNOWN = Provenance("unknown-agent/0123456789abcdef", "unknown-agent", 0.30)


def with_reputation(policy: Policy = DEFAULT, **numbers: object) -> Policy:
    """The policy with other numbers under [reputation]."""
    return policy.model_copy(update={"reputation": policy.reputation.model_copy(update=numbers)})


def decide(
    signals: Signals, *rules: str, who: Provenance = NAMED, policy: Policy = DEFAULT, mode: Mode = Mode.ENFORCE
) -> Decision:
    """The decision on a claim with these signals and with a finding of each rule."""
    findings = tuple(Finding(rule.split(".")[0], rule, "c", 0.5) for rule in rules)
    trust = trust_score(signals, policy)
    return Decision(
        id="dec",
        at=START,
        request_id="req",
        route="add",
        claim_id="c",
        claim_digest="",
        claim_length=1,
        provenance=who,
        signals=signals,
        trust=trust,
        status=gate(trust, signals, findings, policy),
        findings=findings,
        mode=mode,
        policy_digest=policy.digest,
    )


def moved(reputation: float, step: ReputationStep | None) -> float:
    """The reputation after a step, as the store updates it."""
    if step is None:
        return reputation
    return min(step.ceiling, max(step.floor, reputation + step.rate * (step.target - reputation)))


def says(reputation: float, **signals: float) -> Signals:
    """A fresh claim of a writer with this reputation."""
    return replace(Signals(source_reputation=reputation), **signals)
