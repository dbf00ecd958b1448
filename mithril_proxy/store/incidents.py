"""Which recorded facts are incidents: something a person should look at, with what to do about it. Pure.

One row stands for one event, or for all of a kind from one principal within a minute where a flood is likely
(`occurrences` counts them): an attacker cannot bury an incident under copies of another.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from mithril_proxy.store.rows import readable
from mithril_proxy.types import Decision, Provenance

FORGED_TAG_RULE = "provenance.forged-tag"
UNAVAILABLE_SUFFIX = ".unavailable"
REDACT_STAGE = "redact"

ADVICE: Mapping[str, str] = {
    "planted-credential": "Revoke that credential where it was issued, and find out how it reached this source.",
    "trusted-contradiction": "Compare the claim with what it contradicts; if that is right, freeze the source.",
    "burst": "Look at what this source sends; freeze it, or revoke its key, if it is not a known import.",
    "reputation-collapse": "See what moved it with `mithril sources show`; freeze the source until it is understood.",
    "forged-tag": "The tags were stripped. Ask the owner of this client why it claims to be verified.",
    "bypass-attempt": "The call was refused. Allow the route by policy if it is legitimate, else look at the client.",
    "unavailable-evidence": "Restore the judge or upstream; held claims can then be re-evaluated.",
}
SEVERITY: Mapping[str, str] = {
    "planted-credential": "high",
    "trusted-contradiction": "high",
    "burst": "medium",
    "reputation-collapse": "high",
    "forged-tag": "medium",
    "bypass-attempt": "medium",
    "unavailable-evidence": "medium",
}


@dataclass(frozen=True, slots=True)
class IncidentRules:
    """From when on something is an incident. The defaults are those of the default policy's thresholds."""

    trusted_from: float = 0.80
    contradiction_above: float = 0.30
    burst_diverted_a_minute: int = 20
    collapse_from: float = 0.60
    collapse_below: float = 0.40


def of_decision(decision: Decision, at: str, rules: IncidentRules) -> Iterator[dict[str, Any]]:
    """The incidents that one decision is."""
    planted = sum(1 for finding in decision.findings if _is_planted(finding.stage, finding.rule))
    if planted:
        yield _of(decision, at, "planted-credential", f"{planted} credential(s) planted through {decision.route}")
    signals = decision.signals
    if signals.contradiction > rules.contradiction_above and signals.source_reputation >= rules.trusted_from:
        summary = (
            f"a source of reputation {signals.source_reputation:.2f} contradicts verified memory"
            f" ({signals.contradiction:.2f}); the claim became {decision.status}"
        )
        yield _of(decision, at, "trusted-contradiction", summary)
    if any(finding.rule == FORGED_TAG_RULE for finding in decision.findings):
        yield _of(decision, at, "forged-tag", f"reserved tags sent through {decision.route}", period=at[:16])
    missing = sorted({finding.rule for finding in decision.findings if finding.rule.endswith(UNAVAILABLE_SUFFIX)})
    if missing:
        summary = f"{', '.join(missing)}: a claim was decided with less evidence and became {decision.status}"
        yield _of(decision, at, "unavailable-evidence", summary, period=at[:16])


def of_refusal(subject: str, payload: Mapping[str, Any], at: str) -> dict[str, Any]:
    """The incident that a refused call is. `payload` may name `principal`, `source`, `method`, `path` and `reason`."""
    call = " ".join(str(payload[key]) for key in ("method", "path", "route") if payload.get(key)) or subject
    reason = payload.get("reason") or payload.get("detail") or "not allowed"
    source = str(payload.get("source") or "unknown-agent")
    principal = str(payload.get("principal") or source)
    return incident(at, "bypass-attempt", source, principal, None, f"refused {call}: {reason}", period=at[:16])


def of_burst(at: str, provenance: Provenance, decision_id: str | None, rules: IncidentRules) -> dict[str, Any]:
    """The incident that a burst of diverted claims is."""
    summary = f"{rules.burst_diverted_a_minute} claims of one principal were held or rejected within a minute"
    return incident(at, "burst", provenance.source, provenance.principal, decision_id, summary, period=at[:16])


def of_collapse(
    at: str, provenance: Provenance, decision_id: str | None, before: float, after: float
) -> dict[str, Any]:
    """The incident that the fall of a good reputation is."""
    summary = f"reputation fell below the line: {before:.3f} to {after:.3f}"
    period = decision_id or at
    return incident(
        at, "reputation-collapse", provenance.source, provenance.principal, decision_id, summary, period=period
    )


def is_collapse(peak: float, after: float, before: float, rules: IncidentRules) -> bool:
    """True at the step that takes a source, whose prior or present standing was good, below the line."""
    return max(peak, before) >= rules.collapse_from and before >= rules.collapse_below > after


def incident(
    at: str, kind: str, source: str, principal: str, decision_id: str | None, summary: str, *, period: str
) -> dict[str, Any]:
    """The columns of one incident. Rows of one kind, principal and period are counted, not repeated."""
    return {
        "at": at,
        "kind": kind,
        "severity": SEVERITY[kind],
        "source": readable(source),
        "principal": readable(principal),
        "decision_id": decision_id,
        "summary": readable(summary),
        "advice": ADVICE[kind],
        "period": period,
        "occurrences": 1,
    }


def _of(decision: Decision, at: str, kind: str, summary: str, *, period: str | None = None) -> dict[str, Any]:
    provenance = decision.provenance
    return incident(
        at, kind, provenance.source, provenance.principal, decision.id, summary, period=period or decision.id
    )


def _is_planted(stage: str, rule: str) -> bool:
    return stage == REDACT_STAGE and not rule.endswith(UNAVAILABLE_SUFFIX)
