"""Answers of the other reads: how each is scrubbed, by what it says it is."""

from __future__ import annotations

import enum

from mithril_proxy.cognee.answers import Redact, scrub
from mithril_proxy.cognee.routes import Match
from mithril_proxy.cognee.table import Codec

EVENTS = "text/event-stream"
_TEXT_TYPES = frozenset({"application/xml", "application/xhtml+xml", "application/yaml", "application/javascript"})


class ScrubKind(enum.Enum):
    """What is done with the body of an answer."""

    STREAM = "stream"  # passed on as it comes: nothing in it is memory
    JSON = "json"  # parsed, scrubbed, written anew
    EVENTS = "events"  # an event stream, scrubbed frame by frame
    TEXT = "text"  # decoded, scrubbed as text
    REFUSE = "refuse"  # bytes that cannot be scrubbed are withheld


def scrub_kind(match: Match, content_type: str | None, *, is_empty: bool = False) -> ScrubKind:
    """How to scrub an answer of this route that came with this Content-Type.

    Errors of Cognee can echo the request, so answers of writes and recalls are scrubbed too.
    """
    if match.codec is Codec.NONE or is_empty:
        return ScrubKind.STREAM
    media_type = (content_type or "").split(";")[0].strip().lower()
    if media_type == EVENTS:
        return ScrubKind.EVENTS
    if media_type == "application/json" or media_type.endswith("+json"):
        return ScrubKind.JSON
    if media_type.startswith("text/") or media_type in _TEXT_TYPES:
        return ScrubKind.TEXT
    return ScrubKind.REFUSE


def scrub_json(match: Match, value: object, redact: Redact) -> object:
    """A parsed answer without credentials, its ids as they were."""
    return value if match.codec is Codec.NONE else scrub(value, redact)
