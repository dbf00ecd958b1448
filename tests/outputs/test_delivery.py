"""Audit events reach other systems: each at least once, in order, and no write waits for a receiver."""

from __future__ import annotations

import asyncio
import json
import socket
from collections.abc import AsyncIterator, Sequence
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio
import structlog

from mithril_proxy.app import audit_outputs, output_name
from mithril_proxy.errors import ConfigurationError, StoreUnavailable, UpstreamUnavailable
from mithril_proxy.outputs.deliver import BATCH, LONGEST_PAUSE_S, POLL_S, Delivery, event_of
from mithril_proxy.outputs.receiver import Event, ReceiverAway
from mithril_proxy.outputs.syslog import MAX_DATAGRAM_BYTES, Syslog, Target, datagram, framed, message, parse_target
from mithril_proxy.outputs.webhook import Webhook, parse_address, signature
from mithril_proxy.settings import Settings
from mithril_proxy.store import Store, open_store
from mithril_proxy.store.interface import AuditRow
from tests.harness import FakeUpstream, json_answer
from tests.store.values import START, FixedClock
from tests.whole import Setup, whole

SECRET = "shared-" + "secret"


@pytest_asyncio.fixture
async def store(tmp_path: Path) -> AsyncIterator[Store]:
    opened = await open_store(f"sqlite+aiosqlite:///{tmp_path}/mithril.db", FixedClock())
    yield opened
    await opened.close()


def event(kind: str = "decision", severity: int = 1, text: str = "") -> Event:
    return Event(1, START, kind, {"severity_id": severity, "unmapped": text})


class Recording:
    """A receiver that keeps what it was sent; away for a number of calls."""

    name = "recording"

    def __init__(self, away: int = 0) -> None:
        self.away, self.ids = away, list[int]()
        self.is_closed = False

    async def send(self, events: Sequence[Event]) -> None:
        if self.away:
            self.away -= 1
            raise ReceiverAway("webhook: answered 500")
        self.ids += [event.id for event in events]

    async def close(self) -> None:
        self.is_closed = True


def delivery(store: Store, receiver: Any) -> Delivery:
    return Delivery(store, receiver, structlog.get_logger())


async def ids(store: Store) -> list[int]:
    return [row.id for row in await store.audit()]


async def test_a_new_receiver_begins_with_what_happens_from_then_on(store: Store) -> None:
    await store.append_audit("policy", "before", {})
    receiver = Recording()
    one = delivery(store, receiver)
    assert await one.step() == POLL_S
    assert receiver.ids == []
    await store.append_audit("policy", "after", {})
    await one.step()
    assert receiver.ids == (await ids(store))[-1:]


async def test_a_restart_goes_on_behind_the_cursor(store: Store) -> None:
    first, second = Recording(), Recording()
    await delivery(store, first).step()
    for number in range(3):
        await store.append_audit("policy", str(number), {})
    await delivery(store, first).step()
    await store.append_audit("policy", "later", {})
    await delivery(store, second).step()
    assert first.ids + second.ids == await ids(store)


async def test_full_batches_follow_each_other_without_a_pause(store: Store) -> None:
    receiver = Recording()
    one = delivery(store, receiver)
    await one.step()
    await asyncio.gather(*(store.append_audit("policy", str(number), {}) for number in range(BATCH + 5)))
    assert [await one.step(), await one.step()] == [0.0, POLL_S]
    assert receiver.ids == await ids(store)


async def test_a_receiver_that_is_away_is_tried_again_slower_each_time_and_misses_nothing(store: Store) -> None:
    receiver = Recording(away=9)
    one = delivery(store, receiver)
    await one.step()
    await store.append_audit("policy", "x", {})
    pauses = [await one.step() for _ in range(9)]
    assert pauses[:4] == [0.5, 1.0, 2.0, 4.0]
    assert pauses[-1] == LONGEST_PAUSE_S
    assert await store.output_cursor("recording") == 0
    assert await one.step() == POLL_S
    assert receiver.ids == await ids(store)
    assert one.failures == 0


async def test_a_batch_that_was_taken_but_not_kept_is_delivered_again(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    receiver = Recording()
    one = delivery(store, receiver)
    await one.step()
    await store.append_audit("policy", "x", {})

    async def fails(name: str, cursor: int) -> None:
        raise StoreUnavailable("disk full")

    with monkeypatch.context() as patched:
        patched.setattr(store, "move_output_cursor", fails)
        await one.step()
    await one.step()
    assert receiver.ids == (await ids(store)) * 2


async def test_it_runs_until_it_is_cancelled_and_gives_its_connection_back(store: Store) -> None:
    receiver = Recording()
    one = delivery(store, receiver)
    slept: list[float] = []

    async def sleep(seconds: float) -> None:
        slept.append(seconds)
        if len(slept) == 3:
            raise asyncio.CancelledError

    one.sleep = sleep
    with pytest.raises(asyncio.CancelledError):
        await one.run()
    assert receiver.is_closed


async def test_the_cursor_never_goes_back(store: Store) -> None:
    for cursor in (5, 3):
        await store.move_output_cursor("x", cursor)
    assert await store.output_cursor("x") == 5


# --- webhook ---------------------------------------------------------------------------------------------------------


async def test_a_delivery_is_signed_over_its_time_and_its_body() -> None:
    upstream = FakeUpstream(script=lambda sent: json_answer({}))
    hook = Webhook(upstream, "/hook?x=1", SECRET, "webhook-1", FixedClock())
    await hook.send([event(), Event(2, START, "outcome", {"severity_id": 1})])
    (sent,) = upstream.sent
    assert (sent.method, sent.target, sent.header("host")) == ("POST", "/hook?x=1", upstream.netloc)
    assert [one["severity_id"] for one in json.loads(sent.body)] == [1, 1]
    timestamp = sent.header("x-mithril-timestamp")
    assert timestamp == str(int(START.timestamp()))
    assert sent.header("x-mithril-signature") == signature(SECRET, timestamp, sent.body)
    assert sent.header("x-mithril-signature") != signature(SECRET, timestamp + "1", sent.body)
    assert sent.header("x-mithril-delivery") == "1-2"
    await hook.close()


@pytest.mark.parametrize(
    "answer", [json_answer({}, 500), json_answer({}, 302), json_answer({}, 410), UpstreamUnavailable("https://t0ken/")]
)
async def test_everything_but_success_is_tried_again_and_no_reason_holds_the_address(answer: Any) -> None:
    hook = Webhook(FakeUpstream(script=lambda sent: answer), "/t0ken", SECRET, "webhook-1", FixedClock())
    with pytest.raises(ReceiverAway) as failure:
        await hook.send([event()])
    assert "t0ken" not in str(failure.value)


@pytest.mark.parametrize(
    ("url", "origin", "target"),
    [
        ("https://siem.example.org/hook?a=1", "https://siem.example.org", "/hook?a=1"),
        ("http://127.0.0.1:9000", "http://127.0.0.1:9000", "/"),
    ],
)
def test_a_webhooks_url_is_taken_apart(url: str, origin: str, target: str) -> None:
    assert (parse_address(url).origin, parse_address(url).target) == (origin, target)


@pytest.mark.parametrize("url", ["ftp://x/", "https://", "https://user:x@h/", "https://h/#f", "nothing"])
def test_any_other_url_is_refused(url: str) -> None:
    with pytest.raises(ConfigurationError, match="MITHRIL_AUDIT_WEBHOOK_URL"):
        parse_address(url)


# --- syslog ----------------------------------------------------------------------------------------------------------


def test_a_message_has_the_form_of_rfc_5424() -> None:
    text = message(event(severity=4), "host1", 42)
    assert text.startswith(b"<107>1 2026-12-01T12:00:00.000000Z host1 mithril 42 decision - {")
    assert message(event(severity=99), "h", 1).startswith(b"<109>1 ")
    assert framed(b"abc") == b"3 abc"


def test_an_event_that_is_too_long_for_a_datagram_goes_without_its_payload() -> None:
    assert len(datagram(event(text="x" * MAX_DATAGRAM_BYTES), "h", 1)) < 200
    assert datagram(event(), "h", 1) == message(event(), "h", 1)


@pytest.mark.parametrize(
    ("url", "target"),
    [
        ("udp://siem", Target("udp", "siem", 514)),
        ("tcp://siem:1601", Target("tcp", "siem", 1601)),
        ("unix:///dev/log", Target("unix", path="/dev/log")),
    ],
)
def test_a_syslog_target_is_taken_apart(url: str, target: Target) -> None:
    assert parse_target(url) == target


@pytest.mark.parametrize("url", ["siem:514", "udp://", "tcp://h:port", "http://h", "unix://", "udp://h/path"])
def test_any_other_target_is_refused(url: str) -> None:
    with pytest.raises(ConfigurationError, match="MITHRIL_AUDIT_SYSLOG"):
        parse_target(url)


@pytest.mark.parametrize("kind", ["udp", "unix"])
async def test_datagrams_arrive_whole(kind: str, tmp_path: Path) -> None:
    family = socket.AF_INET if kind == "udp" else socket.AF_UNIX
    with socket.socket(family, socket.SOCK_DGRAM) as listening:
        listening.setblocking(False)
        listening.bind(("127.0.0.1", 0) if kind == "udp" else str(tmp_path / "log"))
        address = listening.getsockname()
        target = Target("udp", *address) if kind == "udp" else Target("unix", path=str(address))
        syslog = Syslog(target, "syslog-1")
        await syslog.send([event("decision"), event("outcome")])
        got = [listening.recv(65536) for _ in range(2)]
        await syslog.close()
    assert [b" decision - " in got[0], b" outcome - " in got[1]] == [True, True]


async def test_a_stream_is_counted_and_opened_again_after_it_broke() -> None:
    received = bytearray()
    ended: asyncio.Queue[None] = asyncio.Queue()

    async def take(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while chunk := await reader.read(4096):
            received.extend(chunk)
        writer.close()
        ended.put_nowait(None)

    server = await asyncio.start_server(take, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    syslog = Syslog(Target("tcp", "127.0.0.1", port), "syslog-1", hostname="h", process_id=1)
    for _ in range(2):
        await syslog.send([event()])
        await syslog.close()
        await ended.get()
    server.close()
    await server.wait_closed()
    assert bytes(received) == framed(message(event(), "h", 1)) * 2


async def test_a_target_that_is_not_there_is_away(tmp_path: Path) -> None:
    for target in (Target("tcp", "127.0.0.1", 1), Target("unix", path=str(tmp_path / "none"))):
        syslog = Syslog(target, "syslog-1")
        with pytest.raises(ReceiverAway, match="syslog"):
            await syslog.send([event()])


# --- composition -----------------------------------------------------------------------------------------------------


async def with_settings(setup: Setup, **values: Any) -> list[str]:
    setup.application.settings = Settings(_env_file=None, **values)  # type: ignore[call-arg]
    async with audit_outputs(setup.application) as deliveries:
        return [one.receiver.name for one in deliveries]


async def test_outputs_are_what_the_settings_name(tmp_path: Path) -> None:
    async with whole(tmp_path) as setup:
        assert await with_settings(setup) == []
        url, hook = "udp://127.0.0.1:5514", "https://siem.example.org/t0ken"
        names = await with_settings(setup, audit_syslog=url, audit_webhook_url=hook, audit_webhook_secret=SECRET)
        assert names == [output_name("syslog", url), output_name("webhook", hook)]
        assert "t0ken" not in names[1]
        with pytest.raises(ConfigurationError, match="MITHRIL_AUDIT_WEBHOOK_SECRET"):
            await with_settings(setup, audit_webhook_url=hook)


def test_an_event_carries_the_id_of_its_row() -> None:
    row = AuditRow(9, "wri", 1, START, "policy", "x", {}, "0" * 64, "1" * 64)
    assert (event_of(row).id, event_of(row).kind) == (9, "policy")
