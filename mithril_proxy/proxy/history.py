"""Cognee keeps every question that it was asked, Mithril's own probes among them; a probe's words are a claim's words.

A claim that was held must not be read in the history of questions instead, so such rows are taken out:

1. a row whose words are those of a claim that was held and not released;
2. a row as long as a window of a long claim: no person asks so, and only Mithril probes so.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence

from mithril_proxy.chain.contradiction import PROBE_WINDOW_CHARS
from mithril_proxy.proxy.exchange import Exchange

HISTORY_SWITCH = "history"


def is_history(exchange: Exchange) -> bool:
    """True for the reads that list past questions and answers."""
    return exchange.match.route.switch == HISTORY_SWITCH


async def without_held_claims(exchange: Exchange, rows: object) -> object:
    """The history without the words of held claims. Raises StoreUnavailable."""
    if not isinstance(rows, list):
        return rows
    texts = [_text(row) for row in rows]
    held = await exchange.edge.store.held_among([_digest(text) for text in texts])
    return _kept(rows, texts, held)


def _kept(rows: Sequence[object], texts: Sequence[str], held: frozenset[str]) -> list[object]:
    return [
        row
        for row, text in zip(rows, texts, strict=True)
        if _digest(text) not in held and len(text) < PROBE_WINDOW_CHARS
    ]


def _text(row: object) -> str:
    text = row.get("text") if isinstance(row, dict) and row.get("user") != "system" else None
    return text if isinstance(text, str) else ""


def _digest(text: str) -> str:
    """As `Claim.digest`."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
