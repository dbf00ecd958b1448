"""What is known of client sessions: whether every turn of one went through Mithril."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from sqlalchemy import Connection, select
from sqlalchemy.dialects import postgresql, sqlite

from mithril_proxy.store.changes import Changes
from mithril_proxy.store.part import Part
from mithril_proxy.store.rows import readable
from mithril_proxy.store.schema import sessions

_INSERT: Mapping[str, Any] = MappingProxyType({"sqlite": sqlite.insert, "postgresql": postgresql.insert})


class Sessions(Part):
    """The part of the store that remembers the standing of sessions."""

    async def session_standing(self, owner: str, session: str) -> str | None:
        """The standing that was kept for a session of `owner`; None when it was never written through Mithril."""
        query = select(sessions.c.standing).where(
            sessions.c.owner == readable(owner), sessions.c.session == readable(session)
        )
        rows = await self._read(query)
        return str(rows[0]["standing"]) if rows else None

    async def keep_session(self, owner: str, session: str, standing: str) -> None:
        """Keep the standing of a session; the first one that was kept stays."""
        values = {"owner": readable(owner), "session": readable(session), "standing": standing, "at": self._now()}

        def keep(connection: Connection) -> Changes:
            insert = _INSERT[connection.dialect.name](sessions).values(**values)
            connection.execute(insert.on_conflict_do_nothing())
            return Changes()

        await self._writer.run(keep)
