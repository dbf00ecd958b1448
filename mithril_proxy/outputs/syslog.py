"""Syslog: RFC 5424 messages over UDP, TCP (RFC 6587, counted) or a unix socket."""

from __future__ import annotations

import asyncio
import contextlib
import os
import socket
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit

import orjson

from mithril_proxy.errors import ConfigurationError
from mithril_proxy.outputs.receiver import Event, ReceiverAway

FACILITY = 13  # log audit
MAX_DATAGRAM_BYTES = 60_000  # below UDP's 65,507; a longer event goes without its payload
SEVERITY_OF = {1: 6, 2: 5, 3: 4, 4: 3, 5: 2}  # OCSF's severity_id to syslog's: informational is 6, critical is 2
DEFAULT_PORTS = {"udp": 514, "tcp": 601}
SEND_S = 10.0


@dataclass(frozen=True, slots=True)
class Target:
    """Where messages go: `udp` or `tcp` with host and port, or `unix` with a path."""

    scheme: str
    host: str = ""
    port: int = 0
    path: str = ""


def parse_target(url: str) -> Target:
    """`udp://host[:514]`, `tcp://host[:601]` or `unix:///dev/log`. Raises ConfigurationError."""
    parts = urlsplit(url)
    wrong = ConfigurationError("MITHRIL_AUDIT_SYSLOG: must be udp://host:514, tcp://host:601 or unix:///dev/log")
    if parts.scheme == "unix" and parts.path:
        return Target("unix", path=parts.path)
    try:
        port = parts.port
    except ValueError:
        raise wrong from None
    if parts.scheme not in DEFAULT_PORTS or not parts.hostname or parts.path.strip("/"):
        raise wrong
    return Target(parts.scheme, parts.hostname, port or DEFAULT_PORTS[parts.scheme])


def message(event: Event, hostname: str, process_id: int) -> bytes:
    """One RFC 5424 message: the event as JSON, its audit kind as MSGID."""
    level = FACILITY * 8 + SEVERITY_OF.get(int(event.body["severity_id"]), 5)
    at = event.at.isoformat(timespec="microseconds").replace("+00:00", "Z")
    head = f"<{level}>1 {at} {hostname} mithril {process_id} {event.kind[:32]} - "
    return head.encode("ascii", "replace") + orjson.dumps(event.body)


def datagram(event: Event, hostname: str, process_id: int) -> bytes:
    """A message that fits a datagram."""
    whole = message(event, hostname, process_id)
    if len(whole) <= MAX_DATAGRAM_BYTES:
        return whole
    kept = {name: value for name, value in event.body.items() if name != "unmapped"}
    return message(Event(event.id, event.at, event.kind, kept), hostname, process_id)


def framed(text: bytes) -> bytes:
    """A message as it stands in a TCP stream: its length first."""
    return str(len(text)).encode() + b" " + text


@dataclass(slots=True)
class Syslog:
    """A receiver that speaks syslog. UDP and unix datagrams are sent; whether they arrive, nobody says."""

    target: Target
    name: str
    hostname: str = field(default_factory=lambda: (socket.gethostname() or "-").replace(" ", "-"))
    process_id: int = field(default_factory=os.getpid)
    _stream: asyncio.StreamWriter | None = None
    _socket: socket.socket | None = None

    async def send(self, events: Sequence[Event]) -> None:
        """Send events in order. Raises ReceiverAway."""
        try:
            async with asyncio.timeout(SEND_S):
                await (self._send_stream(events) if self.target.scheme == "tcp" else self._send_datagrams(events))
        except (OSError, TimeoutError) as error:
            await self.close()
            raise ReceiverAway(f"syslog: {type(error).__name__}") from None

    async def close(self) -> None:
        """Give the connection back."""
        stream, self._stream = self._stream, None
        if stream is not None:
            stream.close()
            with contextlib.suppress(OSError):
                await stream.wait_closed()
        if self._socket is not None:
            self._socket.close()
            self._socket = None

    async def _send_stream(self, events: Sequence[Event]) -> None:
        if self._stream is None:
            _, self._stream = await asyncio.open_connection(self.target.host, self.target.port)
        self._stream.writelines(framed(message(event, self.hostname, self.process_id)) for event in events)
        await self._stream.drain()

    async def _send_datagrams(self, events: Sequence[Event]) -> None:
        loop = asyncio.get_running_loop()
        if self._socket is None:
            family, address = await self._address(loop)
            opened = socket.socket(family, socket.SOCK_DGRAM)
            opened.setblocking(False)
            self._socket = opened
            await loop.sock_connect(opened, address)
        for event in events:
            await loop.sock_sendall(self._socket, datagram(event, self.hostname, self.process_id))

    async def _address(self, loop: asyncio.AbstractEventLoop) -> tuple[int, Any]:
        if self.target.scheme == "unix":
            return socket.AF_UNIX, self.target.path
        found = await loop.getaddrinfo(self.target.host, self.target.port, type=socket.SOCK_DGRAM)
        return found[0][0], found[0][4]
