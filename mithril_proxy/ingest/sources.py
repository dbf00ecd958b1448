"""Whose word a record is: one source for all, or one for a channel or an author; and how far each is trusted."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from mithril_proxy.cognee.tags import slug
from mithril_proxy.errors import NotFound, RequestError
from mithril_proxy.ingest.records import Record
from mithril_proxy.policy import Ingest, Policy
from mithril_proxy.proxy.headers import RawHeaders, header
from mithril_proxy.proxy.identity import Identity
from mithril_proxy.store.interface import Store
from mithril_proxy.types import Provenance

Per = Literal["", "channel", "author"]


@dataclass(frozen=True, slots=True)
class SourceChoice:
    """How records are given a source. The policy's `[ingest]` tables win over `per`, and that over `base`.

    `base` is empty when the key that is written with says it. An author is an id that the service gave: a display name
    or a From header is whatever its sender typed.
    """

    base: str
    per: Per
    rules: Ingest

    def of(self, record: Record) -> str:
        """The source of one record; empty for the key's own."""
        if record.author_id in self.rules.authors:
            return self.rules.authors[record.author_id]
        if record.channel in self.rules.channels:
            return self.rules.channels[record.channel]
        part = record.channel if self.per == "channel" else record.author_id if self.per == "author" else ""
        return slug(f"{self.base}-{part}") if part else self.base


@dataclass(frozen=True, slots=True)
class OperatorIdentifier:
    """Who sends, in a process that an operator started beside the database: the source that the run names.

    Only for a data plane that is on no socket: whoever can open the database may name any source.
    """

    policy: Policy
    store: Store
    base: str
    service_key: str | None

    async def identify(self, headers: RawHeaders, peer: str | None) -> Identity:
        """The named source, with the standing that it has. Raises StoreUnavailable."""
        name = (header(headers, b"x-mithril-source") or self.base.encode()).decode("latin-1")
        if not name:
            raise RequestError("no source is named; give --source", code="no_source")
        credentials = [] if self.service_key is None else [(b"x-api-key", self.service_key.encode())]
        return Identity(Provenance(name, name, await self._prior(name), is_authenticated=True, peer=peer), credentials)

    async def _prior(self, name: str) -> float:
        """The registered prior; else the policy's for the name, else that of the base it was derived from."""
        try:
            return (await self.store.source(name)).prior
        except NotFound:
            return self.policy.sources.get(name, self.policy.prior_of(self.base))
