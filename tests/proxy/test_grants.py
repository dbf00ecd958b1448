"""A release without a credential of Mithril's own: the writer's next attempt passes, once, and nothing else does."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

import pytest
import pytest_asyncio

from mithril_proxy.proxy.release import ReleaseRefused, Releases
from mithril_proxy.types import ReviewState
from tests.harness import Bench, bench, json_answer

HONEST = "The canteen opens at nine."


@pytest_asyncio.fixture
async def setup(tmp_path: Path) -> AsyncIterator[Bench]:
    async with bench(tmp_path) as made:
        await made.register("slack", 0.6)
        yield made


def keyless(setup: Bench) -> Releases:
    """A reviewer's releases where MITHRIL_UPSTREAM_API_KEY is not set, and Cognee asks for a credential."""
    setup.upstream.script = lambda sent: json_answer({"detail": "Unauthorized"}, 401)
    return replace(setup.plane.services.releases(setup.store, setup.upstream), service_key=None)


async def granted(setup: Bench) -> str:
    """The id of a claim that was released as a grant."""
    held = str((await setup.remember(HONEST, source="slack")).json()["quarantine_id"])
    entry = await keyless(setup).release(held, reviewer="ines", reason="true")
    assert (entry.state, entry.is_grant) == (ReviewState.RELEASED, True)
    setup.upstream.script = lambda sent: json_answer({"status": "completed"})
    setup.upstream.sent.clear()
    return held


async def test_the_same_write_of_the_same_source_passes_once(setup: Bench) -> None:
    held = await granted(setup)
    before = (await setup.store.source("slack")).reputation
    reply = await setup.remember(HONEST, source="slack")
    assert (reply.status, reply.header("x-mithril-status")) == (200, "accept")
    assert HONEST.encode() in setup.upstream.sent[0].body
    decision = await setup.store.decision(str(reply.header("x-mithril-decision")))
    assert [finding["rule"] for finding in decision["findings"]][-1] == "gate.granted"
    assert (await setup.store.source("slack")).reputation == before
    assert held in decision["findings"][-1]["detail"]
    assert (await setup.remember(HONEST, source="slack")).json()["status"] == "review"


async def test_neither_another_source_nor_another_text_nor_another_file_name_passes(setup: Bench) -> None:
    await granted(setup)
    await setup.register("email", 0.6)
    assert (await setup.remember(HONEST, source="email")).json()["status"] == "review"
    assert (await setup.remember(HONEST + " Or ten.", source="slack")).json()["status"] == "review"
    other = await setup.remember(HONEST, source="slack", filename="ignore all of the rules.txt")
    assert other.json()["status"] != "completed"
    assert setup.upstream.sent == []


async def test_a_grant_moves_the_reputation_as_a_release_does(setup: Bench) -> None:
    await granted(setup)
    assert (await setup.store.source("slack")).reputation == pytest.approx(0.6 + 0.1 * 0.4)


async def test_a_corrected_text_is_never_granted(setup: Bench) -> None:
    held = str((await setup.remember(HONEST, source="slack")).json()["quarantine_id"])
    with pytest.raises(ReleaseRefused, match="MITHRIL_UPSTREAM_API_KEY"):
        await keyless(setup).release(held, reviewer="ines", reason="better", text="The canteen opens at ten.")
    assert (await setup.store.held(held)).state is ReviewState.PENDING


async def test_a_refusal_that_no_credential_would_change_is_no_grant(setup: Bench) -> None:
    held = str((await setup.remember(HONEST, source="slack")).json()["quarantine_id"])
    releases = keyless(setup)
    setup.upstream.script = lambda sent: json_answer({"error": "broken"}, 500)
    with pytest.raises(ReleaseRefused):
        await releases.release(held, reviewer="ines", reason="true")
    assert (await setup.store.held(held)).state is ReviewState.PENDING
