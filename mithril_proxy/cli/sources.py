"""`mithril sources`: who may write, and how far each is trusted."""

from __future__ import annotations

import hashlib
import secrets

import click

from mithril_proxy.cli.output import database_option, json_option, print_json, print_table, runs_async
from mithril_proxy.cli.registry import COMMANDS
from mithril_proxy.cli.session import opened_store
from mithril_proxy.policy import load_policy
from mithril_proxy.proxy.identity import MITHRIL_KEY_PREFIX
from mithril_proxy.settings import load_settings
from mithril_proxy.store.interface import Page, Source

KEY_BYTES = 32


@click.group()
def sources() -> None:
    """Register writers, and see what moved their reputation."""


for command in COMMANDS:
    sources.add_command(command)


@sources.command("list")
@json_option
@database_option
@runs_async
async def list_sources(as_json: bool, database_url: str | None) -> None:
    """Every source with its reputation."""
    async with opened_store(database_url) as store:
        rows = await store.sources()
    if as_json:
        for row in rows:
            print_json(_public(row))
        return
    print_table(
        ("source", "reputation", "prior", "decisions", "keys", "state"),
        (
            (
                row.principal,
                f"{row.reputation:.3f}",
                f"{row.prior:.2f}",
                row.decisions,
                len(row.key_digests),
                _state(row),
            )
            for row in rows
        ),
    )


@sources.command()
@click.argument("name")
@click.option(
    "--prior", type=click.FloatRange(0.0, 1.0), help="Reputation to start with (default: the policy's for this name)."
)
@click.option(
    "--may-declare", multiple=True, metavar="SOURCE", help="A source it may name in X-Mithril-Source; repeatable."
)
@json_option
@database_option
@runs_async
async def add(
    name: str, prior: float | None, may_declare: tuple[str, ...], as_json: bool, database_url: str | None
) -> None:
    """Register a source and print its key.

    The key goes where the Cognee key went (X-Api-Key, or `cognee.serve(url=…, api_key=…)`). It is shown once; only its
    SHA-256 is kept. Called again for the same name, it issues one more key.
    """
    key = MITHRIL_KEY_PREFIX + secrets.token_urlsafe(KEY_BYTES)
    start = load_policy(load_settings().policy).prior_of(name) if prior is None else prior
    async with opened_store(database_url) as store:
        source = await store.add_source(
            name, prior=start, key_digest=hashlib.sha256(key.encode()).hexdigest(), may_declare=may_declare
        )
    if as_json:
        print_json({"source": source.name, "key": key, "prior": source.prior, "reputation": source.reputation})
        return
    click.echo(key)
    click.echo(
        f"{source.name}: prior {source.prior:.2f}, reputation {source.reputation:.3f}. "
        "Use the key above in place of the Cognee key.",
        err=True,
    )


@sources.command()
@click.argument("name")
@click.option(
    "--events", type=click.IntRange(1, 500), default=20, show_default=True, help="How many reputation events to show."
)
@json_option
@database_option
@runs_async
async def show(name: str, events: int, as_json: bool, database_url: str | None) -> None:
    """One source, and the events that moved its reputation."""
    async with opened_store(database_url) as store:
        source = await store.source(name)
        history = await store.reputation_events(source.principal, Page(limit=events))
    if as_json:
        print_json({**_public(source), "events": history})
        return
    click.echo(
        f"{source.principal}: reputation {source.reputation:.3f}, prior {source.prior:.2f}, "
        f"{source.decisions} decisions, {_state(source)}"
    )
    print_table(
        ("time", "before", "after", "reason", "decision"),
        (
            (
                event.at.isoformat(timespec="seconds"),
                f"{event.before:.3f}",
                f"{event.after:.3f}",
                event.reason,
                event.decision_id,
            )
            for event in history
        ),
    )


@sources.command()
@click.argument("name")
@click.option("--reputation", type=click.FloatRange(0.0, 1.0), help="The reputation to set (default: its prior).")
@click.option("--reason", required=True, help="Why; it stands in the audit.")
@json_option
@database_option
@runs_async
async def reset(name: str, reputation: float | None, reason: str, as_json: bool, database_url: str | None) -> None:
    """Set a source's reputation by hand."""
    if not reason.strip():
        raise click.BadParameter("must say why", param_hint="--reason")
    async with opened_store(database_url) as store:
        before = await store.source(name)
        source = await store.reset_source(
            name, reputation=before.prior if reputation is None else reputation, reason=reason
        )
    if as_json:
        print_json(_public(source))
        return
    click.echo(f"{name}: {before.reputation:.3f} → {source.reputation:.3f}")


def _public(source: Source) -> dict[str, object]:
    return {
        "source": source.name,
        "principal": source.principal,
        "reputation": source.reputation,
        "prior": source.prior,
        "decisions": source.decisions,
        "keys": len(source.key_digests),
        "may_declare": source.may_declare,
        "is_registered": source.is_registered,
        "is_frozen": source.is_frozen,
        "updated_at": source.updated_at,
    }


def _state(source: Source) -> str:
    if source.is_frozen:
        return "frozen"
    return "registered" if source.is_registered else "seen"
