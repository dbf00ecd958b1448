"""Looks up verified memory at the upstream, with the caller's own rights, so that tenants stay apart."""

from __future__ import annotations

from dataclasses import dataclass, replace

from mithril_proxy.cognee.probe import PROBE_PATH, parse_probe, probe_body
from mithril_proxy.cognee.tags import Tags
from mithril_proxy.proxy.headers import RawHeaders
from mithril_proxy.proxy.upstream import Upstream, UpstreamRequest
from mithril_proxy.secrets import SecretGuard
from mithril_proxy.types import Memory

PROBE_ANSWER_BYTES = 8 * 1024 * 1024  # 50 chunks of 4,096 tokens are under 1 MB; more is not an answer to this question


@dataclass(frozen=True, slots=True)
class UpstreamMemory:
    """Verified memory of one caller, in the datasets that its claim is meant for."""

    upstream: Upstream
    headers: RawHeaders
    tags: Tags
    top_k: int
    guard: SecretGuard
    datasets: tuple[str, ...] = ()
    dataset_ids: tuple[str, ...] = ()

    async def related(self, text: str) -> tuple[Memory, ...]:
        """The nearest verified memories, nearest first. Raises UpstreamUnavailable."""
        body = probe_body(text, datasets=self.datasets, dataset_ids=self.dataset_ids, top_k=self.top_k, tags=self.tags)
        request = UpstreamRequest("POST", PROBE_PATH, self.headers, body)
        async with await self.upstream.send(request) as answer:
            found = parse_probe(answer.status, await answer.read(PROBE_ANSWER_BYTES), tags=self.tags)
        return tuple([await self._redacted(memory) for memory in found])

    async def _redacted(self, memory: Memory) -> Memory:
        """Memory from before Mithril may hold a credential; no judge and no database may see it."""
        redacted = await self.guard.redact_async(memory.text)
        return replace(memory, text=redacted.text) if redacted.hits else memory
