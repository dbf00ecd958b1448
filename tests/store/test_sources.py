from __future__ import annotations

import pytest

from mithril_proxy.errors import InvalidTransition, NotFound
from mithril_proxy.store import Store
from mithril_proxy.store.interface import Page
from mithril_proxy.store.names import check_source_name, normal_form
from tests.store.values import BAD, KEY, SLACK, FixedClock, decision

OTHER_KEY = "b2" * 32


@pytest.mark.parametrize("name", ["slack", "ci-pipeline", "a", "0", "a_b-c", "x" * 63, "verified2", "unknown-agent-7"])
def test_a_slug_may_name_a_source(name: str) -> None:
    check_source_name(name)


@pytest.mark.parametrize(
    "name",
    [
        "",
        "-a",
        "_a",
        "A",
        "a b",
        "a/b",
        "a\n",
        "x" * 64,
        "café",
        "verified",
        "VERIFIED",
        "ｖerified",
        "veri'fied",
        "low_confidence",
        "Low Confidence",
        "unknown-agent",
    ],
)
def test_a_name_that_could_pass_for_a_tag_is_refused(name: str) -> None:
    with pytest.raises(InvalidTransition):
        check_source_name(name)


def test_tags_are_compared_as_cognee_renames_them() -> None:
    assert normal_form("LOW Confidence") == normal_form("low_con\u2019fidence") == "low_confidence"


async def test_a_registered_source_is_found_by_its_key(store: Store) -> None:
    added = await store.add_source("my-agent", prior=0.9, key_digest=KEY, may_declare=("docs",))
    found = await store.source_by_key(KEY)
    assert found == added == await store.source("my-agent")
    assert (added.prior, added.reputation, added.is_registered, added.may_declare) == (0.9, 0.9, True, ("docs",))
    assert added.key_digests == (KEY,)
    assert await store.source_by_key(OTHER_KEY) is None


async def test_a_second_key_leaves_prior_and_reputation_alone(store: Store, clock: FixedClock) -> None:
    await store.add_source("slack", prior=0.6, key_digest=KEY)
    await store.record(decision(clock), step=BAD)
    clock.advance(seconds=1)
    again = await store.add_source("slack", prior=0.99, key_digest=OTHER_KEY, may_declare=("docs",))
    assert again.prior == 0.6
    assert again.reputation == pytest.approx(0.468)
    assert (again.key_digests, again.may_declare) == ((KEY, OTHER_KEY), ("docs",))


async def test_registering_a_source_that_was_only_seen_starts_it_anew(store: Store, clock: FixedClock) -> None:
    await store.record(decision(clock), step=BAD)
    added = await store.add_source("slack", prior=0.8, key_digest=KEY)
    assert (added.is_registered, added.prior, added.reputation, added.decisions) == (True, 0.8, 0.8, 1)


async def test_one_key_belongs_to_one_source(store: Store) -> None:
    await store.add_source("one", prior=0.5, key_digest=KEY)
    with pytest.raises(InvalidTransition, match="issued before"):
        await store.add_source("two", prior=0.5, key_digest=KEY)
    assert [source.name for source in await store.sources()] == ["one"]


async def test_a_reserved_name_is_refused_before_anything_is_written(store: Store) -> None:
    with pytest.raises(InvalidTransition, match="reserved"):
        await store.add_source("verified", prior=1.0, key_digest=KEY)
    assert await store.audit() == []


async def test_a_revoked_key_opens_nothing_and_stays_revoked(store: Store) -> None:
    await store.add_source("slack", prior=0.6, key_digest=KEY)
    await store.add_source("slack", prior=0.6, key_digest=OTHER_KEY)
    left = await store.revoke_key(KEY, reason="leaked")
    assert left.key_digests == (OTHER_KEY,)
    assert await store.source_by_key(KEY) is None
    assert (await store.source_by_key(OTHER_KEY)) is not None
    with pytest.raises(NotFound):
        await store.revoke_key(KEY, reason="again")
    with pytest.raises(InvalidTransition):
        await store.add_source("slack", prior=0.6, key_digest=KEY)


async def test_a_reset_sets_the_reputation_and_says_why(store: Store, clock: FixedClock) -> None:
    await store.record(decision(clock), step=BAD)
    reset = await store.reset_source("slack", reputation=0.7, reason="it was our own test")
    assert reset.reputation == await store.reputation_of(SLACK) == 0.7
    event = (await store.reputation_events("slack", Page()))[0]
    assert (event.after, event.reason, event.decision_id) == (0.7, "reset: it was our own test", None)
    row = (await store.audit())[-1]
    assert (row.kind, row.subject, row.payload["reason"]) == ("reputation", "slack", "it was our own test")


async def test_freezing_twice_or_thawing_what_moves_is_refused(store: Store) -> None:
    await store.add_source("slack", prior=0.6, key_digest=KEY)
    with pytest.raises(InvalidTransition):
        await store.thaw_source("slack", reason="why not")
    await store.freeze_source("slack", reason="odd writes")
    with pytest.raises(InvalidTransition):
        await store.freeze_source("slack", reason="odd writes")
    assert [row.payload["event"] for row in await store.audit() if row.kind == "source"] == ["key-issued", "frozen"]


async def test_an_unknown_source_is_not_found(store: Store) -> None:
    with pytest.raises(NotFound):
        await store.source("nobody")
    with pytest.raises(NotFound):
        await store.reset_source("nobody", reputation=0.5, reason="none")
    with pytest.raises(NotFound):
        await store.freeze_source("nobody", reason="none")


async def test_sources_are_listed_by_name_with_their_live_keys(store: Store) -> None:
    await store.add_source("zulip", prior=0.5, key_digest=KEY)
    await store.add_source("email", prior=0.5, key_digest=OTHER_KEY)
    assert [(source.name, source.key_digests) for source in await store.sources()] == [
        ("email", (OTHER_KEY,)),
        ("zulip", (KEY,)),
    ]
