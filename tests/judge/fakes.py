"""Stand-ins that tests script: a clock moved by hand and a judge that says what it is told."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta

from mithril_proxy.errors import JudgeUnavailable
from mithril_proxy.types import Memory, Verdict

START = datetime(2026, 1, 1, tzinfo=UTC)


@dataclass
class HandClock:
    """Time stands still until a test moves it; identifiers count up."""

    elapsed_s: float = 0.0
    issued: int = 0

    def now(self) -> datetime:
        return START + timedelta(seconds=self.elapsed_s)

    def monotonic_s(self) -> float:
        return self.elapsed_s

    def new_id(self, prefix: str) -> str:
        self.issued += 1
        return f"{prefix}_{self.issued:026d}"

    def pass_s(self, seconds: float) -> None:
        self.elapsed_s += seconds


Answer = Verdict | JudgeUnavailable


@dataclass
class ScriptedJudge:
    """Answers with one verdict (or error) after the other, the last one for ever; keeps what it was asked."""

    answers: list[Answer]
    name: str = "scripted"
    asked: list[tuple[str, tuple[Memory, ...]]] = field(default_factory=list)

    async def judge(self, text: str, context: tuple[Memory, ...]) -> Verdict:
        self.asked.append((text, context))
        answer = self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]
        if isinstance(answer, JudgeUnavailable):
            raise answer
        return answer


@dataclass
class RuledJudge:
    """Answers by a function of the text: danger 0..1."""

    danger_of: Callable[[str], float]
    name: str = "ruled"
    asked: list[str] = field(default_factory=list)

    async def judge(self, text: str, context: tuple[Memory, ...]) -> Verdict:
        self.asked.append(text)
        return Verdict(0.0, self.danger_of(text))


def memories(texts: Iterable[str]) -> tuple[Memory, ...]:
    return tuple(Memory(text) for text in texts)
