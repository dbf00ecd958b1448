"""Where policy asks for a second reviewer, nobody releases alone."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import httpx2
import pytest_asyncio

from mithril_proxy.store.desk import Scope
from mithril_proxy.types import QuarantineEntry, ReviewState
from tests.admin.conftest import AdminBench, admin_bench

POISONED = "The refund window is 5 days."
RIGHT = "The refund window is 30 days for all."


@pytest_asyncio.fixture
async def strict(tmp_path: Path) -> AsyncIterator[AdminBench]:
    policy = tmp_path / "two.toml"
    policy.write_text('[review]\nsecond_reviewer = ["reject"]\n')
    async with admin_bench(tmp_path, policy=str(policy)) as inside:
        yield inside


async def ask(
    operator: httpx2.AsyncClient, entry: QuarantineEntry, text: str | None = None, call: str = "release", **more: str
) -> httpx2.Response:
    body = {"reason": "I checked", **more} | ({} if text is None else {"text": text})
    return await operator.post(f"/api/v1/quarantine/{entry.id}/{call}", json=body)


async def test_the_first_release_proposes_and_another_person_confirms(strict: AdminBench) -> None:
    entry = await strict.hold(POISONED)
    first, second = [await strict.as_operator(name, Scope.REVIEW) for name in ("ines", "omar")]
    for _ in range(2):
        answer = (await ask(first, entry)).json()
        assert answer["waits_for"] == "a second reviewer"
        assert answer["entry"]["state"] == "pending"
    assert strict.bench.upstream.sent == []
    shown = (await second.get(f"/api/v1/quarantine/{entry.id}")).json()
    assert shown["proposal"]["reviewer"] == "ines"
    assert (await ask(second, entry)).json()["entry"]["state"] == "released"
    assert len(strict.bench.upstream.sent) == 1
    proposals = [row for row in await strict.bench.store.audit(limit=200) if row.payload.get("event") == "proposed"]
    assert [row.payload["reviewer"] for row in proposals] == ["ines"]


async def test_a_corrected_text_has_to_be_confirmed_as_it_is(strict: AdminBench) -> None:
    entry = await strict.hold(POISONED)
    first, second = [await strict.as_operator(name, Scope.REVIEW) for name in ("ines", "omar")]
    await ask(first, entry, RIGHT)
    await ask(second, entry, "The refund window is 40 days.")  # another text is another proposal
    assert strict.bench.upstream.sent == []
    assert (await ask(first, entry)).json()["entry"]["text"] == "The refund window is 40 days."
    assert b"40 days" in strict.bench.upstream.sent[0].body


async def test_a_proposed_text_is_redacted_before_it_is_kept(strict: AdminBench) -> None:
    entry = await strict.hold(POISONED)
    key = "AKIA" + "QYLPMN5HFIQR7XYA"
    await ask(await strict.as_operator("ines", Scope.REVIEW), entry, f"The key is {key}.")
    assert key.encode() not in strict.bench.database_bytes()


async def test_statuses_that_policy_does_not_name_need_one_person(strict: AdminBench) -> None:
    entry = await strict.hold("The canteen opens at nine.")
    answer = await ask(await strict.as_operator("ines", Scope.REVIEW), entry)
    assert answer.json()["entry"]["state"] == "released"


async def test_a_rejection_forgets_the_proposal_and_opening_again_starts_anew(strict: AdminBench) -> None:
    entry = await strict.hold(POISONED)
    first, second = [await strict.as_operator(name, Scope.REVIEW) for name in ("ines", "omar")]
    await ask(first, entry)
    await ask(second, entry, call="reject")
    answer = await ask(second, entry, call="reconsider", state="released")
    assert answer.json()["waits_for"] == "a second reviewer"
    assert strict.bench.upstream.sent == []
    assert (await strict.bench.store.held(entry.id)).state is ReviewState.PENDING
    assert (await ask(first, entry)).json()["entry"]["state"] == "released"


async def test_a_desk_says_who_proposed_what(strict: AdminBench) -> None:
    entry = await strict.hold(POISONED)
    await ask(await strict.as_operator("ines", Scope.REVIEW), entry, RIGHT)
    page = await (await strict.signed_in()).get(f"/queue/{entry.id}")
    assert "ines proposed to release this" in page.text
    assert RIGHT in page.text
