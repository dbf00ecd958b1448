"""`mithril audit`: every decision and what became of it, in a chain that shows tampering."""

from __future__ import annotations

import json
import sys
from collections.abc import AsyncIterator, Sequence
from pathlib import Path
from typing import Any

import click

from mithril_proxy.cli.follow import Follower, incidents_after, newest_incidents, newest_rows, rows_after
from mithril_proxy.cli.output import database_option, json_option, print_json, runs_async, visible
from mithril_proxy.cli.session import opened_store
from mithril_proxy.errors import ConfigurationError, TamperedAudit
from mithril_proxy.outputs.ocsf import audit_event, incident_event
from mithril_proxy.settings import load_settings
from mithril_proxy.store.interface import AuditRow, Incident


@click.group()
def audit() -> None:
    """Read and verify the audit."""


@audit.command()
@click.option("--follow", "-f", is_flag=True, help="Go on printing as rows arrive.")
@click.option("--incidents", is_flag=True, help="Only what an operator should look at.")
@click.option(
    "--lines", "-n", type=click.IntRange(0, 10_000), default=20, show_default=True, help="How many rows to begin with."
)
@click.option("--ocsf", is_flag=True, help="Print OCSF events, one JSON object a line.")
@json_option
@database_option
@runs_async
async def tail(follow: bool, incidents: bool, lines: int, ocsf: bool, as_json: bool, database_url: str | None) -> None:
    """The newest audit rows, or incidents; with --follow, the next ones as they come.

    A database file that is replaced while it is followed is opened anew; nothing is shown twice.
    """
    url = load_settings(database_url=database_url).database_url
    follower: Follower[Any] = Follower(url, *(_INCIDENTS if incidents else _ROWS))
    async for row in follower.rows(lines) if follow else _newest(url, lines, incidents=incidents):
        if ocsf:
            print_json(_event(row))
        elif as_json:
            print_json(row)
        else:
            click.echo(_line(row))
        sys.stdout.flush()


_ROWS = (newest_rows, rows_after)
_INCIDENTS = (newest_incidents, incidents_after)


async def _newest(url: str, lines: int, *, incidents: bool) -> AsyncIterator[AuditRow | Incident]:
    async with opened_store(url) as store:
        newest: Sequence[AuditRow | Incident] = (
            await newest_incidents(store, lines) if incidents else await newest_rows(store, lines)
        )
        for row in newest:
            yield row


def _event(row: AuditRow | Incident) -> dict[str, Any]:
    return incident_event(row) if isinstance(row, Incident) else audit_event(row)


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
@click.option(
    "--format",
    "form",
    type=click.Choice(["jsonl", "ocsf"]),
    default="jsonl",
    show_default=True,
    help="Rows as they are stored, or OCSF events.",
)
@database_option
@runs_async
async def export(form: str, database_url: str | None) -> None:
    """The whole audit as JSON lines."""
    async with opened_store(database_url) as store:
        async for row in store.audit_rows():
            print_json(audit_event(row) if form == "ocsf" else row)
