"""The views of one text that are judged: as it reads, and as it was meant to read.

1. The original is what is stored; views exist only while judging.
2. The first view is `plain`: NFKC, invisible characters out, white space collapsed.
3. Further views appear only where they differ: look-alike letters folded, leet undone, letters put together that were
   spelled apart, hidden characters decoded, encodings decoded (`encoded.py`).
4. Long views are judged in overlapping windows of sentences, so that length never hides a sentence.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from mithril_proxy.judge.encoded import decoded_texts
from mithril_proxy.judge.invisible import hidden_text, shown_text, strip_invisible
from mithril_proxy.judge.lookalikes import fold_lookalikes, undo_leet, unmix_scripts

_SPACES = re.compile(r"\s+")
_SENTENCE_END = re.compile(r"(?<=[.!?;。！？।])[\"')\]]*\s+|(?<=[。！？।])")
_SURROGATES = re.compile("[\ud800-\udfff]")  # halves of a character: no text, and RE2 takes none
_APART = re.compile(r"\b\w(?:[\s._*|-]\w){5,}\b")
_PIECE = re.compile(r"\w")
MAX_SENTENCE_CHARS = 400
WINDOW_SENTENCES = 2


@dataclass(frozen=True, slots=True)
class View:
    """One reading of a text. `kind` says how it came about: plain, lookalike, leet, apart, hidden, or an encoding."""

    kind: str
    text: str


@dataclass(frozen=True, slots=True)
class Canonical:
    """Makes views. `is_word` decides between readings of leet tokens (`1` is i or l)."""

    is_word: Callable[[str], bool]

    def views(self, text: str) -> tuple[View, ...]:
        """Every distinct view of `text`, `plain` first."""
        found: dict[str, str] = {}
        for kind, view in self._readings(text):
            found.setdefault(view, kind)
        return tuple(View(kind, view) for view, kind in found.items() if view or kind == "plain")

    def _readings(self, text: str) -> Iterator[tuple[str, str]]:
        yield from self._surface("", text)
        yield from self._decoded("", text)
        unpaired = _SURROGATES.sub(" ", text)
        for hidden in dict.fromkeys((hidden_text(unpaired), shown_text(unpaired))):
            if hidden:
                yield from self._surface("hidden", hidden)
                yield from self._decoded("hidden+", hidden)

    def _decoded(self, origin: str, text: str) -> Iterator[tuple[str, str]]:
        for kind, decoded in decoded_texts(unmix_scripts(_composed(text))):
            yield from self._surface(origin + kind, decoded)

    def _surface(self, origin: str, text: str) -> Iterator[tuple[str, str]]:
        plain = plain_text(text)
        yield origin or "plain", plain
        unmixed = unmix_scripts(plain)
        yield origin or "lookalike", unmixed
        folded = fold_lookalikes(plain)
        yield origin or "lookalike", folded
        together = _put_together(folded)
        yield origin or "apart", together
        yield origin or "leet", undo_leet(unmixed, self.is_word)
        yield origin or "leet", undo_leet(together, self.is_word)


def plain_text(text: str) -> str:
    """NFKC without invisible characters, white space collapsed to single spaces."""
    return _SPACES.sub(" ", _composed(text)).strip()


def _composed(text: str) -> str:
    if text.isascii():
        return text
    return unicodedata.normalize("NFKC", strip_invisible(_SURROGATES.sub(" ", text)))


def _put_together(text: str) -> str:
    return _APART.sub(lambda run: "".join(_PIECE.findall(run.group())), text)


def sentences(text: str) -> tuple[str, ...]:
    """The sentences of a plain text; one without punctuation is cut at spaces into at most MAX_SENTENCE_CHARS."""
    parts = (part for part in _SENTENCE_END.split(text) if part and part.strip())
    return tuple(piece for part in parts for piece in _cut(part))


def windows(text: str) -> tuple[str, ...]:
    """Overlapping windows of WINDOW_SENTENCES sentences, stepping by one: no two neighbours are ever parted."""
    parts = sentences(text)
    last = max(1, len(parts) - WINDOW_SENTENCES + 1)
    return tuple(" ".join(parts[start : start + WINDOW_SENTENCES]) for start in range(last))


def _cut(sentence: str) -> Iterator[str]:
    while len(sentence) > MAX_SENTENCE_CHARS:
        at = sentence.rfind(" ", 1, MAX_SENTENCE_CHARS)
        at = at if at > 0 else MAX_SENTENCE_CHARS
        yield sentence[:at]
        sentence = sentence[at:].lstrip()
    if sentence:
        yield sentence
