"""What the upstream's version means for recalls: an unknown one is trusted with less.

Which search types keep to verified memory was measured on Cognee 1.6 and read in the source back to 1.2. Before that,
and beyond it, only CHUNKS is left: its answers name the node sets of every memory, so Mithril can check each itself.
"""

from __future__ import annotations

import orjson

from mithril_proxy.errors import UpstreamUnavailable
from mithril_proxy.policy import Policy
from mithril_proxy.proxy.posture import Observation, judged_version
from mithril_proxy.proxy.upstream import Upstream, UpstreamRequest

CHECKABLE_SEARCH_TYPE = "CHUNKS"
HEALTH_BYTES = 64 * 1024


async def observe_version(upstream: Upstream) -> Observation:
    """What the upstream says of its version on /health; a warning when it says nothing."""
    request = UpstreamRequest("GET", "/health", [(b"accept", b"application/json"), (b"accept-encoding", b"identity")])
    try:
        async with await upstream.send(request) as answer:
            health = orjson.loads(await answer.read(HEALTH_BYTES))
    except (UpstreamUnavailable, orjson.JSONDecodeError) as error:
        return Observation("warn", f"the upstream's version is not known yet ({error})", "start Cognee")
    return judged_version(str(health.get("version", "")) if isinstance(health, dict) else "")


def narrowed(policy: Policy, version: Observation) -> Policy:
    """The policy as it is for a known version; for any other, recalls are left with the one checkable search type."""
    if version.verdict == "ok":
        return policy
    recall = policy.recall.model_copy(
        update={
            "search_types": (CHECKABLE_SEARCH_TYPE,),
            "default_search_type": CHECKABLE_SEARCH_TYPE,
            "allow_graph_family": False,
        }
    )
    return policy.model_copy(update={"recall": recall})
