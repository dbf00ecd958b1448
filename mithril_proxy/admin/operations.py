"""What the admin plane works with: the store, the running policy, and what can be done with held claims."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from structlog.typing import FilteringBoundLogger

from mithril_proxy.clock import Clock
from mithril_proxy.policy import Policy
from mithril_proxy.proxy.reevaluate import Reevaluator
from mithril_proxy.proxy.release import Releases
from mithril_proxy.proxy.services import Services
from mithril_proxy.proxy.upstream import Upstream
from mithril_proxy.store.desk import DeskStore
from mithril_proxy.telemetry import Metrics


@dataclass(frozen=True, slots=True)
class Operations:
    """Everything an operator can see and do. `services` gives those of the policy that is loaded now."""

    store: DeskStore
    upstream: Upstream
    metrics: Metrics
    clock: Clock
    log: FilteringBoundLogger
    services: Callable[[], Services]
    reevaluator: Callable[[], Awaitable[Reevaluator]]
    reload: Callable[[], Awaitable[bool]]

    @property
    def policy(self) -> Policy:
        """The policy that is loaded now."""
        return self.services().policy

    @property
    def releases(self) -> Releases:
        """What a reviewer can do under the policy of now."""
        return self.services().releases(self.store, self.upstream)
