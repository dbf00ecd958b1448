"""Time and identifiers, passed in as arguments so that tests own them."""

from __future__ import annotations

import secrets
import time
from datetime import UTC, datetime
from typing import Protocol


class Clock(Protocol):
    """Where time and identifiers come from."""

    def now(self) -> datetime:
        """The time, aware, in UTC."""
        ...

    def monotonic_s(self) -> float:
        """Seconds that never run backwards; only differences mean anything."""
        ...

    def new_id(self, prefix: str) -> str:
        """A new identifier `<prefix>_<26 characters>`, unguessable, in order of creation."""
        ...


_CROCKFORD = "0123456789abcdefghjkmnpqrstvwxyz"


def sortable_id(prefix: str, millis: int, randomness: int) -> str:
    """`<prefix>_` and 26 Crockford base-32 characters: 48 bits of time, 80 random bits (the ULID layout)."""
    value = (millis << 80) | randomness
    return f"{prefix}_" + "".join(_CROCKFORD[(value >> shift) & 31] for shift in range(125, -1, -5))


class SystemClock:
    """The machine's clock."""

    def now(self) -> datetime:
        """The time, aware, in UTC."""
        return datetime.now(UTC)

    def monotonic_s(self) -> float:
        """`time.monotonic()`."""
        return time.monotonic()

    def new_id(self, prefix: str) -> str:
        """A new time-ordered identifier."""
        return sortable_id(prefix, time.time_ns() // 1_000_000, secrets.randbits(80))
