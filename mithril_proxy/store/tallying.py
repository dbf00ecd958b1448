"""Tallies of decisions by hour, status and score, kept as decisions are written.

A count over all decisions would take longer with every one of them, so each commit adds its own to the tally of the
hour. Decisions on held claims judged again are no traffic and are not counted.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from sqlalchemy import Connection
from sqlalchemy.dialects import postgresql, sqlite

from mithril_proxy.store.desk import REEVALUATE_ROUTE, SCORE_BUCKETS
from mithril_proxy.store.schema import decision_tallies

HOUR_CHARS = 13  # of a stored time: 2026-12-01T14


def _adding(dialect: Any) -> Any:
    statement = dialect.insert(decision_tallies)
    return statement.on_conflict_do_update(
        index_elements=["hour", "status", "bucket"],
        set_={"decisions": decision_tallies.c.decisions + statement.excluded.decisions},
    )


_ADD = {"sqlite": _adding(sqlite), "postgresql": _adding(postgresql)}


def bucket_of(score: float) -> int:
    """The bucket of the histogram that a score falls into, 0 to SCORE_BUCKETS - 1."""
    return min(SCORE_BUCKETS - 1, int(score * SCORE_BUCKETS))


def add_tallies(connection: Connection, rows: Sequence[Mapping[str, Any]]) -> None:
    """Count newly written rows of `decisions`."""
    counted = Counter(
        (row["at"][:HOUR_CHARS], row["status"], bucket_of(row["score"]))
        for row in rows
        if row["route"] != REEVALUATE_ROUTE
    )
    tallies = [
        {"hour": hour, "status": status, "bucket": bucket, "decisions": count}
        for (hour, status, bucket), count in sorted(counted.items())
    ]
    if tallies:
        connection.execute(_ADD[connection.dialect.name], tallies)
