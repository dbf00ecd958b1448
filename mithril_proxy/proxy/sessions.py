"""The session ledger: which client sessions hold judged turns only (the rules stand in `cognee/sessions.py`)."""

from __future__ import annotations

from mithril_proxy.cognee.sessions import Standing, session_exists, session_path, standing_after_write
from mithril_proxy.cognee.writes import WriteCall
from mithril_proxy.proxy.exchange import Exchange
from mithril_proxy.proxy.headers import BODY_HEADERS
from mithril_proxy.proxy.upstream import UpstreamRequest

SERVICE_OWNER = "service"  # every Mithril key writes as the service user, and Cognee's sessions belong to users
SESSION_ANSWER_BYTES = 64 * 1024 * 1024


def owner_of(exchange: Exchange) -> str:
    """Whose sessions this caller's are at the upstream."""
    return SERVICE_OWNER if exchange.identity.holds_mithril_key else exchange.identity.provenance.principal


async def standing_of(exchange: Exchange, session: str) -> Standing:
    """What the ledger knows of a session. Raises StoreUnavailable."""
    kept = await exchange.edge.store.session_standing(owner_of(exchange), session)
    return Standing.UNKNOWN if kept is None else Standing(kept)


async def standings(exchange: Exchange, call: WriteCall) -> dict[str, Standing]:
    """What the ledger knows of every session that a call names."""
    return {session: await standing_of(exchange, session) for session in call.sessions}


async def standing_once_written(exchange: Exchange, call: WriteCall) -> Standing | None:
    """The standing that the call's session will have; None for a call that stores in no session.

    Asks the upstream whether the session exists when the ledger has not seen it. Raises UpstreamUnavailable.
    """
    if call.session is None:
        return None
    known = await standing_of(exchange, call.session)
    if known is not Standing.UNKNOWN:
        return known
    headers = [pair for pair in exchange.upstream_headers() if pair[0].lower() not in BODY_HEADERS]
    request = UpstreamRequest("GET", session_path(call.session), headers)
    async with await exchange.edge.upstream.send(request) as answer:
        await answer.read(SESSION_ANSWER_BYTES)
        return standing_after_write(known, existed=session_exists(answer.status))


async def keep_standing(exchange: Exchange, call: WriteCall, standing: Standing | None) -> None:
    """Remember the standing of a session that was written to. Raises StoreUnavailable."""
    if call.session is not None and standing is not None:
        await exchange.edge.store.keep_session(owner_of(exchange), call.session, standing.value)
