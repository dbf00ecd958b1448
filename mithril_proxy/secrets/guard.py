"""The credential guard: one engine for writes, recalls, streams and `mithril scan`.

1. A text is read as it stands and through its views (folded letters, percent, escapes, base64), at most two deep.
2. Redaction is repeated until nothing more is found, so redacting the result again changes nothing.
3. The guard holds rules only, never a text; it can be shared by threads and tasks.
"""

from __future__ import annotations

import asyncio
import hashlib
import hmac
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from mithril_proxy.errors import ConfigurationError
from mithril_proxy.secrets.blobs import unpacked
from mithril_proxy.secrets.engine import Engine
from mithril_proxy.secrets.escapes import escapes, percent
from mithril_proxy.secrets.hits import Hit, Redacted, RedactedValue, Span, merge
from mithril_proxy.secrets.letters import LettersView, letters
from mithril_proxy.secrets.rules import Rule, load_rules
from mithril_proxy.secrets.structure import redact_value
from mithril_proxy.secrets.views import View, substituted

MAX_DEPTH = 2  # encodings inside encodings that are read; each costs a pass
MAX_ROUNDS = 8  # redactions of a redacted text; the second finds nothing in all but constructed input
INLINE_CHARS = 65_536  # longer texts are scanned in a thread; 64 KB take about a millisecond
_TAG_HEX = 4


@dataclass(frozen=True, slots=True)
class SecretGuard:
    """Finds and replaces credentials by the rules of its packs. `tag_key` makes equal secrets recognisable by a tag."""

    engine: Engine
    tag_key: bytes | None = None

    @property
    def rules(self) -> tuple[Rule, ...]:
        """Every rule, in order of priority."""
        return self.engine.rules

    def scan(self, text: str) -> tuple[Hit, ...]:
        """Every credential in `text`, in order, none overlapping another."""
        return self.redact(text).hits

    def redact(self, text: str) -> Redacted:
        """`text` with each credential replaced by `[REDACTED:<kind>]`."""
        spans = self.spans(text)
        return self.redact_spans(text, spans) if spans else Redacted(text)

    def redact_spans(self, text: str, spans: list[Span]) -> Redacted:
        """`text` without `spans`, and without what the result still holds."""
        current, hits = self._replaced(text, spans)
        for _ in range(MAX_ROUNDS):  # pragma: no branch - a rule that never settles is refused at the start
            more = self.spans(current.text)
            if not more:
                break
            spans = merge(spans + [_back(current, span) for span in more])
            current, hits = self._replaced(text, spans)
        return Redacted(current.text, hits)

    def redact_value(self, value: object, path: str = "") -> RedactedValue:
        """A JSON value with each credential replaced, judged with its key and its siblings; types stay as they are."""
        return redact_value(self, value, path)

    async def redact_async(self, text: str) -> Redacted:
        """`redact`, in a thread when `text` is long: RE2 releases the GIL while it reads."""
        if len(text) <= INLINE_CHARS:
            return self.redact(text)
        return await asyncio.to_thread(self.redact, text)

    async def redact_value_async(self, value: object, path: str = "") -> RedactedValue:
        """`redact_value`, in a thread when the value holds much text."""
        if _is_small(value):
            return self.redact_value(value, path)
        return await asyncio.to_thread(self.redact_value, value, path)

    @property
    def assignment_rank(self) -> int | None:
        """The rank of the rule `assignment`, which names what JSON keys give away; None when no pack has it."""
        return next((rank for rank, rule in enumerate(self.rules) if rule.id == "assignment"), None)

    def hit(self, rank: int, value: str, start: int, end: int) -> Hit:
        """The hit of the rule at `rank` on `value`, which stands at `start`."""
        rule = self.rules[rank]
        return Hit(rule.kind, f"redact.{rule.id}", start, end, self._tag(value))

    def spans(self, text: str, depth: int = 0) -> list[Span]:
        """What stands in `text` and its views, merged and in order."""
        found = self.engine.find(text)
        if depth < MAX_DEPTH:
            for read in (letters, percent, escapes):
                view = read(text)
                if view is not None:
                    found += [_back(view, span) for span in self.spans(view.text, depth + 1)]
            found += self._in_blobs(text, depth)
        return merge(found)

    def _in_blobs(self, text: str, depth: int) -> Iterator[Span]:
        held = unpacked(text)
        if held is None:
            return
        for span in self.spans(held.text, depth + 1):
            for start, end in held.runs_of(span.start, span.end):
                yield Span(start, end, span.rank)

    def _replaced(self, text: str, spans: list[Span]) -> tuple[View, tuple[Hit, ...]]:
        hits = tuple(self.hit(span.rank, text[span.start : span.end], span.start, span.end) for span in spans)
        return substituted(text, ((hit.start, hit.end, hit.label) for hit in hits)), hits

    def _tag(self, value: str) -> str:
        if self.tag_key is None:
            return ""
        return hmac.new(self.tag_key, value.encode("utf-8", "surrogatepass"), hashlib.sha256).hexdigest()[:_TAG_HEX]


def _back(view: View | LettersView, span: Span) -> Span:
    return Span(view.start_of(span.start), view.end_of(span.end), span.rank)


def _is_small(value: object) -> bool:
    """True when the strings of a JSON value sum up to less than is worth a thread."""
    left = INLINE_CHARS
    pending = [value]
    while pending:
        one = pending.pop()
        if isinstance(one, str):
            left -= len(one)
        elif isinstance(one, dict):
            pending += one.values()
        elif isinstance(one, list):
            pending += one
        left -= 8
        if left < 0:
            return False
    return True


def load_guard(packs: Sequence[Path], *, tag_key: bytes | None = None) -> SecretGuard:
    """The guard of these rule files, checked against their own examples.

    Raises ConfigurationError naming file, rule and reason.
    """
    guard = SecretGuard(Engine(load_rules(packs)), tag_key)
    problems = check_examples(guard)
    if problems:
        raise ConfigurationError("; ".join(problems[:3]))
    return guard


def check_examples(source: SecretGuard | Sequence[Path]) -> tuple[str, ...]:
    """What is wrong with the rules by their own examples, one line each; empty when all hold.

    Each example must be found under its kind, each non-example must stay as far as its own file goes.
    """
    guard = source if isinstance(source, SecretGuard) else SecretGuard(Engine(load_rules(source)))
    return tuple(problem for rule in guard.rules for problem in _example_problems(guard, rule))


def _example_problems(guard: SecretGuard, rule: Rule) -> Iterator[str]:
    siblings = {f"redact.{one.id}" for one in guard.rules if one.source == rule.source}
    if guard.scan(f"[REDACTED:{rule.kind}]"):
        yield f"{rule.source}: rule {rule.id!r}: the label [REDACTED:{rule.kind}] is itself redacted"
    for number, text in enumerate(rule.examples, 1):
        if not any(hit.kind == rule.kind for hit in guard.scan(text)):
            yield f"{rule.source}: rule {rule.id!r}: example {number} is not found"
    for number, text in enumerate(rule.non_examples, 1):
        if any(hit.rule in siblings for hit in guard.scan(text)):
            yield f"{rule.source}: rule {rule.id!r}: non-example {number} is redacted"
