"""A client of the proxy, over a real socket."""

from __future__ import annotations

from typing import Any

import httpx2

from tests.live import Live


def remember(live: Live, text: str, key: str) -> httpx2.Response:
    """What a stock client sends to keep one text."""
    return httpx2.post(
        f"{live.proxy_url}/api/v1/remember",
        headers={"x-api-key": key},
        data={"datasetName": "main"},
        files={"data": ("note.txt", text.encode(), "text/plain")},
    )


def recalled(live: Live, question: str, key: str) -> list[Any]:
    """The texts that a recall brings back."""
    answer = httpx2.post(
        f"{live.proxy_url}/api/v1/recall",
        headers={"x-api-key": key},
        json={"query": question, "search_type": "CHUNKS"},
    )
    assert answer.status_code == 200, answer.text
    return [chunk["text"] for chunk in answer.json()]
