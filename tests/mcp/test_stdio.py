"""`mithril mcp` as a program: the official client starts it and speaks to it over its pipes."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio
from mcp import Client, StdioServerParameters

from mithril_proxy.app import build_admin_plane
from tests.mcp.test_agent_tools import FACT, MIDDLING, TRUSTED, value
from tests.served import served
from tests.whole import ADMIN_TOKEN, SERVICE_KEY, Setup


def program(folder: Path, *arguments: str, **environment: str) -> StdioServerParameters:
    return StdioServerParameters(
        command=sys.executable,
        args=["-m", "mithril_proxy", "mcp", *arguments],
        cwd=folder,
        env={
            "MITHRIL_JUDGE": "local",
            "MITHRIL_DATABASE_URL": f"sqlite+aiosqlite:///{folder}/mithril.db",
            "PYTHONPATH": str(Path(__file__).parents[2]),
            **environment,
        },
    )


@pytest_asyncio.fixture
async def cognee_url(setup: Setup) -> AsyncIterator[str]:
    async with served(setup.cognee.app) as url:
        yield url


async def test_an_agent_remembers_recalls_and_asks_over_stdio(setup: Setup, cognee_url: str, tmp_path: Path) -> None:
    key = await setup.register("docs-bot", TRUSTED)
    environment = {"MITHRIL_KEY": key, "MITHRIL_UPSTREAM_URL": cognee_url, "MITHRIL_UPSTREAM_API_KEY": SERVICE_KEY}
    async with Client(program(tmp_path, "--dataset", "notes", **environment)) as client:
        remembered = value(await client.call_tool("mithril_remember", {"text": FACT}))
        recalled = value(await client.call_tool("mithril_recall", {"query": "Lisbon office"}))
        explained = value(await client.call_tool("mithril_explain", {"decision_id": remembered["decision_id"]}))
        standing = value(await client.call_tool("mithril_source", {}))
    assert remembered["stored"]
    assert [(one["text"], one["dataset"]) for one in recalled["memories"]] == [(FACT, "notes")]
    assert explained["status"] == "warn"
    assert (standing["source"], standing["decisions"]) == ("docs-bot", 1)
    assert (await setup.application.store.decision(remembered["decision_id"]))["source"] == "docs-bot"


async def test_an_operators_token_gives_the_operators_tools_over_stdio(
    setup: Setup, cognee_url: str, tmp_path: Path
) -> None:
    token = tmp_path / "token"
    token.write_text(ADMIN_TOKEN + "\n")
    parameters = program(tmp_path, "--key-file", str(token), "--upstream", cognee_url, MITHRIL_ADMIN_TOKEN=ADMIN_TOKEN)
    async with Client(parameters) as client:
        tools = {tool.name for tool in (await client.list_tools()).tools}
        assert value(await client.call_tool("mithril_quarantine_list", {}))["held"] == []
    assert tools == {"mithril_quarantine_list", "mithril_release"}


async def test_with_a_url_everything_is_passed_on_to_a_running_mithril(setup: Setup, tmp_path: Path) -> None:
    key = await setup.register("chat-bot", MIDDLING)
    admin, _ = await build_admin_plane(setup.application)
    empty = tmp_path / "elsewhere"
    empty.mkdir()
    async with served(admin) as url, Client(program(empty, "--url", f"{url}/mcp", MITHRIL_KEY=key)) as client:
        tools = {tool.name for tool in (await client.list_tools()).tools}
        remembered = value(await client.call_tool("mithril_remember", {"text": FACT}))
        standing = value(await client.call_tool("mithril_source", {}))
    assert "mithril_recall" in tools
    assert remembered["status"] == "review"
    assert standing["source"] == "chat-bot"
    assert list(empty.iterdir()) == []


@pytest.mark.parametrize(
    ("arguments", "environment", "said"),
    [
        (["--url", "http://127.0.0.1:1/mcp"], {}, "MITHRIL_KEY: must be set"),
        (["--url", "http://127.0.0.1:1/mcp"], {"MITHRIL_KEY": "mk_x"}, "is `mithril serve` running?"),
    ],
)
def test_what_cannot_work_is_said_before_a_word_of_mcp(
    arguments: list[str], environment: dict[str, str], said: str, tmp_path: Path
) -> None:
    parameters = program(tmp_path, *arguments, **environment)
    done = subprocess.run(
        [parameters.command, *parameters.args], cwd=tmp_path, env=parameters.env, capture_output=True, text=True
    )
    assert done.returncode in (1, 2)
    assert said in done.stderr
    assert done.stdout == ""
