"""Takes admitted memories out of Cognee again: found first, deleted only when an operator says so.

1. A memory is found in the list of its dataset: by the receipt in it, the id that Cognee told, or its file name.
2. What another principal stored too, as the same document, stays unless the operator takes it along.
3. Deleting needs the service credential. A document that is gone already counts as withdrawn.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Literal

from mithril_proxy.cognee.stored import (
    DATASETS_PATH,
    PAGE_ROWS,
    Listed,
    document_target,
    documents_target,
    parse_datasets,
    parse_documents,
)
from mithril_proxy.errors import MithrilError, UpstreamUnavailable
from mithril_proxy.proxy.headers import RawHeaders
from mithril_proxy.proxy.upstream import Upstream, UpstreamRequest
from mithril_proxy.store.interface import Receipt, Store, StoredMemory

ANSWER_BYTES = 64 * 1024 * 1024


Standing = Literal["found", "shared", "missing", "withdrawn"]


class WithdrawalRefused(MithrilError):
    """Cognee did not delete a document. The message says which, and what it answered."""


@dataclass(frozen=True, slots=True)
class Found:
    """A memory that was looked for. `shown` are the recalls that showed it."""

    memory: StoredMemory
    standing: Standing
    dataset_id: str = ""
    data_id: str = ""
    shown: tuple[Receipt, ...] = ()


@dataclass(slots=True)
class Withdrawals:
    """Finds, reads and deletes documents, with the service credential in `headers`."""

    store: Store
    upstream: Upstream
    headers: RawHeaders
    _datasets: dict[str, str] | None = None
    _documents: dict[str, list[Listed]] = field(default_factory=dict)

    async def find(self, memories: Iterable[StoredMemory]) -> list[Found]:
        """Where each memory lies now, and who saw it. Raises UpstreamUnavailable, StoreUnavailable."""
        return [await self._find(memory) for memory in memories]

    async def text_of(self, found: Found) -> str | None:
        """The text of a document; None when it is gone. Raises UpstreamUnavailable."""
        status, body = await self._send("GET", document_target(found.dataset_id, found.data_id) + "/raw")
        if status == 404:
            return None
        if status != 200:
            raise UpstreamUnavailable(f"document {found.data_id} was answered with {status}")
        return body.decode("utf-8", "replace")

    async def withdraw(self, found: Found, *, operator: str, reason: str) -> None:
        """Delete one document, and keep that it was. Raises WithdrawalRefused, UpstreamUnavailable."""
        status, _ = await self._send("DELETE", document_target(found.dataset_id, found.data_id))
        if not (200 <= status < 300 or status == 404):
            advice = (
                "; set MITHRIL_UPSTREAM_API_KEY to a Cognee key that may delete there" if status in (401, 403) else ""
            )
            raise WithdrawalRefused(f"Cognee answered {status} for document {found.data_id}{advice}")
        await self.store.record_withdrawn(
            found.memory.decision_id, data_id=found.data_id, operator=operator, reason=reason
        )

    async def _find(self, memory: StoredMemory) -> Found:
        if memory.withdrawn_at is not None:
            return Found(memory, "withdrawn", data_id=memory.data_id or "", shown=await self._shown(memory.data_id))
        dataset_id = memory.dataset_id or (await self._dataset_ids()).get(memory.dataset or "", "")
        listed = await self._listed(dataset_id) if dataset_id and memory.filename else []
        match = min((one for one in listed if _is(one, memory)), key=lambda one: _rank(one, memory), default=None)
        if match is None:
            return Found(memory, "missing", dataset_id, memory.data_id or "", await self._shown(memory.data_id))
        standing: Standing = "shared" if await self.store.stored_by_others(memory) else "found"
        return Found(memory, standing, dataset_id, match.data_id, await self._shown(match.data_id))

    async def _shown(self, data_id: str | None) -> tuple[Receipt, ...]:
        return tuple(await self.store.receipts_of([data_id])) if data_id else ()

    async def _dataset_ids(self) -> dict[str, str]:
        if self._datasets is None:
            status, body = await self._send("GET", DATASETS_PATH)
            if status != 200:
                raise UpstreamUnavailable(f"the list of datasets was answered with {status}; is the service key set?")
            self._datasets = parse_datasets(body)
        return self._datasets

    async def _listed(self, dataset_id: str) -> list[Listed]:
        """Every document of a dataset; none of one that is gone."""
        if dataset_id not in self._documents:
            found: list[Listed] = []
            self._documents[dataset_id] = found
            while page := await self._page(dataset_id, len(found)):
                found += page
                if len(page) < PAGE_ROWS:
                    break
        return self._documents[dataset_id]

    async def _page(self, dataset_id: str, offset: int) -> Sequence[Listed]:
        status, body = await self._send("GET", documents_target(dataset_id, offset))
        if status in (403, 404):
            return ()
        if status != 200:
            raise UpstreamUnavailable(f"the documents of a dataset were answered with {status}")
        return parse_documents(body)

    async def _send(self, method: str, target: str) -> tuple[int, bytes]:
        async with await self.upstream.send(UpstreamRequest(method, target, self.headers)) as answer:
            return answer.status, await answer.read(ANSWER_BYTES)


def _is(listed: Listed, memory: StoredMemory) -> bool:
    is_receipt = listed.decision_id == memory.decision_id
    return is_receipt or listed.data_id == memory.data_id or listed.is_file(memory.filename or "")


def _rank(listed: Listed, memory: StoredMemory) -> int:
    """The receipt in a document is the surest sign, then the id that Cognee told, then the file name."""
    return 0 if listed.decision_id == memory.decision_id else 1 if listed.data_id == memory.data_id else 2
