"""Stops work for a client that has gone: reads only. A decided write is always carried to its end."""

from __future__ import annotations

import asyncio
from types import TracebackType

from mithril_proxy.proxy.asgi import ClientGone, Receive


class UntilDisconnect:
    """Cancels the block under it when the client closes the connection, and raises ClientGone in its place.

    Enter it only after the request body was received whole: it takes over `receive`.
    """

    def __init__(self, receive: Receive) -> None:
        self._receive = receive
        self._is_gone = False
        self._watch: asyncio.Task[None] | None = None

    async def __aenter__(self) -> UntilDisconnect:
        owner = asyncio.current_task()
        assert owner is not None
        self._watch = asyncio.create_task(self._wait(owner))
        return self

    async def _wait(self, owner: asyncio.Task[object]) -> None:
        while (await self._receive())["type"] != "http.disconnect":
            pass
        self._is_gone = True
        owner.cancel()

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        assert self._watch is not None
        self._watch.cancel()
        if not self._is_gone:
            return
        owner = asyncio.current_task()
        assert owner is not None
        owner.uncancel()
        if kind is None or kind is asyncio.CancelledError:
            raise ClientGone from None
