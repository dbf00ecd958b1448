"""The policy: its numbers, a text to validate, and a simulator over the last decisions."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from pydantic import BaseModel, ValidationError
from starlette.requests import Request
from starlette.responses import Response

from mithril_proxy.admin.api.policy import judge_policy, reload_policy, shown_values
from mithril_proxy.admin.desk.render import Desk, see_other
from mithril_proxy.admin.requests import read_form, validated
from mithril_proxy.admin.shapes import PolicyText, Verdict
from mithril_proxy.admin.simulation import SIMULATED_DECISIONS, Simulation, simulate, varied
from mithril_proxy.errors import RequestError
from mithril_proxy.policy import Policy, Thresholds, Weights
from mithril_proxy.types import Status

SHOWN_CHANGES = 50


@dataclass(frozen=True, slots=True)
class Policies:
    """The pages about the policy."""

    desk: Desk

    async def show(self, request: Request) -> Response:
        """The loaded policy, and how the last decisions would have fallen under the numbers in the address."""
        loaded = self.desk.operations.policy
        tried, simulation, problem = loaded, None, None
        if any(name.startswith(("weights.", "thresholds.")) for name in request.query_params):
            try:
                tried = _tried(request, loaded)
                simulation = simulate(await self.desk.operations.store.recent_evidence(SIMULATED_DECISIONS), tried)
            except RequestError as error:
                problem = error.detail
        return await self._page(request, tried=tried, simulation=simulation, problem=problem)

    async def validate(self, request: Request) -> Response:
        """Whether a text would be a valid policy."""
        given = validated(PolicyText, {"text": (await read_form(request)).get("text", "")})
        verdict = await judge_policy(given.text, self.desk.operations.policy)
        return await self._page(request, text=given.text, verdict=verdict)

    async def reload(self, request: Request) -> Response:
        """Load the policy file again. Raises ConfigurationError when it is wrong."""
        await reload_policy(self.desk.operations)
        return see_other("/policy?said=reloaded")

    async def _page(
        self,
        request: Request,
        *,
        tried: Policy | None = None,
        simulation: Simulation | None = None,
        problem: str | None = None,
        text: str = "",
        verdict: Verdict | None = None,
    ) -> Response:
        return self.desk.page(
            request,
            "policy.html",
            tried=tried or self.desk.operations.policy,
            simulation=simulation,
            changed=() if simulation is None else simulation.changed[:SHOWN_CHANGES],
            statuses=tuple(Status),
            values=shown_values(self.desk.operations.policy),
            problem=problem,
            text=text,
            verdict=verdict,
        )


def _tried(request: Request, loaded: Policy) -> Policy:
    """The loaded policy with the numbers of the address. Raises RequestError."""
    return varied(
        loaded,
        _section(Weights, "weights", request, loaded.weights),
        _section(Thresholds, "thresholds", request, loaded.thresholds),
    )


def _section(kind: type[Any], name: str, request: Request, loaded: BaseModel) -> Any:
    given = {
        key: request.query_params[f"{name}.{key}"]
        for key in kind.model_fields
        if request.query_params.get(f"{name}.{key}")
    }
    try:
        return kind.model_validate({**loaded.model_dump(), **given})
    except ValidationError as error:
        first = error.errors()[0]
        key = ".".join([name, *(str(part) for part in first["loc"])])
        raise RequestError(f"{key}: {first['msg']}") from None
