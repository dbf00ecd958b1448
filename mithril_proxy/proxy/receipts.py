"""Receipts of recalls: which stored chunks were shown to whom, as ids. They make a withdrawal traceable.

A recall is not kept waiting for its receipt, nor refused when it cannot be kept: that is logged.
"""

from __future__ import annotations

from mithril_proxy.cognee.stored import shown_in
from mithril_proxy.errors import StoreUnavailable
from mithril_proxy.proxy.exchange import Exchange
from mithril_proxy.store.interface import Receipt


async def keep_receipts(exchange: Exchange, answer: object) -> None:
    """Keep what an answer showed, once it was sent."""
    at, principal = exchange.edge.clock.now(), exchange.identity.provenance.principal
    receipts = [Receipt(at, exchange.id, principal, shown.data_id, shown.chunk_id) for shown in shown_in(answer)]
    try:
        await exchange.edge.store.record_receipts(receipts)
    except StoreUnavailable as error:
        exchange.edge.log.error("receipts.unavailable", request_id=exchange.id, reason=str(error))
