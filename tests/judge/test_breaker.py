"""The circuit breaker: its transition table, and what it promises whatever happens."""

from __future__ import annotations

from dataclasses import dataclass, field

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mithril_proxy.judge.breaker import TRANSITIONS, Circuit, CircuitBreaker, Event, Ticket
from tests.judge.fakes import HandClock


@dataclass
class Bench:
    """A breaker that opens after three failures, with a clock that a test moves."""

    clock: HandClock = field(default_factory=HandClock)

    def __post_init__(self) -> None:
        self.breaker = CircuitBreaker(self.clock, failures_to_open=3, reset_s=30.0)

    def circuit(self) -> Circuit:
        return self.breaker.circuit

    def ticket(self) -> Ticket:
        ticket = self.breaker.admit()
        assert ticket is not None
        return ticket

    def opened(self) -> Bench:
        for _ in range(3):
            self.breaker.failed(self.ticket())
        return self


@pytest.mark.parametrize(
    ("failures", "circuit"),
    [(0, Circuit.CLOSED), (2, Circuit.CLOSED), (3, Circuit.OPEN)],
)
def test_failures_in_a_row_open_the_circuit(failures: int, circuit: Circuit) -> None:
    bench = Bench()
    for _ in range(failures):
        bench.breaker.failed(bench.ticket())
    assert bench.breaker.circuit is circuit


def test_a_success_between_failures_starts_the_count_anew() -> None:
    bench = Bench()
    for failed in (True, True, False, True, True):
        (bench.breaker.failed if failed else bench.breaker.succeeded)(bench.ticket())
    assert bench.breaker.circuit is Circuit.CLOSED


@pytest.mark.parametrize(
    ("waited_s", "circuit"),
    [(0.0, Circuit.OPEN), (29.9, Circuit.OPEN), (30.0, Circuit.HALF_OPEN), (3000.0, Circuit.HALF_OPEN)],
)
def test_an_open_circuit_admits_again_only_after_the_reset_time(waited_s: float, circuit: Circuit) -> None:
    bench = Bench().opened()
    bench.clock.pass_s(waited_s)
    assert (bench.breaker.admit() is not None) == (circuit is Circuit.HALF_OPEN)
    assert bench.breaker.circuit is circuit


def test_half_open_admits_one_trial_at_a_time() -> None:
    bench = Bench().opened()
    bench.clock.pass_s(30)
    bench.ticket()
    assert bench.breaker.admit() is None


def test_a_trial_that_succeeds_closes_the_circuit() -> None:
    bench = Bench().opened()
    bench.clock.pass_s(30)
    bench.breaker.succeeded(bench.ticket())
    assert bench.breaker.circuit is Circuit.CLOSED


def test_a_trial_that_fails_opens_the_circuit_for_the_whole_reset_time_again() -> None:
    bench = Bench().opened()
    bench.clock.pass_s(30)
    bench.breaker.failed(bench.ticket())
    bench.clock.pass_s(29)
    assert bench.breaker.circuit is Circuit.OPEN


def test_an_abandoned_trial_makes_room_for_the_next_one() -> None:
    bench = Bench().opened()
    bench.clock.pass_s(30)
    bench.breaker.abandoned(bench.ticket())
    bench.breaker.succeeded(bench.ticket())
    assert bench.breaker.circuit is Circuit.CLOSED


def test_an_abandoned_call_is_no_failure() -> None:
    bench = Bench()
    for _ in range(9):
        bench.breaker.abandoned(bench.ticket())
    assert bench.breaker.circuit is Circuit.CLOSED


def test_results_from_before_a_change_are_ignored() -> None:
    bench = Bench()
    late = [bench.ticket() for _ in range(3)]
    bench.opened()
    bench.clock.pass_s(30)
    trial = bench.ticket()
    bench.breaker.succeeded(late[0])
    bench.breaker.failed(late[1])
    bench.breaker.abandoned(late[2])
    assert bench.circuit() is Circuit.HALF_OPEN
    assert bench.breaker.admit() is None
    bench.breaker.succeeded(trial)
    assert bench.circuit() is Circuit.CLOSED


def test_no_transition_leads_from_open_to_closed_without_a_trial() -> None:
    assert {after for (before, _), after in TRANSITIONS.items() if before is Circuit.OPEN} == {Circuit.HALF_OPEN}
    assert (Circuit.HALF_OPEN, Event.SUCCEEDED) in TRANSITIONS


@given(st.lists(st.sampled_from(["admit", "succeeded", "failed", "abandoned", "wait"]), max_size=60))
def test_no_sequence_of_events_breaks_it_or_lets_two_trials_out(events: list[str]) -> None:
    bench = Bench()
    out: list[Ticket] = []
    for event in events:
        if event == "wait":
            bench.clock.pass_s(31)
        elif event == "admit":
            ticket = bench.breaker.admit()
            if ticket is not None:
                half_open = bench.breaker.circuit is Circuit.HALF_OPEN
                assert not half_open or all(other.epoch != ticket.epoch for other in out)
                out.append(ticket)
        elif out:
            getattr(bench.breaker, event)(out.pop())
