"""How long each page of the desk takes with 100 decisions in the database, and with 100,000 and 20,000 held claims.

python -m benchmark.desk
"""

from __future__ import annotations

import asyncio
import statistics
import tempfile
import time
from pathlib import Path

from mithril_proxy.store import open_store
from mithril_proxy.store.interface import Page, QuarantineFilter
from tests.admin.conftest import AdminBench, admin_bench
from tests.store.test_desk_reads import fill
from tests.store.values import FixedClock

SIZES = (100, 100_000)
ROUNDS = 7


async def pages_of(admin: AdminBench) -> list[str]:
    entry = (await admin.bench.store.quarantine(Page(1), QuarantineFilter()))[0]
    listings = ["/", "/queue", "/queue?contains=nowhere", "/decisions", "/decisions?status=reject", "/sources"]
    single = [f"/queue/{entry.id}", f"/decisions/{entry.decision_id}", "/sources/slack"]
    return [*listings, *single, "/incidents", "/policy?thresholds.warn=0.5", "/pulse", "/metrics"]


async def measured(folder: Path, decisions: int) -> dict[str, float]:
    """Median milliseconds of each page."""
    store = await open_store(f"sqlite+aiosqlite:///{folder}/mithril.db", FixedClock())
    await fill(store, FixedClock(), decisions)
    await store.close()
    result = {}
    async with admin_bench(folder) as admin:
        browser = await admin.signed_in()
        for path in await pages_of(admin):
            times = []
            for _ in range(ROUNDS):
                started = time.perf_counter()
                answer = await browser.get(path)
                times.append((time.perf_counter() - started) * 1000)
                assert answer.status_code == 200, (path, answer.status_code)
            result[path.replace(path.split("/")[-1], "ID") if "_0" in path else path] = statistics.median(times)
    return result


async def main() -> None:
    columns = []
    for decisions in SIZES:
        with tempfile.TemporaryDirectory() as folder:
            columns.append(await measured(Path(folder), decisions))
    print(f"{'page':32} {'100':>10} {'100,000':>10} {'times':>6}")
    for path, few in columns[0].items():
        many = columns[1][path]
        print(f"{path:32} {few:8.1f}ms {many:8.1f}ms {many / few:6.1f}")


if __name__ == "__main__":
    import structlog

    structlog.configure(logger_factory=structlog.ReturnLoggerFactory())
    asyncio.run(main())
