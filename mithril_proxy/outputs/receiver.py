"""What a receiver of audit events is."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Protocol

from mithril_proxy.errors import MithrilError


class ReceiverAway(MithrilError):
    """A receiver did not take events. The message never holds its address, which may hold a token."""


@dataclass(frozen=True, slots=True)
class Event:
    """One event: the id and kind of its audit row, and the OCSF body."""

    id: int
    at: datetime
    kind: str
    body: Mapping[str, Any]


class Receiver(Protocol):
    """Takes events. `name` is the same as long as its address is: its cursor is kept under it."""

    name: str

    async def send(self, events: Sequence[Event]) -> None:
        """Hand over events, in order; all were taken when it returns. Raises ReceiverAway."""
        ...

    async def close(self) -> None:
        """Give connections back."""
        ...
