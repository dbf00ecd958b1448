"""One honest request for every write of the table, with a marker wherever a client's words can stand."""

from __future__ import annotations

import itertools
import json
from collections.abc import Callable
from dataclasses import dataclass

from mithril_proxy.cognee.calls import WriteCall
from mithril_proxy.cognee.form_writes import Rules
from mithril_proxy.cognee.routes import find_route
from mithril_proxy.cognee.writes import decode_write
from tests.cognee.builders import JSON, MULTIPART, OPEN_RULES, File, ids, multipart

DATASET = "6f1a2f0e-6a0e-4a9e-9f61-0d3f0c5d8b11"
DATA = "0b0f1d6a-52d9-4a57-8a0f-3a2a8e6f9d22"
UPDATE = f"data_id={DATA}&dataset_id={DATASET}&chunk_level_diff=false"
FORGED = ("VERIFIED", "low confidence", "Slack", '["verified", "kept too"]')

Parts = tuple[tuple[str, str | File], ...]


@dataclass(frozen=True)
class Row:
    """A write request. `tagged` is true when an admitted one carries node sets."""

    name: str
    call: str
    content_type: str
    body: bytes
    query: str = ""
    tagged: bool = True

    def decode(self, rules: Rules = OPEN_RULES) -> WriteCall:
        """The decoded request."""
        method, path = self.call.split(" ")
        return decode_write(
            find_route(method, path), self.content_type, self.query, self.body, rules=rules, new_id=ids()
        )


def marker() -> Callable[[str], str]:
    """Distinct words, so that each can be looked for: `mark0 of what`, `mark1 …`."""
    counter = itertools.count()
    return lambda what: f"mark{next(counter):03d} {what}"


def _form(name: str, call: str, *parts: tuple[str, str | File], query: str = "", tagged: bool = True) -> Row:
    return Row(name, call, MULTIPART, multipart(*parts), query, tagged)


def _json(name: str, call: str, body: object, *, tagged: bool = False) -> Row:
    return Row(name, call, JSON, json.dumps(body).encode(), "", tagged)


def write_rows(forged: tuple[str, ...] = ()) -> list[Row]:
    """Every write of the table. `forged` are tags that the client sends wherever it can."""
    say = marker()
    tags: Parts = tuple(("node_set", tag) for tag in forged)
    entry_tags = {"node_set": list(forged)} if forged else {}
    return [
        _form(
            "add",
            "POST /api/v1/add",
            ("datasetName", say("dataset")),
            ("data", File(say("file").encode(), say("name") + ".md")),
            ("raw_data", say("string")),
            ("labels", json.dumps([say("label"), ""])),
            ("external_metadata", json.dumps([{say("key"): [say("value"), 5]}, None])),
            ("run_in_background", "true"),
            *tags,
        ),
        _form(
            "remember",
            "POST /api/v1/remember",
            ("datasetId", DATASET),
            ("datasetName", say("dataset")),
            ("data", File(say("file").encode(), say("name"))),
            ("custom_prompt", say("prompt")),
            ("chunk_size", "512"),
            ("ontology_key", say("ontology")),
            *tags,
        ),
        _form(
            "remember a session turn",
            "POST /api/v1/remember",
            ("datasetName", say("dataset")),
            ("session_id", say("session")),
            ("raw_data", say("turn")),
            ("data", File(say("uploaded turn").encode(), say("name"))),
            ("self_improvement", "false"),
            *tags,
        ),
        _form(
            "remember a skill",
            "POST /api/v1/remember",
            ("datasetName", say("dataset")),
            ("content_type", "skills"),
            ("skills_text", say("skill")),
            ("skill_name", say("skill name")),
            *tags,
            tagged=False,
        ),
        _form(
            "remember a repository",
            "POST /api/v1/remember",
            ("datasetName", say("dataset")),
            ("content_type", "code"),
            ("raw_data", say("repository")),
            *tags,
        ),
        _form(
            "remember an archive",
            "POST /api/v1/remember",
            ("datasetName", say("dataset")),
            ("content_type", "cogx-archive"),
            ("import_mode", "hybrid"),
            ("data", File(say("archive").encode(), say("name") + ".tar")),
            *tags,
            tagged=False,
        ),
        _form(
            "update",
            "PATCH /api/v1/update",
            ("data", File(say("file").encode(), say("name") + ".csv")),
            *tags,
            query=UPDATE,
        ),
        _form(
            "ontology",
            "POST /api/v1/ontologies",
            ("ontology_key", say("key")),
            ("description", say("description")),
            ("ontology_file", File(say("owl").encode(), say("name") + ".owl")),
            tagged=False,
        ),
        _json(
            "qa",
            "POST /api/v1/remember/entry",
            {
                "entry": {
                    "type": "qa",
                    "question": say("question"),
                    "answer": say("answer"),
                    "context": say("context"),
                    "feedback_text": say("feedback"),
                    "feedback_score": 3,
                    "used_graph_element_ids": {say("key"): [say("element")]},
                    **entry_tags,
                },
                "dataset_name": say("dataset"),
                "session_id": say("session"),
            },
            tagged=True,
        ),
        _json(
            "trace",
            "POST /api/v1/remember/entry",
            {
                "entry": {
                    "type": "trace",
                    "origin_function": say("function"),
                    "status": "error",
                    "method_params": {say("key"): say("parameter")},
                    "method_return_value": [say("return"), {"n": 1.5}],
                    "memory_query": say("query"),
                    "memory_context": say("context"),
                    "error_message": say("error"),
                    **entry_tags,
                },
                "dataset_id": DATASET,
                "session_id": say("session"),
            },
            tagged=True,
        ),
        _json(
            "feedback",
            "POST /api/v1/remember/entry",
            {"entry": {"type": "feedback", "qa_id": say("qa"), "feedback_score": 1}, "session_id": say("session")},
        ),
        _json(
            "skill run",
            "POST /api/v1/remember/entry",
            {
                "entry": {
                    "type": "skill_run",
                    "selected_skill_id": say("skill"),
                    "task_text": say("task"),
                    "result_summary": say("result"),
                    "candidate_skill_ids": [say("candidate")],
                    "success_score": 0.5,
                    "tool_trace": [{say("key"): say("tool")}],
                    **({"node_set": forged[0]} if forged else {}),
                },
                "skill_improvement": {say("key"): say("improvement")},
            },
        ),
        _json(
            "cognify",
            "POST /api/v1/cognify",
            {"datasets": [say("dataset")], "customPrompt": say("prompt"), "chunkSize": 9},
        ),
        _json("plain cognify", "POST /api/v1/cognify", {"datasets": [say("dataset")], "runInBackground": True}),
        _json(
            "improve",
            "POST /api/v1/improve",
            {
                "dataset_name": say("dataset"),
                "session_ids": [say("session")],
                "data": say("text"),
                "feedback_alpha": 0.5,
            },
        ),
        _json("plain improve", "POST /api/v1/improve", {"datasetId": DATASET, "sessionIds": [say("session")]}),
        _json("memify", "POST /api/v1/memify", {"datasetName": say("dataset"), "extractionTasks": [say("task")]}),
        _json(
            "skills",
            "POST /api/v1/skills",
            {"skills_text": say("skill"), "skill_name": say("name"), "dataset_id": DATASET},
        ),
        _json(
            "dataset schema",
            f"PUT /api/v1/datasets/{DATASET}/schema",
            {"graphSchema": {"title": say("schema")}, "customPrompt": say("prompt")},
        ),
        _json(
            "dataset schema alone", f"PUT /api/v1/datasets/{DATASET}/schema", {"graph_schema": {"title": say("schema")}}
        ),
        _json("dataset", "POST /api/v1/datasets", {"name": say("name")}),
    ]
