"""The route table: nothing of Cognee is missing, nothing else gets through, and every spelling means one path."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mithril_proxy.cognee.document import main as write_page
from mithril_proxy.cognee.document import routes_page
from mithril_proxy.cognee.routes import (
    ROUTES,
    Codec,
    Operation,
    check_open,
    find_route,
    unlisted,
)
from mithril_proxy.errors import Refused, RequestError, UnknownRoute
from mithril_proxy.policy import Routes, load_policy
from tests.cognee.builders import OPEN, POLICY

KNOWN = [tuple(line.split(" ", 1)) for line in Path(__file__).with_name("routes_1_6_5.txt").read_text().splitlines()]
DATASET = "6f1a2f0e-6a0e-4a9e-9f61-0d3f0c5d8b11"


def test_every_route_of_cognee_1_6_5_is_in_the_table() -> None:
    assert unlisted((method, path) for method, path in KNOWN) == ()


@pytest.mark.parametrize(("method", "path"), KNOWN)
def test_every_route_of_cognee_is_found_by_its_own_path(method: str, path: str) -> None:
    filled = path.replace("{", "").replace("}", "")
    assert find_route(method, filled).path == filled


if "MITHRIL_TEST_OPENAPI" in os.environ:

    def test_every_route_of_the_given_openapi_document_is_in_the_table() -> None:
        document = json.loads(Path(os.environ["MITHRIL_TEST_OPENAPI"]).read_text())
        calls = [(method, path) for path, methods in document["paths"].items() for method in methods]
        assert unlisted(calls) == ()


def test_no_route_is_listed_twice() -> None:
    assert len({(route.method, route.template) for route in ROUTES}) == len(ROUTES)


def test_every_switch_of_the_table_is_a_key_of_the_policy_and_none_is_idle() -> None:
    named = {route.switch for route in ROUTES if route.switch}
    fields = {"feedback", "steering", "graph_tasks", "code", "archives"}  # switches of fields, not of routes
    assert named | fields == set(Routes.model_fields)


@pytest.mark.parametrize(
    ("method", "raw", "path"),
    [
        ("POST", b"/api/v1/add", "/api/v1/add"),
        ("post", b"/api/v1/add", "/api/v1/add"),
        ("POST", b"/api/v1/%61dd", "/api/v1/add"),
        ("POST", b"/api/v1/add/", "/api/v1/add"),
        ("GET", b"/api/v1/datasets/", "/api/v1/datasets"),
        ("GET", b"/api/v1/skills", "/api/v1/skills/"),
        ("GET", b"/api/v1/skills/", "/api/v1/skills/"),
        ("GET", b"/api/v1/configuration/get_user_configuration", "/api/v1/configuration/get_user_configuration/"),
        ("POST", b"/api/v1/responses", "/api/v1/responses/"),
        ("GET", b"/health/", "/health"),
        ("GET", b"/", "/"),
        ("GET", b"/api/v1/datasets/status", "/api/v1/datasets/status"),
        ("GET", b"/api/v1/sessions/a%20b", "/api/v1/sessions/a%20b"),
        ("GET", "/api/v1/sessions/café".encode(), "/api/v1/sessions/caf%C3%A9"),
        ("GET", b"/api/v1/sessions/%252e", "/api/v1/sessions/%252e"),
        (
            "DELETE",
            f"/api/v1/datasets/{DATASET}/data/{DATASET}/".encode(),
            f"/api/v1/datasets/{DATASET}/data/{DATASET}",
        ),
        ("OPTIONS", b"/api/v1/add", "/api/v1/add"),
        ("WS", b"/api/v1/cognify/subscribe/1", "/api/v1/cognify/subscribe/1"),
    ],
)
def test_every_spelling_of_a_path_is_forwarded_as_one(method: str, raw: bytes, path: str) -> None:
    assert find_route(method, raw).path == path


@pytest.mark.parametrize(
    "raw",
    [
        b"",
        b"api/v1/add",
        b"//api/v1/add",
        b"/api//v1/add",
        b"/api/v1%2Fadd",
        b"/api/v1%5cadd",
        b"/api/v1\\add",
        b"/api/v1/add%0a",
        b"/api/v1/add%00",
        b"/api/v1/add;x=1",
        b"/api/v1/add%3b",
        b"/api/v1/./add",
        b"/x/../api/v1/add",
        b"/api/v1/%2e%2e/add",
        b"/api/v1/add/..",
        b"/api/v1/add//",
        b"/api/v1/sessions/%c2%a0",
        b"/api/v1/sessions/%ff",
        b"/api/v1/sessions/a%3Fb",
        b"/api/v1/add?x=1",
        b"http://elsewhere/api/v1/add",
    ],
)
def test_a_path_that_is_not_canonical_is_no_path(raw: bytes) -> None:
    with pytest.raises(UnknownRoute) as caught:
        find_route("POST", raw)
    assert caught.value.code == "path_not_canonical"


@pytest.mark.parametrize("raw", [b"/API/v1/add", b"/api/v2/add", b"/add", b"/api/v1/prune", b"/api/v1/add/x"])
@pytest.mark.parametrize("method", ["POST", "PUT", "PATCH", "DELETE", "LOCK", "X"])
def test_a_mutating_call_that_is_not_listed_is_refused(method: str, raw: bytes) -> None:
    with pytest.raises(Refused) as caught:
        find_route(method, raw)
    assert (caught.value.status, caught.value.code) == (403, "unknown_route")


@pytest.mark.parametrize("method", ["GET", "HEAD", "OPTIONS", "WS"])
def test_another_call_that_is_not_listed_is_not_found(method: str) -> None:
    with pytest.raises(UnknownRoute) as caught:
        find_route(method, "/api/v1/nothing")
    assert (caught.value.status, caught.value.code) == (404, "unknown_route")


def test_a_parameter_of_absurd_length_fits_no_route() -> None:
    with pytest.raises(UnknownRoute):
        find_route("GET", "/api/v1/sessions/" + "x" * 2000)


def test_a_preflight_of_a_websocket_path_is_not_found() -> None:
    with pytest.raises(UnknownRoute):
        find_route("OPTIONS", "/api/v1/cognify/subscribe/1")


OPEN_BY_DEFAULT = [
    ("POST", "/api/v1/add"),
    ("POST", "/api/v1/remember"),
    ("POST", "/api/v1/remember/entry"),
    ("PATCH", "/api/v1/update"),
    ("POST", "/api/v1/cognify"),
    ("POST", "/api/v1/improve"),
    ("POST", "/api/v1/memify"),
    ("POST", "/api/v1/skills"),
    ("POST", "/api/v1/recall"),
    ("POST", "/api/v1/search"),
    ("GET", "/api/v1/recall"),
    ("POST", "/api/v1/datasets"),
    ("POST", "/api/v1/forget"),
    ("POST", "/api/v1/auth/login"),
    ("POST", "/api/v1/auth/api-keys"),
    ("GET", "/health"),
    ("GET", "/api/v1/users/me"),
    ("POST", "/api/v1/agents/register"),
    ("GET", "/api/v1/visualize"),
]
CLOSED_BY_DEFAULT = [
    ("POST", "/api/v1/ontologies"),
    ("PUT", f"/api/v1/datasets/{DATASET}/schema"),
    ("POST", "/api/v1/responses"),
    ("POST", "/api/v1/sync"),
    ("POST", "/api/v1/settings"),
    ("POST", "/api/v1/slack/events"),
    ("POST", "/api/v1/integrations/github/events"),
    ("POST", "/api/v1/integrations/gmail/sync"),
    ("POST", "/api/v1/llm/infer-schema"),
    ("POST", "/api/v1/configuration/store_user_configuration"),
    ("WS", f"/api/v1/visualize/subscribe/{DATASET}"),
]


@pytest.mark.parametrize(("method", "path"), OPEN_BY_DEFAULT)
def test_what_clients_need_is_open_by_default(method: str, path: str) -> None:
    check_open(find_route(method, path), POLICY.routes)


@pytest.mark.parametrize(("method", "path"), CLOSED_BY_DEFAULT)
def test_what_enters_past_judgement_is_closed_by_default_and_opens_by_its_switch(method: str, path: str) -> None:
    match = find_route(method, path)
    with pytest.raises(Refused, match=f"{match.route.switch} = true") as caught:
        check_open(match, POLICY.routes)
    assert caught.value.code == "route_closed"
    check_open(match, OPEN.routes)


def test_no_policy_opens_what_runs_code_on_old_servers() -> None:
    with pytest.raises(Refused, match="runs code"):
        check_open(find_route("POST", "/api/v1/notebooks/1/2/run"), OPEN.routes)


def test_every_write_and_recall_has_a_decoder() -> None:
    decoded = {route.codec for route in ROUTES if route.operation in (Operation.WRITE, Operation.RECALL)}
    assert decoded == set(Codec) - {Codec.NONE, Codec.SCRUB}


@given(st.sampled_from(["GET", "POST", "DELETE", "OPTIONS", "WS"]), st.binary(max_size=60))
def test_no_path_raises_anything_but_a_request_error(method: str, raw: bytes) -> None:
    try:
        match = find_route(method, b"/api/v1/" + raw)
    except RequestError:
        return
    assert match.path.startswith("/")
    assert ".." not in match.path.split("/")


@given(st.text(max_size=30))
def test_what_is_forwarded_finds_the_same_route_again(name: str) -> None:
    try:
        match = find_route("GET", f"/api/v1/sessions/{name}")
    except RequestError:
        return
    assert find_route("GET", match.path) == match


def test_the_routes_page_in_the_docs_is_up_to_date() -> None:
    page = Path(__file__).resolve().parents[2] / "docs" / "routes.md"
    assert page.read_text() == routes_page(load_policy().routes)


def test_the_routes_page_is_written_to_standard_output(capsys: pytest.CaptureFixture[str]) -> None:
    write_page()
    assert capsys.readouterr().out == routes_page(load_policy().routes)
