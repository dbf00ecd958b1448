"""`mithril revoke`: take memories back that were admitted, and see who was shown them."""

from __future__ import annotations

import getpass
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager

import click

from mithril_proxy.cli.output import database_option, json_option, print_json, print_table, runs_async
from mithril_proxy.cli.registry import reason_option
from mithril_proxy.cli.session import opened_store
from mithril_proxy.errors import NotFound
from mithril_proxy.proxy.release import service_headers
from mithril_proxy.proxy.upstream import AiohttpUpstream
from mithril_proxy.proxy.withdraw import Found, Withdrawals
from mithril_proxy.settings import Settings, load_settings
from mithril_proxy.store.interface import Store, StoredMemory

PAGE = 500
SHOWN_RECEIPTS = 50
operator_option = click.option("--operator", default=getpass.getuser, help="Who decides (default: your login name).")
upstream_option = click.option("--upstream", "upstream_url", metavar="URL", help="The Cognee server.")
yes_option = click.option("--yes", is_flag=True, help="Delete them in Cognee; without it nothing is changed.")
shared_option = click.option("--shared", is_flag=True, help="Also documents that another source stored too.")


@click.command()
@click.option("--source", "principal", metavar="NAME", help="Everything that this source stored.")
@click.option("--decision", "decision_id", metavar="ID", help="What this decision admitted.")
@yes_option
@shared_option
@reason_option
@operator_option
@upstream_option
@json_option
@database_option
@runs_async
async def revoke(
    principal: str | None,
    decision_id: str | None,
    yes: bool,
    shared: bool,
    reason: str,
    operator: str,
    upstream_url: str | None,
    as_json: bool,
    database_url: str | None,
) -> None:
    """Take memories out of Cognee, and list the recalls that showed them.

    Without --yes it only says what would be deleted. It needs MITHRIL_UPSTREAM_API_KEY where Cognee asks for a
    credential. What a source goes on to write is another matter: `mithril sources freeze`, `revoke-key`.

    \b
    Examples:
      mithril revoke --source mail-bot --reason "its key leaked"
      mithril revoke --decision dec_01m8… --reason "not true" --yes
    """
    if (principal is None) == (decision_id is None):
        raise click.UsageError("name --source or --decision, one of them")
    async with withdrawals(upstream_url, database_url) as (_, store, taking):
        found = await taking.find(await _stored(store, principal, decision_id))
        print_found(found, as_json=as_json)
        if yes:
            await withdraw_all(taking, found, shared=shared, operator=operator, reason=reason)
        elif not as_json:
            click.echo("Nothing was changed; --yes deletes those that are found.", err=True)


async def _stored(store: Store, principal: str | None, decision_id: str | None) -> list[StoredMemory]:
    """What is to be taken back. Raises NotFound when there is nothing."""
    if decision_id is not None:
        memory = await store.stored_by(decision_id)
        if memory is None:
            raise NotFound(f"decision {decision_id!r} stored no document")
        return [memory]
    stored: list[StoredMemory] = []
    while page := await store.stored_of(principal or "", after=stored[-1].decision_id if stored else "", limit=PAGE):
        stored += page
    if not stored:
        raise NotFound(f"source {principal!r} has no document in memory")
    return stored


@asynccontextmanager
async def withdrawals(
    upstream_url: str | None, database_url: str | None
) -> AsyncIterator[tuple[Settings, Store, Withdrawals]]:
    """What finds and deletes documents, with the service credential of the settings."""
    settings = load_settings(upstream_url=upstream_url, database_url=database_url)
    upstream = AiohttpUpstream(settings.upstream_url, settings.connect_timeout_s, settings.read_timeout_s)
    key = settings.upstream_api_key.get_secret_value() if settings.upstream_api_key else None
    try:
        async with opened_store(settings.database_url) as store:
            headers = service_headers(upstream, key)
            yield settings, store, Withdrawals(store, upstream, headers)
    finally:
        await upstream.close()


async def withdraw_all(
    taking: Withdrawals, found: Sequence[Found], *, shared: bool, operator: str, reason: str
) -> None:
    """Delete what was found. Raises WithdrawalRefused at the first that Cognee keeps."""
    chosen = [one for one in found if one.standing == "found" or (shared and one.standing == "shared")]
    for one in chosen:
        await taking.withdraw(one, operator=operator, reason=reason)
    click.echo(f"{len(chosen)} withdrawn, {len(found) - len(chosen)} left as they are", err=True)


def print_found(found: Sequence[Found], *, as_json: bool) -> None:
    """The memories, then the recalls that showed them."""
    if as_json:
        for one in found:
            print_json(one)
        return
    print_table(
        ("decision", "stored", "source", "dataset", "file", "state", "shown"),
        [
            (
                one.memory.decision_id,
                "" if one.memory.at is None else f"{one.memory.at:%Y-%m-%d %H:%M}",
                one.memory.principal,
                one.memory.dataset,
                one.memory.filename,
                one.standing,
                len(one.shown),
            )
            for one in found
        ],
    )
    shown = [(receipt, one) for one in found for receipt in one.shown]
    if shown:
        rows = [
            (f"{receipt.at:%Y-%m-%d %H:%M:%S}", receipt.principal, receipt.request_id, one.memory.decision_id)
            for receipt, one in shown[:SHOWN_RECEIPTS]
        ]
        print_table(("shown at", "to", "request", "decision"), rows, title=f"{len(shown)} recalls showed them")
