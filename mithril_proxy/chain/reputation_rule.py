"""How a decision moves the reputation of its source. Pure: the same decision and policy always mean the same step.

1. Good is an admission with no contradiction and no credential; bad is quarantine, reject, a contradiction found or a
   credential planted; a review alone is neither.
2. A bad outcome without evidence (a quarantine that the source's own low reputation caused) never pushes a reputation
   below `blameless_floor`; with `penalise = "evidence"` it costs nothing.
3. A copy of what is known already earns nothing, and a writer on probation earns nothing beyond `neutral`.
4. A writer that was not authenticated never moves the reputation of a name.

What stages know of a source's standing reaches this rule as findings of severity 0 (`reputation.probation`,
`joins.duplicate`), so that a stored decision shows why a step was or was not taken.
"""

from __future__ import annotations

from dataclasses import replace

from mithril_proxy.chain.gate import TOLERANCE, UNAVAILABLE_SUFFIX, status_by_score
from mithril_proxy.chain.score import trust_score
from mithril_proxy.policy import Policy, ReputationRule
from mithril_proxy.store.interface import ReputationStep
from mithril_proxy.types import Decision, Provenance, ReviewState, Status

BLAMED, BLAMED_WITHOUT_EVIDENCE = "bad", "bad, without evidence"  # reasons of events: they are in the database
PROBATION_RULE = "reputation.probation"
DUPLICATE_RULE = "joins.duplicate"


def reputation_step(decision: Decision, policy: Policy) -> ReputationStep | None:
    """The step that `decision` means for its principal, None when it means nothing."""
    if _is_name_without_proof(decision.provenance):
        return None
    if _is_bad(decision, policy):
        return _penalty(decision, policy)
    return _reward(decision, policy) if decision.status.is_admitted else None


def review_step(state: ReviewState, policy: Policy, *, was_blamed: bool = False) -> ReputationStep | None:
    """The step that a reviewer's word means for the writer of a held claim: a release is good, a rejection is bad.

    `was_blamed`: the quarantine itself cost its writer trust. A release takes that back before it counts as good;
    without that, an unregistered writer whose every claim is released would still sink (0.34 is the most it reaches).
    """
    rule = policy.reputation
    match state:
        case ReviewState.RELEASED if was_blamed and rule.bad_rate < 1:
            kept = (1 - rule.good_rate) / (1 - rule.bad_rate)  # r -> good(r / (1 - bad_rate)), as one step
            return _step(rule, 1 - kept, rule.good_rate / (1 - kept), "released, blame taken back")
        case ReviewState.RELEASED:
            return _step(rule, rule.good_rate, 1.0, "released")
        case ReviewState.REJECTED:
            return _step(rule, rule.bad_rate, 0.0, "rejected")
    return None


def has_evidence(decision: Decision, policy: Policy) -> bool:
    """True when what the source wrote speaks against it, not just who it is."""
    return (
        _is_contradicted(decision, policy)
        or _planted_credential(decision)
        or decision.signals.content_danger > policy.content_danger.counted_above
    )


def _is_bad(decision: Decision, policy: Policy) -> bool:
    is_held = decision.status in (Status.QUARANTINE, Status.REJECT)
    return is_held or _is_contradicted(decision, policy) or _planted_credential(decision)


def _penalty(decision: Decision, policy: Policy) -> ReputationStep | None:
    rule = policy.reputation
    if has_evidence(decision, policy):
        return _step(rule, rule.bad_rate, 0.0, BLAMED)
    after = decision.signals.source_reputation * (1 - rule.bad_rate)
    if rule.penalise == "evidence" or after < rule.blameless_floor - TOLERANCE:
        return None
    return _step(rule, rule.bad_rate, 0.0, BLAMED_WITHOUT_EVIDENCE)


def _reward(decision: Decision, policy: Policy) -> ReputationStep | None:
    rule = policy.reputation
    before = decision.signals.source_reputation
    after = before + rule.good_rate * (1 - before)
    if _has_finding(decision, DUPLICATE_RULE):
        return None
    if _has_finding(decision, PROBATION_RULE) and after > rule.neutral + TOLERANCE:
        return None
    if rule.reward == "own-merit" and not _stands_alone(decision, policy):
        return None
    return _step(rule, rule.good_rate, 1.0, "good")


def _stands_alone(decision: Decision, policy: Policy) -> bool:
    """True when the claim would have been admitted with nobody else saying the same."""
    alone = trust_score(replace(decision.signals, corroboration=0.0), policy)
    return status_by_score(alone.score, policy.thresholds).is_admitted


def _step(rule: ReputationRule, rate: float, target: float, reason: str) -> ReputationStep:
    return ReputationStep(rate=rate, target=target, floor=rule.floor, ceiling=rule.ceiling, reason=reason)


def _is_contradicted(decision: Decision, policy: Policy) -> bool:
    return decision.signals.contradiction > policy.contradiction.found_above


def _planted_credential(decision: Decision) -> bool:
    return any(
        finding.stage == "redact" and not finding.rule.endswith(UNAVAILABLE_SUFFIX) for finding in decision.findings
    )


def _has_finding(decision: Decision, rule: str) -> bool:
    return any(finding.rule == rule for finding in decision.findings)


def _is_name_without_proof(provenance: Provenance) -> bool:
    """True for a named principal whose name was not proven; buckets of unknown writers are no names."""
    return not provenance.is_authenticated and provenance.principal == provenance.source
