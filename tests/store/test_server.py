"""What only a database server can do to its clients."""

from __future__ import annotations

import asyncio

import asyncpg
import pytest
from sqlalchemy import make_url

from mithril_proxy.errors import StoreUnavailable
from mithril_proxy.store import open_store
from mithril_proxy.store.engines import ADVISORY_LOCK
from tests.store.conftest import SERVER
from tests.store.values import GOOD, SLACK, FixedClock, decision

pytestmark = pytest.mark.postgres


async def connected(url: str) -> asyncpg.Connection:
    plain = make_url(url).set(drivername="postgresql").render_as_string(hide_password=False)
    return await asyncpg.connect(plain)


if SERVER:

    @pytest.mark.parametrize("engine", ["postgresql"], indirect=True)
    async def test_a_replica_that_holds_the_lock_is_503_and_then_well_again(
        database_url: str, clock: FixedClock
    ) -> None:
        store = await open_store(database_url, clock, busy_timeout_s=0.2)
        await store.record(decision(clock))
        holder = await connected(database_url)
        await holder.execute(f"SELECT pg_advisory_lock({ADVISORY_LOCK})")
        with pytest.raises(StoreUnavailable, match="LockNotAvailable"):
            await store.record(decision(clock))
        await holder.close()
        await store.record(decision(clock))
        assert (await store.source("slack")).decisions == 2
        assert (await store.verify_audit()).is_intact
        await store.close()

    @pytest.mark.parametrize("engine", ["postgresql"], indirect=True)
    async def test_connections_that_the_server_ends_are_made_anew(database_url: str, clock: FixedClock) -> None:
        store = await open_store(database_url, clock)
        await store.record(decision(clock), step=GOOD)
        await store.reputation_of(SLACK)
        other = await connected(database_url)
        await other.execute(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'mithril'"
            " AND datname = current_database()"
        )
        await other.close()
        assert await store.reputation_of(SLACK) == pytest.approx(0.64)
        await store.record(decision(clock), step=GOOD)
        assert (await store.source("slack")).decisions == 2
        assert (await store.verify_audit()).is_intact
        await store.close()

    @pytest.mark.parametrize("engine", ["postgresql"], indirect=True)
    async def test_replicas_that_write_at_once_wait_for_each_other_and_never_deadlock(database_url: str) -> None:
        clocks = [FixedClock(stream) for stream in range(3)]
        replicas = [await open_store(database_url, clock) for clock in clocks]
        await asyncio.gather(
            *(
                replica.record(decision(clock), step=GOOD)
                for _ in range(20)
                for replica, clock in zip(replicas, clocks, strict=True)
            )
        )
        assert (await replicas[0].source("slack")).decisions == 60
        assert (await replicas[0].verify_audit()).is_intact
        for replica in replicas:
            await replica.close()
