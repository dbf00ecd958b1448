"""Finds what the rules match in one reading of a text. RE2 only: linear time, and the GIL released while it runs.

1. One alternation of all rules (of the keywords of those that have some) is the gate: clean text is read once.
2. Where the gate fires, a window is read by the rules that can match in it, and by their validators.
3. Where a document has more matches than `MAX_VALIDATED`, every further window that fires is redacted as a whole.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import re2

from mithril_proxy.secrets.hits import Span
from mithril_proxy.secrets.pem import key_end
from mithril_proxy.secrets.rules import Rule, options
from mithril_proxy.secrets.validators import MAX_VALUE_CHARS, Candidate, entropy
from mithril_proxy.secrets.views import characters

WINDOW_BYTES = 16_384
OVERLAP_BYTES = 2_048
MAX_VALIDATED = 2_500  # matches in one document, refused ones too; 5 MB of Python source have about a thousand
RETRY_BYTES = 512  # a refused value up to this long is searched again for another rule's match inside it
_BLANK = re2.compile(rb"\s")
_LEFT_EDGE = re.compile(r"^(\(\?i:)?\(\?:\^\|\[\^[\w~.-]+\]\)")
_NEXT_FIELD = re.compile(rb"[;&](?:amp;)?[A-Za-z][\w.%-]{0,31}(?: [A-Za-z]{1,16})?=")
_NAME = re.compile(r"[\w.-]{0,64}$")


@dataclass(slots=True)
class _Reading:
    """One reading of one text: how many matches may still be asked about, and how far matches have reached."""

    encoded: bytes
    left: int = MAX_VALIDATED
    reached: int = 0


@dataclass(frozen=True, slots=True)
class Engine:
    """The compiled gate over `rules`, in order of priority."""

    rules: tuple[Rule, ...]
    _gate: re2._Regexp = field(init=False, repr=False)
    _set: re2.Set = field(init=False, repr=False)
    _in_set: tuple[int, ...] = field(init=False, repr=False)
    _by_keyword: tuple[int, ...] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        by_keyword = tuple(index for index, rule in enumerate(self.rules) if rule.keywords)
        in_set = tuple(index for index, rule in enumerate(self.rules) if not rule.keywords)
        object.__setattr__(self, "_gate", _gate(self.rules))
        object.__setattr__(self, "_set", _set([self.rules[index].pattern for index in in_set]))
        object.__setattr__(self, "_in_set", in_set)
        object.__setattr__(self, "_by_keyword", by_keyword)

    def find(self, text: str) -> list[Span]:
        """What the rules match in `text`, in characters, in no order and maybe overlapping."""
        encoded = text.encode("utf-8", "surrogatepass")
        spans = list(self._windows(_Reading(encoded)))
        return spans if len(encoded) == len(text) else _in_characters(encoded, spans)

    def _windows(self, reading: _Reading) -> Iterator[Span]:
        at = 0
        while fired := self._gate.search(reading.encoded, at):
            lead = OVERLAP_BYTES if self._by_keyword else 1
            start = max(at, _character_before(reading.encoded, fired.start(), lead))
            yield from self._window(reading, start, start + WINDOW_BYTES)
            at = max(start + WINDOW_BYTES, reading.reached)

    def _window(self, reading: _Reading, start: int, end: int) -> Iterator[Span]:
        for index in self._candidates(reading.encoded, start, end):
            if reading.left <= 0:
                reading.reached = _boundary(reading.encoded, end)
                yield Span(start, reading.reached, index)
                return
            yield from self._matches(self.rules[index], index, reading, start, end)

    def _candidates(self, encoded: bytes, start: int, end: int) -> list[int]:
        """The rules that can match in a window: by RE2's set, or by their keywords, which are part of their meaning."""
        matched = self._set.Match(encoded[max(0, start - 1) : end + OVERLAP_BYTES])
        chosen = list(self._in_set) if matched is None else [self._in_set[index] for index in matched]
        if self._by_keyword:
            lowered = encoded[max(0, start - OVERLAP_BYTES) : end + OVERLAP_BYTES].lower()
            chosen += [i for i in self._by_keyword if any(word in lowered for word in self.rules[i].keywords)]
        return sorted(chosen)

    def _matches(self, rule: Rule, rank: int, reading: _Reading, at: int, end: int) -> Iterator[Span]:
        encoded = reading.encoded
        limit = min(len(encoded), end + OVERLAP_BYTES)
        while reading.left > 0 and (match := rule.regex.search(encoded, at, limit)):
            start, stop = match.span()
            if start >= end:
                return
            if stop == limit < len(encoded):
                limit = len(encoded)
                continue
            reading.left -= 1
            secret = _trimmed(encoded, *_secret_span(rule, match)) if rule.key else _secret_span(rule, match)
            found = _accepted(rule, encoded, match, secret)
            if found:
                yield Span(*found, rank)
            at = _next_start(start, secret, found)
            reading.reached = max(reading.reached, at)
            limit = min(len(encoded), max(end, at) + OVERLAP_BYTES)


def _character_before(encoded: bytes, at: int, lead: int) -> int:
    """Where a character begins, `lead` bytes before `at` or a little more.

    The gate leaves out the left edge that a rule may ask for, and a keyword may stand behind its secret.
    """
    at = max(0, at - lead)
    while at and encoded[at] & 0xC0 == 0x80:
        at -= 1
    return at


def _boundary(encoded: bytes, end: int) -> int:
    """`end`, moved on to the next blank so that no word is torn, at least to where a character begins."""
    blank = _BLANK.search(encoded, end, min(len(encoded), end + OVERLAP_BYTES))
    if blank:
        return int(blank.start())
    while end < len(encoded) and encoded[end] & 0xC0 == 0x80:
        end += 1
    return min(end, len(encoded))


def _next_start(start: int, secret: tuple[int, int], found: tuple[int, int] | None) -> int:
    """Where the search goes on: after the hit; inside a short refused value, which may hide another match."""
    if found:
        return max(found[1], secret[1], start + 1)
    return max(secret[0] if secret[1] - secret[0] <= RETRY_BYTES else secret[1], start + 1)


def _secret_span(rule: Rule, match: re2._Match) -> tuple[int, int]:
    for group in rule.groups:
        start, end = match.span(group)
        if start < end:
            return start, end
    start, end = match.span()
    return start, end


def _trimmed(encoded: bytes, start: int, end: int) -> tuple[int, int]:
    """A bare value without the next field of a query or connection string and without the sentence's punctuation."""
    if encoded[end : end + 1] in (b'"', b"'", b"`"):
        return start, end
    value = encoded[start : min(end, start + MAX_VALUE_CHARS)]
    following = _NEXT_FIELD.search(value)
    if following:
        return start, start + following.start()
    stripped = len(value)
    while stripped > 1 and value[stripped - 1] in b",;:.)]}>" and _is_loose(value, stripped - 1):
        stripped -= 1
    return start, end - (len(value) - stripped)


def _is_loose(value: bytes, at: int) -> bool:
    """True for punctuation, and for a closing bracket that nothing in the value opens."""
    opener = {b")": b"(", b"]": b"[", b"}": b"{", b">": b"<"}.get(value[at : at + 1])
    return opener is None or value.count(opener, 0, at) == 0


def _accepted(rule: Rule, encoded: bytes, match: re2._Match, secret: tuple[int, int]) -> tuple[int, int] | None:
    """The span to redact; None when a test of the rule says that this is no credential."""
    if rule.extend:
        end = key_end(encoded, match.end())
        return None if end is None else (secret[0], end)
    candidate = _candidate(rule, encoded, match, secret)
    if rule.entropy and entropy(candidate.value) <= rule.entropy:
        return None
    if not all(validator(candidate) for validator in rule.validators):
        return None
    return None if rule.allowlists and _is_excused(rule, encoded, match, secret) else secret


def _candidate(rule: Rule, encoded: bytes, match: re2._Match, secret: tuple[int, int]) -> Candidate:
    start, end = secret
    value = encoded[start : min(end, start + MAX_VALUE_CHARS)].decode("utf-8", "replace")
    after = encoded[end : end + 32].decode("utf-8", "ignore")
    if not rule.key:
        return Candidate(value, "", "", "", after)
    key_start, key_stop = match.span(rule.key)
    line = encoded[max(0, key_start - 80) : key_start].decode("utf-8", "ignore").rpartition("\n")[2]
    lead = _NAME.search(line)
    prefix = lead.group() if lead else ""
    key = prefix + encoded[key_start:key_stop].decode("utf-8", "ignore")
    between = encoded[key_stop:start].decode("utf-8", "ignore")
    return Candidate(value, key, between, line[: len(line) - len(prefix)], after)


def _is_excused(rule: Rule, encoded: bytes, match: re2._Match, secret: tuple[int, int]) -> bool:
    start, end = match.span()
    line_start = encoded.rfind(b"\n", max(0, start - 1024), start) + 1
    line_end = encoded.find(b"\n", end, end + 1024)
    line = encoded[max(line_start, start - 1024) : line_end if line_end >= 0 else end + 1024]
    value = encoded[secret[0] : secret[1]]
    return any(allowed.excuses(value, encoded[start:end], line) for allowed in rule.allowlists)


def _in_characters(encoded: bytes, spans: list[Span]) -> list[Span]:
    """`spans` of bytes as spans of characters, counted in one pass."""
    offsets = sorted({offset for span in spans for offset in (span.start, span.end)})
    known: dict[int, int] = {}
    byte = char = 0
    for offset in offsets:
        char += characters(encoded[byte:offset])
        byte = offset
        known[offset] = char
    return [Span(known[span.start], known[span.end], span.rank) for span in spans]


def _unnamed(pattern: str) -> str:
    """`pattern` without group names, which may stand once only in an alternation."""
    return re.sub(r"\(\?P?<\w+>", "(", pattern)


def _gate(rules: Sequence[Rule]) -> re2._Regexp:
    """One alternation that matches wherever a rule may.

    A rule with keywords is represented by them: hundreds of whole patterns make an automaton that takes a tenth of a
    second to build on each new text. Without the left edges the rest is half the size.
    """
    words = sorted({re2.escape(word.decode()) for rule in rules for word in rule.keywords})
    loose = [_LEFT_EDGE.sub(r"\1", _unnamed(rule.pattern)) for rule in rules if not rule.keywords]
    joined = "|".join([*(f"(?:{pattern})" for pattern in loose), *(f"(?i:{word})" for word in words)])
    return re2.compile(joined.encode(), options=options(never_capture=True))


def _set(patterns: Sequence[str]) -> re2.Set:
    one = re2.Set.SearchSet(options(never_capture=True))
    for pattern in patterns:
        one.Add(_unnamed(pattern).encode())
    one.Compile()
    return one
