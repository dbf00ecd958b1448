"""What the guard says of a text: where a credential stands and of what kind it is, never the credential."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Hit:
    """One credential in a text. `start` and `end` count characters of the text that was scanned.

    `kind` stands in `[REDACTED:<kind>]`; `rule` is the stable id `redact.<rule>`; `tag` is empty without a tag key.
    """

    kind: str
    rule: str
    start: int
    end: int
    tag: str = ""

    @property
    def label(self) -> str:
        """The text that takes the credential's place."""
        return f"[REDACTED:{self.kind}:{self.tag}]" if self.tag else f"[REDACTED:{self.kind}]"


@dataclass(frozen=True, slots=True)
class Redacted:
    """A text without its credentials, and where they stood in the original."""

    text: str
    hits: tuple[Hit, ...] = ()


@dataclass(frozen=True, slots=True)
class FieldHit:
    """One credential in a JSON value. `path` is like `users[0].password`; the offsets count within that string."""

    path: str
    hit: Hit


@dataclass(frozen=True, slots=True)
class RedactedValue:
    """A JSON value without its credentials. `value` is the very same object when there was none."""

    value: object
    hits: tuple[FieldHit, ...] = ()


@dataclass(frozen=True, slots=True)
class Span:
    """A stretch of text that a rule claims. A lower `rank` wins the label where spans overlap."""

    start: int
    end: int
    rank: int


def merge(spans: list[Span]) -> list[Span]:
    """Overlapping spans as one each, in order, labelled by the highest-ranking rule among them."""
    merged: list[Span] = []
    for span in sorted(spans, key=lambda one: (one.start, -one.end)):
        if merged and span.start < merged[-1].end:
            last = merged[-1]
            merged[-1] = Span(last.start, max(last.end, span.end), min(last.rank, span.rank))
        else:
            merged.append(span)
    return merged
