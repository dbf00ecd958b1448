"""`mithril serve`: the proxy and its admin plane, in one process."""

from __future__ import annotations

import asyncio
import contextlib
import signal
import socket
from collections.abc import Coroutine, Iterator, Sequence
from typing import Any

import click
import uvicorn
from starlette.types import ASGIApp

from mithril_proxy.app import Application, audit_outputs, build_admin_plane, running, watch_upstream
from mithril_proxy.cli.output import runs_async
from mithril_proxy.errors import ConfigurationError
from mithril_proxy.settings import Settings, load_settings, split_address
from mithril_proxy.telemetry import configure_logging


@click.command()
@click.option(
    "--upstream",
    "upstream_url",
    metavar="URL",
    help="The Cognee server (default: MITHRIL_UPSTREAM_URL or http://127.0.0.1:8000).",
)
@click.option("--listen", metavar="HOST:PORT", help="Data plane: where clients connect (default: 127.0.0.1:8080).")
@click.option("--admin-listen", metavar="HOST:PORT", help="Admin plane: operators only (default: 127.0.0.1:8081).")
@click.option(
    "--policy",
    metavar="FILE",
    help="Policy file or the name of a shipped one (default.toml, strict.toml, observe.toml).",
)
@click.option("--database", "database_url", metavar="URL", help="Database (default: sqlite+aiosqlite:///./mithril.db).")
@click.option(
    "--judge", type=click.Choice(["openai", "local"]), help="Judge (default: openai when MITHRIL_LLM_API_KEY is set)."
)
@runs_async
async def serve(**options: str | None) -> None:
    """Run the firewall in front of a Cognee server.

    Works with no policy file and no sources: unknown writers are then held in the quarantine.

    SIGHUP loads the policy again (a wrong one is refused and the old one stays); SIGTERM answers what is open, then
    stops.

    \b
    Examples:
      mithril serve --upstream http://127.0.0.1:8000
      MITHRIL_LLM_API_KEY=… mithril serve --judge openai --policy strict.toml
    """
    settings = load_settings(**options)
    log = configure_logging(settings.log_level, settings.log_format)
    async with running(settings, log) as application, audit_outputs(application) as deliveries:
        data_socket = _bind(settings.listen, "MITHRIL_LISTEN")
        admin_socket = _bind(settings.admin_listen, "MITHRIL_ADMIN_LISTEN")
        admin, first_token = await build_admin_plane(application)
        words = opening(application, data_socket, admin_socket, first_token)
        planes = ((application.data_plane, data_socket), (admin, admin_socket))
        await _serve(application, planes, words, [delivery.run() for delivery in deliveries])


def opening(application: Application, data: socket.socket, admin: socket.socket, first_token: str | None) -> str:
    """What a person needs to know at the start: where, how strict, and the next command."""
    settings = application.settings
    policy = application.data_plane.services.policy
    lines = [
        f"Mithril is in front of {settings.upstream_url}",
        f"  proxy        {_url(data)}   (give this URL to your Cognee clients)",
        f"  review desk  {_url(admin)}   (operators only; sign in with an admin token)",
        f"  MCP          {_url(admin)}/mcp   (agents, with a Mithril key)",
        f"  database     {settings.database_url}",
        f"  policy       {policy.name} ({policy.digest[:12]}), mode {policy.mode.value}",
        f"  judge        {settings.effective_judge}",
        f"  upstream     {application.version.detail}",
        f"  unknown writers start at {policy.reputation.unknown_prior:.2f}: their writes are held for review.",
        "  register one: mithril sources add my-agent --prior 0.9   (prints the key to use in place of the Cognee key)",
    ]
    if first_token is not None:
        lines.append(f"  admin token  {first_token}   (shown this once; `mithril tokens add NAME` makes more)")
    return "\n".join(lines)


def _url(listening: socket.socket) -> str:
    host, port = listening.getsockname()[:2]
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"


def _bind(address: str, setting: str) -> socket.socket:
    host, port = split_address(address)
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    listening = socket.socket(family, socket.SOCK_STREAM)
    listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listening.bind((host, port))
    except OSError as error:
        listening.close()
        raise ConfigurationError(
            f"{setting}: cannot listen on {address} ({error.strerror}); choose another port"
        ) from None
    listening.listen(2048)
    listening.set_inheritable(True)
    return listening


class _Server(uvicorn.Server):
    """A server that leaves signals to `_serve`, since two of them share one process."""

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield


def _server(app: ASGIApp, settings: Settings) -> _Server:
    return _Server(
        uvicorn.Config(
            app,
            loop="uvloop",
            http="httptools",
            ws="websockets-sansio",
            lifespan="auto",
            access_log=False,
            log_level="warning",
            proxy_headers=False,
            server_header=False,
            date_header=False,
            timeout_graceful_shutdown=int(settings.drain_timeout_s),
        )
    )


async def _serve(
    application: Application,
    planes: tuple[tuple[ASGIApp, socket.socket], ...],
    words: str,
    deliveries: Sequence[Coroutine[Any, Any, None]],
) -> None:
    """Serve both planes until SIGTERM. The opening words come once signals are heard: a reader may send one at once."""
    servers = [_server(app, application.settings) for app, _ in planes]
    loop = asyncio.get_running_loop()
    reloads: set[asyncio.Task[bool]] = set()

    def stop() -> None:
        application.data_plane.is_draining = True
        for server in servers:
            server.should_exit = True

    def reload() -> None:
        task = loop.create_task(application.reload())
        reloads.add(task)
        task.add_done_callback(reloads.discard)

    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, stop)
    loop.add_signal_handler(signal.SIGHUP, reload)
    click.echo(words, err=True)
    work = (*application.upkeep(), watch_upstream(application), *deliveries)
    background = [loop.create_task(one) for one in work]
    await asyncio.gather(*(server.serve([bound]) for server, (_, bound) in zip(servers, planes, strict=True)))
    for task in background:
        task.cancel()
    await asyncio.wait(background)
