"""Event streams: every cut, every frame, and not one unscrubbed byte."""

from __future__ import annotations

import json
from dataclasses import dataclass, field

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mithril_proxy.cognee.sse import KEEPALIVE, Frame, SseGuard, SseParser, StreamError, encode, encode_event
from mithril_proxy.errors import UpstreamUnavailable

SECRET = "s3cr3t"


@dataclass
class HoldingScrubber:
    """Holds back as many characters as a secret has, as a real scrubber does."""

    held: str = ""

    def feed(self, text: str) -> str:
        clean = (self.held + text).replace(SECRET, "***")
        cut = max(0, len(clean) - len(SECRET) + 1)
        self.held = clean[cut:]
        return clean[:cut]

    def close(self) -> str:
        rest, self.held = self.held, ""
        return rest


@dataclass
class FailingScrubber:
    """Breaks at a given call."""

    error: Exception
    calls: list[str] = field(default_factory=list)

    def feed(self, text: str) -> str:
        self.calls.append(text)
        if len(self.calls) > 1:
            raise self.error
        return ""

    def close(self) -> str:
        raise self.error


def _scrub(value: object) -> object:
    return json.loads(json.dumps(value).replace(SECRET, "***"))


def _guard() -> SseGuard:
    return SseGuard(HoldingScrubber, _scrub)


def _through(guard: SseGuard, stream: bytes, size: int) -> bytes:
    shown = b"".join(guard.feed(stream[start : start + size]) for start in range(0, len(stream), size))
    return shown + guard.close()


def _events(raw: bytes) -> list[tuple[str, object]]:
    return [
        (frame.event, json.loads(frame.data)) if frame.data else ("", frame.comment) for frame in SseParser().feed(raw)
    ]


def _said(events: list[tuple[str, object]]) -> str:
    return "".join(str(payload["text"]) for event, payload in events if event == "delta" and isinstance(payload, dict))


STREAM = b"".join(
    [
        encode_event("stage", {"stage": "retrieving"}),
        b": keepalive\n\n",
        *(encode_event("delta", {"text": piece}) for piece in ("The key is s3", "cr", "3t, keep it. É", " done")),
        encode_event("answer_done", {}),
        encode_event("final", {"results": [{"text": "The key is s3cr3t", "n": 1}]}),
    ]
)


@pytest.mark.parametrize("size", [1, 2, 3, 7, 64, len(STREAM)])
def test_a_stream_is_scrubbed_at_every_cut(size: int) -> None:
    events = _events(_through(_guard(), STREAM, size))
    assert [event for event, _ in events if event != "delta"] == ["stage", "", "answer_done", "final"]
    assert _said(events) == "The key is ***, keep it. É done"
    assert events[-1][1] == {"results": [{"text": "The key is ***", "n": 1}]}


@pytest.mark.parametrize("ending", [b"\n", b"\r\n", b"\r"])
def test_every_line_ending_ends_a_line(ending: bytes) -> None:
    stream = STREAM.replace(b"\n", ending)
    assert _events(_through(_guard(), stream, 1)) == _events(_through(_guard(), STREAM, 1))


def test_the_first_frames_are_shown_at_once() -> None:
    assert _guard().feed(encode_event("stage", {"stage": "retrieving"})) == encode_event(
        "stage", {"stage": "retrieving"}
    )


def test_a_comment_becomes_a_plain_keepalive() -> None:
    assert _guard().feed(b": s3cr3t\n\n") == KEEPALIVE == encode(Frame(comment="keepalive"))


def test_text_before_a_reset_is_forgotten() -> None:
    stream = encode_event("delta", {"text": "abc"}) + encode_event("reset", {}) + encode_event("delta", {"text": "xyz"})
    assert _said(_events(_through(_guard(), stream, 5))) == "xyz"


def test_the_held_end_comes_out_when_the_upstream_stops() -> None:
    guard = _guard()
    assert guard.feed(encode_event("delta", {"text": "abc"})) == b""
    assert _said(_events(guard.close())) == "abc"
    assert guard.close() == b""


def test_results_of_the_final_are_filtered() -> None:
    guard = SseGuard(HoldingScrubber, _scrub, filter_results=lambda results: [])
    assert _events(guard.feed(encode_event("final", {"results": [1]}))) == [("final", {"results": []})]
    assert _events(guard.feed(encode_event("final", [1]))) == [("final", [1])]


def test_the_id_and_retry_of_a_frame_do_not_travel() -> None:
    shown = _guard().feed(b"id: s3cr3t\nretry: 5\nevent: stage\ndata: {}\n\n")
    assert shown == b"event: stage\ndata: {}\n\n"


def test_a_blank_frame_says_nothing() -> None:
    assert _guard().feed(b"\n\n\n\n") == b""


def test_an_error_event_of_the_upstream_is_scrubbed() -> None:
    shown = _events(_guard().feed(encode_event("error", {"message": "s3cr3t", "status": 409})))
    assert shown == [("error", {"message": "***", "status": 409})]


BROKEN = [
    b"event: delta\ndata: not json\n\n",
    b"event: delta\ndata: {}\n\n",
    b"event: delta\ndata: [1]\n\n",
    b'event: delta\ndata: {"text": 5}\n\n',
    b"event: stage\ndata: \xff\n\n",
    b"data: {}\n\n",
    b"event: a b\ndata: {}\n\n",
    b"event: " + b"x" * 50 + b"\ndata: {}\n\n",
    b"event: stage\ndata: NaN\n\n",
]


@pytest.mark.parametrize("broken", BROKEN)
def test_a_frame_that_cannot_be_read_ends_the_stream_with_one_error(broken: bytes) -> None:
    guard = _guard()
    shown = guard.feed(encode_event("stage", {}) + broken + encode_event("delta", {"text": "never" * 9}))
    assert [event for event, _ in _events(shown)] == ["stage", "error"]
    assert guard.failed
    assert guard.feed(encode_event("delta", {"text": "never" * 9})) + guard.close() + guard.fail() == b""


@pytest.mark.parametrize(
    "error", [ValueError(SECRET), TypeError(), KeyError(), UpstreamUnavailable(SECRET), RecursionError()]
)
def test_a_scrubber_that_fails_shows_not_one_byte(error: Exception) -> None:
    guard = SseGuard(lambda: FailingScrubber(error), _scrub)
    shown = _through(guard, STREAM, 16)
    assert SECRET.encode() not in shown
    assert [event for event, _ in _events(shown)] == ["stage", "", "error"]


def test_a_scrubber_that_fails_at_the_end_shows_not_one_byte() -> None:
    guard = SseGuard(lambda: FailingScrubber(ValueError()), _scrub)
    shown = guard.feed(encode_event("delta", {"text": SECRET})) + guard.close()
    assert [event for event, _ in _events(shown)] == ["error"]


def test_the_upstreams_own_failure_can_be_told() -> None:
    guard = _guard()
    assert _events(guard.fail("the server broke off")) == [
        ("error", {"message": "the server broke off", "status": 502})
    ]


def test_a_frame_without_end_is_cut_off() -> None:
    parser = SseParser(max_frame_bytes=10)
    with pytest.raises(StreamError):
        list(parser.feed(b"x" * 11))
    guard = SseGuard(HoldingScrubber, _scrub, parser=SseParser(max_frame_bytes=10))
    assert [event for event, _ in _events(guard.feed(b"x" * 11))] == ["error"]


frames = st.builds(
    Frame,
    st.sampled_from(["stage", "delta", "final"]),
    st.text(st.characters(exclude_characters="\r", exclude_categories=["Cs"]), min_size=1),
)


@given(st.lists(frames, max_size=4), st.integers(1, 9))
def test_frames_come_back_as_they_were(given_frames: list[Frame], size: int) -> None:
    raw = b"".join(encode(frame) for frame in given_frames)
    parser = SseParser()
    parsed = [frame for start in range(0, len(raw), size) for frame in parser.feed(raw[start : start + size])]
    assert parsed == given_frames


@given(st.lists(st.text(alphabet="s3cr3t x", max_size=8)), st.integers(1, 40))
def test_a_secret_split_anywhere_never_shows(pieces: list[str], size: int) -> None:
    stream = b"".join(encode_event("delta", {"text": piece}) for piece in pieces)
    assert SECRET not in _said(_events(_through(_guard(), stream, size)))


@given(st.lists(st.binary(max_size=30), max_size=5))
def test_no_bytes_make_the_guard_raise(chunks: list[bytes]) -> None:
    guard = _guard()
    for chunk in chunks:
        guard.feed(chunk)
    guard.close()
