"""A write: every claim decided and recorded, then the admitted ones forwarded in a body built anew.

1. Claims of one call are decided one after the other, so that a bad one already weighs on the next.
2. A decided write is carried to its end, whether or not the client is still there.
3. What was admitted under the same tags goes out as one upstream call.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from mithril_proxy.cognee.prepared import PreparedWrite
from mithril_proxy.cognee.tags import Tags
from mithril_proxy.cognee.writes import Rules, WriteCall, decode_write, forward_tags, prepare
from mithril_proxy.errors import RequestError, UpstreamUnavailable
from mithril_proxy.firewall import Call, Judgement
from mithril_proxy.proxy.answers import send_error
from mithril_proxy.proxy.diverted import send_admitted, send_diverted, send_unforwarded
from mithril_proxy.proxy.exchange import Exchange
from mithril_proxy.proxy.forward import Forwarded, forward_write
from mithril_proxy.proxy.headers import REPORT_HEADER, header, rebuilt_request_headers
from mithril_proxy.proxy.passthrough import pass_through
from mithril_proxy.proxy.probe import UpstreamMemory
from mithril_proxy.proxy.scrub import redacted_annotations
from mithril_proxy.store.interface import Outcome
from mithril_proxy.types import Claim, Finding, Mode, Status

INLINE_BODY_BYTES = 64 * 1024  # a larger body is decoded in a thread: 1 MB of multipart JSON takes about 20 ms


@dataclass(frozen=True, slots=True)
class Group:
    """Claims that go to the upstream in one call, because they get the same tags."""

    judgements: tuple[Judgement, ...]
    prepared: PreparedWrite


async def take_write(exchange: Exchange) -> int:
    """Decide on a write and answer it. Returns the HTTP status of the answer.

    Raises RequestError, StoreUnavailable, UpstreamUnavailable (only for a call without claims), ClientGone.
    """
    request, services = exchange.request, exchange.services
    mode = services.policy.mode
    if mode is Mode.OFF:
        return await pass_through(exchange)
    if mode is Mode.OBSERVE:
        return await _observe(exchange, await request.body(services.policy.limits.max_body_bytes))
    request.require_identity_encoding()
    tags = await services.tags()
    call = await _decode(exchange, await request.body(services.policy.limits.max_body_bytes), tags)
    if not call.claims:
        return await _forward_plain(exchange, call)
    work = asyncio.ensure_future(_decide_and_forward(exchange, call, tags))
    return await asyncio.shield(work)  # a server that stops or a client that goes does not cut a decided write in two


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

    return decode() if len(body) <= INLINE_BODY_BYTES else await asyncio.to_thread(decode)


async def _observe(exchange: Exchange, body: bytes) -> int:
    """Record what would have been decided; the client's own bytes go through untouched, whatever happens here."""
    try:
        exchange.request.require_identity_encoding()
        tags = await exchange.services.tags()
        await _decide_all(exchange, await _decode(exchange, body, tags), tags)
    except RequestError as error:
        payload = {"code": error.code, "mode": "observe", "request_id": exchange.id}
        await exchange.edge.store.append_audit("refused", exchange.match.route.name, payload)
    return await pass_through(exchange, body)


async def _forward_plain(exchange: Exchange, call: WriteCall) -> int:
    """Forward a call that brings no text of its own (improve, cognify): rebuilt, its names redacted."""
    annotations = await redacted_annotations(exchange.services.guard, call.annotations)
    dataset = exchange.services.policy.forward.dataset or None
    prepared = prepare(call, (), tags=(), dataset=dataset, annotations=annotations)
    forwarded = await forward_write(exchange.edge.upstream, prepared, exchange.upstream_headers())
    await send_admitted(exchange, (), forwarded)
    return forwarded.status


async def _decide_all(exchange: Exchange, call: WriteCall, tags: Tags) -> tuple[Judgement, ...]:
    """The recorded decision on each claim, in order."""
    services, edge = exchange.services, exchange.edge
    provenance = replace(exchange.identity.provenance, session=call.session, dataset=call.dataset)
    memory = _memory(exchange, call, tags)
    request_call = Call(exchange.id, exchange.match.route.name, services.policy.mode)

    # A released claim is vouched for by a person, so it is kept with the tags of an accepted one.
    def prepare_held(claim: Claim) -> Mapping[str, Any]:
        released = forward_tags(call, Status.ACCEPT, provenance.source, tags)
        return _prepare(exchange, call, (claim,), released).to_json()

    judgements = []
    for claim in call.claims:
        known = (*exchange.identity.findings, *_forged_findings(call.forged_tags))
        judgement = await services.firewall.decide(
            claim,
            provenance,
            memory=memory,
            call=request_call,
            prepare=prepare_held,
            findings=tuple(replace(finding, claim_id=claim.id) for finding in known),
        )
        edge.metrics.count_decision(judgement.decision)
        judgements.append(judgement)
    return tuple(judgements)


def _forged_findings(forged: Sequence[str]) -> tuple[Finding, ...]:
    if not forged:
        return ()
    return (Finding("provenance", "provenance.forged-tag", "", 0.4, f"{len(forged)} reserved tags stripped"),)


def _memory(exchange: Exchange, call: WriteCall, tags: Tags) -> UpstreamMemory:
    policy = exchange.services.policy
    headers = rebuilt_request_headers(exchange.upstream_headers(), content_type=b"application/json", accept=b"application/json")
    dataset = policy.forward.dataset or call.dataset
    return UpstreamMemory(
        exchange.edge.upstream,
        headers,
        tags,
        policy.contradiction.probe_top_k,
        datasets=(dataset,) if dataset else (),
    )


def _prepare(exchange: Exchange, call: WriteCall, claims: Sequence[Claim], tags: tuple[str, ...]) -> PreparedWrite:
    return prepare(call, tuple(claims), tags=tags, dataset=exchange.services.policy.forward.dataset or None)


async def _decide_and_forward(exchange: Exchange, call: WriteCall, tags: Tags) -> int:
    judgements = await _decide_all(exchange, call, tags)
    if any(judgement.is_withheld for judgement in judgements):
        await send_error(exchange.request.send, 503, "guard_unavailable", "the credential guard failed; nothing was forwarded, send the write again")
        return 503
    groups = _groups(exchange, call, judgements, tags)
    try:
        answers = [await _forward(exchange, group) for group in groups]
    except UpstreamUnavailable as error:
        return await send_unforwarded(exchange, judgements, error)
    await _record_diverted(exchange, judgements)
    failed = next((answer for answer in answers if not answer.is_success), None)
    if failed is not None:
        return await send_admitted(exchange, judgements, failed)
    wants_report = header(exchange.request.headers, REPORT_HEADER) == b"items"
    if not wants_report and all(judgement.decision.status.is_admitted for judgement in judgements):
        return await send_admitted(exchange, judgements, *answers)
    return await send_diverted(exchange, call, judgements, answers)


def _groups(exchange: Exchange, call: WriteCall, judgements: Sequence[Judgement], tags: Tags) -> tuple[Group, ...]:
    """The admitted claims by the tags they get, each group with its upstream write."""
    source = exchange.identity.provenance.source
    by_tags: dict[tuple[str, ...], list[Judgement]] = {}
    for judgement in judgements:
        if judgement.decision.status.is_admitted:
            given = forward_tags(call, judgement.decision.status, source, tags)
            by_tags.setdefault(given, []).append(judgement)
    return tuple(
        Group(tuple(members), _prepare(exchange, call, [member.claim for member in members], given))
        for given, members in by_tags.items()
    )


async def _forward(exchange: Exchange, group: Group) -> Forwarded:
    """Forward one group and record what became of its decisions. Raises UpstreamUnavailable."""
    try:
        forwarded = await forward_write(exchange.edge.upstream, group.prepared, exchange.upstream_headers())
    except UpstreamUnavailable as error:
        await _record_outcome(exchange, group.judgements, Outcome("upstream_error", None, {"reason": str(error)}))
        raise
    kind = "forwarded" if forwarded.is_success else "upstream_error"
    await _record_outcome(exchange, group.judgements, Outcome(kind, forwarded.status))
    return forwarded


async def _record_outcome(exchange: Exchange, judgements: Sequence[Judgement], outcome: Outcome) -> None:
    for judgement in judgements:
        await exchange.edge.store.record_outcome(judgement.decision.id, outcome)


async def _record_diverted(exchange: Exchange, judgements: Sequence[Judgement]) -> None:
    diverted = [judgement for judgement in judgements if not judgement.decision.status.is_admitted]
    await _record_outcome(exchange, diverted, Outcome("diverted"))


