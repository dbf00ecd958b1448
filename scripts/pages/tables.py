"""Markdown that every page needs."""

from __future__ import annotations

from collections.abc import Iterable, Sequence


def cell(text: str) -> str:
    """`text` on one line, with the bars that would end a cell escaped."""
    return " ".join(text.split()).replace("|", r"\|")


def table(columns: Sequence[str], rows: Iterable[Sequence[str]]) -> list[str]:
    """The lines of one table."""
    head = [f"| {' | '.join(columns)} |", f"| {' | '.join('---' for _ in columns)} |"]
    return [*head, *(f"| {' | '.join(cell(value) for value in row)} |" for row in rows)]


def code(text: str) -> str:
    """`text` in the type of code; nothing for nothing."""
    return f"`{text}`" if text else ""
