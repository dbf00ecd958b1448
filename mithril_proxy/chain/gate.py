"""From score and findings to a status. Pure; the only place that decides.

1. The score alone gives a status by the thresholds, with a tolerance for sums of decimals.
2. Each cap whose condition holds can lower it, never raise it.
"""

from __future__ import annotations

from collections.abc import Iterable

from mithril_proxy.policy import Cap, Policy, Thresholds
from mithril_proxy.types import Finding, Signals, Status, Trust

TOLERANCE = 1e-9  # 0.40x0.6 + … reaches 0.6 only up to binary rounding, about 1e-16 a term
OPAQUE_RULE = "claim.opaque"
UNAVAILABLE_SUFFIX = ".unavailable"


def status_by_score(score: float, thresholds: Thresholds) -> Status:
    """The status that the score alone deserves."""
    ladder = (
        (thresholds.accept, Status.ACCEPT),
        (thresholds.warn, Status.WARN),
        (thresholds.review, Status.REVIEW),
        (thresholds.quarantine, Status.QUARANTINE),
    )
    return next((status for least, status in ladder if score >= least - TOLERANCE), Status.REJECT)


def score_findings(trust: Trust, claim_id: str, policy: Policy) -> tuple[Finding, ...]:
    """The finding that says that the score alone keeps a claim out; nothing when it does not."""
    if status_by_score(trust.score, policy.thresholds).is_admitted:
        return ()
    detail = f"{trust.score:.3f} is below warn = {policy.thresholds.warn:g}"
    return (Finding("score", "score.below-threshold", claim_id, 0.1, detail),)


def gate(trust: Trust, signals: Signals, findings: Iterable[Finding], policy: Policy) -> Status:
    """What becomes of a claim: by its score, lowered by every cap that applies."""
    found = tuple(findings)
    status = status_by_score(trust.score, policy.thresholds)
    for cap in policy.caps:
        if cap_applies(cap, signals, found, policy):
            status = status.worst(cap.at_best)
    return status


def cap_applies(cap: Cap, signals: Signals, findings: tuple[Finding, ...], policy: Policy) -> bool:
    """True when the condition of `cap` holds for these signals and findings."""
    match cap.when:
        case "contradiction":
            return signals.contradiction > policy.contradiction.found_above
        case "danger":
            return signals.content_danger >= cap.threshold - TOLERANCE
        case "opaque":
            return any(finding.rule == OPAQUE_RULE for finding in findings)
        case "unavailable":
            return any(finding.rule.endswith(UNAVAILABLE_SUFFIX) for finding in findings)
        case "credential":
            return any(finding.stage == "redact" for finding in findings)
        case _:
            return any(finding.rule == cap.rule for finding in findings)
