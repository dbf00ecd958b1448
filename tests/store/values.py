"""Decisions, held writes and a clock that tests own."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

from mithril_proxy.clock import sortable_id
from mithril_proxy.store.interface import ReputationStep
from mithril_proxy.types import (
    Claim,
    Contribution,
    Decision,
    Finding,
    HeldWrite,
    Memory,
    Mode,
    Provenance,
    Signals,
    Status,
    Trust,
)

START = datetime(2026, 12, 1, 12, 0, tzinfo=UTC)
GOOD = ReputationStep(rate=0.10, target=1.0, floor=0.05, ceiling=0.99, reason="good")
BAD = ReputationStep(rate=0.22, target=0.0, floor=0.05, ceiling=0.99, reason="bad")
SLACK = Provenance("slack", "slack", prior=0.6, is_authenticated=True, session="s1", dataset="notes", peer="192.0.2.7")
PLANTED = Finding("redact", "redact.jwt", "clm_1", 0.9, "jwt in data[0], 80 characters")
KEY = "a1" * 32


class FixedClock:
    """A clock that stands until it is moved; identifiers count up. `stream` keeps those of several clocks apart."""

    def __init__(self, stream: int = 0) -> None:
        self.at = START
        self._stream = stream
        self._count = 0

    def now(self) -> datetime:
        return self.at

    def monotonic_s(self) -> float:
        return (self.at - START).total_seconds()

    def new_id(self, prefix: str) -> str:
        self._count += 1
        return sortable_id(prefix, int(self.at.timestamp() * 1000), (self._count << 32) | self._stream)

    def advance(self, **by: float) -> None:
        self.at += timedelta(**by)


def decision(clock: FixedClock, text: str = "the build is green", **over: Any) -> Decision:
    claim = Claim("clm_1", text, "data[0]")
    made = Decision(
        id=clock.new_id("dec"),
        at=clock.now(),
        request_id="req_1",
        route="/api/v1/remember",
        claim_id=claim.id,
        claim_digest=claim.digest,
        claim_length=len(text),
        provenance=SLACK,
        signals=Signals(source_reputation=0.6, freshness=1.0),
        trust=Trust(0.552, 0.29, (Contribution("source_reputation", 0.6, 0.4), Contribution("freshness", 1.0, 0.05))),
        status=Status.WARN,
        findings=(),
        mode=Mode.ENFORCE,
        policy_digest="ab" * 32,
        judge="local",
        stage_ms={"redact": 0.123, "contradiction": 1.5},
    )
    return replace(made, **over)


def held_write(made: Decision, text: str = "the build is green", **over: Any) -> HeldWrite:
    held = HeldWrite(
        decision_id=made.id,
        text=text,
        dataset="notes",
        prepared={"route": "/api/v1/remember", "fields": [["data", text]]},
        context=(Memory("the build is red", "ci-pipeline", 0.2, "data_1", "chunk_1"),),
    )
    return replace(held, **over)
