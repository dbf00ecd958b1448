"""When one pass is not enough, and what two passes that differ mean. Pure."""

from __future__ import annotations

from dataclasses import dataclass

from mithril_proxy.judge.answer import Answer
from mithril_proxy.policy import Policy
from mithril_proxy.types import Relation


@dataclass(frozen=True, slots=True)
class Borders:
    """The scores at which a status can change, and how near to one a score is doubtful."""

    contradiction: tuple[float, ...]
    content_danger: tuple[float, ...]
    margin: float

    def is_borderline(self, answer: Answer) -> bool:
        """True when a slightly different score would mean another decision, or the answer is at odds with itself."""
        return (
            self._is_near(answer.contradiction, self.contradiction)
            or self._is_near(answer.content_danger, self.content_danger)
            or self.is_inconsistent(answer)
        )

    def is_inconsistent(self, answer: Answer) -> bool:
        """True when a memory contradicts but no contradiction is found, or one is found and no memory contradicts."""
        found = answer.contradiction > min(self.contradiction)
        return bool(answer.relations) and found != (Relation.CONTRADICTS in answer.relations)

    def disagree(self, first: Answer, second: Answer) -> bool:
        """True when two passes fall on different sides of a border, or see one memory as support and as objection."""
        return (
            self._sides(first) != self._sides(second)
            or any(_opposed(*pair) for pair in zip(first.relations, second.relations, strict=True))
            or (self.is_inconsistent(first) and self.is_inconsistent(second))
        )

    def _is_near(self, score: float, borders: tuple[float, ...]) -> bool:
        return any(abs(score - border) <= self.margin for border in borders)

    def _sides(self, answer: Answer) -> tuple[bool, ...]:
        return tuple(answer.contradiction > border for border in self.contradiction) + tuple(
            answer.content_danger > border for border in self.content_danger
        )


def borders_of(policy: Policy) -> Borders:
    """The borders that this policy's numbers draw."""
    danger_caps = {cap.threshold for cap in policy.caps if cap.when == "danger"}
    return Borders(
        contradiction=(policy.contradiction.found_above,),
        content_danger=tuple(sorted({policy.content_danger.counted_above} | danger_caps)),
        margin=policy.judge.borderline_margin,
    )


def _opposed(first: Relation, second: Relation) -> bool:
    return {first, second} == {Relation.ALIGNED, Relation.CONTRADICTS}
