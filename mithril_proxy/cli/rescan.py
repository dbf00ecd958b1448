"""`mithril rescan`: judge what was admitted with the rules and standings of now."""

from __future__ import annotations

import click

from mithril_proxy.app import build_dry_firewall, build_guard
from mithril_proxy.cli.output import database_option, json_option, print_json, print_table, runs_async
from mithril_proxy.cli.revoke import operator_option, shared_option, upstream_option, withdraw_all, withdrawals
from mithril_proxy.clock import SystemClock
from mithril_proxy.cognee.tags import Tags
from mithril_proxy.errors import ConfigurationError
from mithril_proxy.proxy.headers import rebuilt_request_headers
from mithril_proxy.proxy.rescan import Rescan, Rescanned
from mithril_proxy.proxy.reserved import KnownSources


@click.command()
@click.option("--source", "principal", metavar="NAME", help="Only what this source stored (default: everything).")
@click.option("--revoke", "revokes", is_flag=True, help="Delete in Cognee what would not be admitted today.")
@click.option("--reason", default="", help="Why; it stands in the audit. Needed with --revoke.")
@shared_option
@operator_option
@upstream_option
@json_option
@database_option
@runs_async
async def rescan(
    principal: str | None,
    revokes: bool,
    reason: str,
    shared: bool,
    operator: str,
    upstream_url: str | None,
    as_json: bool,
    database_url: str | None,
) -> None:
    """Judge admitted memories again, after rules, judge or the standing of a source have changed.

    It lists what would not be admitted today. Nothing is recorded, and no reputation moves.
    """
    if revokes and not reason.strip():
        raise ConfigurationError("--reason: must say why, with --revoke")
    async with withdrawals(upstream_url, database_url) as (settings, store, taking):
        firewall = build_dry_firewall(settings)
        clock, json_type = SystemClock(), b"application/json"
        names = await KnownSources(store, firewall.policy, clock).names()
        headers = rebuilt_request_headers(taking.headers, content_type=json_type, accept=json_type)
        tags, guard = Tags(firewall.policy.forward, sources=names), build_guard(firewall.policy, settings)
        scan = Rescan(store, firewall, taking, tags, headers, guard, clock)
        looked_at = [one async for one in scan.memories(principal)]
        fallen = [one for one in looked_at if one.has_fallen]
        _report(looked_at, fallen, as_json=as_json)
        if revokes:
            chosen = [one.found for one in fallen]
            await withdraw_all(taking, chosen, shared=shared, operator=operator, reason=reason.strip())


def _report(looked_at: list[Rescanned], fallen: list[Rescanned], *, as_json: bool) -> None:
    unread = sum(1 for one in looked_at if one.decision is None)
    if as_json:
        for one in fallen:
            print_json(_line(one))
        print_json({"judged": len(looked_at) - unread, "fallen": len(fallen), "not_found": unread})
        return
    if fallen:
        rows = [tuple(_line(one).values()) for one in fallen]
        print_table(("decision", "source", "dataset", "file", "now", "score", "reasons", "shown"), rows)
    click.echo(f"{len(looked_at) - unread} judged again, {len(fallen)} would not be admitted, {unread} not found")


def _line(one: Rescanned) -> dict[str, object]:
    memory, decision = one.found.memory, one.decision
    assert decision is not None
    return {
        "decision_id": memory.decision_id,
        "source": memory.principal,
        "dataset": memory.dataset,
        "file": memory.filename,
        "now": decision.status.value,
        "score": round(decision.trust.score, 3),
        "reasons": ", ".join(decision.reasons),
        "shown": len(one.found.shown),
    }
