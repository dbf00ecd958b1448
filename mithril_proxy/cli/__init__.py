"""The command `mithril`. Each subcommand stands in a file of its own and is imported only when it is called.

Exit codes: 0 done · 1 it could not be done (the reason is on stderr) · 2 wrong usage, setting or policy ·
10 `scan` found a credential.
"""

from __future__ import annotations

import importlib
import sys

import click

from mithril_proxy import __version__
from mithril_proxy.errors import ConfigurationError, MithrilError

COMMANDS = (
    "serve",
    "demo",
    "check",
    "scan",
    "evaluate",
    "sources",
    "tokens",
    "quarantine",
    "audit",
    "revoke",
    "rescan",
    "mcp",
    "ingest",
    "policy",
    "db",
)


class LazyGroup(click.Group):
    """A group whose commands are imported by name: `mithril scan` does not load the web server."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Command names, in the order a newcomer needs them."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """The command of that name, None when there is none."""
        if cmd_name not in COMMANDS:
            return None
        module = importlib.import_module(f"mithril_proxy.cli.{cmd_name}")
        command = getattr(module, cmd_name)
        assert isinstance(command, click.Command)
        return command


@click.group(cls=LazyGroup, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="mithril")
def mithril() -> None:
    """A firewall for AI-agent memory, in front of a Cognee server.

    Start it with `mithril serve --upstream http://127.0.0.1:8000`, point your Cognee clients at
    http://127.0.0.1:8080, and register each writer with `mithril sources add NAME --prior 0.9`.

    Settings come from the environment or `.env` (MITHRIL_UPSTREAM_URL, MITHRIL_DATABASE_URL, MITHRIL_POLICY …);
    what is allowed stands in the policy file (`mithril policy show`).

    Exit codes: 0 done, 1 could not be done, 2 wrong usage or configuration, 10 `scan` found a credential.
    """


def main() -> None:
    """Run the command; a MithrilError becomes one line on stderr and an exit code."""
    try:
        exit_code = mithril.main(standalone_mode=False)
        sys.exit(exit_code if isinstance(exit_code, int) else 0)
    except click.Abort:
        sys.exit(130)
    except click.ClickException as error:
        error.show()
        sys.exit(error.exit_code)
    except ConfigurationError as error:
        click.echo(f"mithril: {error}", err=True)
        sys.exit(2)
    except MithrilError as error:
        click.echo(f"mithril: {error}", err=True)
        sys.exit(1)
