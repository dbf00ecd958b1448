"""A small world for simulations: writers with reputations, a verified memory, and the real rules between them.

The judge is played by the test: it says what contradiction and danger a claim has and which memories it is aligned
with. Score, gate, corroboration and reputation are the product's own.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

from mithril_proxy.chain.corroboration import independent_aligned
from mithril_proxy.chain.likeness import Wording
from mithril_proxy.chain.reputation_rule import reputation_step, review_step
from mithril_proxy.chain.score import corroboration
from mithril_proxy.policy import Policy
from mithril_proxy.types import Decision, Memory, Provenance, Relation, ReviewState, Signals, Status
from tests.chain.decisions import DEFAULT, decide, moved


def named(name: str, prior: float) -> Provenance:
    """A registered source."""
    return Provenance(name, name, prior, is_authenticated=True)


def unknown(bucket: int) -> Provenance:
    """A writer that nobody registered, with a credential of its own."""
    return Provenance(f"unknown-agent/{bucket:016x}", "unknown-agent", DEFAULT.reputation.unknown_prior)


@dataclass
class World:
    """What is verified, and where every principal stands."""

    policy: Policy = DEFAULT
    lineages: dict[str, str] = field(default_factory=dict)
    verified: list[tuple[str, Memory]] = field(default_factory=list)
    reputations: dict[str, float] = field(default_factory=dict)
    statuses: Counter[Status] = field(default_factory=Counter)
    wordings: list[Wording] = field(default_factory=list)

    def reputation(self, who: Provenance) -> float:
        return self.reputations.get(who.principal, who.prior)

    def verify(self, fact: str, text: str, source: str) -> None:
        """Put a memory into the verified store, whoever admitted it."""
        self.verified.append((fact, Memory(text, source)))
        self.wordings.append(Wording.of(text))

    def write(
        self,
        who: Provenance,
        text: str,
        *rules: str,
        fact: str | None = None,
        danger: float = 0.0,
        contradiction: float = 0.0,
    ) -> Decision:
        """Decide on a claim that states `fact`, move its writer's reputation, and remember it when it is admitted."""
        context = tuple(memory for _, memory in self.verified)
        stated = fact if fact is not None else text
        relations = tuple(Relation.ALIGNED if known == stated else Relation.UNRELATED for known, _ in self.verified)
        independent = independent_aligned(context, relations, who.source, self.lineages)
        signals = Signals(
            source_reputation=self.reputation(who),
            corroboration=corroboration(independent, self.policy),
            contradiction=contradiction,
            content_danger=danger,
        )
        wording = Wording.of(text)
        if any(wording.is_copy_of(known) for known in self.wordings):
            rules = (*rules, "joins.duplicate")
        decision = decide(signals, *rules, who=who, policy=self.policy)
        self.reputations[who.principal] = moved(self.reputation(who), reputation_step(decision, self.policy))
        self.statuses[decision.status] += 1
        if decision.status.is_admitted:
            self.verify(stated, text, who.source)
        return decision

    def release(self, who: Provenance, *, was_blamed: bool = False) -> None:
        """A reviewer releases a held claim of this writer."""
        step = review_step(ReviewState.RELEASED, self.policy, was_blamed=was_blamed)
        self.reputations[who.principal] = moved(self.reputation(who), step)

    @property
    def admitted(self) -> int:
        return sum(count for status, count in self.statuses.items() if status.is_admitted)
