"""A circuit breaker as a value: it counts and decides, it never waits, calls or sleeps.

1. Closed: every call goes through; `failures_to_open` failures in a row open the circuit.
2. Open: no call goes through until `reset_s` have passed.
3. Half-open: one trial call at a time; its success closes the circuit, its failure opens it again for `reset_s`.
4. A result counts only in the state that its call was admitted in: what comes late from before a change is ignored.
"""

from __future__ import annotations

import enum
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

from mithril_proxy.clock import Clock


class Circuit(enum.StrEnum):
    """Whether calls go through."""

    CLOSED = "closed"
    OPEN = "open"
    HALF_OPEN = "half_open"


class Event(enum.StrEnum):
    """What can happen to a circuit."""

    SUCCEEDED = "succeeded"
    FAILED = "failed"
    FAILED_TOO_OFTEN = "failed_too_often"
    ABANDONED = "abandoned"
    RESET_ELAPSED = "reset_elapsed"


TRANSITIONS: Mapping[tuple[Circuit, Event], Circuit] = MappingProxyType(
    {
        (Circuit.CLOSED, Event.SUCCEEDED): Circuit.CLOSED,
        (Circuit.CLOSED, Event.FAILED): Circuit.CLOSED,
        (Circuit.CLOSED, Event.FAILED_TOO_OFTEN): Circuit.OPEN,
        (Circuit.CLOSED, Event.ABANDONED): Circuit.CLOSED,
        (Circuit.OPEN, Event.RESET_ELAPSED): Circuit.HALF_OPEN,
        (Circuit.HALF_OPEN, Event.SUCCEEDED): Circuit.CLOSED,
        (Circuit.HALF_OPEN, Event.FAILED): Circuit.OPEN,
        (Circuit.HALF_OPEN, Event.FAILED_TOO_OFTEN): Circuit.OPEN,
        (Circuit.HALF_OPEN, Event.ABANDONED): Circuit.HALF_OPEN,
    }
)


@dataclass(frozen=True, slots=True)
class Ticket:
    """The right to one call; give it back with what became of the call."""

    epoch: int


class CircuitBreaker:
    """Says whether a call may be made now, from what became of the calls before it."""

    def __init__(self, clock: Clock, *, failures_to_open: int, reset_s: float) -> None:
        self._clock = clock
        self._failures_to_open = failures_to_open
        self._reset_s = reset_s
        self._circuit = Circuit.CLOSED
        self._epoch = 0
        self._failures = 0
        self._opened_at_s = 0.0
        self._trial_is_out = False

    @property
    def circuit(self) -> Circuit:
        """The state now."""
        if self._circuit is Circuit.OPEN and self._clock.monotonic_s() - self._opened_at_s >= self._reset_s:
            self._move(Event.RESET_ELAPSED)
        return self._circuit

    def admit(self) -> Ticket | None:
        """A ticket for one call, None when no call may be made now. Every ticket must be given back."""
        match self.circuit:
            case Circuit.OPEN:
                return None
            case Circuit.HALF_OPEN:
                if self._trial_is_out:
                    return None
                self._trial_is_out = True
        return Ticket(self._epoch)

    def succeeded(self, ticket: Ticket) -> None:
        """The call was answered."""
        if ticket.epoch == self._epoch:
            self._failures = 0
            self._move(Event.SUCCEEDED)

    def failed(self, ticket: Ticket) -> None:
        """The call got no answer."""
        if ticket.epoch == self._epoch:
            self._failures += 1
            too_often = self._failures >= self._failures_to_open
            self._move(Event.FAILED_TOO_OFTEN if too_often else Event.FAILED)

    def abandoned(self, ticket: Ticket) -> None:
        """The caller gave up before the call was answered: that says nothing of the other side."""
        if ticket.epoch == self._epoch:
            self._trial_is_out = False
            self._move(Event.ABANDONED)

    def _move(self, event: Event) -> None:
        after = TRANSITIONS[self._circuit, event]
        if after is self._circuit:
            return
        self._circuit = after
        self._epoch += 1
        self._failures = 0
        self._trial_is_out = False
        if after is Circuit.OPEN:
            self._opened_at_s = self._clock.monotonic_s()
