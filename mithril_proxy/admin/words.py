"""Why a claim was held, in one sentence a person understands. Pure."""

from __future__ import annotations

from collections.abc import Iterable

from mithril_proxy.admin.shapes import StoredDecision
from mithril_proxy.types import Finding, Status

VERBS = {
    Status.ACCEPT: "Accepted",
    Status.WARN: "Admitted with low confidence",
    Status.REVIEW: "Held for review",
    Status.QUARANTINE: "Quarantined",
    Status.REJECT: "Rejected",
}
PHRASES = {
    "claim.opaque": "it cannot be read as text",
    "judge.unavailable": "the judge gave no answer",
    "probe.unavailable": "verified memory could not be looked up",
    "judge.disagreement": "the judge answered one question in two ways",
    "judge.addressed": "its text speaks to the judge",
    "provenance.forged-tag": "the client tried to tag it as verified",
    "provenance.undeclarable-source": "the client named a source that it may not declare",
    "score.below-threshold": "",
}
DANGER_ABOVE, CONTRADICTION_ABOVE, LOW_REPUTATION = 0.5, 0.3, 0.5  # the default policy's lines, for words only
MAX_REASONS = 3
SAID_BY_SIGNAL = "contradiction."  # rules of the local judge, whose strength is the signal itself


def why_held(decision: StoredDecision) -> str:
    """One sentence: what became of the claim, what spoke against it, and how it scored."""
    reasons = list(dict.fromkeys(filter(None, _reasons(decision))))[:MAX_REASONS]
    if decision.status.is_admitted:
        return f"{VERBS[decision.status]} with a score of {decision.score:.2f}."
    because = _joined(reasons) if reasons else "nothing vouches for it"
    return f"{VERBS[decision.status]} because {because}; its score is {decision.score:.2f}."


def _reasons(decision: StoredDecision) -> Iterable[str]:
    if decision.contradiction > CONTRADICTION_ABOVE:
        yield f"it contradicts verified memory ({decision.contradiction:.2f})"
    if decision.content_danger > DANGER_ABOVE:
        yield f"its content is dangerous ({decision.content_danger:.2f})"
    for finding in sorted(decision.findings, key=lambda finding: -finding.severity):
        if finding.severity > 0 and not finding.rule.startswith(SAID_BY_SIGNAL):
            yield phrase(finding)
    if decision.source_reputation < LOW_REPUTATION:
        yield f"its source is hardly trusted ({decision.source_reputation:.2f})"
    if decision.corroboration == 0.0 and decision.contradiction <= CONTRADICTION_ABOVE:
        yield "no other source says the same"


def phrase(finding: Finding) -> str:
    """What a finding means; its rule where there are no better words. Empty when it only repeats the score."""
    if finding.rule in PHRASES:
        return PHRASES[finding.rule]
    if finding.rule.endswith(".unavailable"):
        return f"the stage {finding.stage} could not finish"
    if finding.rule.startswith("danger."):
        return f"it looks like {finding.rule.removeprefix('danger.').replace('-', ' ')}"
    if finding.stage == "redact":
        return f"it held a credential ({finding.rule.removeprefix('redact.')})"
    return f"the rule {finding.rule} found something"


def _joined(reasons: list[str]) -> str:
    return reasons[0] if len(reasons) == 1 else ", ".join(reasons[:-1]) + " and " + reasons[-1]
