"""An ordinary Cognee client: it runs in Cognee's environment and knows nothing of Mithril but a URL and a key.

Standard input is a JSON list of steps, `{"url", "key", "dataset", "remember": text}` or `{…, "recall": query}`.
Standard output has one JSON line a step, `{"step": n, "texts": […]}` or `{"step": n, "error": "…"}`; lines of the SDK
itself stand between them.
"""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import Mapping
from typing import Any

import cognee

NEAREST = 3  # memories a question brings back


async def take(step: Mapping[str, str]) -> list[str]:
    """What the SDK returned: the status of a remember, the texts of a recall."""
    await cognee.serve(url=step["url"], api_key=step["key"])
    if "remember" in step:
        answer = await cognee.remember(step["remember"], dataset_name=step["dataset"])
        return [str(answer["status"])]  # a remote `remember` returns the JSON of the answer
    chunks = cognee.SearchType.CHUNKS  # the memories themselves, without a model's words around them
    return [_text(found) for found in await cognee.recall(step["recall"], query_type=chunks, top_k=NEAREST)]


def _text(found: Any) -> str:
    return str(found["text"] if isinstance(found, dict) else found.text)


async def main() -> None:
    """Takes every step, in order; one that fails does not keep the others from being taken."""
    for number, step in enumerate(json.load(sys.stdin)):
        try:
            answer: dict[str, Any] = {"texts": await take(step)}
        except (RuntimeError, OSError) as error:  # the SDK raises RuntimeError for every HTTP status from 400
            answer = {"error": str(error)}
        sys.stdout.write("\n" + json.dumps({"step": number, **answer}) + "\n")
        sys.stdout.flush()
    await cognee.disconnect()


if __name__ == "__main__":
    asyncio.run(main())
