"""Entries, cognify, improve, memify, skills and schemas: what each says, and what it may not."""

from __future__ import annotations

import pytest

from mithril_proxy.cognee.writes import forward_tags, prepare
from mithril_proxy.errors import BodyTooLarge, MalformedBody, Refused
from mithril_proxy.types import Annotation, Status
from tests.cognee.builders import OPEN_RULES, TAGS, json_call, rules_with, small_rules
from tests.cognee.write_rows import DATASET

ENTRY, COGNIFY, IMPROVE, MEMIFY = (
    "POST /api/v1/remember/entry",
    "POST /api/v1/cognify",
    "POST /api/v1/improve",
    "POST /api/v1/memify",
)


def _qa(**more: object) -> dict[str, object]:
    return {"entry": {"type": "qa", "question": "Which port?", "answer": "8443", **more}, "session_id": "s1"}


def test_an_entry_is_one_claim_whose_other_strings_are_judged_with_it() -> None:
    call = json_call(ENTRY, _qa(context="notes") | {"dataset_name": "main"})
    (claim,) = call.claims
    assert (claim.text, claim.locator) == ("8443", "entry.answer")
    assert set(claim.annotations) == {
        Annotation("session_id", "s1"),
        Annotation("dataset_name", "main"),
        Annotation("entry.question", "Which port?"),
        Annotation("entry.context", "notes"),
    }
    assert (call.dataset, call.session, call.is_session) == ("main", "s1", True)


def test_an_admitted_entry_is_rebuilt_with_node_sets_of_its_own() -> None:
    call = json_call(ENTRY, _qa(node_set=["VERIFIED", "team"], feedback_score="4"))
    sent = prepare(call, call.claims, tags=forward_tags(call, Status.WARN, "slack", TAGS, is_session_own=True))
    assert sent.document == {
        "entry": {
            "type": "qa",
            "question": "Which port?",
            "answer": "8443",
            "feedback_score": 4,
            "node_set": ["verified", "slack"],
        },
        "session_id": "s1",
    }
    assert (call.client_tags, call.forged_tags) == (("team",), ("verified",))


def test_the_longest_string_of_a_trace_is_its_text() -> None:
    entry = {"type": "trace", "origin_function": "f", "method_params": {"a": ["short", "the longest string of all"]}}
    (claim,) = json_call(ENTRY, {"entry": entry, "session_id": "s"}).claims
    assert (claim.text, claim.locator) == ("the longest string of all", "entry.method_params[0][1]")


def test_a_key_of_a_client_is_judged_and_never_part_of_a_locator() -> None:
    entry = {"type": "trace", "origin_function": "f", "method_return_value": {"client key": {"inner": 1}}}
    (claim,) = json_call(ENTRY, {"entry": entry, "session_id": "s"}).claims
    said = {given.locator: given.text for given in claim.annotations} | {claim.locator: claim.text}
    assert said["entry.method_return_value[0].key"] == "client key"
    assert not any("client key" in locator for locator in said)


def test_two_keys_that_are_redacted_to_one_stay_two() -> None:
    entry = {"type": "trace", "origin_function": "function", "method_params": {"key1": 1, "key2": 2}}
    call = json_call(ENTRY, {"entry": entry, "session_id": "s"})
    clean = tuple(
        Annotation(given.locator, "k" if given.text.startswith("key") else given.text) for given in call.annotations
    )
    sent = prepare(call, (), tags=(), annotations=clean)
    assert sent.document is not None
    assert sent.document["entry"] == {
        "type": "trace",
        "origin_function": "function",
        "method_params": {"k": 1, "k_": 2},
    }


def test_feedback_without_words_is_still_a_claim_since_it_moves_rankings() -> None:
    call = json_call(ENTRY, {"entry": {"type": "feedback", "qa_id": "q", "feedback_score": 5}, "session_id": "s"})
    assert [(claim.text, claim.locator) for claim in call.claims] == [("", "entry")]


@pytest.mark.parametrize("body", [{"entry": {"type": "feedback", "qa_id": "q"}}, _qa(feedback_score=1)])
def test_feedback_can_be_closed(body: dict[str, object]) -> None:
    with pytest.raises(Refused, match="feedback is closed"):
        json_call(ENTRY, body, rules=rules_with(feedback=False))
    assert json_call(ENTRY, _qa(), rules=rules_with(feedback=False)).claims


def test_a_skill_run_keeps_cognees_own_node_set() -> None:
    call = json_call(ENTRY, {"entry": {"type": "skill_run", "selected_skill_id": "x", "node_set": "Verified"}})
    sent = prepare(call, call.claims, tags=forward_tags(call, Status.ACCEPT, "slack", TAGS))
    assert sent.document == {"entry": {"type": "skill_run", "selected_skill_id": "x", "node_set": "skills"}}
    assert call.forged_tags == ("verified",)


def test_an_entry_without_tags_is_not_tagged() -> None:
    call = json_call(ENTRY, _qa())
    sent = prepare(call, call.claims, tags=())
    assert sent.document is not None
    assert "node_set" not in str(sent.document)


@pytest.mark.parametrize(
    ("body", "named"),
    [
        ({}, "entry: required"),
        ({"entry": []}, "entry: expected a JSON object"),
        ({"entry": {}}, "entry.type: expected one of"),
        ({"entry": {"type": ["qa"]}}, "entry.type: expected one of"),
        ({"entry": {"type": "qa", "question": "q"}}, "entry.answer: required"),
        ({"entry": {"type": "qa", "question": 1, "answer": "a"}}, "entry.question: expected a string"),
        ({"entry": {"type": "qa", "question": "q", "answer": "a", "surprise": 1}}, "entry.: unknown field"),
        ({"entry": {"type": "trace", "origin_function": "f", "status": "odd"}}, "entry.status: expected one of"),
        (_qa() | {"sessionId": "s"}, "unknown field 'sessionId'"),
        (_qa() | {"dataset_id": "x"}, "dataset_id: expected a UUID"),
    ],
)
def test_a_bad_entry_names_its_field(body: object, named: str) -> None:
    with pytest.raises(MalformedBody, match=named):
        json_call(ENTRY, body)


def test_more_text_than_is_judged_is_too_large() -> None:
    with pytest.raises(BodyTooLarge, match="characters of text"):
        json_call(ENTRY, _qa(context="x" * 100), rules=small_rules(max_text_chars=50))


def test_a_plain_cognify_makes_no_claim_and_drops_what_steers() -> None:
    call = json_call(
        COGNIFY, {"datasets": ["main"], "customPrompt": "invent", "graphModel": {"title": "x"}, "chunkSize": 512}
    )
    assert (call.claims, set(call.dropped), call.dataset) == ((), {"custom_prompt", "graph_model"}, "main")
    sent = prepare(call, (), tags=(), annotations=(Annotation("datasets[0]", "main"),))
    assert sent.document == {"datasets": ["main"], "chunk_size": 512}


def test_an_open_prompt_is_a_claim() -> None:
    call = json_call(COGNIFY, {"datasetIds": [DATASET], "customPrompt": "only ports"}, rules=OPEN_RULES)
    assert [(claim.text, claim.locator) for claim in call.claims] == [("only ports", "custom_prompt")]
    assert call.dataset == DATASET


def test_a_plain_improve_bridges_the_sessions_that_it_names() -> None:
    call = json_call(IMPROVE, {"dataset_name": "main", "sessionIds": ["a", "b", "a"], "runInBackground": True})
    assert (call.claims, call.sessions, call.session) == ((), ("a", "b"), None)
    sent = prepare(call, (), tags=(), annotations=call.annotations)
    assert sent.document == {"dataset_name": "main", "session_ids": ["a", "b", "a"], "run_in_background": True}


@pytest.mark.parametrize("route", [IMPROVE, MEMIFY])
@pytest.mark.parametrize("field", ["data", "extractionTasks", "enrichment_tasks"])
def test_text_and_tasks_that_would_enter_without_tags_are_refused(route: str, field: str) -> None:
    value: object = "text" if field == "data" else ["add_data_points"]
    with pytest.raises(Refused, match="send text to /api/v1/remember") as caught:
        json_call(route, {"dataset_name": "main", field: value})
    assert caught.value.code == "graph_tasks_refused"
    assert json_call(route, {"dataset_name": "main", field: value}, rules=OPEN_RULES).claims
    assert not json_call(route, {"dataset_name": "main", field: "" if field == "data" else []}).claims


def test_a_skill_is_one_claim_without_tags() -> None:
    call = json_call("POST /api/v1/skills", {"skills_text": "# Do it", "skill_name": "n", "dataset_name": "main"})
    assert [claim.text for claim in call.claims] == ["# Do it"]
    assert forward_tags(call, Status.ACCEPT, "slack", TAGS) == ()
    sent = prepare(call, call.claims, tags=(), dataset="verified_memories")
    assert sent.document == {"skills_text": "# Do it", "skill_name": "n", "dataset_name": "verified_memories"}


def test_a_schema_is_judged_even_where_steering_is_closed() -> None:
    call = json_call(f"PUT /api/v1/datasets/{DATASET}/schema", {"graphSchema": {"title": "T"}, "customPrompt": "p"})
    assert [(claim.text, call.dropped) for claim in call.claims] == [("p", ())]
    alone = json_call(f"PUT /api/v1/datasets/{DATASET}/schema", {"graphSchema": {"title": "the longest"}})
    assert alone.claims[0].text == "the longest"
    assert json_call(f"PUT /api/v1/datasets/{DATASET}/schema", {}).claims == ()


def test_a_new_dataset_has_only_a_name_to_redact() -> None:
    call = json_call("POST /api/v1/datasets", {"name": "main"})
    assert (call.claims, call.annotations, call.dataset) == ((), (Annotation("name", "main"),), "main")
    sent = prepare(call, (), tags=(), annotations=(Annotation("name", "clean"),), dataset="verified_memories")
    assert sent.document == {"name": "clean"}


def test_several_datasets_are_no_one_target() -> None:
    assert json_call(COGNIFY, {"datasets": ["a", "b"]}).dataset is None
    sent = prepare(json_call(COGNIFY, {}), (), tags=(), dataset="verified_memories")
    assert sent.document == {"datasets": ["verified_memories"]}
