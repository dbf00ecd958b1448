"""The local judge: rules and structure, no key, no network, the default and the floor under any other judge."""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from mithril_proxy.judge.canonical import Canonical, View, plain_text, sentences
from mithril_proxy.judge.contradiction import Comparer, Comparison, strongest
from mithril_proxy.judge.danger import Danger, DangerRules, danger_score
from mithril_proxy.judge.lexicon import Lexicon
from mithril_proxy.judge.vocabulary import Vocabulary
from mithril_proxy.policy import policies_folder
from mithril_proxy.types import Finding, Memory, Verdict

INLINE_CHARS = 512  # judging this much takes under 5 ms, the longest that the event loop may be held
WHOLE_CHARS = 8_192  # a claim up to this is compared whole
LEXICON = "lexicon.toml"
# Readings that turn digits into letters: good for finding commands, wrong for comparing values.
_DISTORTING = frozenset({"leet", "apart"})


@dataclass(frozen=True, slots=True)
class LocalJudge:
    """Judges with the rules of `policies/danger.toml` and by structure. `digest` identifies the rules."""

    rules: DangerRules
    canonical: Canonical
    comparer: Comparer
    digest: str
    name: str = "local"

    @classmethod
    def load(cls, rules_path: Path, lexicon_path: Path | None = None) -> LocalJudge:
        """The judge with the rules of `rules_path`, and the lexicon beside it unless one is named.

        Raises ConfigurationError when a file is wrong.
        """
        words_path = lexicon_path or _lexicon_beside(rules_path)
        rules = DangerRules.load(rules_path)
        comparer = Comparer.of(Lexicon.load(words_path))
        vocabulary = Vocabulary.of(text for rule in rules.rules for text in rule.hits)
        digest = hashlib.sha256(rules_path.read_bytes() + words_path.read_bytes()).hexdigest()
        return cls(rules, Canonical(vocabulary.__contains__), comparer, digest)

    async def judge(self, text: str, context: tuple[Memory, ...]) -> Verdict:
        """Contradiction and danger of `text`. Long text is judged in a thread: RE2 lets go of the interpreter."""
        if len(text) + sum(len(memory.text) for memory in context) <= INLINE_CHARS:
            return self.verdict(text, context)
        return await asyncio.to_thread(self.verdict, text, context)

    def verdict(self, text: str, context: tuple[Memory, ...]) -> Verdict:
        """The same, in the calling thread."""
        views = self.canonical.views(text)
        dangers = self._worst_window(views)
        comparisons = self._comparisons(views, context)
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

    def _comparisons(self, views: Iterable[View], context: tuple[Memory, ...]) -> tuple[Comparison, ...]:
        if not context:
            return ()
        known = frozenset(word for memory in context for word in _words(memory.text))
        texts = [on_topic(view.text, known) for view in views if view.kind not in _DISTORTING]
        readings = [self.comparer.sentences(text) for text in texts]
        return tuple(
            strongest(self.comparer.compare_sentences(reading, plain_text(memory.text)) for reading in readings)
            for memory in context
        )


def on_topic(text: str, known: frozenset[str]) -> str:
    """A long text without the sentences that share no two words with what is known: they cannot contradict it."""
    if len(text) <= WHOLE_CHARS:
        return text
    return " ".join(sentence for sentence in sentences(text) if len(known & _words(sentence)) >= 2)


def _words(text: str) -> frozenset[str]:
    return frozenset(word for word in text.lower().split() if len(word) > 2)


def _lexicon_beside(rules_path: Path) -> Path:
    beside = rules_path.with_name(LEXICON)
    return beside if beside.is_file() else policies_folder() / LEXICON


def _danger_findings(dangers: Iterable[Danger]) -> Iterable[Finding]:
    for danger in dangers:
        yield Finding("danger", danger.rule, "", danger.severity, f"{danger.name} in the {danger.view} view")


def _contradiction_findings(comparisons: Iterable[Comparison]) -> Iterable[Finding]:
    for index, one in enumerate(comparisons):
        if one.strength > 0:
            yield Finding("contradiction", one.rule, "", one.strength, f"against context {index}")
