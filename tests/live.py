"""A running Mithril on sockets of its own, with a scripted upstream: for what only a real client can test."""

from __future__ import annotations

import asyncio
import contextlib
import socket
import threading
from collections.abc import Coroutine, Iterator
from concurrent.futures import Future
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

import uvicorn
from starlette.types import ASGIApp

from mithril_proxy.app import build_admin_plane
from tests.harness import Bench, FakeUpstream, bench

START_DEADLINE_S = 60
T = TypeVar("T")


class _Server(uvicorn.Server):
    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield


@dataclass(frozen=True, slots=True)
class Live:
    """Where it listens, and what is inside. `run` awaits something in its event loop."""

    proxy_url: str
    admin_url: str
    bench: Bench
    loop: asyncio.AbstractEventLoop

    def run(self, work: Coroutine[Any, Any, T]) -> T:
        """The result of `work`, done where the servers run."""
        return asyncio.run_coroutine_threadsafe(work, self.loop).result(START_DEADLINE_S)


def _bound() -> socket.socket:
    listening = socket.socket()
    listening.bind(("127.0.0.1", 0))
    listening.listen(128)
    return listening


def _url(listening: socket.socket) -> str:
    host, port = listening.getsockname()
    return f"http://{host}:{port}"


def _server(app: ASGIApp) -> _Server:
    return _Server(uvicorn.Config(app, lifespan="off", access_log=False, log_level="error"))


async def _serve(
    folder: Path, policy: str, upstream: FakeUpstream, token: str, ready: Future[Live], stop: Future[None]
) -> None:
    async with bench(folder, policy=policy, upstream=upstream, admin_token=token) as inside:
        admin, _ = await build_admin_plane(inside.application)
        sockets, servers = (_bound(), _bound()), (_server(inside.plane), _server(admin))
        tasks = [asyncio.create_task(server.serve([bound])) for server, bound in zip(servers, sockets, strict=True)]
        ready.set_result(Live(_url(sockets[0]), _url(sockets[1]), inside, asyncio.get_running_loop()))
        await asyncio.wrap_future(stop)
        for server in servers:
            server.should_exit = True
        await asyncio.gather(*tasks)
        for bound in sockets:
            bound.close()


@contextmanager
def live_mithril(
    folder: Path, *, token: str, policy: str = "default.toml", upstream: FakeUpstream | None = None
) -> Iterator[Live]:
    """Both planes on free ports of the loopback interface, in a thread."""
    ready: Future[Live] = Future()
    stop: Future[None] = Future()

    def run() -> None:
        try:
            asyncio.run(_serve(folder, policy, upstream or FakeUpstream(), token, ready, stop))
        except BaseException as error:
            if ready.done():
                raise
            ready.set_exception(error)

    thread = threading.Thread(target=run, name="live-mithril")
    thread.start()
    try:
        yield ready.result(START_DEADLINE_S)
    finally:
        stop.set_result(None)
        thread.join(START_DEADLINE_S)
