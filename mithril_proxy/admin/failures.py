"""How many wrong tokens an address has tried lately."""

from __future__ import annotations

from collections import OrderedDict, deque
from dataclasses import dataclass, field

from mithril_proxy.clock import Clock

MAX_PEERS = 10_000  # remembered; the one that failed longest ago is forgotten first


@dataclass(slots=True)
class Failures:
    """Wrong tokens by address, the latest only. A right token is never counted, and forgives nothing."""

    clock: Clock
    _by_peer: OrderedDict[str, deque[float]] = field(default_factory=OrderedDict)

    def add(self, peer: str, *, limit: int) -> None:
        """Count a wrong token; no more than `limit` of one address are remembered."""
        times = self._by_peer.pop(peer, None) or deque()
        times.append(self.clock.monotonic_s())
        while len(times) > limit:
            times.popleft()
        self._by_peer[peer] = times
        while len(self._by_peer) > MAX_PEERS:
            self._by_peer.popitem(last=False)

    def wait_s(self, peer: str, *, limit: int, window_s: float) -> float:
        """How long this address has to wait before it may try again; 0 when it may try now."""
        times = self._by_peer.get(peer)
        if times is None or len(times) < limit:
            return 0.0
        return max(0.0, times[-limit] + window_s - self.clock.monotonic_s())
