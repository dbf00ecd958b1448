"""A real Cognee: what was admitted is withdrawn and its readers are named; files go the same way as every write."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from mithril_proxy.errors import DemoFailed
from tests.e2e.harness import Stack, codename

pytestmark = pytest.mark.e2e


def test_a_revoked_memory_is_gone_from_cognee_and_its_readers_are_named(stack: Stack) -> None:
    writer, reader = stack.register(0.98), stack.register(0.98)
    kept, taken = f"The {codename()} cellar is rented to the brewers.", f"Herons nest above the {codename()} sluice."
    answers = [writer.remember(text) for text in (kept, taken)]
    assert [answer.status_code for answer in answers] == [200, 200], [answer.text for answer in answers]
    assert reader.recalls(taken)
    decision = answers[1].headers["X-Mithril-Decision"]
    asked = ("revoke", "--decision", decision, "--reason", "not true", "--json")
    (found,) = [json.loads(line) for line in stack.mithril.command(*asked).splitlines()]
    assert found["standing"] == "found"
    assert reader.source in {receipt["principal"] for receipt in found["shown"]}
    assert reader.recalls(taken)
    stack.mithril.command(*asked, "--yes")
    assert not any(taken in document for document in stack.documents())
    assert not reader.recalls(taken)
    assert reader.recalls(kept)
    with pytest.raises(DemoFailed, match="no document in memory"):
        stack.mithril.command("revoke", "--source", reader.source, "--reason", "x")


def test_a_rescan_finds_what_a_source_that_lost_its_standing_had_stored(stack: Stack) -> None:
    writer = stack.register(0.98)
    text = f"The {codename()} ferry leaves from the north pier."
    assert writer.remember(text).status_code == 200
    stack.mithril.command("sources", "reset", writer.source, "--reputation", "0.2", "--reason", "taken over")
    lines = [
        json.loads(line) for line in stack.mithril.command("rescan", "--source", writer.source, "--json").splitlines()
    ]
    assert (lines[0]["now"], lines[-1]) == ("quarantine", {"judged": 1, "fallen": 1, "not_found": 0})


def test_files_are_ingested_through_a_running_mithril_with_their_time(stack: Stack, tmp_path: Path) -> None:
    writer = stack.register(0.98)
    texts = [f"The {codename()} depot keeps {thing}." for thing in ("ropes", "lamps", "tiles")]
    rows = [json.dumps({"text": text, "created_at": "2020-01-01"}) for text in texts]
    (tmp_path / "facts.jsonl").write_text("\n".join(rows))
    environment = {**stack.mithril.environment, "MITHRIL_KEY": writer.headers["X-Api-Key"]}
    mithril = type(stack.mithril)(stack.mithril.url, stack.mithril.admin_url, tmp_path, stack.mithril.log, environment)
    asked = (
        "ingest",
        "file",
        str(tmp_path / "facts.jsonl"),
        "--url",
        stack.mithril.url,
        "--dataset",
        stack.dataset,
        "--json",
    )
    first, again = (json.loads(mithril.command(*asked)) for _ in range(2))
    assert sum(first["by_status"].values()) == 3, first
    assert (again["by_status"], again["repeated"]) == ({}, 3)
    assert any(writer.recalls(text) for text in texts)
