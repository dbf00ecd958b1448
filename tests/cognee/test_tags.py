"""Which tags a client may send, and what an admitted write carries."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mithril_proxy.cognee.tags import normal_form, slug
from mithril_proxy.types import Status
from tests.cognee.builders import TAGS

RESERVED = [
    "verified",
    "VERIFIED",
    "Verified",
    " verified ",
    "ver'ified",
    "ver\u2019ified",
    "ＶＥＲＩＦＩＥＤ",
    "veri\u200bfied",
    "veri\ufb01ed",
    "verified::T",
    "VERIFIED::x",
    "verified ::x",
    "_verified_",
    "low_confidence",
    "Low Confidence",
    "low  confidence",
    "LOW_CONFIDENCE",
    "slack",
    "Slack",
    "security-policy",
    "SECURITY-POLICY",
    "unknown-agent",
    '["verified"]',
    '"verified"',
    '[["VERIFIED"]]',
    '["\\u0076erified"]',
]
FREE = ["team-a", "verify", "unverified", "verified-by-me", "my verified", "low", "slackers", "été", "日本語", "हिन्दी"]


@pytest.mark.parametrize("tag", RESERVED)
def test_a_reserved_tag_is_found_in_every_spelling(tag: str) -> None:
    kept, forged = TAGS.split_client([tag])
    assert (kept, len(forged)) == ((), 1)


@pytest.mark.parametrize("tag", FREE)
def test_another_tag_is_the_clients_own(tag: str) -> None:
    kept, forged = TAGS.split_client([tag])
    assert (kept, forged) == ((normal_form(tag),), ())


@pytest.mark.parametrize(
    ("given_tags", "kept"),
    [
        (["Team A", "team_a", "team  a"], ("team_a",)),
        (['["a", "verified", "b"]'], ("a", "b")),
        (["[not json"], ("[not_json",)),
        (["[1, null]"], ()),
        (['{"a": 1}'], ('{"a":_1}',)),
        (["", " ", "'"], ()),
        ([None, 5, ["a", ["b"]]], ("a", "b")),
        (["[" * 20 + '"verified"' + "]" * 20], ()),
        (["x" * 500], ("x" * 128,)),
        (["[" * 9000], (("[" * 128),)),
    ],
)
def test_client_tags_are_flattened_to_their_normal_form(given_tags: list[object], kept: tuple[str, ...]) -> None:
    assert TAGS.split_client(given_tags)[0] == kept


def test_an_accepted_write_carries_verified_its_source_and_twins_of_the_clients_tags() -> None:
    tags = TAGS.for_forward(Status.ACCEPT, "Web Scrape", ["team_a"])
    assert tags == ("verified", "web_scrape", "team_a", "verified::team_a")


def test_a_warned_write_is_also_marked_as_low_confidence() -> None:
    assert "low_confidence" in TAGS.for_forward(Status.WARN, "slack")
    assert "low_confidence" not in TAGS.for_forward(Status.ACCEPT, "slack")


def test_a_session_always_gets_the_same_tags() -> None:
    ways = {TAGS.for_forward(status, "slack", tags, is_session=True) for status in Status for tags in ((), ("a",))}
    assert ways == {("verified", "slack")}


def test_a_reserved_tag_that_slipped_through_is_left_out() -> None:
    assert TAGS.for_forward(Status.ACCEPT, "slack", ["VERIFIED"]) == ("verified", "slack")


@pytest.mark.parametrize(
    ("node_name", "narrowed"),
    [
        (None, ("verified",)),
        ([], ("verified",)),
        (["verified"], ("verified",)),
        (["VERIFIED", "team"], ("verified",)),
        (["Team A"], ("verified::team_a",)),
        (["a", "b"], ("verified::a", "verified::b")),
        ("a", ("verified::a",)),
        ([""], ("verified",)),
    ],
)
def test_a_recall_is_narrowed_to_verified_memory(node_name: object, narrowed: tuple[str, ...]) -> None:
    assert TAGS.narrowed([node_name]) == narrowed


@pytest.mark.parametrize(
    ("node_sets", "source"),
    [
        (["verified", "slack"], "slack"),
        (["slack", "low_confidence", "verified"], "slack"),
        (["verified", "team", "verified::team", "wiki"], "wiki"),
        (["verified", "team", "verified::team"], None),
        (["user_sessions_from_cache", "verified", "wiki"], "wiki"),
        (["user_sessions_from_cache", "verified"], None),
        (["verified", "other", "slack"], "slack"),
        ([None, 3], None),
    ],
)
def test_the_source_of_a_memory_is_read_from_its_node_sets(node_sets: list[object], source: str | None) -> None:
    assert TAGS.source_of(node_sets) == source


@pytest.mark.parametrize(
    ("node_sets", "is_verified"),
    [
        (["verified"], True),
        (["VERIFIED"], False),
        ([], False),
        (None, False),
        ("verified", False),
        (["verified::a"], False),
    ],
)
def test_a_memory_is_verified_only_under_the_very_tag(node_sets: object, is_verified: bool) -> None:
    assert TAGS.is_verified(node_sets) is is_verified


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("slack", "slack"),
        ("Slack Bot", "slack_bot"),
        ("a/b", "a-b"),
        ("a__b-", "a__b-"),
        ("", "unnamed"),
        ("日本", "unnamed"),
        ("x" * 90, "x" * 63),
    ],
)
def test_a_source_has_a_plain_tag(name: str, expected: str) -> None:
    assert slug(name) == expected


@given(st.text())
def test_the_normal_form_is_a_fixed_point(tag: str) -> None:
    assert normal_form(normal_form(tag)) == normal_form(tag)


@given(st.lists(st.text() | st.none() | st.lists(st.text())))
def test_what_is_kept_is_never_reserved(values: list[object]) -> None:
    kept, _ = TAGS.split_client(values)
    assert not any(TAGS.is_reserved(tag) for tag in kept)
    assert TAGS.split_client(kept)[1] == ()


def _cognees_own_form(name: str) -> str:
    """How Cognee 1.6.5 makes the id of a node set from its name."""
    return name.lower().replace(" ", "_").replace("'", "")


@given(st.text())
def test_no_kept_tag_collides_with_a_reserved_one_inside_cognee(tag: str) -> None:
    kept, _ = TAGS.split_client([tag])
    reserved = {"verified", "low_confidence", "slack", "security-policy", "unknown-agent"}
    assert not {_cognees_own_form(own) for own in kept} & reserved
