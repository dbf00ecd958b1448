"""How commands print: tables for people, JSON for programs."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Iterable, Sequence
from functools import wraps
from typing import Any, ParamSpec, TypeVar

import click
import orjson
from rich.console import Console
from rich.table import Table

from mithril_proxy.jsonable import plain

P = ParamSpec("P")
T = TypeVar("T")

json_option = click.option("--json", "as_json", is_flag=True, help="Print JSON lines instead of a table.")
database_option = click.option(
    "--database", "database_url", metavar="URL", help="Database (default: MITHRIL_DATABASE_URL, sqlite in this folder)."
)


def runs_async(function: Callable[P, Coroutine[Any, Any, T]]) -> Callable[P, T]:
    """A synchronous command that runs `function` in an event loop of its own."""

    @wraps(function)
    def run(*args: P.args, **kwargs: P.kwargs) -> T:
        return asyncio.run(function(*args, **kwargs))

    return run


def print_json(value: object) -> None:
    """One JSON value on one line of stdout."""
    click.echo(orjson.dumps(plain(value)))


def print_table(columns: Sequence[str], rows: Iterable[Sequence[object]], *, title: str | None = None) -> None:
    """A table on stdout, as wide as the terminal (at least 100 columns when piped)."""
    console = Console(soft_wrap=False, width=None if Console().is_terminal else 140, highlight=False)
    table = Table(title=title, title_justify="left", header_style="bold")
    for column in columns:
        table.add_column(column, overflow="fold")
    for row in rows:
        table.add_row(*("" if cell is None else visible(str(cell)) for cell in row))
    console.print(table)


def visible(text: str) -> str:
    """`text` with control characters and invisible ones escaped and rich's markup switched off."""
    shown = "".join(char if char.isprintable() else char.encode("unicode_escape").decode() for char in text)
    return shown.replace("[", r"\[")


def shortened(text: str, length: int = 80) -> str:
    """`text` on one line, cut after `length` characters."""
    line = " ".join(text.split())
    return line if len(line) <= length else line[: length - 1] + "…"
