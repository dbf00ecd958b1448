"""Server-sent events of a recall, parsed and scrubbed across any boundary of chunks (Cognee 1.6.5: api/sse.py).

Frames are `event: <type>` and `data: <one line of JSON>`: stage, delta `{"text"}`, reset, answer_done, error, final
`{"results": […]}`, and the comment `: keepalive`. Deltas are a preview; `final` is authoritative.

Rules of the guard:

1. Nothing leaves that did not go through a scrubber: text of deltas through a stream scrubber, all else as a value.
2. Text that a scrubber holds back comes out as one more delta before the next frame that ends the text.
3. After a failure there is one error event and not one further byte.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Protocol

from mithril_proxy.cognee.json_body import parse_json
from mithril_proxy.errors import MithrilError

WITHHELD = "Mithril could not scrub this stream; the rest is withheld, ask again without streaming"
KEEPALIVE = b": keepalive\n\n"
MAX_FRAME_BYTES = 67_108_864  # a `final` holds the whole answer; the same bound as a body

# What a scrubber or a parser can fail with; anything else is a fault of ours and ends the response as one.
FAILURES = (MithrilError, ValueError, TypeError, LookupError, RecursionError)

# Event names are words; anything else is not Cognee's.
_MAX_EVENT_CHARS = 40


class TextScrubber(Protocol):
    """Scrubs a text that arrives in pieces; it may hold back an end until it knows more."""

    def feed(self, text: str) -> str:
        """What of the text so far can be shown."""
        ...

    def close(self) -> str:
        """The rest."""
        ...


@dataclass(frozen=True, slots=True)
class Frame:
    """One event, or a comment when `event` and `data` are both empty."""

    event: str = ""
    data: str = ""
    comment: str = ""


class StreamError(MithrilError):
    """The upstream's event stream is not one, or a frame is too long."""


_MARKS = (b"\n\n", b"\r\n\r\n", b"\r\r")
_LONGEST_MARK = 4


@dataclass(slots=True)
class SseParser:
    """Splits bytes into frames, whatever the chunks: LF, CR LF and CR all end a line."""

    max_frame_bytes: int = MAX_FRAME_BYTES
    _buffer: bytearray = field(default_factory=bytearray)
    _searched: int = 0

    def feed(self, chunk: bytes) -> Iterator[Frame]:
        """The frames that are whole by now; to be read to the end. Raises StreamError."""
        self._buffer += chunk
        while (cut := self._frame_end()) is not None:
            end, start = cut
            raw = bytes(self._buffer[:end])
            del self._buffer[:start]
            self._searched = 0
            yield from _frames(raw)
        self._searched = max(0, len(self._buffer) - _LONGEST_MARK)
        if len(self._buffer) > self.max_frame_bytes:
            raise StreamError("a frame of the event stream is too long")

    def _frame_end(self) -> tuple[int, int] | None:
        """(end of the frame, start of the next one) at the first blank line; None while there is none yet."""
        found = [(self._buffer.find(mark, self._searched), len(mark)) for mark in _MARKS]
        cuts = [(at, at + length) for at, length in found if at >= 0]
        return min(cuts) if cuts else None


def _frames(raw: bytes) -> list[Frame]:
    try:
        text = raw.decode("utf-8")
    except UnicodeDecodeError:
        raise StreamError("the event stream is not UTF-8") from None
    event, comment, data = "", "", []
    for line in text.replace("\r\n", "\n").replace("\r", "\n").split("\n"):
        name, _, value = line.partition(":")
        value = value.removeprefix(" ")
        if name == "data":
            data.append(value)
        elif name == "event":
            event = value
        elif not name and value:
            comment = value
    frame = Frame(event, "\n".join(data), comment)
    return [frame] if frame != Frame() else []


def encode(frame: Frame) -> bytes:
    """The bytes of a frame."""
    if not frame.event and not frame.data:
        return f": {frame.comment}\n\n".encode()
    data = "".join(f"data: {line}\n" for line in frame.data.split("\n"))
    head = f"event: {frame.event}\n" if frame.event else ""
    return f"{head}{data}\n".encode()


def encode_event(event: str, payload: object) -> bytes:
    """One event with a JSON payload, as Cognee writes it."""
    return encode(Frame(event, json.dumps(payload, ensure_ascii=False)))


def error_event(message: str, status: int) -> bytes:
    """The event that tells a client that its stream failed."""
    return encode_event("error", {"message": message, "status": status})


@dataclass(slots=True)
class SseGuard:
    """Scrubs one event stream. `new_scrubber` opens a scrubber for a run of deltas, `scrub_value` takes other payloads.

    `filter_results` takes the results of a `final` before they are scrubbed.
    """

    new_scrubber: Callable[[], TextScrubber]
    scrub_value: Callable[[object], object]
    filter_results: Callable[[object], object] = lambda results: results
    parser: SseParser = field(default_factory=SseParser)
    failed: bool = False
    _scrubber: TextScrubber | None = None

    def feed(self, chunk: bytes) -> bytes:
        """What the client may have of this chunk. After a failure: one error event, then nothing for ever."""
        if self.failed:
            return b""
        shown = b""
        try:
            for frame in self.parser.feed(chunk):
                shown += self._shown(frame)
        except FAILURES:
            shown += self.fail()
        return shown

    def close(self) -> bytes:
        """What is left when the upstream is done: the held end of the deltas."""
        if self.failed:
            return b""
        try:
            return self._flush()
        except FAILURES:
            return self.fail()

    def fail(self, message: str = WITHHELD) -> bytes:
        """The error event that ends the stream. `message` is Mithril's own words."""
        if self.failed:
            return b""
        self.failed = True
        self._scrubber = None
        return error_event(message, 502)

    def _shown(self, frame: Frame) -> bytes:
        if not frame.event and not frame.data:
            return KEEPALIVE
        if len(frame.event) > _MAX_EVENT_CHARS or not frame.event.replace("_", "").isalnum():
            raise StreamError("the event stream holds an event without a name")
        payload = parse_json(frame.data or "null", "event")
        if frame.event == "delta":
            return self._delta(payload)
        held = self._drop() if frame.event == "reset" else self._flush()
        return held + encode_event(frame.event, self._scrubbed(frame.event, payload))

    def _delta(self, payload: object) -> bytes:
        if not isinstance(payload, dict) or not isinstance(payload.get("text"), str):
            raise StreamError("a delta without text")
        if self._scrubber is None:
            self._scrubber = self.new_scrubber()
        text = self._scrubber.feed(payload["text"])
        return encode_event("delta", {"text": text}) if text else b""

    def _scrubbed(self, event: str, payload: object) -> object:
        if event == "final" and isinstance(payload, dict) and "results" in payload:
            payload = payload | {"results": self.filter_results(payload["results"])}
        return self.scrub_value(payload)

    def _flush(self) -> bytes:
        """The held end of the text as one more delta."""
        if self._scrubber is None:
            return b""
        text, self._scrubber = self._scrubber.close(), None
        return encode_event("delta", {"text": text}) if text else b""

    def _drop(self) -> bytes:
        """A reset makes the text so far worthless, its held end too."""
        self._scrubber = None
        return b""
