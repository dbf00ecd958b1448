"""Answers to judged writes: the upstream's own when everything was admitted, Mithril's one shape when not."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import orjson

from mithril_proxy.cognee.writes import WriteCall
from mithril_proxy.errors import UpstreamTimeout, UpstreamUnavailable
from mithril_proxy.firewall import Judgement
from mithril_proxy.proxy.answers import send_bytes, send_error, send_json
from mithril_proxy.proxy.exchange import Exchange
from mithril_proxy.proxy.forward import Forwarded
from mithril_proxy.proxy.headers import rewritten_response_headers
from mithril_proxy.types import Status

# What a client reads in `status`; the decision's own word stands in X-Mithril-Status.
CLIENT_WORDS = {Status.REVIEW: "review", Status.QUARANTINE: "quarantined", Status.REJECT: "rejected"}


def worst(judgements: Sequence[Judgement]) -> Judgement:
    """The judgement with the worst status, the first of equals."""
    return max(judgements, key=lambda judgement: judgement.decision.status.rank)


def decision_headers(judgements: Sequence[Judgement]) -> list[tuple[bytes, bytes]]:
    """The headers of a judged answer: those of its worst decision; none for a call without claims."""
    if not judgements:
        return []
    decision = worst(judgements).decision
    return [
        (b"x-mithril-decision", decision.id.encode()),
        (b"x-mithril-status", decision.status.value.encode()),
        (b"x-mithril-score", f"{decision.trust.score:.3f}".encode()),
    ]


def described(judgement: Judgement) -> dict[str, Any]:
    """One claim's decision as a client sees it."""
    decision = judgement.decision
    return {
        "locator": judgement.claim.locator,
        "status": CLIENT_WORDS.get(decision.status, decision.status.value),
        "decision_id": decision.id,
        "quarantine_id": judgement.quarantine_id,
        "score": round(decision.trust.score, 3),
        "reasons": list(decision.reasons),
    }


async def send_admitted(exchange: Exchange, judgements: Sequence[Judgement], *answers: Forwarded) -> int:
    """Pass the upstream's answer on, with the decision in the headers; several answers are merged into the last."""
    last = answers[-1]
    body = last.body if len(answers) == 1 else merged(answers)
    headers = rewritten_response_headers(exchange.client_headers(last.headers), len(body))
    await send_bytes(exchange.request.send, last.status, [*headers, *decision_headers(judgements)], body)
    return last.status


async def send_diverted(
    exchange: Exchange, call: WriteCall, judgements: Sequence[Judgement], answers: Sequence[Forwarded]
) -> int:
    """Tell the client what became of each claim. 403 only when nothing was admitted, 200 when everything was."""
    held = worst(judgements)
    responses = exchange.services.policy.responses
    by_status = {
        Status.ACCEPT: 200,
        Status.WARN: 200,
        Status.REVIEW: responses.review,
        Status.QUARANTINE: responses.quarantine,
        Status.REJECT: responses.reject,
    }
    is_partly_held = bool(answers) and not held.decision.status.is_admitted
    status = responses.review if is_partly_held else by_status[held.decision.status]
    body = {
        **{key: value for key, value in described(held).items() if key != "locator"},
        "dataset_name": call.dataset,
        "items": [described(judgement) for judgement in judgements],
    }
    if answers:
        body["upstream"] = orjson.Fragment(answers[-1].body if len(answers) == 1 else merged(answers))
    if status >= 400:
        body |= {
            "error": "write_" + body["status"],
            "detail": "policy does not admit this memory: " + ", ".join(body["reasons"]),
        }
    await send_json(exchange.request.send, status, body, decision_headers(judgements))
    return status


async def send_unforwarded(exchange: Exchange, judgements: Sequence[Judgement], error: UpstreamUnavailable) -> int:
    """Tell the client that an admitted write could not be forwarded."""
    status, code = (504, "upstream_timeout") if isinstance(error, UpstreamTimeout) else (502, "upstream_unavailable")
    detail = f"{error}; the write was admitted but may not have been stored, send it again"
    await send_error(
        exchange.request.send, status, code, detail, items=[described(judgement) for judgement in judgements]
    )
    return status


def merged(answers: Sequence[Forwarded]) -> bytes:
    """One JSON answer out of several to parts of one write: lists are joined, everything else is the last one's."""
    result: dict[str, Any] = {}
    for answer in answers:
        try:
            body = orjson.loads(answer.body)
        except orjson.JSONDecodeError:
            return answers[-1].body
        if not isinstance(body, dict):
            return answers[-1].body
        joined = {
            key: [*result[key], *(inner for inner in value if inner not in result[key])]
            for key, value in body.items()
            if isinstance(value, list) and isinstance(result.get(key), list)
        }
        result = {**result, **body, **joined}
    return orjson.dumps(result)
