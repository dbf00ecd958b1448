"""What Mithril's local judge and gate decide of a row: the real scoring and gate, no upstream, no database."""

from __future__ import annotations

from dataclasses import dataclass

from benchmark.detection.rows import Row
from mithril_proxy.chain.gate import gate
from mithril_proxy.chain.score import corroboration, trust_score
from mithril_proxy.judge.local import LocalJudge
from mithril_proxy.policy import Policy
from mithril_proxy.types import Memory, Relation, Signals, Status, Verdict

GOOD_SOURCE = 0.98  # the prior of reviewed documents: only the content can divert their claims


@dataclass(frozen=True, slots=True)
class Decider:
    """A judge under a policy."""

    judge: LocalJudge
    policy: Policy

    def verdict(self, text: str, context: tuple[str, ...] = ()) -> Verdict:
        """What the judge says."""
        return self.judge.verdict(text, tuple(Memory(memory) for memory in context))

    def status(self, verdict: Verdict, *, reputation: float = GOOD_SOURCE) -> Status:
        """What the gate makes of a verdict on a fresh claim from a source of that reputation."""
        aligned = sum(relation is Relation.ALIGNED for relation in verdict.relations)
        signals = Signals(
            source_reputation=reputation,
            corroboration=corroboration(aligned, self.policy),
            contradiction=verdict.contradiction,
            content_danger=verdict.content_danger,
        )
        return gate(trust_score(signals, self.policy), signals, verdict.findings, self.policy)

    def diverts(self, row: Row, *, with_context: bool = True) -> bool:
        """True when a row from a good source would not be admitted."""
        verdict = self.verdict(row.text, row.context if with_context else ())
        return not self.status(verdict).is_admitted
