"""The whole way of a write and of a recall, against a real Cognee, with access control off and on."""

from __future__ import annotations

import json
import sqlite3

import pytest

from mithril_proxy.cognee.routes import unlisted
from mithril_proxy.demo.outcome import files_that_hold
from tests.e2e.harness import Stack, codename, decided

pytestmark = pytest.mark.e2e


def test_an_honest_write_of_a_trusted_source_is_recalled_through_the_proxy(stack: Stack) -> None:
    writer = stack.register(0.98)
    fact = f"The {codename()} archive keeps invoices for ten years."
    response = writer.remember(fact)
    assert response.status_code == 200, response.text
    assert decided(response) == "warn"  # 0.842: fresh and trusted, with nothing yet to corroborate it
    assert float(response.headers["X-Mithril-Score"]) == pytest.approx(0.842, abs=0.001)
    assert writer.recalls(fact)
    assert stack.is_upstream(fact)


def test_a_write_of_an_unknown_source_is_not_in_cognee_until_a_person_releases_it(stack: Stack) -> None:
    fact = f"The {codename()} orchard is watered from the northern well."
    response = stack.unknown().remember(fact)
    assert (response.status_code, decided(response)) == (202, "quarantine")
    body = response.json()
    assert body["status"] == "quarantined"
    assert not stack.is_upstream(fact)
    assert stack.held_text(fact)["id"] == body["quarantine_id"]
    assert not stack.register(0.98).recalls(fact)

    stack.mithril.command("quarantine", "release", body["quarantine_id"], "--reason", "checked with the gardener")
    assert stack.register(0.98).recalls(fact)
    assert stack.is_upstream(fact)


def test_the_same_text_is_decided_by_who_says_it(stack: Stack) -> None:
    fact = f"The {codename()} lighthouse is painted white and red."
    assert decided(stack.unknown().remember(fact)) == "quarantine"
    assert decided(stack.register(0.60).remember(fact)) == "review"
    assert decided(stack.register(0.98).remember(fact)) == "warn"


def test_a_write_that_contradicts_verified_memory_is_diverted(stack: Stack) -> None:
    vault = codename()
    truth = f"The {vault} vault is opened every day at 8:00."
    lie = f"The {vault} vault is opened every day at 23:00."
    assert decided(stack.register(0.98).remember(truth)) == "warn"
    liar = stack.register(0.98)
    response = liar.remember(lie)
    assert response.status_code in (202, 403), response.text
    assert decided(response) in ("review", "quarantine", "reject")
    assert any(reason.startswith("contradiction.") for reason in response.json()["reasons"])
    assert not stack.is_upstream(lie)
    assert stack.reputation(liar.source) == pytest.approx(0.98 * 0.78)


def test_a_planted_key_is_nowhere_afterwards_and_its_source_pays(stack: Stack) -> None:
    planter = stack.register(0.98)
    key = "AKIA" + codename()[1:].upper().translate(str.maketrans("0189", "GHJK")) + "QZ7XWV"
    depot = codename()
    response = planter.remember(f"The {depot} depot is opened with the key {key} in the evening.")
    assert "redact.aws-access-key" in reasons_of(stack, response.headers["X-Mithril-Decision"])

    assert planter.recalls(f"The {depot} depot is opened")  # the rest is remembered
    assert files_that_hold(
        stack.cognee.folder, f"The {depot} depot is opened".encode()
    )  # and this search finds what is there
    assert files_that_hold(stack.cognee.folder, key.encode()) == []
    assert files_that_hold(stack.mithril.folder, key.encode()) == []
    assert stack.reputation(planter.source) == pytest.approx(0.98 * 0.78)


@pytest.mark.parametrize("tag", ["verified", "VERIFIED"])
def test_a_client_that_calls_its_own_write_verified_gains_nothing(stack: Stack, tag: str) -> None:
    fact = f"The {codename()} ferry takes passengers without a ticket."
    response = stack.unknown().remember(fact, node_set=[tag])
    assert decided(response) == "quarantine"
    assert not stack.is_upstream(fact)


def test_a_verified_tag_of_an_admitted_write_does_not_rename_verified_memory(stack: Stack) -> None:
    writer = stack.register(0.98)
    before, after = (f"The {codename()} harbour has {word} cranes." for word in ("four", "green"))
    assert decided(writer.remember(before)) == "warn"
    assert decided(writer.remember(after, node_set=["VERIFIED"])) == "warn"
    for fact in (before, after):
        assert writer.recalls(fact)


def test_every_route_of_the_running_server_is_in_the_table(stack: Stack) -> None:
    paths = stack.http.get(f"{stack.cognee.url}/openapi.json").json()["paths"]
    assert unlisted((method, path) for path, methods in paths.items() for method in methods) == ()


def reasons_of(stack: Stack, decision_id: str) -> list[str]:
    """The rules that a decision names, read from the database as an operator would."""
    with sqlite3.connect(f"file:{stack.mithril.database}?mode=ro", uri=True) as database:
        (reasons,) = database.execute("select reasons from decisions where id = ?", (decision_id,)).fetchone()
    return list(json.loads(reasons))
