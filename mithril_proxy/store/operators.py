"""Who may use the admin plane: tokens, and the desk's sessions. Of both only digests are kept."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict

from sqlalchemy import Connection, delete, insert, select, update

from mithril_proxy.errors import InvalidTransition, NotFound
from mithril_proxy.store.changes import AuditEntry, Changes
from mithril_proxy.store.desk import AdminSession, AdminToken, Scope
from mithril_proxy.store.part import Part
from mithril_proxy.store.reads import rows_of
from mithril_proxy.store.rows import Row, time_of, time_text
from mithril_proxy.store.schema import admin_sessions, admin_tokens


class Operators(Part):
    """The part of the store that knows operators."""

    async def add_token(self, name: str, *, scope: Scope, digest: str) -> AdminToken:
        """Keep a new token. Raises InvalidTransition when a live one has this name."""

        def add(connection: Connection) -> Changes:
            live = select(admin_tokens.c.digest).where(admin_tokens.c.name == name, admin_tokens.c.revoked_at.is_(None))
            if rows_of(connection, live):
                raise InvalidTransition(
                    f"there is a live token named {name!r}; revoke it first, or choose another name"
                )
            at = self._now()
            connection.execute(insert(admin_tokens).values(digest=digest, name=name, scope=scope.value, created_at=at))
            return Changes(audit=[AuditEntry(at, "token", name, {"event": "added", "scope": scope.value})])

        await self._writer.run(add)
        rows = await self._read(select(admin_tokens).where(admin_tokens.c.digest == digest))
        return _token_of(rows[0])

    async def tokens(self) -> Sequence[AdminToken]:
        """Every token, live ones and revoked ones, by the time of their making."""
        query = select(admin_tokens).order_by(admin_tokens.c.created_at, admin_tokens.c.name)
        return [_token_of(row) for row in await self._read(query)]

    async def token(self, digest: str) -> AdminToken | None:
        """The live token of this digest; None when it was never made or is revoked."""
        query = select(admin_tokens).where(admin_tokens.c.digest == digest, admin_tokens.c.revoked_at.is_(None))
        rows = await self._read(query)
        return _token_of(rows[0]) if rows else None

    async def revoke_token(self, name: str) -> AdminToken:
        """Take a token back, with every session opened with it. Raises NotFound when no live one has this name."""
        revoked: list[Row] = []

        def revoke(connection: Connection) -> Changes:
            at = self._now()
            of_name = (admin_tokens.c.name == name, admin_tokens.c.revoked_at.is_(None))
            revoked[:] = rows_of(connection, select(admin_tokens).where(*of_name))
            if not revoked:
                raise NotFound(f"no live token named {name!r}")
            connection.execute(update(admin_tokens).where(*of_name).values(revoked_at=at))
            digest = revoked[0]["digest"]
            connection.execute(delete(admin_sessions).where(admin_sessions.c.token_digest == digest))
            revoked[0] = {**revoked[0], "revoked_at": at}
            return Changes(audit=[AuditEntry(at, "token", name, {"event": "revoked"})])

        await self._writer.run(revoke)
        return _token_of(revoked[0])

    async def open_session(self, session: AdminSession, *, peer: str) -> None:
        """Keep a sign-in with its audit row; sessions whose time has run out are forgotten."""

        def keep(connection: Connection) -> Changes:
            at = self._now()
            connection.execute(delete(admin_sessions).where(admin_sessions.c.expires_at <= at))
            columns = {**asdict(session), "scope": session.scope.value}
            columns |= {"created_at": time_text(session.created_at), "expires_at": time_text(session.expires_at)}
            connection.execute(insert(admin_sessions).values(columns))
            payload = {"event": "signed-in", "scope": session.scope.value, "peer": peer}
            return Changes(audit=[AuditEntry(at, "sign-in", session.name, payload)])

        await self._writer.run(keep)

    async def session(self, digest: str) -> AdminSession | None:
        """The session of this digest; None when there is none or its time has run out."""
        query = select(admin_sessions).where(
            admin_sessions.c.digest == digest, admin_sessions.c.expires_at > self._now()
        )
        rows = await self._read(query)
        return _session_of(rows[0]) if rows else None

    async def end_session(self, digest: str) -> None:
        """Forget a session, with an audit row. One that is not there is no error."""

        def end(connection: Connection) -> Changes:
            of_digest = admin_sessions.c.digest == digest
            rows = rows_of(connection, select(admin_sessions).where(of_digest))
            connection.execute(delete(admin_sessions).where(of_digest))
            at = self._now()
            return Changes(audit=[AuditEntry(at, "sign-in", row["name"], {"event": "signed-out"}) for row in rows])

        await self._writer.run(end)


def _token_of(row: Row) -> AdminToken:
    revoked_at = row["revoked_at"]
    return AdminToken(
        digest=row["digest"],
        name=row["name"],
        scope=Scope(row["scope"]),
        created_at=time_of(row["created_at"]),
        revoked_at=None if revoked_at is None else time_of(revoked_at),
    )


def _session_of(row: Row) -> AdminSession:
    return AdminSession(
        digest=row["digest"],
        token_digest=row["token_digest"],
        name=row["name"],
        scope=Scope(row["scope"]),
        created_at=time_of(row["created_at"]),
        expires_at=time_of(row["expires_at"]),
    )
