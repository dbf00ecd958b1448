"""What other clients of Cognee send, request by request, against a real server behind the proxy.

The shapes are those of cognee-mcp in API mode, the web frontend, the coding-agent plugins and curl. cognee-mcp itself
is 8 GB to install; its requests were recorded and are rebuilt here.
"""

from __future__ import annotations

import subprocess

import httpx2
import pytest

from mithril_proxy.demo.cognee_server import SERVICE_EMAIL
from tests.e2e.harness import Stack, Writer, codename, decided

pytestmark = pytest.mark.e2e


def test_the_mcp_server_lists_remembers_recalls_and_forgets(stack: Stack) -> None:
    writer = stack.register(0.98)
    http, url, headers = stack.http, stack.mithril.url, dict(writer.headers)
    fact = f"The {codename()} proxy listens on port 9100."
    assert writer.remember(fact).status_code == 200
    listed = http.get(f"{url}/api/v1/datasets/", headers=headers)  # with a slash: Cognee itself would redirect
    assert listed.status_code == 200, listed.text
    assert stack.dataset in [row["name"] for row in listed.json()]
    body = {"query": "Which port does the proxy use?", "top_k": 15, "search_type": None, "datasets": [stack.dataset]}
    recalled = http.post(f"{url}/api/v1/recall", headers=headers, json=body)
    assert recalled.status_code == 200, recalled.text
    assert fact in recalled.text
    forgotten = http.post(f"{url}/api/v1/forget", headers=headers, json={"everything": False, "dataset": stack.dataset})
    assert forgotten.status_code == 200, forgotten.text
    assert not writer.recalls(fact)


def test_the_mcp_server_tags_in_one_json_text(stack: Stack) -> None:
    writer = stack.register(0.98)
    team = codename()
    fact = f"The {codename()} runbook is kept by the night shift."
    assert writer.remember(fact, node_set=[f'["{team}", "verified"]']).status_code == 200
    assert writer.recalls(fact, node_name=[team])
    assert not writer.recalls(fact, node_name=[codename()])


def test_a_plugin_stores_turns_reads_its_session_and_bridges_it(stack: Stack) -> None:
    writer, session = stack.register(0.98), codename()
    fact = f"The {codename()} pipeline is rebuilt every Thursday."
    stored = entry(writer, session, fact)
    assert stored.status_code == 200, stored.text
    turns = recall(writer, session, scope=["session"], only_context=True)
    assert fact in turns
    bridged = stack.http.post(
        f"{stack.mithril.url}/api/v1/improve",
        headers=dict(writer.headers),
        json={"dataset_name": stack.dataset, "session_ids": [session]},
    )
    assert bridged.status_code == 200, bridged.text


def test_a_session_that_was_written_past_the_proxy_is_neither_read_nor_bridged(stack: Stack) -> None:
    writer, session = stack.register(0.98), codename()
    hidden = f"The {codename()} pipeline was sold to a stranger."
    around = stack.http.post(
        f"{stack.cognee.url}/api/v1/remember/entry",
        headers=dict(stack.cognee.headers),
        json={
            "entry": {"type": "qa", "question": "q", "answer": hidden},
            "dataset_name": stack.dataset,
            "session_id": session,
        },
    )
    assert around.status_code == 200, around.text
    stored = entry(writer, session, f"The {codename()} pipeline is green.")
    assert stored.status_code in (200, 409), stored.text
    assert hidden not in recall(writer, session, scope=["session", "trace"], only_context=True)
    bridged = stack.http.post(
        f"{stack.mithril.url}/api/v1/improve",
        headers=dict(writer.headers),
        json={"dataset_name": stack.dataset, "session_ids": [session]},
    )
    assert (bridged.status_code, bridged.json()["error"]) == (403, "session_refused")


def test_a_turn_of_an_unknown_plugin_is_held(stack: Stack) -> None:
    response = entry(stack.unknown(), codename(), f"The {codename()} bridge is closed.")
    assert (response.status_code, decided(response)) == (202, "quarantine")


def test_the_frontend_signs_in_makes_a_key_and_uses_it(guarded_stack: Stack) -> None:
    http, url = guarded_stack.http, guarded_stack.mithril.url
    origin = {"Origin": "http://localhost:3000", "Access-Control-Request-Method": "POST"}
    asked = {**origin, "Access-Control-Request-Headers": "x-api-key"}
    preflight = http.options(f"{url}/api/v1/remember", headers=asked)
    assert preflight.status_code == 200, preflight.text
    assert preflight.headers["access-control-allow-origin"] == "http://localhost:3000"
    signed_in = sign_in(guarded_stack)
    cookie = {"Cookie": f"auth_token={signed_in}"}
    me = http.get(f"{url}/api/v1/users/me", headers=cookie)
    assert me.status_code == 200, me.text
    made = http.post(f"{url}/api/v1/auth/api-keys", headers=cookie, json={"name": codename()})
    assert made.status_code == 200, made.text
    key = next(value for name, value in made.json().items() if "key" in name and isinstance(value, str))
    assert http.get(f"{url}/api/v1/datasets", headers={"X-Api-Key": key}).status_code == 200


def test_a_call_without_a_credential_is_refused_by_cognee_itself(guarded_stack: Stack) -> None:
    answer = httpx2.get(f"{guarded_stack.mithril.url}/api/v1/datasets", trust_env=False)
    assert answer.status_code == 401
    assert "detail" in answer.json()


def test_curl_remembers_a_file(stack: Stack) -> None:
    key = stack.register(0.98).headers["X-Api-Key"]
    form = ("-F", f"datasetName={stack.dataset}", "-F", "data=@-;filename=note.txt;type=text/plain")
    done = subprocess.run(
        ("curl", "-s", "-o", "/dev/null", "-w", "%{http_code}", "-H", f"X-Api-Key: {key}", *form,
         f"{stack.mithril.url}/api/v1/add"),
        input=f"The {codename()} kiosk sells maps.", capture_output=True, text=True, timeout=120, check=True,
    )  # fmt: skip
    assert done.stdout == "200"


def entry(writer: Writer, session: str, answer: str) -> httpx2.Response:
    """A plugin's turn."""
    return writer.stack.http.post(
        f"{writer.stack.mithril.url}/api/v1/remember/entry",
        headers=dict(writer.headers),
        json={
            "entry": {"type": "qa", "question": "What is new?", "answer": answer},
            "dataset_name": writer.stack.dataset,
            "session_id": session,
        },
    )


def recall(writer: Writer, session: str, **fields: object) -> str:
    """The answer to a plugin's recall, as text."""
    body = {"query": "pipeline", "session_id": session, "datasets": [writer.stack.dataset], "top_k": 10, **fields}
    answer = writer.stack.http.post(
        f"{writer.stack.mithril.url}/api/v1/recall", headers=dict(writer.headers), json=body
    )
    assert answer.status_code in (200, 404), answer.text
    return answer.text


def sign_in(stack: Stack) -> str:
    """The login token that the proxy hands on."""
    password = (stack.cognee.folder / "service-password").read_text().strip()
    answer = stack.http.post(
        f"{stack.mithril.url}/api/v1/auth/login", data={"username": SERVICE_EMAIL, "password": password}
    )
    assert answer.status_code == 200, answer.text
    assert "auth_token" in answer.headers["set-cookie"]
    return str(answer.json()["access_token"])
