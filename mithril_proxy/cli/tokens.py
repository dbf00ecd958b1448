"""`mithril tokens`: who may use the admin plane, and how far."""

from __future__ import annotations

import click

from mithril_proxy.admin.operators import SETTING_NAME, new_token, token_digest
from mithril_proxy.cli.output import database_option, json_option, print_json, print_table, runs_async
from mithril_proxy.cli.session import opened_store
from mithril_proxy.errors import InvalidTransition
from mithril_proxy.store.desk import Scope


@click.group()
def tokens() -> None:
    """Make, list and take back tokens of the admin plane.

    A token signs in to the review desk, and goes into `Authorization: Bearer` of the API. Its name stands in the audit
    beside whatever its holder does.
    """


@tokens.command()
@click.argument("name")
@click.option(
    "--scope",
    type=click.Choice([scope.value for scope in Scope]),
    default=Scope.REVIEW.value,
    show_default=True,
    help="read: see; review: also release and reject; admin: also sources and policy.",
)
@json_option
@database_option
@runs_async
async def add(name: str, scope: str, as_json: bool, database_url: str | None) -> None:
    """Make a token and print it. It is shown once; only its SHA-256 is kept."""
    if not name.strip() or name == SETTING_NAME:
        raise InvalidTransition(
            f"{name!r} cannot be a token's name: `{SETTING_NAME}` is the holder of MITHRIL_ADMIN_TOKEN"
        )
    token = new_token()
    async with opened_store(database_url) as store:
        made = await store.add_token(name, scope=Scope(scope), digest=token_digest(token))
    if as_json:
        print_json({"name": made.name, "scope": made.scope, "token": token})
        return
    click.echo(token)
    click.echo(f"{made.name}: scope {made.scope.value}. The token above is shown this once.", err=True)


@tokens.command("list")
@json_option
@database_option
@runs_async
async def list_tokens(as_json: bool, database_url: str | None) -> None:
    """Every token by name; never the token itself."""
    async with opened_store(database_url) as store:
        made = await store.tokens()
    if as_json:
        for token in made:
            print_json(
                {
                    "name": token.name,
                    "scope": token.scope,
                    "created_at": token.created_at,
                    "revoked_at": token.revoked_at,
                }
            )
        return
    print_table(
        ("name", "scope", "made", "revoked"),
        (
            (
                token.name,
                token.scope.value,
                f"{token.created_at:%Y-%m-%d %H:%M}",
                token.revoked_at and f"{token.revoked_at:%Y-%m-%d %H:%M}",
            )
            for token in made
        ),
    )


@tokens.command()
@click.argument("name")
@database_option
@runs_async
async def revoke(name: str, database_url: str | None) -> None:
    """Take a token back; who signed in with it is signed out at once."""
    async with opened_store(database_url) as store:
        await store.revoke_token(name)
    click.echo(f"{name}: revoked")
