"""Sources: who may write under which name, with which keys, and how their reputation stands."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby
from operator import itemgetter
from typing import Any

from sqlalchemy import Connection, and_, bindparam, insert, select, update

from mithril_proxy.clock import Clock
from mithril_proxy.errors import InvalidTransition, NotFound
from mithril_proxy.store.changes import AuditEntry, Changes
from mithril_proxy.store.interface import Page, ReputationEvent, Source
from mithril_proxy.store.names import check_source_name
from mithril_proxy.store.part import Part
from mithril_proxy.store.reads import Lookups, Reads, rows_of
from mithril_proxy.store.reputation import IN_LIST
from mithril_proxy.store.rows import Row, event_of, readable, source_of
from mithril_proxy.store.schema import reputation_events, source_keys, sources
from mithril_proxy.store.writer import Writer
from mithril_proxy.types import Provenance


class Sources(Part):
    """The part of the store that knows sources, their keys and their reputation."""

    def __init__(self, writer: Writer, reads: Reads, clock: Clock) -> None:
        super().__init__(writer, reads, clock)
        self._reputations = Lookups(self._reputations_of)
        self._owners = Lookups(self._owners_of)

    async def reputation_of(self, provenance: Provenance) -> float:
        """The reputation of a principal now; its prior when it has never been seen. Reads only."""
        reputation = await self._reputations.get(readable(provenance.principal))
        return provenance.prior if reputation is None else reputation

    async def source_by_key(self, key_digest: str) -> Source | None:
        """The registered source that a Mithril key (by SHA-256 hex) belongs to; None when unknown or revoked."""
        return await self._owners.get(key_digest)

    async def add_source(self, name: str, *, prior: float, key_digest: str, may_declare: Sequence[str] = ()) -> Source:
        """Register a source, or issue one more key to it. Raises InvalidTransition when the name is reserved.

        A source that exists keeps its prior and its reputation, and gains what `may_declare` adds.
        """
        check_source_name(name)

        def register(connection: Connection) -> Changes:
            at = self._now()
            _refuse_known_key(connection, key_digest)
            register_source(connection, name, prior, may_declare, at)
            connection.execute(insert(source_keys).values(digest=key_digest, principal=name, created_at=at))
            payload = {"event": "key-issued", "key_digest": key_digest, "prior": prior}
            payload["may_declare"] = list(may_declare)
            return Changes(audit=[AuditEntry(at, "source", name, payload)])

        await self._writer.run(register)
        return await self.source(name)

    async def source(self, name: str) -> Source:
        """One source by principal. Raises NotFound."""
        rows = await self._read(_WITH_KEYS.where(sources.c.principal == name))
        if not rows:
            raise NotFound(f"no source {name!r}")
        return _one_source(rows)

    async def sources(self) -> Sequence[Source]:
        """Every source, by name."""
        rows = await self._read(_WITH_KEYS)
        return [_one_source(list(group)) for _, group in groupby(rows, key=itemgetter("principal"))]

    async def reset_source(self, name: str, *, reputation: float, reason: str) -> Source:
        """Set a reputation by hand. Raises NotFound."""

        def reset(connection: Connection) -> Changes:
            row = source_row(connection, name)
            at = self._now()
            set_source(connection, name, reputation=reputation, updated_at=at)
            moved = {"before": row["reputation"], "after": reputation}
            event = {"at": at, "principal": name, **moved, "reason": f"reset: {readable(reason)}", "decision_id": None}
            payload = {"event": "reset", "reason": reason, "reputation": moved}
            return Changes(events=[event], audit=[AuditEntry(at, "reputation", name, payload)])

        await self._writer.run(reset)
        return await self.source(name)

    async def freeze_source(self, name: str, *, reason: str) -> Source:
        """Stop the reputation of a source from moving. Raises NotFound, InvalidTransition when it is frozen already."""
        return await self._set_frozen(name, True, "frozen", reason)

    async def thaw_source(self, name: str, *, reason: str) -> Source:
        """Let the reputation of a source move again. Raises NotFound, InvalidTransition when it is not frozen."""
        return await self._set_frozen(name, False, "thawed", reason)

    async def revoke_key(self, key_digest: str, *, reason: str) -> Source:
        """Take a key back for good. Raises NotFound when no such key is live."""
        owner: list[str] = []

        def revoke(connection: Connection) -> Changes:
            at = self._now()
            statement = (
                update(source_keys)
                .where(source_keys.c.digest == key_digest, source_keys.c.revoked_at.is_(None))
                .values(revoked_at=at)
                .returning(source_keys.c.principal)
            )
            owner[:] = (connection.execute(statement)).scalars().all()
            if not owner:
                raise NotFound("no live key has this digest")
            payload = {"event": "key-revoked", "key_digest": key_digest, "reason": reason}
            return Changes(audit=[AuditEntry(at, "source", owner[0], payload)])

        await self._writer.run(revoke)
        return await self.source(owner[0])

    async def reputation_events(self, principal: str, page: Page) -> Sequence[ReputationEvent]:
        """What moved a reputation, newest first."""
        query = (
            select(reputation_events)
            .where(reputation_events.c.principal == principal)
            .order_by(reputation_events.c.id.desc())
            .limit(page.limit)
        )
        if page.before is not None:
            query = query.where(reputation_events.c.id < int(page.before))
        return [event_of(row) for row in await self._read(query)]

    async def _reputations_of(self, principals: Sequence[str]) -> Mapping[str, float]:
        rows = [row for some in _slices(principals) for row in await self._read(_REPUTATIONS, {"principals": some})]
        return {row["principal"]: row["reputation"] for row in rows}

    async def _owners_of(self, key_digests: Sequence[str]) -> Mapping[str, Source]:
        rows = [row for some in _slices(key_digests) for row in await self._read(_BY_KEYS, {"key_digests": some})]
        owners = [_one_source(list(group)) for _, group in groupby(rows, key=itemgetter("principal"))]
        return {digest: owner for owner in owners for digest in owner.key_digests}

    async def _set_frozen(self, name: str, is_frozen: bool, event: str, reason: str) -> Source:
        def change(connection: Connection) -> Changes:
            row = source_row(connection, name)
            if row["is_frozen"] == is_frozen:
                raise InvalidTransition(f"source {name!r} is {event} already")
            at = self._now()
            set_source(connection, name, is_frozen=is_frozen, updated_at=at)
            return Changes(audit=[AuditEntry(at, "source", name, {"event": event, "reason": reason})])

        await self._writer.run(change)
        return await self.source(name)


_IS_LIVE = and_(source_keys.c.principal == sources.c.principal, source_keys.c.revoked_at.is_(None))
_WITH_KEYS = (
    select(sources, source_keys.c.digest)
    .select_from(sources.outerjoin(source_keys, _IS_LIVE))
    .order_by(sources.c.name, sources.c.principal, source_keys.c.created_at, source_keys.c.digest)
)
_OWNER = source_keys.alias("owner")
_BY_KEYS = _WITH_KEYS.where(
    sources.c.principal.in_(
        select(_OWNER.c.principal).where(
            _OWNER.c.digest.in_(bindparam("key_digests", expanding=True)), _OWNER.c.revoked_at.is_(None)
        )
    )
)
_REPUTATIONS = select(sources.c.principal, sources.c.reputation).where(
    sources.c.principal.in_(bindparam("principals", expanding=True))
)


def _slices(keys: Sequence[str]) -> Iterator[Sequence[str]]:
    """`keys` in pieces that one SELECT can take."""
    return (keys[start : start + IN_LIST] for start in range(0, len(keys), IN_LIST))


def _one_source(rows: Sequence[Row]) -> Source:
    """The source that all of `rows` are about, one a live key."""
    return source_of(rows[0], (row["digest"] for row in rows if row["digest"] is not None))


def source_row(connection: Connection, name: str) -> Row:
    """The row of a source; nobody else can change it before this transaction ends. Raises NotFound."""
    rows = rows_of(connection, select(sources).where(sources.c.principal == name))
    if not rows:
        raise NotFound(f"no source {name!r}")
    return rows[0]


def set_source(connection: Connection, name: str, /, **columns: Any) -> None:
    """Change columns of one source."""
    connection.execute(update(sources).where(sources.c.principal == name).values(columns))


def _refuse_known_key(connection: Connection, key_digest: str) -> None:
    if rows_of(connection, select(source_keys.c.digest).where(source_keys.c.digest == key_digest)):
        raise InvalidTransition("this key was issued before; make a new one")


def register_source(connection: Connection, name: str, prior: float, may_declare: Sequence[str], at: str) -> None:
    """Make the row of a source, or bring an existing one up to what is wanted."""
    rows = rows_of(connection, select(sources).where(sources.c.principal == name))
    known = json.loads(rows[0]["may_declare"]) if rows else []
    declared = json.dumps(list(dict.fromkeys([*known, *may_declare])))
    if not rows:
        connection.execute(insert(sources).values(_registered(name, prior, declared, at)))
    elif rows[0]["is_registered"]:
        set_source(connection, name, may_declare=declared, updated_at=at)
    else:
        set_source(
            connection,
            name,
            **{key: value for key, value in _registered(name, prior, declared, at).items() if key in _NEW_STANDING},
        )


_NEW_STANDING = ("name", "prior", "reputation", "is_registered", "may_declare", "updated_at")


def _registered(name: str, prior: float, declared: str, at: str) -> dict[str, Any]:
    return {
        "principal": name,
        "name": name,
        "prior": prior,
        "reputation": prior,
        "decisions": 0,
        "created_at": at,
        "updated_at": at,
        "is_registered": True,
        "is_frozen": False,
        "may_declare": declared,
        "diverted_minute": "",
        "diverted_count": 0,
    }
