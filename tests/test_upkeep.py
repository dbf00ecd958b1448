"""What runs beside the requests."""

from __future__ import annotations

import asyncio

import pytest
from structlog.testing import CapturingLogger

from mithril_proxy.errors import StoreUnavailable, UpstreamUnavailable
from mithril_proxy.telemetry import Metrics
from mithril_proxy.upkeep import every, look_at_upstream
from tests.harness import FakeAnswer, FakeUpstream, json_answer


@pytest.mark.parametrize(
    ("answer", "up"),
    [
        (json_answer({"message": "alive"}), 1),
        (json_answer({}, 401), 1),
        (json_answer({}, 503), 0),
        (UpstreamUnavailable("away"), 0),
        (TimeoutError(), 0),
        (FakeAnswer(200, [], [b"x"], breaks_off=True), 0),
    ],
)
async def test_the_upstream_is_up_when_it_answers(answer: FakeAnswer | Exception, up: int) -> None:
    metrics = Metrics()
    await look_at_upstream(FakeUpstream(script=lambda sent: answer), metrics)
    assert metrics.registry.get_sample_value("mithril_upstream_up") == up


async def test_a_round_that_fails_is_logged_and_the_next_one_runs() -> None:
    rounds: list[int] = []
    log = CapturingLogger()
    done = asyncio.Event()

    async def act() -> None:
        rounds.append(len(rounds))
        if len(rounds) == 1:
            raise StoreUnavailable("away")
        done.set()

    task = asyncio.create_task(every(0, "heal", act, log))
    await done.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert rounds[:2] == [0, 1]
    assert log.calls[0].args == ("heal.failed",)
    assert log.calls[0].kwargs == {"reason": "away"}
