"""The source names that no client may use as a tag: a forged one would pass for that source's word."""

from __future__ import annotations

from dataclasses import dataclass, field

from mithril_proxy.clock import Clock
from mithril_proxy.policy import Policy
from mithril_proxy.proxy.identity import UNKNOWN_SOURCE
from mithril_proxy.store.interface import Store

REFRESH_S = 5.0  # a source registered by `mithril sources add` is protected within this time


@dataclass(slots=True)
class KnownSources:
    """Names of every source: registered, named by the policy, or built in."""

    store: Store
    policy: Policy
    clock: Clock
    _names: frozenset[str] = field(default=frozenset(), init=False)
    _read_at_s: float | None = field(default=None, init=False)

    async def names(self) -> frozenset[str]:
        """The names now, at most REFRESH_S old. Raises StoreUnavailable."""
        now_s = self.clock.monotonic_s()
        if self._read_at_s is None or now_s - self._read_at_s > REFRESH_S:
            registered = {source.name for source in await self.store.sources()}
            named = {rule.name for rule in self.policy.principals} | set(self.policy.sources)
            self._names = frozenset(registered | named | {UNKNOWN_SOURCE})
            self._read_at_s = now_s
        return self._names
