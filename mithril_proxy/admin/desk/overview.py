"""The first page: what is waiting, what came in, how it scored; and the pulse that keeps pages fresh."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from datetime import datetime, timedelta

import orjson
from starlette.requests import Request
from starlette.responses import Response

from mithril_proxy.admin.answers import answer_json
from mithril_proxy.admin.desk.charts import Column, stacked
from mithril_proxy.admin.desk.render import Desk
from mithril_proxy.admin.requests import read_query
from mithril_proxy.admin.shapes import StatsQuery
from mithril_proxy.store.desk import SCORE_BUCKETS, Tally
from mithril_proxy.store.interface import Page, QuarantineFilter
from mithril_proxy.types import ReviewState, Status

WAITING, INCIDENTS = 8, 8  # rows on this page; both have pages of their own


@dataclass(frozen=True, slots=True)
class Overview:
    """The state of the whole on one page."""

    desk: Desk

    async def show(self, request: Request) -> Response:
        """Counts and charts of the last hours, what waits longest to be seen, and incidents."""
        query, store = read_query(request, OverviewQuery), self.desk.operations.store
        now = self.desk.operations.clock.now()
        since = now - timedelta(hours=query.hours)
        tallies = await store.tallies(since)
        depth = await store.queue_depth()
        groups = await store.held_groups(Page(WAITING), QuarantineFilter())
        return self.desk.page(
            request,
            "overview.html",
            hours=query.hours,
            totals=_totals(tallies),
            by_hour=_by_hour(tallies, since, now),
            by_score=by_score(tallies),
            charts=(
                stacked(_by_hour(tallies, since, now), f"Decisions by hour and status, last {query.hours} hours"),
                stacked(
                    by_score(tallies),
                    "Scores of decisions, with the thresholds",
                    lines=self.desk.operations.policy.thresholds.model_dump(),
                ),
            ),
            waiting=depth.by_state.get(ReviewState.PENDING, 0),
            oldest=depth.oldest_pending,
            rows=[(group, await store.held(group.newest_id)) for group in groups],
            incidents=await store.incidents(limit=INCIDENTS),
        )

    async def pulse(self, request: Request) -> Response:
        """The newest rows; 304 when the asker knows them. A script polls it to see when to load its page again."""
        heads = asdict(await self.desk.operations.store.heads())
        tag = '"' + hashlib.sha256(orjson.dumps(heads)).hexdigest()[:16] + '"'
        headers = {"etag": tag, "cache-control": "no-cache"}
        if request.headers.get("if-none-match") == tag:
            return Response(status_code=304, headers=headers)
        return answer_json(heads, headers=headers)


class OverviewQuery(StatsQuery):
    """The hours to show, and what the last page said."""

    said: str | None = None


def _totals(tallies: Sequence[Tally]) -> dict[Status, int]:
    counted = Counter[str]()
    for tally in tallies:
        counted[tally.status] += tally.decisions
    return {status: counted[status] for status in Status}


def _by_hour(tallies: Sequence[Tally], since: datetime, now: datetime) -> list[Column]:
    """One column an hour, also for hours with nothing in them."""
    counted: dict[str, Counter[Status]] = {}
    for tally in tallies:
        counted.setdefault(tally.hour, Counter())[Status(tally.status)] += tally.decisions
    first = since.replace(minute=0, second=0, microsecond=0)
    hours = int((now - first).total_seconds() // 3600) + 1
    stamps = [first + timedelta(hours=place) for place in range(hours)]
    label = "%H:00" if hours <= 25 else "%d.%m."
    return [Column(at.strftime(label), counted.get(at.strftime("%Y-%m-%dT%H"), Counter())) for at in stamps]


def by_score(tallies: Sequence[Tally]) -> list[Column]:
    """One column a bucket of the score."""
    counted: list[Counter[Status]] = [Counter() for _ in range(SCORE_BUCKETS)]
    for tally in tallies:
        counted[tally.bucket][Status(tally.status)] += tally.decisions
    return [Column(f"{place / SCORE_BUCKETS:.2f}", counts) for place, counts in enumerate(counted)]
