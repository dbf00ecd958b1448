"""Tokens and sessions: only digests are kept, and what is taken back is gone at once."""

from __future__ import annotations

from datetime import timedelta

import pytest

from mithril_proxy.errors import InvalidTransition, NotFound
from mithril_proxy.store.desk import AdminSession, DeskStore, Scope
from tests.store.values import START, FixedClock


def session(name: str, token: str, hours: float = 1) -> AdminSession:
    return AdminSession(name, token, "marta", Scope.REVIEW, START, START + timedelta(hours=hours))


@pytest.mark.parametrize(
    ("held", "asked", "covers"),
    [
        (Scope.READ, Scope.READ, True),
        (Scope.READ, Scope.REVIEW, False),
        (Scope.REVIEW, Scope.READ, True),
        (Scope.REVIEW, Scope.ADMIN, False),
        (Scope.ADMIN, Scope.REVIEW, True),
        (Scope.ADMIN, Scope.ADMIN, True),
    ],
)
def test_a_scope_covers_itself_and_the_smaller_ones(held: Scope, asked: Scope, covers: bool) -> None:
    assert held.includes(asked) is covers


async def test_a_token_is_found_until_it_is_revoked_and_its_name_is_free_again(store: DeskStore) -> None:
    made = await store.add_token("marta", scope=Scope.REVIEW, digest="d1")
    assert await store.token("d1") == made
    with pytest.raises(InvalidTransition, match="live token"):
        await store.add_token("marta", scope=Scope.READ, digest="d2")
    revoked = await store.revoke_token("marta")
    assert revoked.revoked_at is not None
    assert await store.token("d1") is None
    with pytest.raises(NotFound):
        await store.revoke_token("marta")
    await store.add_token("marta", scope=Scope.READ, digest="d2")
    assert [(token.name, token.scope, token.revoked_at is None) for token in await store.tokens()] == [
        ("marta", Scope.REVIEW, False),
        ("marta", Scope.READ, True),
    ]


async def test_a_session_ends_with_its_time_by_signing_out_or_with_its_token(
    store: DeskStore, clock: FixedClock
) -> None:
    await store.add_token("marta", scope=Scope.REVIEW, digest="d1")
    for name, hours in (("short", 0.5), ("out", 2), ("token", 2)):
        await store.open_session(session(name, "d1", hours), peer="192.0.2.7")
    assert (await store.session("short")) == session("short", "d1", 0.5)
    clock.advance(hours=0.5)
    assert await store.session("short") is None
    await store.end_session("out")
    await store.end_session("never was")
    assert await store.session("out") is None
    assert await store.session("token") is not None
    await store.revoke_token("marta")
    assert await store.session("token") is None


async def test_tokens_and_sign_ins_are_audited_without_digests(store: DeskStore) -> None:
    await store.add_token("marta", scope=Scope.REVIEW, digest="d1")
    await store.open_session(session("s1", "d1"), peer="192.0.2.7")
    await store.end_session("s1")
    await store.revoke_token("marta")
    rows = [(row.kind, row.subject, dict(row.payload)) for row in await store.audit() if row.kind != "writer"]
    assert rows == [
        ("token", "marta", {"event": "added", "scope": "review"}),
        ("sign-in", "marta", {"event": "signed-in", "peer": "192.0.2.7", "scope": "review"}),
        ("sign-in", "marta", {"event": "signed-out"}),
        ("token", "marta", {"event": "revoked"}),
    ]
