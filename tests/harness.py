"""A whole data plane with a scripted upstream: real codecs, guard, judge, chain and SQLite; no socket."""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path
from types import TracebackType
from typing import Any

import orjson
import structlog

from mithril_proxy.app import Application, Rules, build_services, load_rules
from mithril_proxy.chain.recent import RecentWrites
from mithril_proxy.clock import SystemClock
from mithril_proxy.errors import UpstreamUnavailable
from mithril_proxy.policy import load_policy
from mithril_proxy.proxy import DataPlane
from mithril_proxy.proxy.asgi import Message, Scope
from mithril_proxy.proxy.headers import RawHeaders
from mithril_proxy.proxy.posture import Observation
from mithril_proxy.proxy.upstream import UpstreamAnswer, UpstreamRequest
from mithril_proxy.settings import Settings
from mithril_proxy.store import open_store
from mithril_proxy.store.desk import DeskStore
from mithril_proxy.telemetry import Metrics

UPSTREAM = "http://cognee.test:8000"
SERVICE_KEY = "service-credential"
KNOWN_COGNEE = Observation("ok", "Cognee, as scripted")


class FakeAnswer:
    """An upstream answer given beforehand."""

    def __init__(self, status: int, headers: RawHeaders, chunks: Sequence[bytes], breaks_off: bool = False) -> None:
        self.status = status
        self.headers = headers
        self.is_closed = False
        self._chunks = chunks
        self._breaks_off = breaks_off

    async def stream(self) -> AsyncIterator[bytes]:
        for chunk in self._chunks:
            await asyncio.sleep(0)
            yield chunk
        if self._breaks_off:
            raise UpstreamUnavailable("the upstream broke off its answer")

    async def read(self, limit_bytes: int) -> bytes:
        body = b"".join([chunk async for chunk in self.stream()])
        if len(body) > limit_bytes:
            raise UpstreamUnavailable("too long")
        return body

    async def __aenter__(self) -> FakeAnswer:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.is_closed = True


def json_answer(value: object, status: int = 200, headers: RawHeaders | None = None) -> FakeAnswer:
    """One JSON answer."""
    body = orjson.dumps(value)
    head = [(b"content-type", b"application/json"), (b"content-length", str(len(body)).encode())]
    return FakeAnswer(status, [*head, *(headers or [])], [body])


@dataclass(frozen=True, slots=True)
class Sent:
    """What reached the upstream."""

    method: str
    target: str
    headers: RawHeaders
    body: bytes

    def header(self, name: str) -> str | None:
        """The first value of a header."""
        wanted = name.encode()
        return next((value.decode() for key, value in self.headers if key.lower() == wanted), None)


Script = Callable[[Sent], FakeAnswer | Exception]


def is_probe(sent: Sent) -> bool:
    """True for Mithril's own look-up of verified memory."""
    return (
        sent.target == "/api/v1/recall"
        and b'"node_name":["verified"]' in sent.body
        and b'"scope":"graph","stream":false' in sent.body
    )


class FakeSubscription:
    """A WebSocket whose frames are given beforehand."""

    def __init__(self, given: list[str | bytes]) -> None:
        self._given = given
        self.is_closed = False

    async def frames(self) -> AsyncIterator[str | bytes]:
        for frame in self._given:
            yield frame

    async def close(self) -> None:
        self.is_closed = True


@dataclass
class FakeUpstream:
    """Records every request; answers by script, and probes with `memories`."""

    script: Script = field(default=lambda sent: json_answer({"status": "completed"}))
    memories: list[dict[str, Any]] = field(default_factory=list)
    netloc: str = "cognee.test:8000"
    sent: list[Sent] = field(default_factory=list)
    probes: list[Sent] = field(default_factory=list)
    probe_error: Exception | None = None
    frames: list[str | bytes] | None = None

    async def subscribe(self, target: str, headers: RawHeaders) -> FakeSubscription:
        self.sent.append(Sent("WS", target, headers, b""))
        if self.frames is None:
            raise UpstreamUnavailable("no WebSocket")
        return FakeSubscription(self.frames)

    async def send(self, request: UpstreamRequest) -> UpstreamAnswer:
        body = request.body
        whole = (
            body if isinstance(body, bytes) else b"".join([chunk async for chunk in body]) if body is not None else b""
        )
        sent = Sent(request.method, request.target, request.headers, whole)
        if is_probe(sent):
            self.probes.append(sent)
            if self.probe_error is not None:
                raise self.probe_error
            return json_answer(self.memories)
        self.sent.append(sent)
        answer = self.script(sent)
        if isinstance(answer, Exception):
            raise answer
        return answer


def chunk(text: str, *node_sets: str, score: float = 0.2) -> dict[str, Any]:
    """One item of a CHUNKS answer, as Cognee 1.6.5 gives it to a probe or a recall."""
    digest = hashlib.sha256(text.encode()).hexdigest()
    data_id = f"{digest[:8]}-{digest[8:12]}-{digest[12:16]}-{digest[16:20]}-{digest[20:32]}"
    return {
        "kind": "chunk",
        "search_type": "CHUNKS",
        "text": text,
        "score": score,
        "dataset_name": "main",
        "metadata": {"data_id": data_id, "chunk_id": data_id, "chunk_index": 0},
        "raw": {"id": data_id, "text": text, "belongs_to_set": list(node_sets)},
        "structured": None,
        "source": "graph",
    }


@dataclass
class Reply:
    """What a client got."""

    status: int = 0
    headers: list[tuple[bytes, bytes]] = field(default_factory=list)
    body: bytes = b""
    chunks: list[bytes] = field(default_factory=list)

    def header(self, name: str) -> str | None:
        """The first value of a header."""
        return next((value.decode() for key, value in self.headers if key == name.encode()), None)

    def json(self) -> Any:
        """The body as JSON."""
        return orjson.loads(self.body)


async def call(
    plane: DataPlane,
    method: str,
    path: str,
    *,
    headers: Sequence[tuple[str, str]] = (),
    body: bytes = b"",
    pieces: Sequence[bytes] | None = None,
) -> Reply:
    """Send one request to the ASGI application, byte for byte; `pieces` gives the body in several messages."""
    raw_path, _, query = path.partition("?")
    given = [(name.lower().encode(), value.encode("latin-1")) for name, value in headers]
    if not any(name == b"host" for name, _ in given):
        given.append((b"host", b"mithril.test"))
    if pieces is None and body and not any(name == b"content-length" for name, _ in given):
        given.append((b"content-length", str(len(body)).encode()))
    scope: Scope = {
        "type": "http",
        "method": method,
        "scheme": "http",
        "path": raw_path,
        "raw_path": raw_path.encode("latin-1"),
        "query_string": query.encode("latin-1"),
        "headers": given,
        "client": ("192.0.2.7", 50000),
        "server": ("mithril.test", 80),
    }
    waiting = [
        {"type": "http.request", "body": piece, "more_body": True}
        for piece in (pieces if pieces is not None else [body])
    ]
    waiting.append({"type": "http.request", "body": b"", "more_body": False})
    reply = Reply()
    is_answered = asyncio.Event()

    async def receive() -> Message:
        if waiting:
            return waiting.pop(0)
        await is_answered.wait()
        return {"type": "http.disconnect"}

    async def send(message: Message) -> None:
        if message["type"] == "http.response.start":
            reply.status, reply.headers = message["status"], list(message["headers"])
            return
        reply.chunks.append(message.get("body", b""))
        reply.body += message.get("body", b"")
        if not message.get("more_body", False):
            is_answered.set()

    await plane(scope, receive, send)
    return reply


@dataclass
class Bench:
    """A data plane to test, with everything around it."""

    plane: DataPlane
    upstream: FakeUpstream
    store: DeskStore
    folder: Path
    application: Application
    keys: dict[str, str] = field(default_factory=dict)

    async def register(self, name: str, prior: float) -> str:
        """The key of a newly registered source."""
        key = f"mk_{name}_key_for_tests"
        await self.store.add_source(name, prior=prior, key_digest=hashlib.sha256(key.encode()).hexdigest())
        self.keys[name] = key
        return key

    async def call(
        self,
        method: str,
        path: str,
        *,
        source: str | None = None,
        headers: Sequence[tuple[str, str]] = (),
        body: bytes = b"",
        pieces: Sequence[bytes] | None = None,
    ) -> Reply:
        """A request, with the key of a registered source when one is named."""
        given = [*headers, ("x-api-key", self.keys[source])] if source else list(headers)
        return await call(self.plane, method, path, headers=given, body=body, pieces=pieces)

    async def remember(
        self, text: str, *, source: str | None = None, filename: str = "note.txt", **fields: str
    ) -> Reply:
        """A stock client's remember: one text file."""
        body, content_type = multipart([("datasetName", "main"), *fields.items()], [("data", filename, text.encode())])
        return await self.call(
            "POST", "/api/v1/remember", source=source, headers=[("content-type", content_type)], body=body
        )

    async def recall(self, document: object, *, source: str | None = None, path: str = "/api/v1/recall") -> Reply:
        """A recall with a JSON body."""
        return await self.call(
            "POST", path, source=source, headers=[("content-type", "application/json")], body=orjson.dumps(document)
        )

    def database_bytes(self) -> bytes:
        """Everything that stands in the database files."""
        return b"".join(path.read_bytes() for path in sorted(self.folder.glob("mithril.db*")))


def multipart(
    fields: Sequence[tuple[str, str]], files: Sequence[tuple[str, str, bytes]] = (), boundary: str = "test-boundary"
) -> tuple[bytes, str]:
    """A multipart body and its Content-Type."""
    parts = [
        f'--{boundary}\r\nContent-Disposition: form-data; name="{name}"\r\n\r\n'.encode() + value.encode() + b"\r\n"
        for name, value in fields
    ]
    parts += [
        f'--{boundary}\r\nContent-Disposition: form-data; name="{name}"; filename="{filename}"\r\n'.encode()
        + b"Content-Type: text/plain\r\n\r\n"
        + content
        + b"\r\n"
        for name, filename, content in files
    ]
    return b"".join((*parts, f"--{boundary}--\r\n".encode())), f"multipart/form-data; boundary={boundary}"


@cache
def _loaded() -> Rules:
    """The shipped rules: loading them runs every rule's examples, which takes most of a second."""
    return load_rules(Settings(_env_file=None, judge="local"), SystemClock())  # type: ignore[call-arg]


@asynccontextmanager
async def bench(
    folder: Path,
    *,
    policy: str = "default.toml",
    upstream: FakeUpstream | None = None,
    admin_token: str | None = None,
) -> AsyncIterator[Bench]:
    """A data plane over a fresh SQLite file in `folder`."""
    clock = SystemClock()
    settings = Settings(
        _env_file=None,  # type: ignore[call-arg]
        upstream_url=UPSTREAM,
        upstream_api_key=SERVICE_KEY,  # type: ignore[arg-type]
        database_url=f"sqlite+aiosqlite:///{folder}/mithril.db",
        policy=policy,
        judge="local",
        admin_token=admin_token,  # type: ignore[arg-type]
    )
    store = await open_store(settings.database_url, clock)
    scripted = upstream or FakeUpstream()
    try:
        rules = replace(_loaded(), policy=load_policy(policy))
        recent, metrics, log = RecentWrites(rules.policy.joins, clock), Metrics(), structlog.get_logger()
        services = build_services(settings, rules, store, recent, clock)
        plane = DataPlane(services, store, scripted, metrics, clock, log)
        application = Application(settings, store, scripted, metrics, clock, log, plane, recent, rules, KNOWN_COGNEE)
        yield Bench(plane, scripted, store, folder, application)
    finally:
        await store.close()
