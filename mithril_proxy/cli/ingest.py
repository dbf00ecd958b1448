"""`mithril ingest`: bring an export or files into memory through the firewall."""

from __future__ import annotations

import asyncio
import contextlib
import signal
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click

from mithril_proxy.app import build_dry_firewall, build_operator_plane
from mithril_proxy.cli.ingest_report import Bar, print_preview, print_tally
from mithril_proxy.cli.output import json_option, runs_async
from mithril_proxy.cli.session import opened_store
from mithril_proxy.client import InProcess, MemoryClient
from mithril_proxy.errors import ConfigurationError, MithrilError
from mithril_proxy.ingest.archive import opened
from mithril_proxy.ingest.files import file_readings, find_files
from mithril_proxy.ingest.journal import opened_journal
from mithril_proxy.ingest.preview import preview
from mithril_proxy.ingest.records import Reading
from mithril_proxy.ingest.run import Run
from mithril_proxy.ingest.slack import open_export
from mithril_proxy.ingest.sources import OperatorIdentifier, Per, SourceChoice
from mithril_proxy.policy import Policy, load_policy
from mithril_proxy.proxy.upstream import AiohttpUpstream
from mithril_proxy.settings import Settings, load_settings
from mithril_proxy.store.names import check_source_name

JOURNAL = "mithril-ingest.jsonl"
NewReadings = Callable[[], Iterator[Reading]]


@dataclass(frozen=True, slots=True)
class Order:
    """What was asked for."""

    settings: Settings
    policy: Policy
    url: str | None
    sources: SourceChoice
    dataset: str
    tags: tuple[str, ...]
    journal: Path
    batch: int
    at_once: int
    dry_run: bool
    as_json: bool


def run_options(function: Callable[..., Any]) -> Callable[..., Any]:
    """The options that every connector has."""
    options = (
        click.option(
            "--url", metavar="URL", help="A running Mithril to write to, with MITHRIL_KEY; else this process."
        ),
        click.option("--dataset", default="main_dataset", show_default=True, help="Cognee dataset."),
        click.option("--tag", "tags", multiple=True, help="Node set of every record; repeatable."),
        click.option("--source", help="Source of every record (default: the policy's [ingest]; with --url the key's)."),
        click.option("--journal", type=click.Path(dir_okay=False, path_type=Path), help="What was sent already."),
        click.option(
            "--batch", type=click.IntRange(1, 1000), default=50, show_default=True, help="Records in one call."
        ),
        click.option("--at-once", type=click.IntRange(1, 32), default=4, show_default=True, help="Calls at one time."),
        click.option("--dry-run", is_flag=True, help="Send nothing: show what there is and how it would be judged."),
        click.option(
            "--upstream", "upstream_url", metavar="URL", help="The Cognee server (default: MITHRIL_UPSTREAM_URL)."
        ),
        click.option("--policy", metavar="FILE", help="Policy file or the name of a shipped one."),
        click.option("--database", "database_url", metavar="URL", help="Database (default: MITHRIL_DATABASE_URL)."),
        json_option,
    )
    for option in reversed(options):
        function = option(function)
    return function


@click.group()
def ingest() -> None:
    """Bring what a team has written into memory. Every text is judged like any other write.

    A run can be stopped (Ctrl-C finishes the calls that are out) and called again: it goes on where it was.
    """


@ingest.command()
@click.argument("export", type=click.Path(exists=True, path_type=Path))
@click.option("--channel", "channels", multiple=True, help="Only this channel; repeatable.")
@click.option(
    "--source-per", type=click.Choice(["channel", "author"]), help="One source a channel or author: slack-general."
)
@click.option("--private", is_flag=True, help="Direct messages too.")
@run_options
@runs_async
async def slack(export: Path, channels: tuple[str, ...], source_per: Per | None, private: bool, **given: Any) -> None:
    """A Slack export: the zip, or the folder it was unpacked to. Each message is one record, with its time.

    \b
    Examples:
      mithril ingest slack export.zip --dry-run
      mithril ingest slack export.zip --channel announcements --source security-policy
    """
    order = _order(given, per=source_per or "", default=lambda policy: policy.ingest.slack)
    with opened(export) as archive:
        found = open_export(archive, private=private)
        unknown = set(channels) - {channel.name for channel in found.channels}
        if unknown:
            raise ConfigurationError(f"--channel: the export has no {', '.join(sorted(unknown))}")
        await _carry_out(order, lambda: found.readings(frozenset(channels)))


@ingest.command()
@click.argument("paths", nargs=-1, required=True, type=click.Path(exists=True, path_type=Path))
@run_options
@runs_async
async def file(paths: tuple[Path, ...], **given: Any) -> None:
    """Files: .txt and .md whole, .jsonl and .csv line by line, .mbox mail by mail; folders of them.

    \b
    Examples:
      mithril ingest file handbook/ --source documentation
      mithril ingest file facts.jsonl --url http://127.0.0.1:8080
    """
    order = _order(given, per="", default=lambda policy: policy.ingest.files)
    places = find_files(paths)
    await _carry_out(order, lambda: file_readings(places))


def _order(given: dict[str, Any], *, per: Per, default: Callable[[Policy], str]) -> Order:
    """The options as one value. Raises ConfigurationError when no source is named where one must be."""
    settings = load_settings(**{name: given[name] for name in ("upstream_url", "policy", "database_url")})
    policy, url, named = load_policy(settings.policy), given["url"], given["source"]
    base = named or ("" if url and not per else default(policy))
    if not base and not url:
        raise ConfigurationError("--source: name the source whose word this is (`mithril sources list` shows them)")
    if base:
        check_source_name(base)
    return Order(
        settings=settings,
        policy=policy,
        sources=SourceChoice(base, per, policy.ingest),
        journal=given["journal"] or _journal(settings, url),
        **{name: given[name] for name in ("url", "dataset", "tags", "batch", "at_once", "dry_run", "as_json")},
    )


def _journal(settings: Settings, url: str | None) -> Path:
    """Next to the SQLite database, where there is one; else in this folder."""
    _, separator, path = settings.database_url.partition(":///")
    is_file = url is None and separator and settings.database_url.startswith("sqlite")
    return Path(path).parent / JOURNAL if is_file else Path(JOURNAL)


async def _carry_out(order: Order, readings: NewReadings) -> None:
    if order.dry_run:
        await _preview(order, readings)
        return
    with opened_journal(order.journal) as journal, Bar(sum(1 for _ in readings()), quiet=order.as_json) as bar:
        async with _client(order) as client:
            run = Run(client, order.sources, order.dataset, order.tags, journal, order.batch, order.at_once)
            run.advance = lambda count: bar.advance(count, run.tally)
            try:
                with _stopping(run):
                    await run.send(readings())
            finally:
                bar.stop()
                print_tally(run.tally, is_stopped=run.is_stopping, as_json=order.as_json)
    if run.tally.by_status["failed"]:
        raise MithrilError(f"{run.tally.by_status['failed']} records failed; they are tried again by the same command")


async def _preview(order: Order, readings: NewReadings) -> None:
    async with opened_store(order.settings.database_url) as store:
        identifier = OperatorIdentifier(order.policy, store, order.sources.base, None)
        firewall = build_dry_firewall(order.settings)
        print_preview(await preview(readings(), order.sources, firewall, identifier), as_json=order.as_json)


@asynccontextmanager
async def _client(order: Order) -> AsyncIterator[MemoryClient]:
    """A client of the data plane at --url, or of one in this process."""
    settings = order.settings
    if order.url is None:
        async with build_operator_plane(settings, order.sources.base) as plane:
            yield MemoryClient(InProcess(plane), [])
        return
    if settings.key is None:
        raise ConfigurationError("MITHRIL_KEY: must be set with --url; `mithril sources add NAME` issues a key")
    upstream = AiohttpUpstream(order.url.rstrip("/"), settings.connect_timeout_s, settings.read_timeout_s)
    try:
        yield MemoryClient(upstream, [(b"x-api-key", settings.key.get_secret_value().encode())])
    finally:
        await upstream.close()


@contextmanager
def _stopping(run: Run) -> Iterator[None]:
    """Let SIGINT and SIGTERM end the run after the calls that are out."""
    loop = asyncio.get_running_loop()

    def stop() -> None:
        run.is_stopping = True

    numbers = (signal.SIGINT, signal.SIGTERM)
    with contextlib.ExitStack() as stack:
        for number in numbers:
            loop.add_signal_handler(number, stop)
            stack.callback(loop.remove_signal_handler, number)
        yield
