"""`mithril audit`: every decision and what became of it, in a chain that shows tampering."""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import click

from mithril_proxy.cli.output import database_option, json_option, print_json, runs_async, visible
from mithril_proxy.cli.session import opened_store
from mithril_proxy.errors import ConfigurationError, TamperedAudit
from mithril_proxy.store.interface import AuditRow, Incident, Store

POLL_S = 0.2


@click.group()
def audit() -> None:
    """Read and verify the audit."""


@audit.command()
@click.option("--follow", "-f", is_flag=True, help="Go on printing as rows arrive.")
@click.option("--incidents", is_flag=True, help="Only what an operator should look at.")
@click.option(
    "--lines", "-n", type=click.IntRange(0, 10_000), default=20, show_default=True, help="How many rows to begin with."
)
@json_option
@database_option
@runs_async
async def tail(follow: bool, incidents: bool, lines: int, as_json: bool, database_url: str | None) -> None:
    """The newest audit rows, or incidents; with --follow, the next ones as they come."""
    async with opened_store(database_url) as store:
        rows = _incidents(store, lines, follow) if incidents else _rows(store, lines, follow)
        async for row in rows:
            if as_json:
                print_json(row)
            else:
                click.echo(_line(row))
            sys.stdout.flush()


async def _rows(store: Store, lines: int, follow: bool) -> AsyncIterator[AuditRow]:
    last = 0
    for row in await store.last_audit(lines):
        last = row.id
        yield row
    if lines == 0:
        last = max((row.id for row in await store.last_audit(1)), default=0)
    while follow:
        for row in await store.audit(after=last):
            last = row.id
            yield row
        await asyncio.sleep(POLL_S)


async def _incidents(store: Store, lines: int, follow: bool) -> AsyncIterator[Incident]:
    newest = await store.incidents(limit=max(lines, 1))
    last = max((incident.id for incident in newest), default=0)
    for incident in reversed(newest[:lines]):
        yield incident
    while follow:
        for incident in await store.incidents(after=last):
            last = incident.id
            yield incident
        await asyncio.sleep(POLL_S)


def _line(row: AuditRow | Incident) -> str:
    at = row.at.isoformat(timespec="milliseconds")
    if isinstance(row, Incident):
        return visible(f"{at}  {row.severity:8}  {row.kind}  {row.source}  {row.summary} → {row.advice}")
    return visible(f"{at}  {row.kind:10}  {row.subject}  {_brief(row.payload)}")


def _brief(payload: Any) -> str:
    return json.dumps(payload, ensure_ascii=False, sort_keys=True)


@audit.command()
@click.option(
    "--anchor",
    "anchor_file",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="Heads printed earlier by `audit anchor`.",
)
@json_option
@database_option
@runs_async
async def verify(anchor_file: Path | None, as_json: bool, database_url: str | None) -> None:
    """Check every chain. Exit code 1 names the first broken row.

    Only an anchor kept elsewhere shows that the newest rows were cut off, or that all was written anew.
    """
    anchors = None if anchor_file is None else _read_anchor(anchor_file)
    async with opened_store(database_url) as store:
        report = await store.verify_audit(anchors=anchors)
    if as_json:
        print_json({"rows": report.rows, "intact": report.is_intact, "broken": report.broken, "heads": report.heads})
    if report.broken is not None:
        raise TamperedAudit(report.broken)
    if not as_json:
        click.echo(f"intact: {report.rows} rows in {len(report.heads)} chains")


def _read_anchor(path: Path) -> dict[str, str]:
    try:
        heads = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, json.JSONDecodeError) as error:
        raise ConfigurationError(f"{path}: no anchor: {error}") from None
    if not isinstance(heads, dict) or not all(isinstance(value, str) for value in heads.values()):
        raise ConfigurationError(f"{path}: no anchor: must be an object of writer → digest")
    return heads


@audit.command()
@database_option
@runs_async
async def anchor(database_url: str | None) -> None:
    """Print the heads of the chains as one line of JSON: keep it where this machine cannot change it."""
    async with opened_store(database_url) as store:
        report = await store.verify_audit()
    if report.broken is not None:
        raise TamperedAudit(report.broken)
    print_json(report.anchor)


@audit.command()
@database_option
@runs_async
async def export(database_url: str | None) -> None:
    """The whole audit as JSON lines."""
    async with opened_store(database_url) as store:
        async for row in store.audit_rows():
            print_json(row)
