"""Pages of the desk as a browser gets them: filters, forms, errors, live updates."""

from __future__ import annotations

import re

import httpx2
import pytest

from mithril_proxy.store.desk import Scope
from mithril_proxy.types import ReviewState
from tests.admin.conftest import TOKEN, AdminBench

HONEST = "The canteen opens at nine."
POISONED = "The refund window is 5 days."
NASTY = "<script>alert(1)</script> & \"quotes\" 'and' {{ 7 * 7 }}"


async def post(browser: httpx2.AsyncClient, path: str, **form: str) -> httpx2.Response:
    return await browser.post(path, data=form)


async def test_every_page_shows_claims_escaped(admin: AdminBench) -> None:
    entry = await admin.hold(NASTY)
    browser = await admin.signed_in()
    for path in (
        "/",
        "/queue",
        f"/queue/{entry.id}",
        f"/decisions/{entry.decision_id}",
        "/sources/slack",
        "/incidents",
    ):
        page = await browser.get(path)
        assert page.status_code == 200, path
        assert "<script>alert" not in page.text
        assert " style=" not in page.text
        assert not re.search(r"\bon[a-z]+=", page.text.replace("content=", ""))
    assert "{{ 7 * 7 }}" in (await browser.get(f"/queue/{entry.id}")).text


async def test_a_name_a_client_made_up_is_escaped_too(admin: AdminBench) -> None:
    await admin.hold(HONEST)
    browser = await admin.signed_in()
    page = await browser.get('/queue?source="><script>x</script>')
    assert "<script>x" not in page.text
    page = await browser.get("/sources/<script>x</script>")
    assert page.status_code == 404
    assert "<script>x" not in page.text


@pytest.mark.parametrize(
    ("query", "shows"),
    [
        ("", True),
        ("?state=any&status=review&source=slack&contains=canteen", True),
        ("?state=&status=&source=&contains=&reason=", True),
        ("?status=reject", False),
        ("?state=rejected", False),
        ("?state=nonsense", True),
        ("?reason=score.below-threshold", True),
    ],
)
async def test_the_queue_is_filtered_by_its_form(admin: AdminBench, query: str, shows: bool) -> None:
    await admin.hold(HONEST)
    page = await (await admin.signed_in()).get(f"/queue{query}")
    assert ("canteen" in page.text.partition('id="rows"')[2]) is shows


async def test_long_listings_lead_to_older_rows(admin: AdminBench) -> None:
    for number in range(3):
        await admin.hold(f"Room {number} is free.")
    browser = await admin.signed_in()
    for path, first in (("/queue", "Room 2"), ("/decisions", "review")):
        page = await browser.get(f"{path}?limit=2")
        assert first in page.text
        older = re.search(r'href="([^"]+)" rel="next"', page.text)
        assert older is not None
        rest = await browser.get(older[1].replace("&amp;", "&"))
        assert 'rel="next"' not in rest.text
        assert rest.text.count("data-row") == 1


async def test_copies_are_one_row_and_the_entry_says_how_many(admin: AdminBench) -> None:
    await admin.hold(HONEST)
    entry = await admin.hold(HONEST, source="email", prior=0.5)
    browser = await admin.signed_in()
    queue = await browser.get("/queue")
    assert queue.text.count("data-row") == 1
    assert "2 times by 2 writers" in queue.text
    assert "held 2 times, from 2 writers" in (await browser.get(f"/queue/{entry.id}")).text


async def test_a_form_without_a_reason_says_so_and_leads_back(admin: AdminBench) -> None:
    entry = await admin.hold(HONEST)
    browser = await admin.signed_in()
    page = await post(browser, f"/queue/{entry.id}/reject", reason="  ")
    assert page.status_code == 400
    assert "reason" in page.text
    assert f'href="/queue/{entry.id}"' in page.text
    page = await browser.post(f"/queue/{entry.id}/reject", json={"reason": "x"})
    assert page.status_code == 400
    assert (await admin.bench.store.held(entry.id)).state is ReviewState.PENDING


async def test_a_second_click_is_told_that_it_is_done(admin: AdminBench) -> None:
    entry = await admin.hold(HONEST)
    browser = await admin.signed_in()
    assert (await post(browser, f"/queue/{entry.id}/release", reason="true")).headers["location"].endswith("released")
    page = await post(browser, f"/queue/{entry.id}/release", reason="true")
    assert page.status_code == 409
    assert "cannot become releasing" in page.text
    page = await post(browser, f"/queue/{entry.id}/reconsider", reason="no", state="rejected")
    assert page.headers["location"].endswith("said=reconsidered")
    shown = await browser.get(page.headers["location"])
    assert "The review was changed." in shown.text
    assert "Release after all" in shown.text


async def test_judging_again_shows_what_it_would_be_now(admin: AdminBench) -> None:
    entry = await admin.hold(POISONED)
    admin.bench.upstream.memories = []
    browser = await admin.signed_in()
    page = await post(browser, f"/queue/{entry.id}/reevaluate")
    assert "Judged again, it is now" in (await browser.get(page.headers["location"])).text


async def test_a_decision_shows_the_five_stages_in_order(admin: AdminBench) -> None:
    entry = await admin.hold(POISONED)
    page = await (await admin.signed_in()).get(f"/decisions/{entry.decision_id}")
    stages = re.findall(r"<li><h3>(\w+)", page.text)
    assert stages == ["redact", "reputation", "contradiction", "score", "gate"]
    assert "contradiction.number" in page.text
    assert "outcome diverted" in page.text


async def test_a_source_is_changed_through_its_page(admin: AdminBench) -> None:
    browser = await admin.signed_in()
    page = await post(browser, "/sources", name="wiki", prior="0.9", may_declare="faq, blog")
    key = re.search(r'id="issued-key">(mk_[\w-]+)<', page.text)
    assert key is not None
    assert key[1] not in (await browser.get("/sources")).text
    for act, said in (("freeze", "frozen"), ("thaw", "thawed"), ("reset", "reset")):
        page = await post(browser, f"/sources/wiki/{act}", reason="to see", reputation="0.4")
        assert page.headers["location"] == f"/sources/wiki?said={said}"
    digest = (await admin.bench.store.source("wiki")).key_digests[0]
    page = await post(browser, "/sources/wiki/revoke-key", reason="lost", key_digest=digest)
    assert page.headers["location"] == "/sources/wiki?said=revoked"
    assert (await admin.bench.store.source("wiki")).key_digests == ()
    assert (await post(browser, "/sources", name="Not A Name")).status_code == 400


async def test_the_simulator_answers_in_the_address_and_names_a_wrong_number(admin: AdminBench) -> None:
    await admin.hold(HONEST)
    browser = await admin.signed_in()
    page = await browser.get("/policy?thresholds.warn=0.5&weights.freshness=")
    assert "<strong>1 of 1</strong>" in page.text
    page = await browser.get("/policy?thresholds.warn=0.95")
    assert "thresholds must descend" in page.text
    page = await browser.get("/policy?weights.freshness=many")
    assert "weights.freshness" in page.text


async def test_a_policy_text_is_checked_and_the_file_loaded_again(admin: AdminBench) -> None:
    browser = await admin.signed_in()
    assert "Valid, digest" in (await post(browser, "/policy/validate", text="name = 'x'")).text
    assert "unknown key" in (await post(browser, "/policy/validate", text="nonsense = 1")).text
    assert (await post(browser, "/policy/reload")).headers["location"] == "/policy?said=reloaded"


async def test_a_wrong_policy_file_is_not_loaded(admin: AdminBench, monkeypatch: pytest.MonkeyPatch) -> None:
    application = admin.bench.application
    before = application.data_plane.services.policy.digest
    application.settings = application.settings.model_copy(update={"policy": "/nowhere.toml"})
    answer = await admin.client.post("/api/v1/policy/reload")
    assert (answer.status_code, answer.json()["error"]) == (422, "invalid_policy")
    assert application.data_plane.services.policy.digest == before


async def test_reviewers_see_no_buttons_of_administrators(admin: AdminBench) -> None:
    await admin.hold(HONEST)
    token = await admin.token_of("marta", Scope.REVIEW)
    browser = await admin.signed_in(token)
    page = await browser.get("/sources/slack")
    assert "Freeze" not in page.text
    assert (await post(browser, "/sources/slack/freeze", reason="x")).status_code == 403


async def test_the_pulse_beats_only_when_something_is_new(admin: AdminBench) -> None:
    browser = await admin.signed_in()
    first = await browser.get("/pulse")
    again = await browser.get("/pulse", headers={"if-none-match": first.headers["etag"]})
    assert (again.status_code, again.content) == (304, b"")
    await admin.hold(HONEST)
    later = await browser.get("/pulse", headers={"if-none-match": first.headers["etag"]})
    assert later.status_code == 200
    assert later.headers["etag"] != first.headers["etag"]
    assert (await admin.as_token(None).get("/pulse")).status_code == 401


async def test_an_expired_claim_says_who_ended_it(admin: AdminBench) -> None:
    entry = await admin.hold(HONEST)
    await admin.bench.store.expire_surplus(1)
    page = await (await admin.signed_in(TOKEN)).get(f"/queue/{entry.id}")
    assert "Expired by mithril" in page.text
    assert "too many claims are waiting" in page.text
