"""Cognee's WebSockets: closed by default, scrubbed when opened."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

from tests.harness import FakeUpstream, bench

PATH = b"/api/v1/cognify/subscribe/7e00d205-a1d7-41a3-8d9c-b612568976e7"


async def connect(folder: Path, upstream: FakeUpstream, policy: str, query: bytes = b"token=abc") -> list[Any]:
    sent: list[Any] = []
    closed = asyncio.Event()

    async def receive() -> Any:
        if not sent:
            return {"type": "websocket.connect"}
        await closed.wait()
        return {"type": "websocket.disconnect"}

    async def send(message: Any) -> None:
        sent.append(message)
        if message["type"] == "websocket.close":
            closed.set()

    scope: Any = {
        "type": "websocket", "scheme": "ws", "path": PATH.decode(), "raw_path": PATH, "query_string": query,
        "headers": [(b"host", b"mithril.test"), (b"sec-websocket-key", b"k")], "client": ("192.0.2.7", 1),
    }  # fmt: skip
    async with bench(folder, policy=policy, upstream=upstream) as setup:
        await setup.plane(scope, receive, send)
    return sent


def opened(folder: Path) -> str:
    policy = folder / "open.toml"
    policy.write_text("[routes]\nwebsockets = true\n")
    return str(policy)


async def test_a_websocket_is_refused_unless_the_policy_opens_it(tmp_path: Path) -> None:
    upstream = FakeUpstream(frames=["{}"])
    [message] = await connect(tmp_path, upstream, "default.toml")
    assert (message["type"], message["code"], message["reason"]) == ("websocket.close", 1008, "route_closed")
    assert upstream.sent == []


async def test_frames_are_scrubbed_and_ids_stay(tmp_path: Path) -> None:
    secret = "postgres://app:" + "Tr0ub4dor3xYz" + "@db.example.com/app"
    frame = json.dumps({"id": "7e00d205-a1d7-41a3-8d9c-b612568976e7", "text": secret})
    sent = await connect(tmp_path, FakeUpstream(frames=[frame, f"plain {secret}"]), opened(tmp_path))
    assert [message["type"] for message in sent] == ["websocket.accept", *["websocket.send"] * 2, "websocket.close"]
    assert "7e00d205-a1d7-41a3-8d9c-b612568976e7" in sent[1]["text"]
    assert not any("Tr0ub4dor3xYz" in message.get("text", "") for message in sent)


async def test_a_frame_that_cannot_be_read_ends_the_connection(tmp_path: Path) -> None:
    sent = await connect(tmp_path, FakeUpstream(frames=[b"\x00"]), opened(tmp_path))
    assert sent[1]["reason"] == "unscrubbable_frame"


async def test_an_upstream_that_does_not_accept_is_said_to_be_so(tmp_path: Path) -> None:
    [message] = await connect(tmp_path, FakeUpstream(frames=None), opened(tmp_path))
    assert message["reason"] == "upstream_unavailable"


async def test_a_mithril_key_in_the_address_goes_nowhere(tmp_path: Path) -> None:
    upstream = FakeUpstream(frames=["{}"])
    [message] = await connect(tmp_path, upstream, opened(tmp_path), query=b"token=mk_abc")
    assert message["reason"] == "key_in_query"
    assert upstream.sent == []
