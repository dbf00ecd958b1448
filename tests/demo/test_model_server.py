from __future__ import annotations

import base64
import json
import struct
from collections.abc import Iterator
from typing import Any

import pytest
from starlette.testclient import TestClient

from mithril_proxy.demo.model.embeddings import DIMENSIONS, HashedWords
from mithril_proxy.demo.model_server import build_app

GRAPH = {
    "title": "KnowledgeGraph",
    "type": "object",
    "properties": {"nodes": {"type": "array"}, "edges": {"type": "array"}},
}
FACT = "The billing service listens on port 8443."


@pytest.fixture
def model() -> Iterator[TestClient]:
    with TestClient(build_app(HashedWords())) as client:
        yield client


def said(model: TestClient, user: str, system: str = "", **fields: Any) -> str:
    messages = [{"role": "system", "content": system}, {"role": "user", "content": user}]
    response = model.post("/v1/chat/completions", json={"model": "m", "messages": messages, **fields})
    assert response.status_code == 200
    content = response.json()["choices"][0]["message"]["content"]
    assert isinstance(content, str)
    return content


def shaped(schema: dict[str, Any]) -> dict[str, Any]:
    return {"type": "json_schema", "json_schema": {"name": "shape", "schema": schema}}


def test_a_knowledge_graph_is_made_of_the_text(model: TestClient) -> None:
    graph = json.loads(said(model, FACT, response_format=shaped(GRAPH)))
    assert graph["edges"][0]["relationship_name"] == "listens_on"


def test_a_schema_in_the_prompt_counts_like_one_in_the_request(model: TestClient) -> None:
    system = f"conforming to this schema:\n```json\n{json.dumps(GRAPH)}\n```"
    assert json.loads(said(model, FACT, system, response_format={"type": "json_object"}))["nodes"]


def test_a_json_object_without_a_schema_is_empty(model: TestClient) -> None:
    assert json.loads(said(model, FACT, response_format={"type": "json_object"})) == {}


def test_a_schema_that_is_no_object_gets_its_smallest_value(model: TestClient) -> None:
    assert said(model, FACT, response_format=shaped({"type": "integer"})) == "0"


@pytest.mark.parametrize(
    ("field", "expected"),
    [
        ("summary", FACT),
        ("answer", FACT),
        ("query_to_answer", FACT),
        ("response_to_user", None),
        ("other", ""),
    ],
)
def test_the_fields_that_memory_rests_on_are_filled(model: TestClient, field: str, expected: str | None) -> None:
    schema = {"type": "object", "properties": {field: {"type": "string"}}}
    assert json.loads(said(model, FACT, response_format=shaped(schema)))[field] == expected


def test_the_question_inside_a_session_turn_is_found(model: TestClient) -> None:
    user = "HISTORY:\nnothing\n\nCURRENT USER MESSAGE:\nWhich port?\n\nOTHER CONTEXT\nx"
    schema = {"type": "object", "properties": {"query_to_answer": {"type": "string"}}}
    assert json.loads(said(model, user, response_format=shaped(schema)))["query_to_answer"] == "Which port?"


def test_an_answer_is_the_line_of_the_context_that_fits_the_question(model: TestClient) -> None:
    user = f"The question is: `Which port does billing use?`\nAnd here is the context: `Cats sleep.\n{FACT}`"
    assert said(model, user).startswith(FACT)


def test_an_empty_prompt_is_answered(model: TestClient) -> None:
    assert said(model, "") == "I know nothing about that."


def test_the_type_of_a_search_is_chosen(model: TestClient) -> None:
    assert said(model, "q", "Choose one SearchType") == "CHUNKS"


def test_content_in_parts_is_read(model: TestClient) -> None:
    messages = [{"role": "user", "content": [{"type": "text", "text": FACT}]}, {"role": "user", "content": None}]
    response = model.post("/v1/chat/completions", json={"messages": messages})
    assert FACT in response.json()["choices"][0]["message"]["content"]


def test_the_same_request_gets_the_same_bytes(model: TestClient) -> None:
    body = {"messages": [{"role": "user", "content": FACT}]}
    assert (
        model.post("/v1/chat/completions", json=body).content == model.post("/v1/chat/completions", json=body).content
    )


def test_a_stream_ends_with_done_and_adds_up_to_the_answer(model: TestClient) -> None:
    whole = said(model, FACT)
    body = {"messages": [{"role": "user", "content": FACT}], "stream": True, "stream_options": {"include_usage": True}}
    events = [line[6:] for line in model.post("/v1/chat/completions", json=body).text.split("\n\n") if line]
    assert events[-1] == "[DONE]"
    frames = [json.loads(event) for event in events[:-1]]
    assert "".join(f["choices"][0]["delta"].get("content", "") for f in frames if f["choices"]) == whole
    assert frames[-1]["usage"]["total_tokens"] > 0


@pytest.mark.parametrize("given", ["one text", ["one text"], [1, 2, 3], [[1, 2, 3]]])
def test_embeddings_take_a_text_several_and_token_ids(model: TestClient, given: object) -> None:
    rows = model.post("/v1/embeddings", json={"input": given}).json()["data"]
    assert [len(row["embedding"]) for row in rows] == [DIMENSIONS]


def test_embeddings_in_base64_are_little_endian_floats(model: TestClient) -> None:
    body = {"input": "one text"}
    floats = model.post("/v1/embeddings", json=body).json()["data"][0]["embedding"]
    packed = model.post("/v1/embeddings", json={**body, "encoding_format": "base64"}).json()["data"][0]["embedding"]
    assert struct.unpack(f"<{DIMENSIONS}f", base64.b64decode(packed)) == pytest.approx(floats, abs=1e-6)


def test_models_and_health_say_what_runs(model: TestClient) -> None:
    assert model.get("/v1/models").json()["data"][0]["id"] == "mithril-demo"
    assert model.get("/health").json() == {"status": "ok", "embedder": "hashed-words", "dimensions": DIMENSIONS}


def test_a_scripted_answer_fills_in_what_its_pattern_found(model: TestClient) -> None:
    answer = {"pattern": r"<claim-(\w+)>", "reply": r"<verdict-\1></verdict-\1>"}
    assert model.put("/control", json={"answers": [answer]}).status_code == 204
    assert said(model, "<claim-n7>x</claim-n7>") == "<verdict-n7></verdict-n7>"
    assert "verdict" not in said(model, "no such thing")
    model.delete("/control")
    assert "verdict" not in said(model, "<claim-n7>x</claim-n7>")


@pytest.mark.parametrize(("script", "status"), [({"status": 503}, 503), ({"delay_s": 0.01, "status": 429}, 429)])
def test_a_scripted_fault_answers_with_its_status(model: TestClient, script: dict[str, Any], status: int) -> None:
    model.put("/control", json=script)
    assert model.post("/v1/chat/completions", json={"messages": []}).status_code == status
    assert model.post("/v1/embeddings", json={"input": "x"}).status_code == 200


def test_embeddings_have_a_fault_of_their_own(model: TestClient) -> None:
    model.put("/control", json={"embeddings_status": 500})
    assert model.post("/v1/embeddings", json={"input": "x"}).status_code == 500
    assert said(model, FACT)


def test_a_malformed_answer_is_not_json(model: TestClient) -> None:
    model.put("/control", json={"malformed": True})
    with pytest.raises(json.JSONDecodeError):
        model.post("/v1/chat/completions", json={"messages": []}).json()


@pytest.mark.parametrize(
    "script", [{"no_such_fault": 1}, {"answers": [{"pattern": "("}]}, {"answers": [{"pattern": "x"}]}]
)
def test_a_script_that_is_none_is_refused(model: TestClient, script: dict[str, Any]) -> None:
    assert model.put("/control", json=script).status_code == 400


def test_the_calls_show_what_was_asked(model: TestClient) -> None:
    said(model, FACT, "be brief")
    (call,) = model.get("/control/calls").json()
    assert (call["system"], call["user"]) == ("be brief", FACT)
