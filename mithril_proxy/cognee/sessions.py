"""Whose words a session holds: the rules of the session ledger (Cognee 1.6.5, /remember with session_id, /improve).

A session keeps every turn and, when it is bridged, brings ALL of them into the graph under the tags that its first
tagged write pinned. So the verified tag may only be pinned on a session that is Mithril's own from its first turn on;
and a session is read or bridged only while it is.

| standing | after a judged write, session new at the upstream | session already there | not known |
|---|---|---|---|
| unknown | own | foreign | foreign |
| own | own | own | own |
| foreign | foreign | foreign | foreign |
"""

from __future__ import annotations

import enum
from collections.abc import Callable
from urllib.parse import quote

from mithril_proxy.cognee.calls import WriteCall
from mithril_proxy.errors import Refused


class Standing(enum.StrEnum):
    """What the ledger knows of a session."""

    UNKNOWN = "unknown"  # never written through Mithril
    OWN = "own"  # every turn was judged here
    FOREIGN = "foreign"  # it holds, or may hold, turns that nobody judged


def session_path(session: str) -> str:
    """The path whose answer tells whether a session exists (GET, with the caller's credentials)."""
    return f"/api/v1/sessions/{quote(session, safe='')}"


def session_exists(status: int) -> bool | None:
    """What the answer to `session_path` says; None when it says nothing."""
    return {200: True, 404: False}.get(status)


def standing_after_write(before: Standing, *, existed: bool | None) -> Standing:
    """The standing of a session once a judged write was stored in it. `existed` is asked before that write."""
    if before is not Standing.UNKNOWN:
        return before
    return Standing.OWN if existed is False else Standing.FOREIGN


def refuse_foreign_sessions(call: WriteCall, standing_of: Callable[[str], Standing]) -> None:
    """Return when the call may bridge its sessions. Raises Refused when one holds turns that nobody judged."""
    foreign = [session for session in call.sessions if standing_of(session) is not Standing.OWN]
    if foreign and not call.is_session:
        raise Refused(
            f"session_ids: {len(foreign)} of {len(call.sessions)} sessions hold turns that were not written through "
            "Mithril, and bridging would bring them into the graph; start a new session",
            code="session_refused",
        )
