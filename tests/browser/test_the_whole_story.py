"""A poisoned write and an honest one, from the client's call to the reviewer's word and back."""

from __future__ import annotations

import pytest
from selenium.webdriver.chrome.webdriver import WebDriver
from selenium.webdriver.common.by import By

from mithril_proxy.admin.operators import new_token, token_digest
from mithril_proxy.store.desk import Scope
from tests.browser.client import recalled, remember
from tests.browser.driver import find, sign_in, submit, texts, wait_for_text
from tests.browser.story import HONEST, POISONED, TRUE_MEMORY, Memory
from tests.live import Live

pytestmark = pytest.mark.browser


def reputation(live: Live, source: str) -> float:
    return live.run(live.bench.store.source(source)).reputation


def open_first(desk: WebDriver, text: str) -> None:
    """Open the row that shows a text, as a click does."""
    row = next(one for one in desk.find_elements(By.CSS_SELECTOR, "[data-row] a") if text in one.text)
    submit(desk, row)


def test_a_poisoned_write_is_seen_read_and_rejected_and_an_honest_one_released_and_recalled(
    desk: WebDriver, live: Live, upstream: Memory
) -> None:
    wiki = live.run(live.bench.register("wiki", 0.9))
    slack = live.run(live.bench.register("slack", 0.6))
    desk.get(f"{live.admin_url}/queue")
    assert "Nothing here." in find(desk, "#rows").text

    assert remember(live, POISONED, wiki).json()["status"] == "rejected"
    wait_for_text(desk, "#rows", POISONED)  # the page was not loaded again by anybody

    open_first(desk, POISONED)
    assert "contradicts verified memory" in find(desk, "#why").text
    assert texts(desk, "mark") == ["5", "30"]
    assert TRUE_MEMORY in texts(desk, ".compare blockquote")
    find(desk, "#reject-reason").send_keys("the policy says 30 days")
    submit(desk, find(desk, "#reject button"))
    assert "Rejected by admin" in find(desk, "#reviewed").text
    assert "the policy says 30 days" in find(desk, "#reviewed").text

    assert remember(live, HONEST, slack).json()["status"] == "review"
    assert upstream.remembered == []
    desk.get(f"{live.admin_url}/queue")
    open_first(desk, HONEST)
    find(desk, "#release-reason").send_keys("I eat there")
    submit(desk, find(desk, "#release button"))
    assert "forwarded to Cognee" in find(desk, ".said").text
    assert upstream.remembered == [HONEST]
    assert recalled(live, "When does the canteen open?", slack) == [HONEST]


def test_reputation_lines_move_as_the_rules_say(desk: WebDriver, live: Live) -> None:
    wiki = live.run(live.bench.register("wiki", 0.9))
    slack = live.run(live.bench.register("slack", 0.6))
    remember(live, POISONED, wiki)
    remember(live, HONEST, slack)
    assert reputation(live, "wiki") == pytest.approx(0.9 * 0.78)  # a contradiction found: r -= 0.22 r
    assert reputation(live, "slack") == pytest.approx(0.6)  # a review alone teaches nothing
    desk.get(f"{live.admin_url}/queue?source=slack")
    open_first(desk, HONEST)
    find(desk, "#release-reason").send_keys("true")
    submit(desk, find(desk, "#release button"))
    assert reputation(live, "slack") == pytest.approx(0.6 + 0.1 * 0.4)  # released: r += 0.10 (1 - r)
    desk.get(f"{live.admin_url}/sources/slack")
    assert find(desk, "#reputation").text == "0.640"
    assert desk.find_elements(By.CSS_SELECTOR, "svg.chart polyline.line")
    assert "released" in find(desk, "#standing").text
    find(desk, "#reset-reason").send_keys("a new start")
    submit(desk, find(desk, "form[action$='/reset'] button"))
    assert find(desk, "#reputation").text == "0.600"


def test_a_corrected_text_is_what_goes_out(desk: WebDriver, live: Live, upstream: Memory) -> None:
    slack = live.run(live.bench.register("slack", 0.6))
    remember(live, HONEST, slack)
    desk.get(f"{live.admin_url}/queue")
    open_first(desk, HONEST)
    find(desk, "#release summary").click()
    field = find(desk, "#text")
    field.clear()
    field.send_keys("The staff canteen opens at ten.")
    find(desk, "#release-reason").send_keys("the hours changed")
    submit(desk, find(desk, "#release button"))
    assert upstream.remembered == ["The staff canteen opens at ten."]


def test_a_reviewer_can_do_it_all_with_keys(desk: WebDriver, live: Live) -> None:
    slack = live.run(live.bench.register("slack", 0.6))
    for text in ("The lift is out of order.", "The lift works again."):
        remember(live, text, slack)
    desk.get(f"{live.admin_url}/queue")
    body = find(desk, "body")
    body.send_keys("?")
    assert find(desk, "#keys").is_displayed()
    submit_dialog = find(desk, "#keys button")
    submit_dialog.click()
    assert not find(desk, "#keys").is_displayed()
    find(desk, "body").send_keys("j")
    find(desk, "body").send_keys("j")
    chosen = find(desk, ".chosen a")
    assert "out of order" in chosen.text
    submit(desk, chosen)
    find(desk, "body").send_keys("x")
    assert desk.switch_to.active_element.get_attribute("id") == "reject-reason"
    desk.switch_to.active_element.send_keys("it was repaired")
    submit(desk, find(desk, "#reject button"))
    assert find(desk, ".st-rejected").is_displayed()


def test_a_read_only_token_sees_and_cannot_change(browser: WebDriver, live: Live) -> None:
    slack = live.run(live.bench.register("slack", 0.6))
    remember(live, HONEST, slack)
    reader = new_token()
    live.run(live.bench.store.add_token("auditor", scope=Scope.READ, digest=token_digest(reader)))
    sign_in(browser, live.admin_url, reader)
    browser.get(f"{live.admin_url}/queue")
    open_first(browser, HONEST)
    assert not browser.find_elements(By.CSS_SELECTOR, "#release, #reject")
    script = """
      const form = document.createElement("form");
      form.method = "post"; form.action = location.pathname + "/release";
      form.innerHTML = '<input name="reason" value="mine"><button id="forged">x</button>';
      document.getElementById("main").append(form);
    """
    browser.execute_script(script)
    submit(browser, find(browser, "#forged"))
    assert "this needs the scope review" in find(browser, ".problem").text
    held = live.run(live.bench.store.queue_depth())
    assert held.by_state == {"pending": 1}


def test_a_session_ends_with_its_token(browser: WebDriver, live: Live) -> None:
    token = new_token()
    live.run(live.bench.store.add_token("temp", scope=Scope.REVIEW, digest=token_digest(token)))
    sign_in(browser, live.admin_url, token)
    assert find(browser, "h1").text == "Overview"
    live.run(live.bench.store.revoke_token("temp"))
    browser.get(f"{live.admin_url}/queue")
    assert "/sign-in" in browser.current_url


def test_a_wrong_token_is_refused_and_too_many_have_to_wait(browser: WebDriver, live: Live) -> None:
    sign_in(browser, live.admin_url, "not-a-token")
    assert "unknown or revoked" in find(browser, "#problem").text
    for _ in range(live.bench.application.data_plane.services.policy.desk.failures):
        sign_in(browser, live.admin_url, "not-a-token")
    assert "too many wrong tokens" in find(browser, ".problem").text


def test_the_desk_works_without_a_script_and_says_what_cannot_be_seen(
    desk: WebDriver, live: Live, upstream: Memory
) -> None:
    slack = live.run(live.bench.register("slack", 0.6))
    text = "Deploys run on Tues\u200bday. <b onclick=alert(1)>bold</b>"
    remember(live, text, slack)
    desk.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", {"value": True})
    desk.get(f"{live.admin_url}/queue")
    open_first(desk, "Deploys run on")
    assert find(desk, "#claim-text").text == "Deploys run on TuesU+200Bday. <b onclick=alert(1)>bold</b>"
    assert not desk.find_elements(By.CSS_SELECTOR, "#claim-text b")
    find(desk, "#release-reason").send_keys("fine")
    submit(desk, find(desk, "#release button"))
    assert upstream.remembered == [text]


def test_no_page_breaks_its_own_content_security_policy(desk: WebDriver, live: Live) -> None:
    slack = live.run(live.bench.register("slack", 0.6))
    remember(live, HONEST, slack)
    entry = live.run(live.bench.store.heads()).held
    decision = live.run(live.bench.store.heads()).decision
    paths = ("/", "/queue", f"/queue/{entry}", "/decisions", f"/decisions/{decision}", "/sources", "/sources/slack")
    for path in (*paths, "/incidents", "/policy?weights.freshness=0.1"):
        desk.get(live.admin_url + path)
        assert find(desk, "h1").text
        missing = "return [...document.querySelectorAll('input:not([type=hidden]), select, textarea')]"
        unlabelled = f"{missing}.filter((one) => one.labels.length === 0).map((one) => one.name)"
        assert desk.execute_script(unlabelled) == [], path
    assert [line for line in desk.get_log("browser") if line["level"] == "SEVERE"] == []  # type: ignore[no-untyped-call]
