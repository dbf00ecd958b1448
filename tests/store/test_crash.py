from __future__ import annotations

import asyncio
import resource
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from mithril_proxy.errors import StoreUnavailable
from mithril_proxy.store import Store, open_store
from mithril_proxy.store.interface import Outcome, Page
from mithril_proxy.types import ReviewState
from tests.store.release_and_die import STEPS
from tests.store.test_held import hold
from tests.store.values import GOOD, SLACK, FixedClock, decision

RECORDS = Path(__file__).with_name("update_reputation.py")
RELEASES = Path(__file__).with_name("release_and_die.py")


@pytest.mark.parametrize("acknowledged", [1, 30])
async def test_a_decision_survives_kill_9_right_after_its_answer(
    store: Store, database_url: str, acknowledged: int
) -> None:
    running = await asyncio.create_subprocess_exec(
        sys.executable, str(RECORDS), database_url, "3", "100000", stdout=asyncio.subprocess.PIPE
    )
    assert running.stdout is not None
    seen = [(await running.stdout.readline()).decode().strip() for _ in range(acknowledged)]
    running.kill()
    rest = (await running.stdout.read()).decode().splitlines(keepends=True)
    assert await running.wait() == -signal.SIGKILL
    seen += [line.strip() for line in rest if line.endswith("\n")]
    for decision_id in seen:
        assert (await store.decision(decision_id))["id"] == decision_id
    audited = [row.subject async for row in store.audit_rows() if row.kind == "decision"]
    source = await store.source("slack")
    assert len(audited) == len(set(audited)) == source.decisions
    assert set(seen) <= set(audited)
    assert (await store.verify_audit()).is_intact


@pytest.mark.parametrize("step", STEPS)
async def test_a_release_cut_off_by_kill_9_at_any_step_is_finished_once(
    store: Store, clock: FixedClock, database_url: str, tmp_path: Path, step: str
) -> None:
    upstream = tmp_path / "upstream"
    upstream.mkdir()
    held = await hold(store, clock)
    died = await asyncio.create_subprocess_exec(sys.executable, str(RELEASES), database_url, held, str(upstream), step)
    assert await died.wait() == -signal.SIGKILL
    clock.advance(seconds=61)
    await finish(store, held, upstream)
    assert (await store.held(held)).state is ReviewState.RELEASED
    assert [path.read_text() for path in upstream.iterdir()] == ["the build is green"]
    assert await store.reputation_of(SLACK) == pytest.approx(0.64)
    assert len(await store.reputation_events("slack", Page())) == 1
    assert (await store.verify_audit()).is_intact


async def finish(store: Store, held: str, upstream: Path) -> None:
    """What a restarted Mithril does: release what waits, take over what was being released."""
    entry = await store.held(held)
    if entry.state is ReviewState.RELEASED:
        return
    lapsed = [one.id for one in await store.lapsed_releases()]
    assert lapsed == ([held] if entry.state is ReviewState.RELEASING else [])
    release = await store.begin_release(held, reviewer="ada", reason="go")
    (upstream / release.key).write_text(release.entry.text)
    await store.finish_release(release, Outcome("forwarded", 200), step=GOOD)


@contextmanager
def files_no_longer_than(size: int) -> Iterator[None]:
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


async def test_a_full_disk_is_503_and_the_store_is_well_when_there_is_room_again(
    tmp_path: Path, clock: FixedClock
) -> None:
    store = await open_store(f"sqlite+aiosqlite:///{tmp_path}/mithril.db", clock)
    await store.record(decision(clock), step=GOOD)
    assert await store.reputation_of(SLACK) == pytest.approx(0.64)
    with files_no_longer_than(1024):
        results = await asyncio.gather(
            *(store.record(decision(clock), step=GOOD) for _ in range(5)), return_exceptions=True
        )
        assert all(isinstance(result, StoreUnavailable) for result in results)
        with pytest.raises(StoreUnavailable):
            await store.ping()
        assert await store.reputation_of(SLACK) == pytest.approx(0.64)
    await store.ping()
    recorded = await store.record(decision(clock), step=GOOD)
    assert recorded.reputation == pytest.approx(0.676)
    assert (await store.source("slack")).decisions == 2
    assert (await store.verify_audit()).is_intact
    await store.close()
