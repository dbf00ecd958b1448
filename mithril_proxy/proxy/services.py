"""What the data plane works with: fixed for a policy, and for the process."""

from __future__ import annotations

from dataclasses import dataclass

from structlog.typing import FilteringBoundLogger

from mithril_proxy.clock import Clock
from mithril_proxy.cognee.tags import Tags
from mithril_proxy.firewall import Firewall
from mithril_proxy.policy import Policy
from mithril_proxy.proxy.documents import DocumentReader
from mithril_proxy.proxy.identity import Identifies
from mithril_proxy.proxy.release import Releases
from mithril_proxy.proxy.reserved import KnownSources
from mithril_proxy.proxy.upstream import Upstream
from mithril_proxy.secrets import SecretGuard
from mithril_proxy.store.desk import DeskStore
from mithril_proxy.telemetry import Metrics
from mithril_proxy.types import Judge


@dataclass(frozen=True, slots=True)
class Services:
    """Everything that depends on the policy; swapped as a whole when the policy is loaded again."""

    policy: Policy
    guard: SecretGuard
    judge: Judge
    firewall: Firewall
    identifier: Identifies
    known_sources: KnownSources
    service_key: str | None
    documents: DocumentReader

    async def tags(self) -> Tags:
        """The tag rules with every source name reserved. Raises StoreUnavailable."""
        return Tags(self.policy.forward, sources=await self.known_sources.names())

    def releases(self, store: DeskStore, upstream: Upstream) -> Releases:
        """What a reviewer can do under this policy."""
        return Releases(store, upstream, self.policy, self.guard, self.service_key)


@dataclass(frozen=True, slots=True)
class Edge:
    """What lasts as long as the process."""

    store: DeskStore
    upstream: Upstream
    metrics: Metrics
    clock: Clock
    log: FilteringBoundLogger
