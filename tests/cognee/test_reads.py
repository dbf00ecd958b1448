"""Other reads and sessions: how each answer is scrubbed, and whose words a session holds."""

from __future__ import annotations

import pytest

from mithril_proxy.cognee.reads import ScrubKind, scrub_json, scrub_kind
from mithril_proxy.cognee.routes import find_route
from mithril_proxy.cognee.sessions import (
    Standing,
    refuse_foreign_sessions,
    session_exists,
    session_path,
    standing_after_write,
)
from mithril_proxy.errors import Refused
from tests.cognee.builders import json_call

GRAPH = find_route("GET", "/api/v1/visualize")
LOGIN = find_route("POST", "/api/v1/auth/login")


@pytest.mark.parametrize(
    ("content_type", "kind"),
    [
        ("application/json", ScrubKind.JSON),
        ("application/problem+json; charset=utf-8", ScrubKind.JSON),
        ("text/event-stream; charset=utf-8", ScrubKind.EVENTS),
        ("text/html", ScrubKind.TEXT),
        ("text/markdown", ScrubKind.TEXT),
        ("application/xml", ScrubKind.TEXT),
        ("application/pdf", ScrubKind.REFUSE),
        ("image/png", ScrubKind.REFUSE),
        ("", ScrubKind.REFUSE),
        (None, ScrubKind.REFUSE),
    ],
)
def test_an_answer_is_scrubbed_by_what_it_says_it_is(content_type: str | None, kind: ScrubKind) -> None:
    assert scrub_kind(GRAPH, content_type) is kind
    assert scrub_kind(GRAPH, content_type, is_empty=True) is ScrubKind.STREAM
    assert scrub_kind(LOGIN, content_type) is ScrubKind.STREAM


def test_only_answers_that_hold_memory_are_scrubbed() -> None:
    assert scrub_json(GRAPH, {"text": "x"}, lambda value: {"text": "clean"}) == {"text": "clean"}
    assert scrub_json(LOGIN, {"text": "x"}, lambda value: {"text": "clean"}) == {"text": "x"}


UNKNOWN, OWN, FOREIGN = Standing.UNKNOWN, Standing.OWN, Standing.FOREIGN


@pytest.mark.parametrize(
    ("before", "existed", "after"),
    [
        (UNKNOWN, False, OWN),
        (UNKNOWN, True, FOREIGN),
        (UNKNOWN, None, FOREIGN),
        (OWN, True, OWN),
        (OWN, False, OWN),
        (OWN, None, OWN),
        (FOREIGN, False, FOREIGN),
        (FOREIGN, True, FOREIGN),
        (FOREIGN, None, FOREIGN),
    ],
)
def test_the_standing_of_a_session(before: Standing, existed: bool | None, after: Standing) -> None:
    assert standing_after_write(before, existed=existed) is after


@pytest.mark.parametrize(("status", "exists"), [(200, True), (404, False), (500, None), (401, None), (403, None)])
def test_whether_a_session_exists_is_asked_at_the_upstream(status: int, exists: bool | None) -> None:
    assert session_exists(status) is exists
    assert find_route("GET", session_path("a b")).path == session_path("a b")


def test_only_sessions_whose_turns_were_all_judged_are_bridged() -> None:
    improve = json_call("POST /api/v1/improve", {"session_ids": ["own", "other"]})
    refuse_foreign_sessions(improve, lambda session: Standing.OWN)
    with pytest.raises(Refused, match="1 of 2 sessions") as caught:
        refuse_foreign_sessions(improve, {"own": OWN, "other": FOREIGN}.__getitem__)
    assert caught.value.code == "session_refused"


def test_a_turn_can_always_be_stored_in_a_session() -> None:
    turn = json_call(
        "POST /api/v1/remember/entry", {"entry": {"type": "qa", "question": "q", "answer": "a"}, "session_id": "s"}
    )
    refuse_foreign_sessions(turn, lambda session: Standing.FOREIGN)
