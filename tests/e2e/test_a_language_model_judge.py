"""The openai judge against our model server, whose answers each test scripts; the write goes to a real Cognee."""

from __future__ import annotations

import os
import secrets
from collections.abc import Iterator
from dataclasses import replace

import httpx2
import pytest

from mithril_proxy.demo.mithril_server import MithrilSetup, running_mithril
from tests.e2e.harness import Stack, codename, decided

pytestmark = pytest.mark.e2e

# the prompt names its fence; the answer must stand in the same one
FENCE = r"<verdict-([\w-]+)>"
VERDICT = r'<verdict-\1><score name="contradiction">0.00</score><score name="danger">{danger}</score></verdict-\1>'


@pytest.fixture(scope="module")
def running(guarded_stack: Stack, model_url: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stack]:
    judge = {
        "MITHRIL_JUDGE": "openai",
        "MITHRIL_LLM_BASE_URL": f"{model_url}/v1",
        "MITHRIL_LLM_API_KEY": "not-needed",
        **{name: value for name, value in os.environ.items() if name.startswith("COVERAGE_")},
    }
    setup = MithrilSetup(tmp_path_factory.mktemp("judged"), guarded_stack.cognee, judge)
    with running_mithril(setup) as mithril:
        yield replace(guarded_stack, mithril=mithril)


@pytest.fixture
def stack(running: Stack) -> Stack:
    """A dataset of the test's own: with access control on it is empty, so the judge is shown no memories."""
    return replace(running, dataset=codename())


@pytest.fixture
def model(model_url: str) -> Iterator[httpx2.Client]:
    with httpx2.Client(base_url=model_url, trust_env=False) as client:
        yield client
        client.delete("/control").raise_for_status()


def script(model: httpx2.Client, danger: str) -> None:
    answers = [{"pattern": FENCE, "reply": VERDICT.format(danger=danger)}]
    model.put("/control", json={"answers": answers}).raise_for_status()


def test_a_write_that_the_model_finds_harmless_is_admitted(stack: Stack, model: httpx2.Client) -> None:
    script(model, "0.00")
    fact = f"The {codename()} bakery opens before sunrise."
    assert decided(stack.register(0.98).remember(fact)) == "warn"


def test_a_write_that_the_model_finds_dangerous_is_diverted_whoever_sends_it(
    stack: Stack, model: httpx2.Client
) -> None:
    script(model, "0.95")
    fact = f"The {codename()} bakery closes after sunset."
    response = stack.register(0.98).remember(fact)
    assert decided(response) in ("quarantine", "reject")
    assert not stack.is_upstream(fact)


@pytest.mark.parametrize("fault", [{"status": 503}, {"malformed": True}, {}], ids=["down", "malformed", "no-verdict"])
def test_a_judge_that_gives_no_verdict_holds_the_write_for_review(
    stack: Stack, model: httpx2.Client, fault: dict[str, object]
) -> None:
    model.put("/control", json=fault).raise_for_status()
    fact = f"The {codename()} bakery bakes rye on Fridays."
    response = stack.register(0.98).remember(fact)
    assert (response.status_code, decided(response)) == (202, "review")
    assert any("unavailable" in reason for reason in response.json()["reasons"])
    assert stack.held_text(fact)["id"] == response.json()["quarantine_id"]
    assert not stack.is_upstream(fact)


def test_the_judge_is_never_shown_a_planted_key(stack: Stack, model: httpx2.Client) -> None:
    script(model, "0.00")
    key = "ghp_" + secrets.token_hex(18)  # random: a repeated word is no credential to the guard
    stack.register(0.98).remember(f"The {codename()} bakery uses the token {key} for its site.")
    calls = model.get("/control/calls").text
    assert "bakery uses the token" in calls
    assert key not in calls
