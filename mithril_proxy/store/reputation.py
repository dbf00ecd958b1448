"""How decisions and reviews move the reputation of sources, many at once and losing none.

1. It runs inside a transaction that holds the database's write lock, so what it reads cannot change before it writes.
2. All moves of one transaction are folded in order; each keeps the value before and after it.
3. A frozen source is counted but does not move.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, bindparam, select, update

from mithril_proxy.store.bulk import insert_rows
from mithril_proxy.store.incidents import IncidentRules, is_collapse, of_burst, of_collapse
from mithril_proxy.store.interface import ReputationStep
from mithril_proxy.store.rows import readable
from mithril_proxy.store.schema import sources
from mithril_proxy.types import Provenance

IN_LIST = 500  # principals in one SELECT: SQLite's oldest limit on bound values is 999

_READ = select(
    sources.c.principal,
    sources.c.prior,
    sources.c.reputation,
    sources.c.decisions,
    sources.c.is_frozen,
    sources.c.diverted_minute,
    sources.c.diverted_count,
).where(sources.c.principal.in_(bindparam("principals", expanding=True)))
_UPDATE = (
    update(sources)
    .where(sources.c.principal == bindparam("of_principal"))
    .values(
        {
            name: bindparam(name)
            for name in (
                "reputation",
                "decisions",
                "updated_at",
                "diverted_minute",
                "diverted_count",
            )
        }
    )
)


def moved(value: float, step: ReputationStep) -> float:
    """The reputation after one step."""
    after = value + step.rate * (step.target - value)
    return min(step.ceiling, max(step.floor, after))


def inverse(step: ReputationStep) -> ReputationStep:
    """The step that takes `step` back, up to what floor and ceiling cut off.

    r' = r + a(t - r) gives r = r' + b(t - r') with b = -a / (1 - a). A step of rate 1 cannot be undone.
    """
    if step.rate >= 1.0:
        raise ValueError("a step of rate 1 forgets what was before it")
    rate = -step.rate / (1.0 - step.rate)
    return ReputationStep(rate, step.target, step.floor, step.ceiling, f"undone: {step.reason}")


@dataclass(slots=True)
class Move:
    """What one decision or review does to the row of its source. `before` and `after` are known once it is applied."""

    provenance: Provenance
    at: str
    steps: tuple[ReputationStep, ...] = ()
    decision_id: str | None = None
    decisions: int = 0
    is_diverted: bool = False
    before: float = 0.0
    after: float = 0.0


@dataclass(slots=True)
class _Standing:
    """The row of one source while moves are folded into it."""

    prior: float
    reputation: float
    decisions: int
    is_frozen: bool
    diverted_minute: str
    diverted_count: int
    updated_at: str = ""


@dataclass(frozen=True, slots=True)
class Moved:
    """The rows that moves leave in other tables."""

    events: list[dict[str, Any]]
    incidents: list[dict[str, Any]]


def apply_moves(connection: Connection, moves: Sequence[Move], rules: IncidentRules) -> Moved:
    """Fold `moves` into `sources`; a principal seen for the first time starts at its prior."""
    result = Moved([], [])
    if not moves:
        return result
    first = {readable(move.provenance.principal): move for move in reversed(moves)}
    standings = _standings(connection, first)
    unseen = [_new_source(principal, move) for principal, move in first.items() if principal not in standings]
    insert_rows(connection, sources, unseen)
    for row in unseen:
        standings[row["principal"]] = _Standing(row["prior"], row["reputation"], 0, False, "", 0)
    for move in moves:
        _fold(standings[readable(move.provenance.principal)], move, rules, result)
    connection.execute(_UPDATE, [_updated(principal, standing) for principal, standing in standings.items()])
    return result


def _standings(connection: Connection, principals: Iterable[str]) -> dict[str, _Standing]:
    wanted = sorted(principals)
    found: dict[str, _Standing] = {}
    for start in range(0, len(wanted), IN_LIST):
        rows = connection.execute(_READ, {"principals": wanted[start : start + IN_LIST]})
        found.update({row[0]: _Standing(*row[1:]) for row in rows})
    return found


def _new_source(principal: str, move: Move) -> dict[str, Any]:
    return {
        "principal": principal,
        "name": readable(move.provenance.source),
        "prior": move.provenance.prior,
        "reputation": move.provenance.prior,
        "decisions": 0,
        "created_at": move.at,
        "updated_at": move.at,
        "is_registered": False,
        "is_frozen": False,
        "may_declare": "[]",
        "diverted_minute": "",
        "diverted_count": 0,
    }


def _updated(principal: str, standing: _Standing) -> dict[str, Any]:
    return {
        "of_principal": principal,
        "reputation": standing.reputation,
        "decisions": standing.decisions,
        "updated_at": standing.updated_at,
        "diverted_minute": standing.diverted_minute,
        "diverted_count": standing.diverted_count,
    }


def _fold(standing: _Standing, move: Move, rules: IncidentRules, result: Moved) -> None:
    standing.updated_at = move.at
    standing.decisions += move.decisions
    move.before = standing.reputation
    if not standing.is_frozen:
        for step in move.steps:
            _take(standing, move, step, rules, result)
    move.after = standing.reputation
    if move.is_diverted:
        _count_diverted(standing, move, rules, result)


def _take(standing: _Standing, move: Move, step: ReputationStep, rules: IncidentRules, result: Moved) -> None:
    before, after = standing.reputation, moved(standing.reputation, step)
    standing.reputation = after
    result.events.append(
        {
            "at": move.at,
            "principal": readable(move.provenance.principal),
            "before": before,
            "after": after,
            "reason": readable(step.reason),
            "decision_id": move.decision_id,
        }
    )
    if is_collapse(standing.prior, after, before, rules):
        result.incidents.append(of_collapse(move.at, move.provenance, move.decision_id, before, after))


def _count_diverted(standing: _Standing, move: Move, rules: IncidentRules, result: Moved) -> None:
    minute = move.at[:16]
    standing.diverted_count = standing.diverted_count + 1 if standing.diverted_minute == minute else 1
    standing.diverted_minute = minute
    if standing.diverted_count == rules.burst_diverted_a_minute:
        result.incidents.append(of_burst(move.at, move.provenance, move.decision_id, rules))
