"""Many rows in one statement, prepared once for each number of rows.

SQLAlchemy binds rows one by one (about 30 µs for a decision of 38 columns, as much as SQLite takes to store it), and
executemany gives up the interpreter lock at every row, to wait up to 5 ms for it when the loop is busy. One INSERT of
n rows does either once.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from itertools import chain
from typing import Any

from sqlalchemy import Connection, Table

ROWS_AT_ONCE = 64  # with 38 columns 2,432 values: SQLite takes 32,766 of them, PostgreSQL 65,535


def insert_rows(connection: Connection, table: Table, rows: Sequence[Mapping[str, Any]]) -> None:
    """Insert rows that all have the same columns, in their order."""
    for start in range(0, len(rows), ROWS_AT_ONCE):
        chunk = rows[start : start + ROWS_AT_ONCE]
        statement = insert_text(connection.dialect.name, table.name, tuple(chunk[0]), len(chunk))
        connection.exec_driver_sql(statement, tuple(chain.from_iterable(row.values() for row in chunk)))


@lru_cache(maxsize=512)
def insert_text(dialect: str, table: str, columns: tuple[str, ...], rows: int) -> str:
    """`INSERT INTO table (…) VALUES (…), (…)` for a number of rows, with the dialect's placeholders."""
    width = len(columns)
    tuples = (", ".join(_placeholder(dialect, row * width + place) for place in range(width)) for row in range(rows))
    return f"INSERT INTO {table} ({', '.join(columns)}) VALUES ({'), ('.join(tuples)})"  # noqa: S608 - names of ours


def _placeholder(dialect: str, place: int) -> str:
    return f"${place + 1}" if dialect == "postgresql" else "?"
