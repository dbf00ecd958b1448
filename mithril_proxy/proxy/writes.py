"""A write: decoded into claims, decided, and the admitted ones forwarded in a body built anew.

1. A decided write is carried to its end, whether or not the client is still there.
2. In observe mode the client's own bytes go through untouched, whatever happens here.
3. A call that brings no text of its own (improve, cognify) is rebuilt, with its names redacted.
"""

from __future__ import annotations

import asyncio
from dataclasses import replace

from mithril_proxy.cognee.sessions import refuse_foreign_sessions
from mithril_proxy.cognee.tags import Tags
from mithril_proxy.cognee.writes import Rules, WriteCall, decode_write, prepare
from mithril_proxy.errors import RequestError
from mithril_proxy.proxy.diverted import send_admitted
from mithril_proxy.proxy.documents import refuse_leaking_files
from mithril_proxy.proxy.exchange import Exchange
from mithril_proxy.proxy.forward import forward_write
from mithril_proxy.proxy.passthrough import pass_through
from mithril_proxy.proxy.scrub import redacted_annotations
from mithril_proxy.proxy.sessions import standing_once_written, standings
from mithril_proxy.proxy.write_task import WriteTask
from mithril_proxy.secrets import SecretGuard
from mithril_proxy.types import Mode

INLINE_BODY_BYTES = 64 * 1024  # a larger body is decoded in a thread: 1 MB of multipart JSON takes about 20 ms


async def take_write(exchange: Exchange) -> int:
    """Decide on a write and answer it. Returns the HTTP status of the answer.

    Raises RequestError, StoreUnavailable, UpstreamUnavailable (before anything was decided), ClientGone.
    """
    request, policy = exchange.request, exchange.services.policy
    if policy.mode is Mode.OFF:
        return await pass_through(exchange)
    body = await request.body(policy.limits.max_body_bytes)
    if policy.mode is Mode.OBSERVE:
        return await _observe(exchange, body)
    request.require_identity_encoding()
    tags = await exchange.services.tags()
    call = await _decode(exchange, body, tags)
    await _refuse_foreign(exchange, call)
    if not call.claims:
        return await _forward_plain(exchange, call)
    call, unread = await exchange.services.documents.read(call)
    await refuse_leaking_files(call, exchange.services.guard)
    task = WriteTask(exchange, call, tags, await standing_once_written(exchange, call), unread)
    # A server that stops or a client that goes does not cut a decided write in two.
    return await asyncio.shield(asyncio.ensure_future(task.run()))


async def _decode(exchange: Exchange, body: bytes, tags: Tags) -> WriteCall:
    """The write as claims. Raises RequestError."""
    policy = exchange.services.policy
    rules = Rules(policy.limits, policy.routes, tags)

    def decode() -> WriteCall:
        return decode_write(
            exchange.match,
            exchange.request.content_type or None,
            exchange.request.query,
            body,
            rules=rules,
            new_id=lambda: exchange.edge.clock.new_id("clm"),
        )

    call = decode() if len(body) <= INLINE_BODY_BYTES else await asyncio.to_thread(decode)
    return _without_credentials_in_names(exchange.services.guard, call)


def _without_credentials_in_names(guard: SecretGuard, call: WriteCall) -> WriteCall:
    """The call with its names as they go upstream: they are looked up, kept and answered, and judged nowhere else."""
    return replace(
        call,
        dataset=None if call.dataset is None else guard.redact(call.dataset).text,
        sessions=tuple(guard.redact(session).text for session in call.sessions),
        client_tags=tuple(guard.redact(tag).text for tag in call.client_tags),
    )


async def _observe(exchange: Exchange, body: bytes) -> int:
    """Record what would have been decided, and pass the client's own bytes on."""
    try:
        exchange.request.require_identity_encoding()
        tags = await exchange.services.tags()
        call, unread = await exchange.services.documents.read(await _decode(exchange, body, tags))
        await WriteTask(exchange, call, tags, None, unread).decide()
    except RequestError as error:
        payload = {"code": error.code, "mode": "observe", "request_id": exchange.id}
        await exchange.edge.store.append_audit("refused", exchange.match.route.name, payload)
    return await pass_through(exchange, body)


async def _refuse_foreign(exchange: Exchange, call: WriteCall) -> None:
    """Raise Refused when the call would bridge a session that holds unjudged turns, whatever else it brings."""
    if call.sessions and not call.is_session:
        known = await standings(exchange, call)
        refuse_foreign_sessions(call, known.__getitem__)


async def _forward_plain(exchange: Exchange, call: WriteCall) -> int:
    """Forward a call without claims, its names redacted."""
    annotations = await redacted_annotations(exchange.services.guard, call.annotations)
    dataset = exchange.services.policy.forward.dataset or None
    prepared = prepare(call, (), tags=(), dataset=dataset, annotations=annotations)
    forwarded = await forward_write(exchange.edge.upstream, prepared, exchange.upstream_headers())
    return await send_admitted(exchange, (), forwarded)
