"""Cognee's own SDK and command line, unchanged but for the URL and the key."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.e2e.harness import Stack, about, codename

pytestmark = pytest.mark.e2e


def test_the_sdk_writes_and_recalls_and_reads_a_diverted_write_as_an_answer(stack: Stack, tmp_path: Path) -> None:
    fact = f"The {codename()} observatory is closed on Mondays."
    rumour = f"The {codename()} quarry pays its debts in salt."
    trusted, doubted = ({**_target(stack, prior), "dataset": stack.dataset} for prior in (0.98, 0.30))
    wrote, found, diverted = stack.sdk(
        [{**trusted, "remember": fact}, {**trusted, "recall": about(fact)}, {**doubted, "remember": rumour}], tmp_path
    )
    assert wrote["texts"] == ["completed"]
    assert any(fact in text for text in found["texts"])
    assert diverted["texts"] == ["quarantined"]
    assert not stack.is_upstream(rumour)


def test_cognee_cli_writes_and_recalls_through_the_proxy(stack: Stack, tmp_path: Path) -> None:
    fact = f"The {codename()} mill grinds rye before wheat."
    key = stack.register(0.98).headers["X-Api-Key"]
    connection = ("--api-url", stack.mithril.url, "--api-key", key)
    wrote = stack.cognee_command("cognee-cli", *connection, "remember", fact, "-d", stack.dataset, home=tmp_path)
    assert wrote.returncode == 0, wrote.stdout + wrote.stderr
    asked = ("recall", about(fact), "-t", "CHUNKS", "-d", stack.dataset, "-f", "json")
    found = stack.cognee_command("cognee-cli", *connection, *asked, home=tmp_path)
    assert found.returncode == 0, found.stdout + found.stderr
    assert fact in found.stdout


def _target(stack: Stack, prior: float) -> dict[str, str]:
    return {"url": stack.mithril.url, "key": stack.register(prior).headers["X-Api-Key"]}
