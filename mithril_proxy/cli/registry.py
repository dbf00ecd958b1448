"""The rest of `mithril sources`: keys, priors, what may be declared, freezing, history, and moving a register."""

from __future__ import annotations

import hashlib
import json
import os
import sys
from collections.abc import Iterator
from typing import Annotated, TextIO

import click
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from mithril_proxy.cli.output import database_option, json_option, print_json, print_table, runs_async
from mithril_proxy.cli.session import opened_store
from mithril_proxy.errors import ConfigurationError, InvalidTransition, NotFound
from mithril_proxy.proxy.identity import MITHRIL_KEY_PREFIX
from mithril_proxy.store.interface import Page, RegisteredSource, Source, Store
from mithril_proxy.store.names import check_source_name

DIGEST_HEX = 64
SHOWN_HEX = 12  # 48 bits of a key's digest: enough to name one among a team's

name_argument = click.argument("name")


def said(context: click.Context, parameter: click.Parameter, value: str) -> str:
    """A reason that says something. Raises BadParameter."""
    if not value.strip():
        raise click.BadParameter("must say why")
    return value.strip()


reason_option = click.option("--reason", required=True, callback=said, help="Why; it stands in the audit.")


@click.command()
@click.argument("key")
@reason_option
@database_option
@runs_async
async def revoke_key(key: str, reason: str, database_url: str | None) -> None:
    """Take a key back for good. KEY is the key, its SHA-256, or the beginning of that (`sources keys NAME`)."""
    digest = hashlib.sha256(key.encode()).hexdigest() if key.startswith(MITHRIL_KEY_PREFIX) else key.lower()
    async with opened_store(database_url) as store:
        whole = digest if len(digest) == DIGEST_HEX else await _whole_digest(store, digest)
        source = await store.revoke_key(whole, reason=reason)
    click.echo(f"{source.name}: revoked {whole[:SHOWN_HEX]}, {len(source.key_digests)} keys left")


async def _whole_digest(store: Store, beginning: str) -> str:
    """The one live key whose digest begins so. Raises NotFound."""
    found = [
        digest for source in await store.sources() for digest in source.key_digests if digest.startswith(beginning)
    ]
    if len(beginning) < SHOWN_HEX or len(found) != 1:
        raise NotFound(f"{len(found)} live keys begin with {beginning!r}; give {SHOWN_HEX} digits or more")
    return found[0]


@click.command()
@name_argument
@json_option
@database_option
@runs_async
async def keys(name: str, as_json: bool, database_url: str | None) -> None:
    """The live keys of a source, by the beginnings of their digests. The keys themselves are nowhere."""
    async with opened_store(database_url) as store:
        source = await store.source(name)
    for digest in source.key_digests:
        if as_json:
            print_json({"source": source.name, "sha256": digest})
        else:
            click.echo(digest[:SHOWN_HEX])


@click.command()
@name_argument
@click.option("--prior", type=click.FloatRange(0.0, 1.0), help="Its prior (default: the policy's for the name).")
def add_credential(name: str, prior: float | None) -> None:
    """Print the policy entry that makes a Cognee key or token the credential of a source.

    The key is read from COGNEE_API_KEY, else from stdin; only its SHA-256 is printed, and nothing is stored. The client
    goes on sending its own key, with its own rights in Cognee.

    \b
    Example:
      mithril sources add-credential ci-pipeline < key.txt >> policies/mine.toml
    """
    check_source_name(name)
    credential = os.environ.get("COGNEE_API_KEY", "").strip() or sys.stdin.read().strip()
    if not credential:
        raise ConfigurationError("no credential: set COGNEE_API_KEY, or give it on stdin")
    if credential.startswith(MITHRIL_KEY_PREFIX):
        raise ConfigurationError("this is a Mithril key, which is known already; give the client's Cognee key")
    click.echo("[[principals]]")
    click.echo(f"name = {json.dumps(name)}")
    if prior is not None:
        click.echo(f"prior = {prior}")
    click.echo(f'credential_sha256 = ["{hashlib.sha256(credential.encode()).hexdigest()}"]')


@click.command()
@name_argument
@click.argument("prior", type=click.FloatRange(0.0, 1.0))
@reason_option
@database_option
@runs_async
async def set_prior(name: str, prior: float, reason: str, database_url: str | None) -> None:
    """Change the prior of a source. Its reputation stays; `sources reset` takes it to the prior."""
    async with opened_store(database_url) as store:
        source = await store.set_prior(name, prior=prior, reason=reason)
    click.echo(f"{name}: prior {source.prior:.2f}, reputation {source.reputation:.3f}")


@click.command()
@name_argument
@click.argument("declared", nargs=-1, metavar="[SOURCE]...")
@reason_option
@database_option
@runs_async
async def may_declare(name: str, declared: tuple[str, ...], reason: str, database_url: str | None) -> None:
    """Say which sources NAME may name in X-Mithril-Source: these and no others, none when none is given."""
    for other in declared:
        check_source_name(other)
    async with opened_store(database_url) as store:
        source = await store.set_may_declare(name, declared, reason=reason)
    click.echo(f"{name}: may declare {', '.join(source.may_declare) or 'nobody else'}")


@click.command()
@name_argument
@reason_option
@database_option
@runs_async
async def freeze(name: str, reason: str, database_url: str | None) -> None:
    """Stop the reputation of a source from moving. It can go on writing; `sources revoke-key` ends that."""
    async with opened_store(database_url) as store:
        source = await store.freeze_source(name, reason=reason)
    click.echo(f"{name}: frozen at {source.reputation:.3f}")


@click.command()
@name_argument
@reason_option
@database_option
@runs_async
async def thaw(name: str, reason: str, database_url: str | None) -> None:
    """Let the reputation of a source move again."""
    async with opened_store(database_url) as store:
        source = await store.thaw_source(name, reason=reason)
    click.echo(f"{name}: moves again, from {source.reputation:.3f}")


@click.command()
@name_argument
@click.option("--limit", type=click.IntRange(1, 500), default=50, show_default=True, help="How many.")
@click.option("--before", type=click.IntRange(1), help="Only older ones: the last id of the page before.")
@json_option
@database_option
@runs_async
async def history(name: str, limit: int, before: int | None, as_json: bool, database_url: str | None) -> None:
    """What moved the reputation of a source, newest first."""
    async with opened_store(database_url) as store:
        await store.source(name)
        events = await store.reputation_events(name, Page(limit, None if before is None else str(before)))
    if as_json:
        for event in events:
            print_json(event)
        return
    cells = (
        (
            one.id,
            one.at.isoformat(timespec="seconds"),
            f"{one.before:.3f}",
            f"{one.after:.3f}",
            one.reason,
            one.decision_id,
        )
        for one in events
    )
    print_table(("id", "time", "before", "after", "reason", "decision"), cells)


class Entry(BaseModel):
    """One line of an exported register."""

    model_config = ConfigDict(extra="forbid")

    name: str
    prior: float = Field(ge=0.0, le=1.0)
    may_declare: tuple[str, ...] = ()
    key_digests: tuple[Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")], ...] = ()
    is_frozen: bool = False


@click.command()
@database_option
@runs_async
async def export(database_url: str | None) -> None:
    """Every registered source as JSON lines: prior, digests of keys, what it may declare. No reputation, no key."""
    async with opened_store(database_url) as store:
        for source in await store.sources():
            if source.is_registered:
                print_json(_registered(source))


def _registered(source: Source) -> RegisteredSource:
    return RegisteredSource(source.name, source.prior, source.may_declare, source.key_digests, source.is_frozen)


@click.command("import")
@click.argument("file", type=click.File(encoding="utf-8"))
@click.option("--reason", default="import", show_default=True, callback=said, help="Why; it stands in the audit.")
@database_option
@runs_async
async def import_(file: TextIO, reason: str, database_url: str | None) -> None:
    """Register what `sources export` wrote elsewhere; its keys work here at once. FILE may be - for stdin.

    What is known here already keeps its prior and reputation and gains the keys. All lines are checked before the first
    is taken.
    """
    entries = list(_entries(file.read()))
    async with opened_store(database_url) as store:
        for entry in entries:
            await store.import_source(entry, reason=reason)
    click.echo(f"{len(entries)} sources")


def _entries(text: str) -> Iterator[RegisteredSource]:
    """The lines of a register. Raises ConfigurationError that names the line."""
    for number, line in enumerate(text.splitlines(), start=1):
        if not line.strip():
            continue
        try:
            entry = Entry.model_validate_json(line)
            check_source_name(entry.name)
        except ValidationError as error:
            first = error.errors()[0]
            where = ".".join(str(part) for part in first["loc"]) or "line"
            raise ConfigurationError(f"line {number}: {where}: {first['msg']}") from None
        except InvalidTransition as error:
            raise ConfigurationError(f"line {number}: {error}") from None
        yield RegisteredSource(**entry.model_dump())


COMMANDS = (keys, revoke_key, add_credential, set_prior, may_declare, freeze, thaw, history, export, import_)
