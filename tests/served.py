"""ASGI applications on a port of this machine, for programs that need one."""

from __future__ import annotations

import asyncio
import contextlib
import socket
import threading
from collections.abc import AsyncIterator, Iterator

import uvicorn
from starlette.types import ASGIApp


class _Quiet(uvicorn.Server):
    """A server that leaves signals to pytest."""

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield


def _server(app: ASGIApp) -> tuple[_Quiet, socket.socket, str]:
    bound = socket.create_server(("127.0.0.1", 0))
    config = uvicorn.Config(app, log_level="error", access_log=False, lifespan="auto", ws="none")
    return _Quiet(config), bound, f"http://127.0.0.1:{bound.getsockname()[1]}"


@contextlib.asynccontextmanager
async def served(app: ASGIApp) -> AsyncIterator[str]:
    """The URL of `app`, served by this event loop."""
    server, bound, url = _server(app)
    task = asyncio.create_task(server.serve([bound]))
    try:
        while not server.started:  # noqa: ASYNC110 - uvicorn has no event for it
            await asyncio.sleep(0.01)
        yield url
    finally:
        server.should_exit = True
        await task
        bound.close()


@contextlib.contextmanager
def served_in_a_thread(app: ASGIApp) -> Iterator[str]:
    """The URL of `app`, served beside a test that blocks."""
    server, bound, url = _server(app)
    thread = threading.Thread(target=lambda: asyncio.run(server.serve([bound])))
    thread.start()
    try:
        yield url
    finally:
        server.should_exit = True
        thread.join()
        bound.close()
