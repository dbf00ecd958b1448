"""A small deterministic OpenAI-compatible server, for a Cognee without a model of its own.

`POST /v1/chat/completions` (text, JSON schema, streaming), `POST /v1/embeddings`, `GET /v1/models`, `GET /health`.
For tests: `PUT /control` sets a `Script` of answers and faults, `DELETE /control` ends it, `GET /control/calls` lists
the latest prompts. The same request always gets the same answer. It needs starlette and uvicorn; run it with
`python -m mithril_proxy.demo.model_server --port 8100`. It is for demos and tests: there is no authentication.
"""

from __future__ import annotations

import argparse
import base64
import hashlib
import json
import re
import struct
from collections import deque
from collections.abc import AsyncIterator, Sequence
from typing import Any

import anyio
import uvicorn
from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, Response, StreamingResponse
from starlette.routing import Route

from mithril_proxy.demo.model.answers import Prompt, read_prompt, reply
from mithril_proxy.demo.model.embeddings import DIMENSIONS, Embedder, Vector, find_embedder
from mithril_proxy.demo.model.script import Script, read_script

MODEL = "mithril-demo"
_CREATED = 1_700_000_000  # fixed: answers must not depend on the clock
_CALLS_KEPT = 500


class ModelServer:
    """The server's routes over one embedder, one script and the latest prompts."""

    def __init__(self, embedder: Embedder) -> None:
        self._embedder = embedder
        self._script = Script()
        self._calls: deque[dict[str, Any]] = deque(maxlen=_CALLS_KEPT)

    def routes(self) -> list[Route]:
        """Every route of the server."""
        return [
            Route("/v1/chat/completions", self.chat, methods=["POST"]),
            Route("/v1/embeddings", self.embeddings, methods=["POST"]),
            Route("/v1/models", self.models),
            Route("/health", self.health),
            Route("/control", self.control, methods=["PUT", "DELETE"]),
            Route("/control/calls", self.calls),
        ]

    async def chat(self, request: Request) -> Response:
        """One chat completion, whole or as an event stream."""
        body = await request.json()
        prompt, script = read_prompt(body), self._script
        self._calls.append({"model": body.get("model"), "system": prompt.system, "user": prompt.user})
        await anyio.sleep(script.delay_s)
        if script.status:
            return _failure(script.status)
        if script.malformed:
            return PlainTextResponse("{not json", media_type="application/json")
        scripted = script.reply_to(prompt.text)
        text = reply(prompt) if scripted is None else scripted
        if body.get("stream"):
            usage = bool((body.get("stream_options") or {}).get("include_usage"))
            return StreamingResponse(_events(prompt, text, usage=usage), media_type="text/event-stream")
        return JSONResponse(_completion(prompt, text))

    async def embeddings(self, request: Request) -> Response:
        """One vector an input, as floats or base64."""
        body = await request.json()
        if self._script.embeddings_status:
            return _failure(self._script.embeddings_status)
        texts = _texts(body.get("input", []))
        vectors = await run_in_threadpool(self._embedder.vectors, texts)
        encode = _packed if body.get("encoding_format") == "base64" else list
        rows = [{"object": "embedding", "index": n, "embedding": encode(row)} for n, row in enumerate(vectors)]
        return JSONResponse({"object": "list", "model": MODEL, "data": rows, "usage": _usage(" ".join(texts), "")})

    async def models(self, _request: Request) -> Response:
        """The one model there is."""
        model = {"id": MODEL, "object": "model", "created": _CREATED, "owned_by": "mithril"}
        return JSONResponse({"object": "list", "data": [model]})

    async def health(self, _request: Request) -> Response:
        """That the server answers, and with which embeddings."""
        return JSONResponse({"status": "ok", "embedder": self._embedder.name, "dimensions": DIMENSIONS})

    async def control(self, request: Request) -> Response:
        """Sets the script (PUT) or ends it (DELETE) and forgets the calls so far."""
        try:
            script = read_script(await request.json()) if request.method == "PUT" else Script()
        except (ValueError, TypeError, KeyError, re.error) as error:
            return JSONResponse({"error": "bad_script", "detail": repr(error)}, status_code=400)
        self._script = script
        self._calls.clear()
        return Response(status_code=204)

    async def calls(self, _request: Request) -> Response:
        """The latest prompts, oldest first."""
        return JSONResponse(list(self._calls))


def build_app(embedder: Embedder | None = None) -> Starlette:
    """The server as an ASGI application, with the best embedder there is unless one is given."""
    return Starlette(routes=ModelServer(embedder or find_embedder()).routes())


def _failure(status: int) -> Response:
    error = {"message": "scripted fault", "type": "scripted_fault", "code": "scripted_fault"}
    return JSONResponse({"error": error}, status_code=status)


def _texts(given: Any) -> list[str]:
    """The inputs of an embeddings call: one string, several, or token ids (which stand for themselves)."""
    several = [given] if isinstance(given, str) else list(given)
    if several and isinstance(several[0], int):
        several = [several]
    return [text if isinstance(text, str) else " ".join(map(str, text)) for text in several]


def _packed(vector: Vector) -> str:
    return base64.b64encode(struct.pack(f"<{len(vector)}f", *vector)).decode()


def _usage(prompt: str, completion: str) -> dict[str, int]:
    """Token counts at four characters a token: callers only need them to be there."""
    asked, said = 1 + len(prompt) // 4, len(completion) // 4
    return {"prompt_tokens": asked, "completion_tokens": said, "total_tokens": asked + said}


def _head(prompt: Prompt, kind: str) -> dict[str, Any]:
    ident = hashlib.sha256(prompt.text.encode("utf-8", "surrogatepass")).hexdigest()[:24]
    return {"id": f"chatcmpl-{ident}", "object": kind, "created": _CREATED, "model": MODEL}


def _completion(prompt: Prompt, text: str) -> dict[str, Any]:
    choice = {"index": 0, "message": {"role": "assistant", "content": text}, "finish_reason": "stop"}
    return {**_head(prompt, "chat.completion"), "choices": [choice], "usage": _usage(prompt.text, text)}


async def _events(prompt: Prompt, text: str, *, usage: bool) -> AsyncIterator[str]:
    """The answer as server-sent events, a word at a time."""
    head = _head(prompt, "chat.completion.chunk")
    deltas: list[dict[str, str]] = [{"role": "assistant", "content": ""}]
    deltas += [{"content": piece} for piece in re.findall(r"\s*\S+\s*", text)]
    for delta in deltas:
        yield _event({**head, "choices": [{"index": 0, "delta": delta, "finish_reason": None}]})
    yield _event({**head, "choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]})
    if usage:
        yield _event({**head, "choices": [], "usage": _usage(prompt.text, text)})
    yield "data: [DONE]\n\n"


def _event(value: dict[str, Any]) -> str:
    return f"data: {json.dumps(value)}\n\n"


def main(argv: Sequence[str] | None = None) -> None:
    """Serves until a signal ends it."""
    parser = argparse.ArgumentParser(prog="mithril_proxy.demo.model_server", description=__doc__)
    parser.add_argument("--host", default="127.0.0.1")
    parser.add_argument("--port", type=int, default=8100)
    options = parser.parse_args(argv)
    uvicorn.run(build_app(), host=options.host, port=options.port, log_level="warning", access_log=False)


if __name__ == "__main__":
    main()
