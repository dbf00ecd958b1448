"""The seam to the upstream, over a real socket and by host name."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

import pytest
import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, RedirectResponse, Response, StreamingResponse
from starlette.routing import Route

from mithril_proxy.errors import UpstreamTimeout, UpstreamUnavailable
from mithril_proxy.proxy.headers import RawHeaders
from mithril_proxy.proxy.upstream import AiohttpUpstream, UpstreamRequest


async def echo(request: Request) -> Response:
    body = await request.body()
    answer = JSONResponse(
        {
            "target": request.scope["raw_path"].decode() + "?" + request.scope["query_string"].decode(),
            "cookies": request.cookies,
            "length": len(body),
            "headers": [[name.decode(), value.decode()] for name, value in request.scope["headers"]],
        }
    )
    answer.set_cookie("auth_token", "somebody", domain=None)
    answer.headers.append("set-cookie", "second=2")
    return answer


async def redirects(request: Request) -> Response:
    return RedirectResponse("http://elsewhere.invalid/", 307)


async def slow(request: Request) -> Response:
    await asyncio.sleep(30)
    return Response()


async def breaks_off(request: Request) -> Response:
    async def pieces() -> AsyncIterator[bytes]:
        yield b"half"
        raise RuntimeError("broken")

    return StreamingResponse(pieces(), headers={"content-length": "100"})


@asynccontextmanager
async def serving(app: Callable[..., object]) -> AsyncIterator[int]:
    server = uvicorn.Server(uvicorn.Config(app, log_level="critical", lifespan="off"))
    listening = socket.create_server(("127.0.0.1", 0))
    task = asyncio.create_task(server.serve([listening]))
    try:
        yield listening.getsockname()[1]
    finally:
        server.should_exit = True
        server.force_exit = True
        await task


@pytest.fixture
async def upstream() -> AsyncIterator[AiohttpUpstream]:
    routes = [
        Route("/redirects", redirects),
        Route("/slow", slow),
        Route("/breaks", breaks_off),
        Route("/{rest:path}", echo, methods=["GET", "POST", "DELETE"]),
    ]
    async with serving(Starlette(routes=routes)) as port:
        client = AiohttpUpstream(f"http://localhost:{port}", 5.0, 0.3)
        yield client
        await client.close()


async def test_one_callers_login_is_never_replayed_on_anothers_request(upstream: AiohttpUpstream) -> None:
    async with await upstream.send(UpstreamRequest("GET", "/", [])) as first:
        cookies = [value for name, value in first.headers if name.lower() == b"set-cookie"]
        await first.read(10_000)
    assert len(cookies) == 2
    async with await upstream.send(UpstreamRequest("GET", "/", [])) as second:
        assert b'"cookies":{}' in await second.read(10_000)


async def test_the_path_is_sent_as_it_is(upstream: AiohttpUpstream) -> None:
    async with await upstream.send(UpstreamRequest("GET", "/a/%7Ex/b%20c?q=%2F&q=2", [])) as answer:
        assert b'"target":"/a/%7Ex/b%20c?q=%2F&q=2"' in await answer.read(10_000)


async def test_no_header_is_made_up(upstream: AiohttpUpstream) -> None:
    async with await upstream.send(UpstreamRequest("POST", "/", [(b"host", b"client.test")], b"four")) as answer:
        body = await answer.read(10_000)
    assert b'["host","client.test"]' in body
    assert b"user-agent" not in body
    assert b"accept-encoding" not in body
    assert b'["content-length","4"]' in body


@pytest.mark.parametrize(
    ("body", "sent", "length"),
    [
        (None, [(b"content-length", b"99"), (b"transfer-encoding", b"chunked")], 0),
        (b"four", [(b"content-length", b"99")], 4),
        (b"", [(b"content-length", b"99")], 0),
    ],
)
async def test_a_body_is_framed_once_and_as_long_as_it_is(
    upstream: AiohttpUpstream, body: bytes | None, sent: RawHeaders, length: int
) -> None:
    """A length without its body would swallow the next request on the connection."""
    for method in ("GET", "POST"):
        async with await upstream.send(UpstreamRequest(method, "/", sent, body)) as answer:
            assert f'"length":{length}'.encode() in await answer.read(10_000)


async def test_a_streamed_body_keeps_the_length_that_was_declared(upstream: AiohttpUpstream) -> None:
    async def pieces() -> AsyncIterator[bytes]:
        yield b"two"
        yield b"parts"

    for headers in ([(b"content-length", b"8")], []):
        async with await upstream.send(UpstreamRequest("POST", "/", headers, pieces())) as answer:
            assert b'"length":8' in await answer.read(10_000)


async def test_a_redirect_is_handed_back_not_followed(upstream: AiohttpUpstream) -> None:
    async with await upstream.send(UpstreamRequest("GET", "/redirects", [])) as answer:
        assert answer.status == 307


async def test_a_silent_upstream_is_a_timeout(upstream: AiohttpUpstream) -> None:
    with pytest.raises(UpstreamTimeout):
        await upstream.send(UpstreamRequest("GET", "/slow", []))


async def test_an_upstream_that_breaks_off_is_told_from_one_that_ends(upstream: AiohttpUpstream) -> None:
    async with await upstream.send(UpstreamRequest("GET", "/breaks", [])) as answer:
        with pytest.raises(UpstreamUnavailable):
            await answer.read(10_000)


async def test_an_answer_that_is_too_long_is_not_read_to_its_end(upstream: AiohttpUpstream) -> None:
    async with await upstream.send(UpstreamRequest("GET", "/", [])) as answer:
        with pytest.raises(UpstreamUnavailable, match="longer than 5"):
            await answer.read(5)


async def test_an_upstream_that_is_not_there_is_unavailable() -> None:
    client = AiohttpUpstream("http://localhost:9", 2.0, 2.0)
    with pytest.raises(UpstreamUnavailable, match="cannot be reached"):
        await client.send(UpstreamRequest("GET", "/", []))
    await client.close()
