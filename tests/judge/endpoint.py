"""A chat-completions endpoint on loopback that answers as a test scripts it."""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

from aiohttp import web
from aiohttp.test_utils import TestServer

Reply = Callable[["Asked"], web.Response]
_NONCE = re.compile(r"<claim-(n_\w+)>")


@dataclass(frozen=True)
class Asked:
    """One request as the endpoint saw it."""

    body: dict[str, Any]

    @property
    def system(self) -> str:
        return str(self.body["messages"][0]["content"])

    @property
    def user(self) -> str:
        return str(self.body["messages"][1]["content"])

    @property
    def nonce(self) -> str:
        found = _NONCE.findall(self.user)
        assert len(found) == 1
        return str(found[0])


@dataclass
class ScriptedEndpoint:
    """Answers with one reply after the other, the last one for ever; keeps what it was asked."""

    replies: list[Reply]
    asked: list[Asked] = field(default_factory=list)
    gate: asyncio.Event | None = None
    open_now: int = 0
    most_open: int = 0
    url: str = ""
    arrivals: asyncio.Semaphore = field(default_factory=lambda: asyncio.Semaphore(0))

    async def answer(self, request: web.Request) -> web.Response:
        asked = Asked(await request.json())
        self.asked.append(asked)
        reply = self.replies.pop(0) if len(self.replies) > 1 else self.replies[0]
        self.open_now += 1
        self.arrivals.release()
        self.most_open = max(self.most_open, self.open_now)
        try:
            if self.gate is not None:
                await self.gate.wait()
        finally:
            self.open_now -= 1
        return reply(asked)


@asynccontextmanager
async def serving(*replies: Reply, gate: asyncio.Event | None = None) -> AsyncIterator[ScriptedEndpoint]:
    endpoint = ScriptedEndpoint(list(replies), gate=gate)
    app = web.Application()
    app.router.add_post("/v1/chat/completions", endpoint.answer)
    server = TestServer(app, host="127.0.0.1")
    await server.start_server()
    endpoint.url = str(server.make_url("/v1"))
    try:
        yield endpoint
    finally:
        if gate is not None:
            gate.set()
        await server.close()


def verdict_text(nonce: str, contradiction: object, danger: object, relations: Sequence[str] = ()) -> str:
    """An answer as the prompts ask for it."""
    chunks = "".join(f'<chunk id="{number}">{word}</chunk>\n' for number, word in enumerate(relations, start=1))
    return (
        f'<verdict-{nonce}>\n<score name="contradiction">{contradiction}</score>\n'
        f'<score name="danger">{danger}</score>\n{chunks}</verdict-{nonce}>'
    )


def completion(content: object, **extra: Any) -> dict[str, Any]:
    """The JSON of a completion with one choice."""
    return {
        "id": "c",
        "object": "chat.completion",
        "created": 0,
        "model": "m",
        "choices": [
            {"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": content}, **extra}
        ],
        "usage": {"prompt_tokens": 100, "completion_tokens": 20, "total_tokens": 120},
    }


def says(contradiction: object, danger: object, *relations: str) -> Reply:
    """A well-formed verdict under the request's own nonce."""
    return lambda asked: web.json_response(completion(verdict_text(asked.nonce, contradiction, danger, relations)))


def writes(content: object, **extra: Any) -> Reply:
    """A completion with this content, whatever was asked."""
    return lambda asked: web.json_response(completion(content, **extra))


def sends(status: int, body: object, **headers: str) -> Reply:
    """An HTTP answer with this JSON body."""
    return lambda asked: web.json_response(body, status=status, headers=headers)


def sends_raw(text: str, content_type: str = "application/json") -> Reply:
    """An HTTP 200 with these bytes."""
    return lambda asked: web.Response(text=text, content_type=content_type)


def refuses_parameter(name: str) -> Reply:
    """OpenAI's answer to a model that does not know this parameter."""
    error = {"message": "unsupported", "type": "invalid_request_error", "param": name, "code": "unsupported_value"}
    return sends(400, {"error": error})
