"""`mithril ingest` as it is called."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from mithril_proxy.cli import mithril
from tests.fake_cognee import FakeCognee
from tests.ingest.exports import START, export_files, lines, message, write_zip
from tests.served import served_in_a_thread

FACT = "The Lisbon office opens at nine."


@pytest.fixture
def cli(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> CliRunner:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MITHRIL_JUDGE", "local")
    return CliRunner()


def summary(output: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(output.splitlines()[-1])
    return found


def test_an_export_is_ingested_and_a_second_call_finds_nothing_to_do(cli: CliRunner, tmp_path: Path) -> None:
    cognee = FakeCognee()
    days = {
        "general/2026-11-02.json": [message(START, FACT), 7],
        "random/2026-11-02.json": [message(START, "Salt keeps fish.")],
    }
    path = write_zip(tmp_path / "export.zip", export_files(days))
    with served_in_a_thread(cognee.app) as url:
        given = ["slack", str(path), "--source", "security-policy", "--upstream", url, "--channel", "general"]
        first = cli.invoke(mithril, ["ingest", *given, "--json"], catch_exceptions=False)
        second = cli.invoke(mithril, ["ingest", *given], catch_exceptions=False)
    assert first.exit_code == 0, first.output
    assert summary(first.stdout)["by_status"] == {"warn": 1}
    assert summary(first.stdout)["bad_lines"] == [
        {"origin": "#general 2026-11-02.json", "line": 2, "reason": "is no object"}
    ]
    assert "sent before" in second.stdout
    assert "#general 2026-11-02.json:2: is no object" in second.stderr
    assert cognee.texts == [FACT]
    assert (tmp_path / "mithril-ingest.jsonl").exists()


def test_held_records_are_listed_with_what_to_do(cli: CliRunner, tmp_path: Path) -> None:
    (tmp_path / "facts.jsonl").write_bytes(lines(FACT))
    with served_in_a_thread(FakeCognee().app) as url:
        done = cli.invoke(
            mithril, ["ingest", "file", "facts.jsonl", "--source", "slack", "--upstream", url], catch_exceptions=False
        )
    assert "facts.jsonl:1" in done.stdout
    assert "review" in done.stdout
    assert "mithril quarantine list" in done.stderr


def test_a_dry_run_shows_a_table_and_sends_nothing(cli: CliRunner, tmp_path: Path) -> None:
    (tmp_path / "facts.jsonl").write_bytes(lines(FACT, b"{"))
    given = ["file", "facts.jsonl", "--source", "slack", "--dry-run", "--upstream", "http://127.0.0.1:1"]
    table = cli.invoke(mithril, ["ingest", *given], catch_exceptions=False)
    values = summary(cli.invoke(mithril, ["ingest", *given, "--json"], catch_exceptions=False).stdout)
    assert "Nothing was sent" in table.stdout
    assert "1 records, 0 say nothing, 1 bad" in table.stdout
    assert values["lines"][0]["statuses"] == {"review": 1}
    assert not (tmp_path / "mithril-ingest.jsonl").exists()


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["file", "facts.jsonl"], "--source"),
        (["file", "facts.jsonl", "--source", "verified"], "reserved"),
        (["file", "facts.jsonl", "--url", "http://127.0.0.1:1"], "MITHRIL_KEY"),
        (["slack", "export.zip", "--channel", "nowhere"], "no nowhere"),
    ],
)
def test_what_cannot_work_is_said_first(cli: CliRunner, tmp_path: Path, arguments: list[str], said: str) -> None:
    (tmp_path / "facts.jsonl").write_bytes(lines(FACT))
    write_zip(tmp_path / "export.zip", export_files({}))
    done = cli.invoke(mithril, ["ingest", *arguments])
    assert said in str(done.exception)
