"""Who may use the admin plane: tokens, scopes, sessions, and what another site's page cannot do."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

import pytest
from starlette.datastructures import Headers
from starlette.routing import Route
from structlog.testing import capture_logs

from mithril_proxy.admin.api import api_endpoints
from mithril_proxy.admin.csrf import refused
from mithril_proxy.admin.desk.sign_in import local
from mithril_proxy.admin.endpoint import PREFIX
from mithril_proxy.admin.failures import MAX_PEERS, Failures
from mithril_proxy.admin.operators import token_digest
from mithril_proxy.app import first_token
from mithril_proxy.store.desk import AdminSession, Scope
from tests.admin.conftest import ORIGIN, TOKEN, AdminBench, admin_bench
from tests.store.values import FixedClock

OPEN = {"/metrics", "/api/v1/openapi.json", "/api/v1/health", "/sign-in", "/static"}


def routes_of(admin: AdminBench) -> list[Route]:
    app = admin.app
    while not hasattr(app, "router"):
        app = app.app  # type: ignore[attr-defined]
    return [route for route in app.router.routes if isinstance(route, Route)]


async def test_every_route_but_a_few_asks_who_one_is(admin: AdminBench) -> None:
    nobody, asked = admin.as_token(None), set()
    nobody.headers["x-mithril-desk"] = "1"
    for route in routes_of(admin):
        path = route.path.replace("{id}", "x").replace("{principal:path}", "x")
        for method in route.methods or ():
            answer = await nobody.request(method, path)
            if route.path in OPEN:
                assert answer.status_code != 401, path
                continue
            asked.add(path)
            is_page = answer.status_code == 303 and answer.headers["location"].startswith("/sign-in")
            assert is_page or answer.status_code == 401, (method, path, answer.status_code)
    assert len(asked) > 40


@pytest.mark.parametrize("scope", list(Scope))
async def test_a_token_does_what_its_scope_covers_and_no_more(admin: AdminBench, scope: Scope) -> None:
    operator = await admin.as_operator("somebody", scope)
    for endpoint in api_endpoints(None):  # type: ignore[arg-type]
        if endpoint.scope is None:
            continue
        path = PREFIX + endpoint.path.replace("{id}", "x").replace("{principal:path}", "x")
        answer = await operator.request(endpoint.method, path)
        is_refused = answer.status_code == 403 and answer.json()["error"] == "scope_too_small"
        assert is_refused != scope.includes(endpoint.scope), (endpoint.method, endpoint.path, answer.text)


async def test_a_wrong_token_is_401_and_a_revoked_one_too(admin: AdminBench) -> None:
    token = await admin.token_of("temp", Scope.READ)
    assert (await admin.as_token(token).get("/api/v1/whoami")).json() == {"name": "temp", "scope": "read"}
    await admin.bench.store.revoke_token("temp")
    for wrong in (token, "nonsense", ""):
        answer = await admin.as_token(wrong).get("/api/v1/whoami")
        assert answer.status_code == 401
        assert answer.headers["www-authenticate"] == "Bearer"
        assert set(answer.json()) == {"error", "detail"}


async def test_too_many_wrong_tokens_of_an_address_wait_but_a_session_goes_on(admin: AdminBench) -> None:
    browser = await admin.signed_in()
    for _ in range(admin.bench.application.data_plane.services.policy.desk.failures):
        assert (await admin.as_token("wrong").get("/api/v1/whoami")).status_code == 401
    answer = await admin.as_token(TOKEN).get("/api/v1/whoami")
    assert answer.status_code == 429
    assert int(answer.headers["retry-after"]) > 0
    assert (await browser.post("/sign-in", data={"token": TOKEN})).status_code == 429
    assert (await browser.get("/queue")).status_code == 200


async def test_a_session_cookie_cannot_be_read_by_scripts_nor_sent_from_other_sites(admin: AdminBench) -> None:
    browser = await admin.signed_in()
    answer = await browser.post("/sign-in", data={"token": TOKEN})
    assert "HttpOnly" in answer.headers["set-cookie"]
    assert "SameSite=strict" in answer.headers["set-cookie"]
    assert "Secure" not in answer.headers["set-cookie"]
    over_tls = {"origin": "https://desk.test", "sec-fetch-site": "same-origin"}
    answer = await browser.post("/sign-in", data={"token": TOKEN}, headers=over_tls)
    assert "Secure" in answer.headers["set-cookie"]


async def test_signing_in_and_out_leaves_audit_rows_without_the_token(admin: AdminBench) -> None:
    browser = await admin.signed_in()
    await browser.post("/sign-out")
    assert (await browser.get("/queue")).status_code == 303
    await browser.post("/sign-in", data={"token": "wrong"})
    rows = [row for row in await admin.bench.store.audit(limit=100) if row.kind == "sign-in"]
    assert [(row.subject, row.payload["event"]) for row in rows] == [
        ("admin", "signed-in"),
        ("admin", "signed-out"),
        ("unknown", "refused"),
    ]
    session = browser.cookies.get("mithril_session") or ""
    for secret in (TOKEN, session):
        assert not secret or secret.encode() not in admin.bench.database_bytes()


async def test_a_session_whose_time_has_run_out_is_none(admin: AdminBench) -> None:
    now = admin.bench.application.clock.now()
    for name, hours in (("late", -1), ("early", 1)):
        kept = AdminSession(
            token_digest(name), token_digest(TOKEN), "admin", Scope.ADMIN, now, now + timedelta(hours=hours)
        )
        await admin.bench.store.open_session(kept, peer="test")
    browser = admin.as_token(None)
    for name, status in (("late", 303), ("early", 200), ("forged", 303)):
        browser.cookies.set("mithril_session", name)
        assert (await browser.get("/queue")).status_code == status, name
        browser.cookies.clear()


async def test_a_session_ends_when_its_token_is_another_one(admin: AdminBench) -> None:
    now = admin.bench.application.clock.now()
    kept = AdminSession(token_digest("s"), token_digest("old token"), "admin", Scope.ADMIN, now, now + timedelta(1))
    await admin.bench.store.open_session(kept, peer="test")
    browser = admin.as_token(None)
    browser.cookies.set("mithril_session", "s")
    assert (await browser.get("/queue")).status_code == 303


async def test_the_first_token_is_made_once(admin: AdminBench) -> None:
    store = admin.bench.store
    token = await first_token(store)
    assert token is not None
    assert (await admin.as_token(token).get("/api/v1/whoami")).json()["scope"] == "admin"
    assert await first_token(store) is None
    for made in await store.tokens():
        await store.revoke_token(made.name)
    assert await first_token(store) is not None


SAME, CROSS = {"sec-fetch-site": "same-origin"}, {"sec-fetch-site": "cross-site"}
HERE, THERE = {"origin": "http://desk.test", "host": "desk.test"}, {"origin": "http://evil.test", "host": "desk.test"}
SET = {"x-mithril-desk": "1"}
BEARER = {"authorization": "Bearer x"}
SESSION = {"cookie": "a=b; mithril_session=x"}


@pytest.mark.parametrize(
    ("method", "path", "headers", "passes"),
    [
        ("GET", "/queue", CROSS, True),
        ("POST", "/queue/x/release", {}, False),
        ("POST", "/queue/x/release", SAME, True),
        ("POST", "/queue/x/release", CROSS, False),
        ("POST", "/queue/x/release", {"sec-fetch-site": "same-site"}, False),
        ("POST", "/queue/x/release", {"sec-fetch-site": "none"}, False),
        ("POST", "/queue/x/release", HERE, True),
        ("POST", "/queue/x/release", THERE, False),
        ("POST", "/queue/x/release", {**CROSS, **HERE}, False),
        ("POST", "/queue/x/release", {"origin": "null", "host": "desk.test"}, False),
        ("POST", "/queue/x/release", {"origin": "null"}, False),
        ("POST", "/queue/x/release", SET, True),
        ("POST", "/queue/x/release", {**SET, **CROSS}, False),
        ("POST", "/api/v1/policy/reload", {**SAME, **SESSION}, False),
        ("POST", "/api/v1/policy/reload", {**SAME, **SET, **SESSION}, True),
        ("POST", "/api/v1/policy/reload", {**CROSS, **SET, **SESSION}, False),
        ("POST", "/api/v1/policy/reload", {}, True),
        ("POST", "/api/v1/policy/reload", {**CROSS, **BEARER}, True),
        ("DELETE", "/api/v1/x", {**HERE, **SESSION}, False),
        ("POST", "/sign-in", CROSS, False),
        ("POST", "/sign-in", SAME, True),
    ],
)
def test_what_another_site_asks_for_is_refused(method: str, path: str, headers: dict[str, str], passes: bool) -> None:
    assert (refused(method, path, Headers(headers)) is None) is passes


async def test_a_cross_site_form_changes_nothing(admin: AdminBench) -> None:
    entry = await admin.hold("The canteen opens at nine.")
    browser = await admin.signed_in()
    answer = await browser.post(
        f"/queue/{entry.id}/release", data={"reason": "x"}, headers={"sec-fetch-site": "cross-site"}
    )
    assert answer.status_code == 403
    assert answer.json()["error"] == "cross_site"
    assert (await admin.bench.store.held(entry.id)).state == "pending"


async def test_every_answer_forbids_frames_foreign_code_and_caches(admin: AdminBench) -> None:
    for path in ("/sign-in", "/queue", "/metrics", "/nothing", "/static/desk.js", "/api/v1/whoami"):
        answer = await admin.client.get(path)
        policy = answer.headers["content-security-policy"]
        assert "frame-ancestors 'none'" in policy
        assert "default-src 'none'" in policy
        assert "unsafe" not in policy
        assert answer.headers["x-content-type-options"] == "nosniff"
        assert answer.headers["cache-control"] == "no-store"


@pytest.mark.parametrize(
    ("asked", "target"),
    [
        ("/queue?state=any", "/queue?state=any"),
        ("//evil.test", "/"),
        ("/\\evil.test", "/"),
        ("https://evil.test", "/"),
        ("", "/"),
        ("/x\r\nset-cookie: a", "/"),
    ],
)
def test_signing_in_leads_to_a_page_of_this_desk_only(asked: str, target: str) -> None:
    assert local(asked) == target


async def test_who_is_not_signed_in_comes_back_to_the_page_they_asked_for(admin: AdminBench) -> None:
    browser = admin.as_token(None)
    browser.headers["origin"] = ORIGIN
    answer = await browser.get("/decisions")
    assert answer.headers["location"] == "/sign-in?next=%2Fdecisions"
    answer = await browser.post("/sign-in", data={"token": TOKEN, "next": "/decisions"})
    assert answer.headers["location"] == "/decisions"


def test_failures_are_forgotten_with_their_window_and_with_too_many_peers() -> None:
    clock = FixedClock()
    failures = Failures(clock)
    for _ in range(5):
        failures.add("a", limit=3)
    assert failures.wait_s("a", limit=3, window_s=60) == 60
    assert failures.wait_s("a", limit=4, window_s=60) == 0
    clock.advance(seconds=61)
    assert failures.wait_s("a", limit=3, window_s=60) == 0
    for number in range(MAX_PEERS):
        failures.add(f"peer {number}", limit=1)
    assert failures.wait_s("a", limit=3, window_s=600) == 0


async def test_each_request_is_logged_with_its_id_and_operator_but_no_query(tmp_path: Path) -> None:
    with capture_logs() as lines:
        async with admin_bench(tmp_path) as admin:
            answer = await admin.client.get("/api/v1/quarantine?contains=secret-word")
            await admin.client.get("/metrics")
            await admin.as_token(None).get("/queue")
    logged = [line for line in lines if line["event"] == "admin.request"]
    assert [(line["path"], line["status"], line["operator"]) for line in logged] == [
        ("/api/v1/quarantine", 200, "admin"),
        ("/queue", 303, None),
    ]
    assert logged[0]["request_id"] == answer.headers["x-request-id"]
    assert "secret-word" not in str(lines)
