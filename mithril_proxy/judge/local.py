"""The local judge: rules and structure, no key, no network, the default and the floor under any other judge."""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from mithril_proxy.judge.canonical import Canonical, View
from mithril_proxy.judge.contradiction import Comparison, compare
from mithril_proxy.judge.danger import Danger, DangerRules, danger_score
from mithril_proxy.judge.vocabulary import Vocabulary
from mithril_proxy.types import Finding, Memory, Relation, Verdict

INLINE_CHARS = 2_048  # measured: judging this much takes under 5 ms, the longest that the event loop may be held


@dataclass(frozen=True, slots=True)
class LocalJudge:
    """Judges with the rules of `policies/danger.toml` and by structure. `digest` identifies the rules."""

    rules: DangerRules
    canonical: Canonical
    digest: str
    name: str = "local"

    @classmethod
    def load(cls, rules_path: Path) -> LocalJudge:
        """The judge with the rules of `rules_path`. Raises ConfigurationError."""
        rules = DangerRules.load(rules_path)
        words = Vocabulary.of(text for rule in rules.rules for text in rule.hits)
        return cls(rules, Canonical(words.__contains__), hashlib.sha256(rules_path.read_bytes()).hexdigest())

    async def judge(self, text: str, context: tuple[Memory, ...]) -> Verdict:
        """Contradiction and danger of `text`. Long text is judged in a thread: RE2 lets go of the interpreter."""
        if len(text) + sum(len(memory.text) for memory in context) <= INLINE_CHARS:
            return self.verdict(text, context)
        return await asyncio.to_thread(self.verdict, text, context)

    def verdict(self, text: str, context: tuple[Memory, ...]) -> Verdict:
        """The same, in the calling thread."""
        views = self.canonical.views(text)
        dangers = self._worst_window(views)
        comparisons = tuple(_strongest(views, memory) for memory in context)
        return Verdict(
            contradiction=max((one.strength for one in comparisons), default=0.0),
            content_danger=danger_score(dangers),
            relations=tuple(one.relation for one in comparisons),
            findings=(*_danger_findings(dangers), *_contradiction_findings(comparisons)),
            model=self.name,
            prompt_digest=self.digest,
        )

    def _worst_window(self, views: Iterable[View]) -> tuple[Danger, ...]:
        found = (dangers for view in views for dangers in self.rules.find(view))
        return max(found, key=danger_score, default=())


def _strongest(views: Iterable[View], memory: Memory) -> Comparison:
    compared = (compare(view.text, memory.text) for view in views)
    return max(compared, key=lambda one: (one.strength, one.relation is not Relation.UNRELATED))


def _danger_findings(dangers: Iterable[Danger]) -> Iterable[Finding]:
    for danger in dangers:
        yield Finding("danger", danger.rule, "", danger.severity, f"{danger.name} in the {danger.view} view")


def _contradiction_findings(comparisons: Iterable[Comparison]) -> Iterable[Finding]:
    for index, one in enumerate(comparisons):
        if one.strength > 0:
            yield Finding("contradiction", one.rule, "", one.strength, f"against context {index}")
