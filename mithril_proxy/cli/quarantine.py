"""`mithril quarantine`: what was held back, and what becomes of it."""

from __future__ import annotations

import getpass
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import click

from mithril_proxy.app import build_reevaluator, build_services, load_rules
from mithril_proxy.chain.recent import RecentWrites
from mithril_proxy.cli.output import database_option, json_option, print_json, print_table, runs_async, shortened
from mithril_proxy.cli.session import opened_store
from mithril_proxy.clock import SystemClock
from mithril_proxy.proxy.reevaluate import held_summary
from mithril_proxy.proxy.release import Releases
from mithril_proxy.proxy.upstream import AiohttpUpstream
from mithril_proxy.settings import Settings, load_settings
from mithril_proxy.store.desk import DeskStore
from mithril_proxy.store.interface import Page, QuarantineFilter
from mithril_proxy.types import QuarantineEntry, ReviewState, Status

id_argument = click.argument("quarantine_id")
reason_option = click.option("--reason", required=True, help="Why; it stands in the audit.")
reviewer_option = click.option("--reviewer", default=getpass.getuser, help="Who decides (default: your login name).")
upstream_option = click.option(
    "--upstream", "upstream_url", metavar="URL", help="The Cognee server (default: MITHRIL_UPSTREAM_URL)."
)

PAGE = 100


@click.group()
def quarantine() -> None:
    """Review what was held back."""


@quarantine.command("list")
@click.option(
    "--state",
    type=click.Choice([*(state.value for state in ReviewState), "any"]),
    default="pending",
    show_default=True,
    help="Where it stands.",
)
@click.option("--source", help="Only of this source.")
@click.option("--status", type=click.Choice([status.value for status in Status]), help="Only with this decision.")
@click.option("--contains", metavar="TEXT", help="Only texts that hold this.")
@click.option("--limit", type=click.IntRange(1, 1000), default=50, show_default=True, help="How many.")
@click.option("--before", metavar="ID", help="Only older ones: the last id of the page before.")
@json_option
@database_option
@runs_async
async def list_held(
    state: str,
    source: str | None,
    status: str | None,
    contains: str | None,
    limit: int,
    before: str | None,
    as_json: bool,
    database_url: str | None,
) -> None:
    """Held claims, newest first."""
    where = QuarantineFilter(
        state=None if state == "any" else ReviewState(state),
        source=source,
        status=Status(status) if status else None,
        contains=contains,
    )
    async with opened_store(database_url) as store:
        entries = await store.quarantine(Page(limit, before), where)
    if as_json:
        for entry in entries:
            print_json(entry)
        return
    print_table(
        ("id", "held", "source", "status", "score", "reasons", "text"),
        (
            (
                entry.id,
                entry.created_at.strftime("%m-%d %H:%M"),
                entry.source,
                entry.status.value,
                f"{entry.score:.3f}",
                ", ".join(entry.reasons[:3]),
                shortened(entry.text),
            )
            for entry in entries
        ),
    )


@quarantine.command()
@id_argument
@json_option
@database_option
@runs_async
async def show(quarantine_id: str, as_json: bool, database_url: str | None) -> None:
    """One held claim: its text, why it was held, and the verified memory near it."""
    async with opened_store(database_url) as store:
        entry = await store.held(quarantine_id)
        decision = await store.decision(entry.decision_id)
    if as_json:
        print_json({"entry": entry, "decision": decision})
        return
    click.echo(
        f"{entry.id}  {entry.state.value}  {entry.status.value}  score {entry.score:.3f}  "
        f"source {entry.source}  dataset {entry.dataset or '-'}"
    )
    click.echo(f"held because: {', '.join(entry.reasons) or 'its score is below the threshold'}")
    click.echo(f"\n{entry.text}\n")
    for memory in entry.context:
        click.echo(f"verified ({memory.source or 'unknown'}): {shortened(memory.text, 200)}")


@quarantine.command()
@click.argument("quarantine_ids", nargs=-1)
@click.option("--all", "every", is_flag=True, help="Every pending claim.")
@click.option("--release", "releases_passing", is_flag=True, help="Forward those that pass now.")
@upstream_option
@json_option
@database_option
@runs_async
async def reevaluate(
    quarantine_ids: tuple[str, ...],
    every: bool,
    releases_passing: bool,
    upstream_url: str | None,
    as_json: bool,
    database_url: str | None,
) -> None:
    """Judge held claims again, with the policy and judge of now.

    Without --release it only says how each would fall.
    """
    if every == bool(quarantine_ids):
        raise click.UsageError("name the claims, or say --all")
    async with _session(upstream_url, database_url) as (settings, store, upstream):
        clock = SystemClock()
        rules = load_rules(settings, clock)
        services = build_services(settings, rules, store, RecentWrites(rules.policy.joins, clock), clock)
        reevaluator = await build_reevaluator(services, store, upstream, clock)
        async for entry in _pending(store, quarantine_ids):
            summary = held_summary(await reevaluator.reevaluate(entry, release=releases_passing))
            if as_json:
                print_json(summary)
            else:
                click.echo(
                    "{quarantine_id}: {before} → {now} ({score:.3f}){released}".format(
                        **{**summary, "released": ", released" if summary["released"] else ""}
                    )
                )


async def _pending(store: DeskStore, quarantine_ids: tuple[str, ...]) -> AsyncIterator[QuarantineEntry]:
    """The entries named, or every pending one, page by page."""
    for quarantine_id in quarantine_ids:
        yield await store.held(quarantine_id)
    page = Page(limit=PAGE)
    while not quarantine_ids:
        entries = await store.quarantine(page, QuarantineFilter())
        for entry in entries:
            yield entry
        if len(entries) < PAGE:
            return
        page = Page(limit=PAGE, before=entries[-1].id)


@asynccontextmanager
async def _session(
    upstream_url: str | None, database_url: str | None
) -> AsyncIterator[tuple[Settings, DeskStore, AiohttpUpstream]]:
    """Settings, database and upstream, closed again at the end."""
    settings = load_settings(upstream_url=upstream_url, database_url=database_url)
    upstream = AiohttpUpstream(settings.upstream_url, settings.connect_timeout_s, settings.read_timeout_s)
    try:
        async with opened_store(database_url) as store:
            yield settings, store, upstream
    finally:
        await upstream.close()


@asynccontextmanager
async def _releases(upstream_url: str | None, database_url: str | None) -> AsyncIterator[Releases]:
    async with _session(upstream_url, database_url) as (settings, store, upstream):
        rules = load_rules(settings, SystemClock())
        service_key = settings.upstream_api_key.get_secret_value() if settings.upstream_api_key else None
        yield Releases(store, upstream, rules.policy, rules.guard, service_key)


@quarantine.command()
@id_argument
@reason_option
@reviewer_option
@upstream_option
@json_option
@database_option
@runs_async
async def release(
    quarantine_id: str, reason: str, reviewer: str, upstream_url: str | None, as_json: bool, database_url: str | None
) -> None:
    """Forward a held claim to Cognee as verified memory, exactly once.

    Needs a reason. Where Cognee asks for a credential, set MITHRIL_UPSTREAM_API_KEY.
    """
    async with _releases(upstream_url, database_url) as releases:
        _report(await releases.release(quarantine_id, reviewer=reviewer, reason=_said(reason)), as_json)


@quarantine.command()
@id_argument
@reason_option
@reviewer_option
@json_option
@database_option
@runs_async
async def reject(quarantine_id: str, reason: str, reviewer: str, as_json: bool, database_url: str | None) -> None:
    """Close a held claim for good."""
    async with _releases(None, database_url) as releases:
        _report(await releases.reject(quarantine_id, reviewer=reviewer, reason=_said(reason)), as_json)


def _said(reason: str) -> str:
    if not reason.strip():
        raise click.BadParameter("must say why", param_hint="--reason")
    return reason.strip()


def _report(entry: QuarantineEntry, as_json: bool) -> None:
    if as_json:
        print_json(entry)
    else:
        how = " (granted: its source's next write of it passes, once)" if entry.is_grant else ""
        click.echo(f"{entry.id}: {entry.state.value}{how}")
