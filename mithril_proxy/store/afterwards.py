"""After the fact: where an admitted claim lies in Cognee, whom it was shown to, and what was told to other systems."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, delete, func, insert, select, update

from mithril_proxy.store.changes import AuditEntry, Changes
from mithril_proxy.store.interface import Receipt, StoredMemory
from mithril_proxy.store.part import Part
from mithril_proxy.store.reads import rows_of
from mithril_proxy.store.rows import Row, readable, readable_or_none, time_of, time_text
from mithril_proxy.store.schema import audit_outputs, memories, receipts

IN_LIST = 500


class Afterwards(Part):
    """The part of the store that makes it possible to take a memory back."""

    async def record_stored(self, stored: Sequence[StoredMemory]) -> None:
        """Keep where admitted claims lie. A claim that is stored again lies where it does now."""
        at = self._now()
        rows = [_memory_columns(one, at) for one in stored]

        def keep(connection: Connection) -> Changes:
            for row in rows:
                connection.execute(delete(memories).where(memories.c.decision_id == row["decision_id"]))
            return Changes(memories=rows)

        if rows:
            await self._writer.run(keep)

    async def stored_of(
        self, principal: str, *, after: str = "", limit: int = 500, withdrawn: bool = False
    ) -> Sequence[StoredMemory]:
        """Where the claims of a principal lie, oldest first, behind the decision `after`."""
        query = select(memories).where(memories.c.principal == readable(principal), memories.c.decision_id > after)
        return await self._stored(query, limit, withdrawn)

    async def stored_by(self, decision_id: str) -> StoredMemory | None:
        """Where the claim of a decision lies; None when it was never stored."""
        rows = await self._read(select(memories).where(memories.c.decision_id == decision_id))
        return _memory_of(rows[0]) if rows else None

    async def stored_by_others(self, memory: StoredMemory) -> int:
        """How many decisions of other principals lie in Cognee as the same document."""
        query = select(func.count().label("others")).where(
            memories.c.principal != readable(memory.principal),
            memories.c.withdrawn_at.is_(None),
            memories.c.filename == readable_or_none(memory.filename),
            memories.c.dataset == readable_or_none(memory.dataset),
        )
        return int((await self._read(query))[0]["others"])

    async def all_stored(self, *, after: str = "", limit: int = 500) -> Sequence[StoredMemory]:
        """Every claim that lies in Cognee still, oldest first, behind the decision `after`."""
        return await self._stored(select(memories).where(memories.c.decision_id > after), limit, False)

    async def record_withdrawn(self, decision_id: str, *, data_id: str, operator: str, reason: str) -> None:
        """Keep that a memory was deleted in Cognee, with its audit row."""

        def withdraw(connection: Connection) -> Changes:
            at = self._now()
            chosen = memories.c.decision_id == decision_id
            connection.execute(update(memories).where(chosen).values(withdrawn_at=at, data_id=data_id))
            payload = {"data_id": data_id, "operator": readable(operator), "reason": readable(reason)}
            return Changes(audit=[AuditEntry(at, "withdraw", decision_id, payload)])

        await self._writer.run(withdraw)

    async def record_receipts(self, shown: Sequence[Receipt]) -> None:
        """Keep which memories a recall showed. Ids only; no audit row of their own."""
        if shown:
            await self._writer.write(Changes(receipts=[_receipt_columns(one) for one in shown]))

    async def receipts_of(self, data_ids: Sequence[str]) -> Sequence[Receipt]:
        """The recalls that showed any of these memories, oldest first."""
        found: list[Receipt] = []
        for start in range(0, len(data_ids), IN_LIST):
            chosen = receipts.c.data_id.in_(data_ids[start : start + IN_LIST])
            found += [_receipt_of(row) for row in await self._read(select(receipts).where(chosen))]
        return sorted(found, key=lambda one: one.id)

    async def forget_receipts(self, before: datetime) -> int:
        """Delete receipts of recalls before a time; how many there were."""
        deleted = 0

        def forget(connection: Connection) -> Changes:
            nonlocal deleted
            deleted = connection.execute(delete(receipts).where(receipts.c.at < time_text(before))).rowcount
            return Changes()

        await self._writer.run(forget)
        return deleted

    async def output_cursor(self, name: str) -> int | None:
        """The last audit row that an output was told; None when it is new."""
        rows = await self._read(select(audit_outputs.c.cursor).where(audit_outputs.c.name == name))
        return int(rows[0]["cursor"]) if rows else None

    async def move_output_cursor(self, name: str, cursor: int) -> None:
        """Keep how far an output has come. It never goes back."""

        def move(connection: Connection) -> Changes:
            chosen = audit_outputs.c.name == name
            known = rows_of(connection, select(audit_outputs.c.cursor).where(chosen))
            values = {"cursor": cursor, "updated_at": self._now()}
            if not known:
                connection.execute(insert(audit_outputs).values(name=name, **values))
            elif known[0]["cursor"] < cursor:
                connection.execute(update(audit_outputs).where(chosen).values(values))
            return Changes()

        await self._writer.run(move)

    async def _stored(self, query: Any, limit: int, withdrawn: bool) -> list[StoredMemory]:
        if not withdrawn:
            query = query.where(memories.c.withdrawn_at.is_(None))
        return [_memory_of(row) for row in await self._read(query.order_by(memories.c.decision_id).limit(limit))]


def _memory_columns(one: StoredMemory, at: str) -> dict[str, Any]:
    return {
        "decision_id": one.decision_id,
        "at": at,
        "principal": readable(one.principal),
        "dataset": readable_or_none(one.dataset),
        "dataset_id": one.dataset_id,
        "filename": readable_or_none(one.filename),
        "data_id": one.data_id,
        "withdrawn_at": None,
    }


def _memory_of(row: Row) -> StoredMemory:
    withdrawn_at = row["withdrawn_at"]
    times = {"at": time_of(row["at"]), "withdrawn_at": None if withdrawn_at is None else time_of(withdrawn_at)}
    return StoredMemory(**{**row, **times})


def _receipt_columns(one: Receipt) -> dict[str, Any]:
    return {
        "at": time_text(one.at),
        "request_id": readable(one.request_id),
        "principal": readable(one.principal),
        "data_id": readable(one.data_id),
        "chunk_id": readable_or_none(one.chunk_id),
    }


def _receipt_of(row: Row) -> Receipt:
    return Receipt(**{**row, "at": time_of(row["at"])})
