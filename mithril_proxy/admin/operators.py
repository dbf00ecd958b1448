"""Operators: who holds a token or a session of the desk, and what it lets them do."""

from __future__ import annotations

import hashlib
import hmac
import secrets
from dataclasses import dataclass
from datetime import timedelta

from mithril_proxy.clock import Clock
from mithril_proxy.store.desk import AdminSession, DeskStore, Scope

TOKEN_PREFIX = "mt_"  # noqa: S105 - what tokens begin with, so that a scanner can know them
SETTING_NAME = "admin"  # the holder of MITHRIL_ADMIN_TOKEN


def new_token() -> str:
    """A new bearer token: 256 random bits."""
    return TOKEN_PREFIX + secrets.token_urlsafe(32)


def token_digest(token: str) -> str:
    """SHA-256, hex: all that is kept. A token is random, so its digest needs no salt."""
    return hashlib.sha256(token.encode("utf-8", "surrogateescape")).hexdigest()


@dataclass(frozen=True, slots=True)
class Operator:
    """One who may use the admin plane. `session` is the digest of their session, None for a bearer token."""

    name: str
    scope: Scope
    session: str | None = None

    def may(self, scope: Scope) -> bool:
        """True when this operator's token covers `scope`."""
        return self.scope.includes(scope)


@dataclass(frozen=True, slots=True)
class Gatekeeper:
    """Knows operators by token and by session. `setting` is MITHRIL_ADMIN_TOKEN, which always has every scope."""

    store: DeskStore
    clock: Clock
    setting: str | None = None

    async def by_token(self, token: str) -> Operator | None:
        """The operator who holds this token; None when it is unknown or revoked. Raises StoreUnavailable."""
        return await self._by_digest(token_digest(token))

    async def by_session(self, session: str) -> Operator | None:
        """The operator of this session; None when it has ended, or its token was revoked or changed."""
        digest = token_digest(session)
        kept = await self.store.session(digest)
        if kept is None:
            return None
        operator = await self._by_digest(kept.token_digest)
        return None if operator is None else Operator(operator.name, operator.scope, digest)

    async def sign_in(self, token: str, *, peer: str, hours: float) -> str | None:
        """A new session for the holder of this token; None when the token is wrong. Raises StoreUnavailable."""
        operator = await self.by_token(token)
        if operator is None:
            await self.store.append_audit("sign-in", "unknown", {"event": "refused", "peer": peer})
            return None
        session, now = secrets.token_urlsafe(32), self.clock.now()
        kept = AdminSession(
            digest=token_digest(session),
            token_digest=token_digest(token),
            name=operator.name,
            scope=operator.scope,
            created_at=now,
            expires_at=now + timedelta(hours=hours),
        )
        await self.store.open_session(kept, peer=peer)
        return session

    async def sign_out(self, operator: Operator) -> None:
        """End the operator's session."""
        if operator.session is not None:
            await self.store.end_session(operator.session)

    async def _by_digest(self, digest: str) -> Operator | None:
        if self.setting is not None and hmac.compare_digest(digest, token_digest(self.setting)):
            return Operator(SETTING_NAME, Scope.ADMIN)
        token = await self.store.token(digest)
        return None if token is None else Operator(token.name, token.scope)
