"""Writes that come as JSON (Cognee 1.6.5).

- remember/entry: `{entry: {type: qa|trace|feedback|skill_run, …}, dataset_name, session_id, …}`, snake_case only. The
  entry is one claim: its main string is the text, every other string of the call is judged with it.
- cognify, improve, memify: both spellings; no content of their own unless the policy opens steering or graph_tasks.
- skills: `skills_text` is the claim. dataset schema: prompt and schema are one claim. datasets: only a name.

Values are kept flat: a field of the entry stands as `entry.<name>`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from mithril_proxy.cognee.calls import NewId, WriteCall, spoken
from mithril_proxy.cognee.fields import Field, Kind, Schema
from mithril_proxy.cognee.form_writes import STEERING, Rules
from mithril_proxy.cognee.json_body import canonical, decode_object
from mithril_proxy.cognee.routes import Match
from mithril_proxy.cognee.table import Codec
from mithril_proxy.errors import BodyTooLarge, MalformedBody, Refused
from mithril_proxy.types import Annotation, Claim

ENTRY = "entry."
TASKS = ("extraction_tasks", "enrichment_tasks", "data")

_TEXT, _TEXTS, _BOOL, _INT = Field(Kind.TEXT), Field(Kind.TEXTS), Field(Kind.BOOL), Field(Kind.INT)
_UUID, _UUIDS, _OBJECT, _TREE, _NUMBER = (
    Field(Kind.UUID), Field(Kind.UUIDS), Field(Kind.OBJECT), Field(Kind.TREE), Field(Kind.NUMBER),
)  # fmt: skip
_TAGS = _TREE

ENTRY_FIELDS: Mapping[str, Mapping[str, Field]] = {
    "qa": {
        "question": _TEXT, "answer": _TEXT, "context": _TEXT, "feedback_text": _TEXT, "feedback_score": _INT,
        "used_graph_element_ids": _OBJECT, "node_set": _TAGS,
    },
    "trace": {
        "origin_function": _TEXT, "status": Field(Kind.CHOICE, frozenset({"success", "error"})),
        "method_params": _OBJECT, "method_return_value": _TREE, "memory_query": _TEXT, "memory_context": _TEXT,
        "error_message": _TEXT, "generate_feedback_with_llm": _BOOL, "node_set": _TAGS,
    },
    "feedback": {"qa_id": _TEXT, "feedback_text": _TEXT, "feedback_score": _INT},
    "skill_run": {
        "run_id": _TEXT, "selected_skill_id": _TEXT, "task_text": _TEXT, "result_summary": _TEXT,
        "success_score": _NUMBER, "feedback": _NUMBER, "error_type": _TEXT, "error_message": _TEXT,
        "started_at_ms": _INT, "latency_ms": _INT, "candidate_skill_ids": _TEXTS, "task_pattern_id": _TEXT,
        "router_version": _TEXT, "tool_trace": _TREE, "node_set": _TAGS,
    },
}  # fmt: skip
_REQUIRED = {
    "qa": ("question", "answer"),
    "trace": ("origin_function",),
    "feedback": ("qa_id",),
    "skill_run": ("selected_skill_id",),
}
_MAIN_TEXT = {"qa": "answer", "feedback": "feedback_text", "skill_run": "result_summary"}

_CALL = Schema(
    {
        "entry": _OBJECT, "dataset_name": _TEXT, "dataset_id": _UUID, "session_id": _TEXT, "self_improvement": _BOOL,
        "skill_improvement": _OBJECT,
    },
    required=("entry",), aliases=False,
)  # fmt: skip
_BRIDGE = {
    "extraction_tasks": _TEXTS, "enrichment_tasks": _TEXTS, "data": _TEXT, "dataset_name": _TEXT, "dataset_id": _UUID,
    "node_name": _TEXTS, "run_in_background": _BOOL,
}  # fmt: skip
SCHEMAS: Mapping[Codec, Schema] = {
    Codec.ENTRY: _CALL,
    Codec.COGNIFY: Schema(
        {
            "datasets": _TEXTS, "dataset_ids": _UUIDS, "run_in_background": _BOOL, "graph_model": _OBJECT,
            "custom_prompt": _TEXT, "chunk_size": _INT, "ontology_key": _TEXTS, "chunks_per_batch": _INT,
            "data_per_batch": _INT,
        }
    ),
    Codec.MEMIFY: Schema(_BRIDGE),
    Codec.IMPROVE: Schema(
        _BRIDGE
        | {
            "build_global_context_index": _BOOL, "build_truth_subspace": _BOOL, "review_conflicts": _BOOL,
            "feedback_alpha": _NUMBER, "session_ids": _TEXTS,
        }
    ),
    Codec.SKILLS: Schema(
        {"skills_text": _TEXT, "skill_name": _TEXT, "dataset_name": _TEXT, "dataset_id": _UUID},
        required=("skills_text",), aliases=False,
    ),
    Codec.SCHEMA: Schema({"graph_schema": _OBJECT, "custom_prompt": _TEXT}),
    Codec.DATASET: Schema({"name": _TEXT}, required=("name",)),
}  # fmt: skip
_CLAIM_TEXT = {
    Codec.COGNIFY: "custom_prompt", Codec.IMPROVE: "data", Codec.MEMIFY: "data", Codec.SKILLS: "skills_text",
    Codec.SCHEMA: "custom_prompt",
}  # fmt: skip


def fields_of(codec: Codec, values: Mapping[str, object]) -> dict[str, Field]:
    """The rule of every value that a JSON write may hold, the entry's own fields as `entry.<name>`."""
    fields = dict(SCHEMAS[codec].fields)
    kind = values.get("entry.type")
    if codec is Codec.ENTRY and isinstance(kind, str):
        fields |= {ENTRY + name: rule for name, rule in ENTRY_FIELDS[kind].items()}
        fields["entry.type"] = Field(Kind.CHOICE, frozenset(ENTRY_FIELDS))
    return fields


def decode_json_write(match: Match, content_type: str | None, body: bytes, *, rules: Rules, new_id: NewId) -> WriteCall:
    """The claim of a JSON write, if it has one. Raises MalformedBody, BodyTooLarge, Refused; each names the field."""
    given = canonical(decode_object(content_type, body, rules.limits), SCHEMAS[match.codec])
    values = _with_entry(given) if match.codec is Codec.ENTRY else given
    tags = values.pop("entry.node_set", None)
    dropped = _dropped(match, values, rules)
    values = {name: value for name, value in values.items() if name not in dropped}
    _refuse_tasks(values, rules)
    _refuse_feedback(values, rules)
    kept, forged = rules.tags.split_client([tags])
    annotations = spoken(values, fields_of(match.codec, values))
    _check_lengths(annotations, rules)
    call = WriteCall(
        match=match,
        annotations=annotations,
        dataset=_dataset(values),
        sessions=_sessions(values),
        client_tags=kept,
        forged_tags=forged,
        dropped=dropped,
        is_session=match.codec is Codec.ENTRY and bool(values.get("session_id")),
        values=values,
    )
    return _with_claim(call, new_id)


def _with_entry(given: dict[str, object]) -> dict[str, object]:
    entry = given.pop("entry")
    assert isinstance(entry, dict)
    kind = entry.get("type")
    if not isinstance(kind, str) or kind not in ENTRY_FIELDS:
        raise MalformedBody(f"entry.type: expected one of {', '.join(ENTRY_FIELDS)}")
    schema = Schema(ENTRY_FIELDS[kind], required=_REQUIRED[kind], aliases=False)
    own = canonical({name: value for name, value in entry.items() if name != "type"}, schema, place=ENTRY)
    return given | {"entry.type": kind} | {ENTRY + name: value for name, value in own.items()}


def _dropped(match: Match, values: Mapping[str, object], rules: Rules) -> tuple[str, ...]:
    """Fields that steer the extraction, unless the policy opens them. A schema call is nothing else and keeps them."""
    if rules.routes.steering or match.codec is Codec.SCHEMA:
        return ()
    return tuple(name for name in STEERING if name in values)


def _refuse_tasks(values: Mapping[str, object], rules: Rules) -> None:
    for name in TASKS:
        if values.get(name) and not rules.routes.graph_tasks:
            raise Refused(
                f"{name}: closed by policy, since its text would enter without tags; send text to /api/v1/remember "
                "and call this route without it",
                code="graph_tasks_refused",
            )


def _refuse_feedback(values: Mapping[str, object], rules: Rules) -> None:
    scored = values.get("entry.type") == "feedback" or "entry.feedback_score" in values
    if scored and not rules.routes.feedback:
        raise Refused("entry: feedback is closed by policy, since it moves ranking weights", code="feedback_refused")


def _check_lengths(annotations: tuple[Annotation, ...], rules: Rules) -> None:
    total = sum(len(annotation.text) for annotation in annotations)
    if total > rules.limits.max_text_chars:
        raise BodyTooLarge(f"body: {total} characters of text, at most {rules.limits.max_text_chars} are judged")


def _dataset(values: Mapping[str, object]) -> str | None:
    """The one dataset that the call names; None when it names several or none."""
    for name in ("dataset_id", "dataset_ids", "dataset_name", "datasets", "name"):
        value = values.get(name)
        if isinstance(value, str) and value:
            return value
        if isinstance(value, list) and len(value) == 1:
            return str(value[0])
    return None


def _sessions(values: Mapping[str, object]) -> tuple[str, ...]:
    several = values.get("session_ids")
    one = values.get("session_id")
    found = [*(several if isinstance(several, list) else ()), *([one] if one else ())]
    return tuple(dict.fromkeys(str(session) for session in found))


def _with_claim(call: WriteCall, new_id: NewId) -> WriteCall:
    """The call with its claim: the main string is the text, all its other strings are annotations."""
    place = _text_place(call)
    if place is None:
        return call
    text = next((spoken.text for spoken in call.annotations if spoken.locator == place), "")
    others = tuple(annotation for annotation in call.annotations if annotation.locator != place)
    claim = Claim(new_id(), text, place or call.match.codec.value, annotations=others)
    return replace(call, claims=(claim,), text_place=place)


def _text_place(call: WriteCall) -> str | None:
    """The locator of the main string, "" when the claim has none, None when the call makes no claim."""
    codec, values = call.match.codec, call.values
    if codec is Codec.ENTRY:
        kind = str(values["entry.type"])
        return _longest(call, ENTRY) if kind == "trace" else _present(call, ENTRY + _MAIN_TEXT[kind])
    steering = [name for name in (*STEERING, "graph_schema", *TASKS, "skills_text") if values.get(name)]
    if not steering:
        return None
    return _present(call, _CLAIM_TEXT[codec]) or _longest(call, steering[0])


def _present(call: WriteCall, locator: str) -> str:
    return locator if any(spoken.locator == locator for spoken in call.annotations) else ""


def _longest(call: WriteCall, prefix: str) -> str:
    own = [spoken for spoken in call.annotations if spoken.locator.startswith(prefix)]
    return max(own, key=lambda spoken: len(spoken.text)).locator if own else ""
