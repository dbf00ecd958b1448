"""`mithril mcp`: memory tools for an agent, over stdin and stdout."""

from __future__ import annotations

from pathlib import Path

import click

from mithril_proxy.app import build_agent_tools, build_gate, build_operator_tools, running, scopes_by
from mithril_proxy.cli.output import runs_async
from mithril_proxy.errors import ConfigurationError
from mithril_proxy.mcp.callers import REVIEW_SCOPES, Credentials
from mithril_proxy.mcp.relay import check_reachable, relay_server
from mithril_proxy.mcp.servers import DEFAULT_DATASET, agent_server, operator_server
from mithril_proxy.mcp.stdio import serve_stdio
from mithril_proxy.proxy.headers import RawHeaders
from mithril_proxy.settings import Settings, load_settings
from mithril_proxy.telemetry import configure_logging


@click.command()
@click.option("--url", metavar="URL", help="The /mcp of a running Mithril, such as http://127.0.0.1:8081/mcp.")
@click.option(
    "--key-file",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="File that holds the key (default: the variable MITHRIL_KEY).",
)
@click.option("--dataset", default=DEFAULT_DATASET, show_default=True, help="Where memories go when a call names none.")
@click.option("--upstream", "upstream_url", metavar="URL", help="The Cognee server (default: MITHRIL_UPSTREAM_URL).")
@click.option("--policy", metavar="FILE", help="Policy file or the name of a shipped one.")
@click.option("--database", "database_url", metavar="URL", help="Database (default: MITHRIL_DATABASE_URL).")
@runs_async
async def mcp(
    url: str | None,
    key_file: Path | None,
    dataset: str,
    upstream_url: str | None,
    policy: str | None,
    database_url: str | None,
) -> None:
    """Serve MCP over stdin and stdout: remember, recall, explain a decision, see one's own standing.

    The caller is the source that its key belongs to: MITHRIL_KEY or --key-file, issued by `mithril sources add NAME`.
    With an operator's token in its place, the tools are those of the quarantine.

    With --url everything is passed on to a running Mithril; without it this process is one itself, with the database
    and the upstream of the settings.

    \b
    Example, in a client's configuration:
      {"mcpServers": {"memory": {"command": "mithril", "args": ["mcp", "--url", "http://127.0.0.1:8081/mcp"],
                                 "env": {"MITHRIL_KEY": "mk_…"}}}}
    """
    settings = load_settings(upstream_url=upstream_url, policy=policy, database_url=database_url)
    key = _key(settings, key_file)
    if url is not None:
        if not key:
            raise ConfigurationError("MITHRIL_KEY: must be set with --url; `mithril sources add NAME` issues a key")
        await check_reachable(url, key)
        async with relay_server(url, key) as relay:
            await serve_stdio(relay)
        return
    await _serve_own(settings, key, dataset)


async def _serve_own(settings: Settings, key: str, dataset: str) -> None:
    """Serve as a Mithril of its own: logs go to stderr, stdout is the protocol's."""
    credentials = Credentials(_headers(key))
    async with running(settings, configure_logging(settings.log_level, settings.log_format)) as application:
        scopes_of = scopes_by(build_gate(application))
        if key and await scopes_of(key) & REVIEW_SCOPES:
            await serve_stdio(operator_server(build_operator_tools(application, credentials, scopes_of)))
        else:
            await serve_stdio(agent_server(build_agent_tools(application, credentials, dataset)))


def _headers(key: str) -> RawHeaders:
    return [(b"x-api-key", key.encode("utf-8", "surrogateescape"))] if key else []


def _key(settings: Settings, key_file: Path | None) -> str:
    """The caller's credential; empty when there is none. Raises ConfigurationError."""
    if key_file is None:
        return settings.key.get_secret_value().strip() if settings.key else ""
    try:
        return key_file.read_text(encoding="utf-8").strip()
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigurationError(f"{key_file}: cannot be read ({type(error).__name__})") from None
