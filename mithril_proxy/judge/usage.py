"""What judging costs: counters that metrics, `mithril check` and the benchmark read."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

from mithril_proxy.types import Judge


@dataclass(slots=True)
class JudgeUsage:
    """Running totals since the start. Prices are per million tokens, 0 when unknown."""

    input_price: float = 0.0
    output_price: float = 0.0
    judged: int = 0
    passes: int = 0
    second_passes: int = 0
    disagreements: int = 0
    cache_hits: int = 0
    joined: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    unavailable: Counter[str] = field(default_factory=Counter)

    @property
    def cost(self) -> float:
        """What the tokens cost at the policy's prices, in its currency."""
        return (self.input_tokens * self.input_price + self.output_tokens * self.output_price) / 1_000_000

    def count_tokens(self, completion: object) -> None:
        """Add the tokens that a completion reports; endpoints that report none cost nothing here."""
        reported = getattr(completion, "usage", None)
        self.input_tokens += _count(reported, "prompt_tokens")
        self.output_tokens += _count(reported, "completion_tokens")


def usage_of(judge: Judge) -> JudgeUsage | None:
    """The totals of a judge, or of the language model that it puts a floor under; None when it counts nothing."""
    usage = getattr(getattr(judge, "llm", judge), "usage", None)
    return usage if isinstance(usage, JudgeUsage) else None


def _count(reported: object, name: str) -> int:
    value = getattr(reported, name, None)
    return value if isinstance(value, int) and value > 0 else 0
