"""Sources as an operator keeps them: what they may declare, their priors, and whole registers moved elsewhere."""

from __future__ import annotations

import json
from collections.abc import Sequence

from sqlalchemy import Connection, insert, select

from mithril_proxy.errors import InvalidTransition
from mithril_proxy.store.changes import AuditEntry, Changes
from mithril_proxy.store.interface import RegisteredSource, Source
from mithril_proxy.store.names import check_source_name
from mithril_proxy.store.reads import rows_of
from mithril_proxy.store.schema import source_keys
from mithril_proxy.store.sources import Sources, register_source, set_source, source_row


class Registry(Sources):
    """The part of the store that changes what is registered."""

    async def set_prior(self, name: str, *, prior: float, reason: str) -> Source:
        """Change the prior of a source; its reputation stays. Raises NotFound."""

        def change(connection: Connection) -> Changes:
            before = source_row(connection, name)["prior"]
            at = self._now()
            set_source(connection, name, prior=prior, updated_at=at)
            payload = {"event": "prior", "before": before, "after": prior, "reason": reason}
            return Changes(audit=[AuditEntry(at, "source", name, payload)])

        await self._writer.run(change)
        return await self.source(name)

    async def set_may_declare(self, name: str, may_declare: Sequence[str], *, reason: str) -> Source:
        """Say which other sources a source may name. Raises NotFound."""
        declared = list(dict.fromkeys(may_declare))

        def change(connection: Connection) -> Changes:
            before = json.loads(source_row(connection, name)["may_declare"])
            at = self._now()
            set_source(connection, name, may_declare=json.dumps(declared), updated_at=at)
            payload = {"event": "may-declare", "before": before, "after": declared, "reason": reason}
            return Changes(audit=[AuditEntry(at, "source", name, payload)])

        await self._writer.run(change)
        return await self.source(name)

    async def import_source(self, entry: RegisteredSource, *, reason: str) -> Source:
        """Register a source as it is registered elsewhere, its keys too; what is known here already stays.

        Raises InvalidTransition when its name is reserved, or a key of it belongs to another source here.
        """
        check_source_name(entry.name)

        def take(connection: Connection) -> Changes:
            at = self._now()
            register_source(connection, entry.name, entry.prior, entry.may_declare, at)
            issued = [digest for digest in entry.key_digests if _is_new_key(connection, digest, entry.name)]
            for digest in issued:
                connection.execute(insert(source_keys).values(digest=digest, principal=entry.name, created_at=at))
            if entry.is_frozen:
                set_source(connection, entry.name, is_frozen=True, updated_at=at)
            payload = {"event": "imported", "prior": entry.prior, "key_digests": issued, "reason": reason}
            payload |= {"may_declare": list(entry.may_declare), "is_frozen": entry.is_frozen}
            return Changes(audit=[AuditEntry(at, "source", entry.name, payload)])

        await self._writer.run(take)
        return await self.source(entry.name)


def _is_new_key(connection: Connection, digest: str, name: str) -> bool:
    """True when nobody has this key. A revoked one stays revoked. Raises InvalidTransition."""
    known = rows_of(connection, select(source_keys.c.principal).where(source_keys.c.digest == digest))
    if known and known[0]["principal"] != name:
        raise InvalidTransition(f"a key of {name!r} belongs to {known[0]['principal']!r} here")
    return not known
