"""`mithril db`: back the database up, bring it to this version's schema, move it to another engine."""

from __future__ import annotations

from pathlib import Path

import click

from mithril_proxy.cli.output import database_option, json_option, print_json, runs_async
from mithril_proxy.clock import SystemClock
from mithril_proxy.settings import load_settings
from mithril_proxy.store import open_store
from mithril_proxy.store.transfer import backup as write_backup
from mithril_proxy.store.transfer import copy as copy_rows
from mithril_proxy.store.transfer import revision_of


@click.group()
def db() -> None:
    """Back up, migrate and move the database."""


@db.command()
@click.argument("file", type=click.Path(path_type=Path))
@json_option
@database_option
def backup(file: Path, as_json: bool, database_url: str | None) -> None:
    """Write one moment of the SQLite database into FILE, which must not exist. Safe while Mithril serves.

    To restore it: stop Mithril, put FILE in the place of the database (without the old -wal and -shm files), start.
    A PostgreSQL database is backed up with pg_dump.
    """
    url = load_settings(database_url=database_url).database_url
    length = write_backup(url, file)
    if as_json:
        print_json({"file": str(file), "bytes": length})
    else:
        click.echo(f"{file}: {length} bytes, integrity checked")


@db.command()
@json_option
@database_option
@runs_async
async def migrate(as_json: bool, database_url: str | None) -> None:
    """Bring the database to the schema of this version; `mithril serve` does the same at its start.

    A database of a newer version is refused, not changed. Back it up before: there is no way down.
    """
    url = load_settings(database_url=database_url).database_url
    before = await revision_of(url)
    await (await open_store(url, SystemClock())).close()
    after = await revision_of(url)
    if as_json:
        print_json({"before": before, "after": after})
    elif before == after:
        click.echo(f"schema {after}: nothing to do")
    else:
        click.echo(f"schema {after} (before: {before or 'none'})")


@db.command()
@click.option("--to", "target_url", metavar="URL", required=True, help="An empty database, such as postgresql://u@h/n.")
@json_option
@database_option
@runs_async
async def copy(target_url: str, as_json: bool, database_url: str | None) -> None:
    """Copy the SQLite database into an empty one, all rows or none, then verify the audit chains there.

    Stop Mithril first: while it is copied the database takes no writes, and what is written later is not in the copy.
    """
    url = load_settings(database_url=database_url).database_url
    copied = await copy_rows(url, target_url, SystemClock())
    if as_json:
        print_json({"rows": copied.rows, "verified": copied.verified})
        return
    for table, count in copied.rows.items():
        click.echo(f"{count:>9}  {table}")
    click.echo(f"audit intact in the copy: {copied.verified} rows; set MITHRIL_DATABASE_URL to it and start Mithril")
