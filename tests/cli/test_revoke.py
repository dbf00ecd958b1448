"""`mithril revoke` and `mithril rescan` as they are called."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from mithril_proxy.cli import mithril
from mithril_proxy.client import Document, InProcess, MemoryClient
from tests.fake_cognee import FakeCognee
from tests.served import served_in_a_thread
from tests.whole import whole

FACTS = ("The mill grinds rye.", "Herons nest in tall trees.")
REASON = ("--reason", "its key leaked")


@dataclass
class Scene:
    """A database with two memories of docs-bot, one of them shown to reader-bot, and the Cognee that has them."""

    cognee: FakeCognee
    ids: list[str]
    run: Callable[..., Result]


async def _prepare(folder: Path, cognee: FakeCognee) -> list[str]:
    async with whole(folder) as setup:
        for name in ("docs-bot", "reader-bot"):
            await setup.register(name, 0.98)
        plane = InProcess(setup.application.data_plane)
        writer = MemoryClient(plane, [(b"x-api-key", setup.keys["docs-bot"].encode())])
        decided = await writer.remember([Document(text) for text in FACTS], dataset="main")
        reader = MemoryClient(plane, [(b"x-api-key", setup.keys["reader-bot"].encode())])
        await reader.recall("mill rye", top_k=5)
        cognee.documents = setup.cognee.documents
        return [one.decision_id for one in decided]


@pytest.fixture
def scene(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Scene]:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MITHRIL_JUDGE", "local")
    cognee = FakeCognee()
    ids = asyncio.run(_prepare(tmp_path, cognee))
    with served_in_a_thread(cognee.app) as url:

        def run(*arguments: str) -> Result:
            return CliRunner().invoke(mithril, [*arguments, "--upstream", url])

        yield Scene(cognee, ids, run)


def test_a_revocation_shows_first_and_deletes_only_when_told_to(scene: Scene) -> None:
    shown = scene.run("revoke", "--source", "docs-bot", *REASON)
    assert shown.exit_code == 0, shown.exception
    assert "Nothing was changed" in shown.stderr
    assert "1 recalls showed them" in shown.stdout
    assert "reader-bot" in shown.stdout
    assert len(scene.cognee.documents) == 2
    done = scene.run("revoke", "--source", "docs-bot", *REASON, "--yes")
    assert "2 withdrawn" in done.stderr
    assert scene.cognee.documents == []
    assert "no document in memory" in str(scene.run("revoke", "--source", "docs-bot", *REASON).exception)


def test_one_decision_is_revoked_alone(scene: Scene) -> None:
    done = scene.run("revoke", "--decision", scene.ids[0], *REASON, "--yes", "--json")
    (found,) = [json.loads(line) for line in done.stdout.splitlines()]
    assert found["memory"]["decision_id"] == scene.ids[0]
    assert found["shown"][0]["principal"] == "reader-bot"
    assert scene.cognee.texts == [FACTS[1]]
    assert "stored no document" in str(scene.run("revoke", "--decision", "dec_none", *REASON).exception)


def test_a_revocation_names_one_thing_and_a_reason(scene: Scene) -> None:
    assert "one of them" in scene.run("revoke", *REASON).output
    assert "one of them" in scene.run("revoke", "--source", "a", "--decision", "b", *REASON).output
    assert "--reason" in scene.run("revoke", "--source", "docs-bot").output


def test_a_rescan_reports_and_withdraws_only_when_told_to(scene: Scene, tmp_path: Path) -> None:
    assert "2 judged again, 0 would not be admitted" in scene.run("rescan").stdout

    async def collapse() -> None:
        async with whole(tmp_path) as setup:
            await setup.application.store.reset_source("docs-bot", reputation=0.2, reason="taken over")

    asyncio.run(collapse())
    assert "2 judged again, 2 would not be admitted" in scene.run("rescan", "--source", "docs-bot").stdout
    lines = [json.loads(line) for line in scene.run("rescan", "--json").stdout.splitlines()]
    assert [line.get("now") for line in lines[:2]] == ["quarantine", "quarantine"]
    assert lines[2] == {"judged": 2, "fallen": 2, "not_found": 0}
    assert len(scene.cognee.documents) == 2
    assert "--reason" in str(scene.run("rescan", "--revoke").exception)
    assert "2 withdrawn" in scene.run("rescan", "--revoke", "--reason", "taken over").stderr
    assert scene.cognee.documents == []
