"""How past decisions would have fallen under other weights and thresholds. Pure.

The signals and findings of each decision are kept, so score and gate can be run again on them. What a changed decision
would have done to the reputation of its source, and so to later decisions, is not simulated.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from mithril_proxy.chain.gate import gate
from mithril_proxy.chain.score import trust_score
from mithril_proxy.errors import RequestError
from mithril_proxy.policy import Policy, Thresholds, Weights
from mithril_proxy.types import Finding, Signals, Status

SIMULATED_DECISIONS = 1000


@dataclass(frozen=True, slots=True)
class Changed:
    """One decision that would have fallen otherwise."""

    id: str
    at: str
    source: str
    before: Status
    after: Status
    score_before: float
    score_after: float


@dataclass(frozen=True, slots=True)
class Simulation:
    """How many decisions moved from one status to another, and those that changed, newest first."""

    decisions: int
    moves: Mapping[tuple[Status, Status], int]
    changed: tuple[Changed, ...]

    def total(self, status: Status, *, after: bool) -> int:
        """How many decisions have this status, as they were or as they would have been."""
        return sum(count for (old, new), count in self.moves.items() if (new if after else old) is status)


def varied(policy: Policy, weights: Weights | None, thresholds: Thresholds | None) -> Policy:
    """The policy with other numbers. Raises RequestError when no claim could score anything."""
    changed = policy.model_copy(
        update={"weights": weights or policy.weights, "thresholds": thresholds or policy.thresholds}
    )
    if changed.scale <= 0:
        raise RequestError("weights: at least one of source_reputation, corroboration and freshness must be above 0")
    return changed


def simulate(rows: Iterable[Mapping[str, Any]], policy: Policy) -> Simulation:
    """Every decision of `rows` (`DeskStore.recent_evidence`) decided again under `policy`."""
    moves: Counter[tuple[Status, Status]] = Counter()
    changed: list[Changed] = []
    for row in rows:
        signals = Signals(
            row["source_reputation"],
            row["corroboration"],
            row["freshness"],
            row["contradiction"],
            row["content_danger"],
        )
        trust = trust_score(signals, policy)
        findings = tuple(Finding(**finding) for finding in row["findings"])
        before, after = Status(row["status"]), gate(trust, signals, findings, policy)
        moves[before, after] += 1
        if before is not after:
            changed.append(Changed(row["id"], row["at"], row["source"], before, after, row["score"], trust.score))
    return Simulation(sum(moves.values()), moves, tuple(changed))
