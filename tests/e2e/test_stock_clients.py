"""Cognee's own SDK and command line, unchanged but for the URL and the key."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.e2e.harness import Stack, codename

pytestmark = pytest.mark.e2e


def test_the_sdk_writes_and_recalls_through_the_proxy(stack: Stack, tmp_path: Path) -> None:
    fact = f"The {codename()} observatory is closed on Mondays."
    writer = stack.register(0.98)
    target = {"url": stack.mithril.url, "key": writer.headers["X-Api-Key"], "dataset": stack.dataset}
    wrote, found = stack.sdk([{**target, "remember": fact}, {**target, "recall": fact}], tmp_path)
    assert wrote["texts"] == ["completed"]
    assert any(fact in text for text in found["texts"])


def test_the_sdk_reads_a_diverted_write_as_an_answer_and_not_as_an_error(stack: Stack, tmp_path: Path) -> None:
    fact = f"The {codename()} quarry pays its debts in salt."
    key = stack.register(0.30).headers["X-Api-Key"]
    target = {"url": stack.mithril.url, "key": key, "dataset": stack.dataset}
    (wrote,) = stack.sdk([{**target, "remember": fact}], tmp_path)
    assert wrote["texts"] == ["quarantined"]
    assert not stack.is_upstream(fact)


def test_cognee_cli_writes_and_recalls_through_the_proxy(stack: Stack, tmp_path: Path) -> None:
    fact = f"The {codename()} mill grinds rye before wheat."
    key = stack.register(0.98).headers["X-Api-Key"]
    connection = ("--api-url", stack.mithril.url, "--api-key", key)
    wrote = stack.cognee_command("cognee-cli", *connection, "remember", fact, "-d", stack.dataset, home=tmp_path)
    assert wrote.returncode == 0, wrote.stdout + wrote.stderr
    asked = ("recall", fact, "-t", "CHUNKS", "-d", stack.dataset, "-f", "json")
    found = stack.cognee_command("cognee-cli", *connection, *asked, home=tmp_path)
    assert found.returncode == 0, found.stdout + found.stderr
    assert fact in found.stdout
