"""The policy: shown, validated, loaded again, and tried out on past decisions."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import Any

from starlette.requests import Request

from mithril_proxy.admin.endpoint import Endpoint
from mithril_proxy.admin.operations import Operations
from mithril_proxy.admin.shapes import (
    LoadedPolicy,
    Moved,
    Nothing,
    PolicyText,
    Reloaded,
    Simulated,
    SimulationBody,
    Verdict,
)
from mithril_proxy.admin.simulation import SIMULATED_DECISIONS, simulate, varied
from mithril_proxy.errors import ConfigurationError
from mithril_proxy.policy import Policy, read_policy
from mithril_proxy.store.desk import Scope

UNSHOWN = {"principals": {"__all__": {"credential_sha256"}}}  # digests of keys that are in use


def shown_values(policy: Policy) -> dict[str, Any]:
    """Everything a policy says, but for what identifies keys."""
    return policy.model_dump(mode="json", exclude=UNSHOWN)


async def judge_policy(text: str, loaded: Policy) -> Verdict:
    """Whether a policy text is valid; its paths start where those of the loaded policy do."""
    try:
        policy = await asyncio.to_thread(read_policy, text, loaded.folder)
    except ConfigurationError as error:
        return Verdict(False, problem=str(error))
    return Verdict(True, digest=policy.digest)


async def reload_policy(operations: Operations) -> Reloaded:
    """The policy after it was loaded again. Raises ConfigurationError when it is wrong: the old one stays."""
    if not await operations.reload():
        raise ConfigurationError(
            "the policy file is wrong, so the loaded one stays; the log says what is wrong with it"
        )
    return Reloaded(operations.policy.name, operations.policy.digest)


@dataclass(frozen=True, slots=True)
class PolicyApi:
    """The calls about the policy."""

    operations: Operations

    async def policy(self, request: Request, given: Nothing) -> LoadedPolicy:
        """The policy that is loaded."""
        policy = self.operations.policy
        return LoadedPolicy(policy.name, policy.digest, shown_values(policy))

    async def validate_policy(self, request: Request, given: PolicyText) -> Verdict:
        """Whether a text would be a valid policy."""
        return await judge_policy(given.text, self.operations.policy)

    async def reload_policy(self, request: Request, given: Nothing) -> Reloaded:
        """Load the policy file again."""
        return await reload_policy(self.operations)

    async def simulate_policy(self, request: Request, given: SimulationBody) -> Simulated:
        """How the last decisions would have fallen. Raises RequestError for weights that score nothing."""
        policy = varied(self.operations.policy, given.weights, given.thresholds)
        result = simulate(await self.operations.store.recent_evidence(SIMULATED_DECISIONS), policy)
        moves = tuple(Moved(before, after, count) for (before, after), count in sorted(result.moves.items()))
        return Simulated(result.decisions, len(result.changed), moves)


def policy_endpoints(operations: Operations) -> tuple[Endpoint, ...]:
    """The endpoints of this subject. Validation reads rule files that the text names, so it is the administrator's."""
    api = PolicyApi(operations)
    return (
        Endpoint("GET", "/policy", Scope.READ, "The loaded policy", api.policy, LoadedPolicy),
        Endpoint(
            "POST",
            "/policy/validate",
            Scope.ADMIN,
            "Whether a policy text is valid",
            api.validate_policy,
            Verdict,
            PolicyText,
        ),
        Endpoint(
            "POST",
            "/policy/reload",
            Scope.ADMIN,
            "Load the policy file again",
            api.reload_policy,
            Reloaded,
            errors=(422,),
        ),
        Endpoint(
            "POST",
            "/policy/simulate",
            Scope.READ,
            "How the last decisions would have fallen",
            api.simulate_policy,
            Simulated,
            SimulationBody,
        ),
    )
