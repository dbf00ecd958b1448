"""Writes that come as forms: add, remember, update and ontologies (Cognee 1.6.5).

- add: multipart or urlencoded; `data` repeated (n files), `raw_data` repeated (m strings), `node_set` repeated,
  `labels` and `external_metadata` one JSON array each, paired with files first and strings after.
- remember: the same, with `session_id`, `content_type` (skills, code, cogx-archive) and extraction settings.
- update: `data` files and `node_set`; `data_id`, `dataset_id` and `chunk_level_diff` stand in the query.
- ontologies: `ontology_key`, `description`, one `ontology_file`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from urllib.parse import parse_qsl

from mithril_proxy.cognee.calls import NewId, WriteCall, spoken, with_annotations
from mithril_proxy.cognee.fields import Field, Kind, checked
from mithril_proxy.cognee.forms import Form, FormShape, decode_form
from mithril_proxy.cognee.pieces import Intake, read_pieces
from mithril_proxy.cognee.routes import Match
from mithril_proxy.cognee.table import Codec
from mithril_proxy.cognee.tags import Tags
from mithril_proxy.errors import MalformedBody, Refused
from mithril_proxy.policy import Limits, Routes

STEERING = ("custom_prompt", "graph_model")

_TEXT, _BOOL, _INT = Field(Kind.TEXT), Field(Kind.BOOL), Field(Kind.INT)
_TARGET = {"datasetName": _TEXT, "datasetId": Field(Kind.UUID), "run_in_background": _BOOL}
_ADD = _TARGET
_REMEMBER = _TARGET | {
    "session_id": _TEXT,
    "self_improvement": _BOOL,
    "custom_prompt": _TEXT,
    "chunk_size": _INT,
    "chunks_per_batch": _INT,
    "ontology_key": Field(Kind.TEXTS),
    "graph_model": _TEXT,
    "content_type": Field(Kind.CHOICE, frozenset({"skills", "code", "cogx-archive"})),
    "import_mode": Field(Kind.CHOICE, frozenset({"preserve", "hybrid", "re-derive"})),
    "skill_name": _TEXT,
    "index_vectors": _BOOL,
}
_ONTOLOGY = {"ontology_key": _TEXT, "description": _TEXT}
FIELDS: Mapping[Codec, Mapping[str, Field]] = {
    Codec.ADD: _ADD,
    Codec.REMEMBER: _REMEMBER,
    Codec.UPDATE: {},
    Codec.ONTOLOGY: _ONTOLOGY,
}

_CONTENT = frozenset({"raw_data", "node_set"})
_PAIRED = frozenset({"labels", "external_metadata"})
SHAPES: Mapping[Codec, FormShape] = {
    Codec.ADD: FormShape(frozenset(_ADD) | _PAIRED, _CONTENT, frozenset({"data"})),
    Codec.REMEMBER: FormShape(
        (frozenset(_REMEMBER) | _PAIRED | {"skills_text"}) - {"ontology_key"},
        _CONTENT | {"ontology_key"},
        frozenset({"data"}),
    ),
    Codec.UPDATE: FormShape(frozenset(), frozenset({"node_set"}), frozenset({"data"})),
    Codec.ONTOLOGY: FormShape(frozenset(_ONTOLOGY), frozenset(), frozenset({"ontology_file"})),
}
_UPDATE_QUERY = {"data_id": Field(Kind.UUID), "dataset_id": Field(Kind.UUID), "chunk_level_diff": _BOOL}


@dataclass(frozen=True, slots=True)
class Rules:
    """What a decoder must know of the policy."""

    limits: Limits
    routes: Routes
    tags: Tags


def decode_form_write(
    match: Match, content_type: str | None, query: str, body: bytes, *, rules: Rules, new_id: NewId
) -> WriteCall:
    """The claims of a form write. Raises MalformedBody, BodyTooLarge, Refused; each names the field."""
    fields = FIELDS[match.codec]
    form = decode_form(content_type, body, SHAPES[match.codec], rules.limits)
    values = _values(form, fields)
    _refuse_closed(values, form, rules.routes)
    _check_target(match, values)
    dropped = () if rules.routes.steering else tuple(name for name in STEERING if name in values)
    values = {name: value for name, value in values.items() if name not in dropped}
    session = values.get("session_id")
    claims, pieces = read_pieces(Intake(form, values, rules.limits), new_id)
    annotations = spoken(values, fields)
    kept, forged = rules.tags.split_client(form.repeated.get("node_set", ()))
    return WriteCall(
        match=match,
        claims=with_annotations(claims, annotations),
        annotations=annotations,
        dataset=_dataset(values),
        sessions=(str(session),) if session else (),
        client_tags=kept,
        forged_tags=forged,
        dropped=dropped,
        is_session=bool(session),
        values=values,
        pieces=pieces,
        query=_query(query) if match.codec is Codec.UPDATE else (),
    )


def _values(form: Form, fields: Mapping[str, Field]) -> dict[str, object]:
    """The checked values; an empty one is left out, as Cognee takes it for absent."""
    single = {
        name: checked(name, fields[name], value)
        for name, value in form.single.items()
        if name in fields and value.strip()
    }
    repeated = {
        name: kept
        for name, values in form.repeated.items()
        if name in fields and (kept := [value for value in values if value])
    }
    return single | repeated


def _refuse_closed(values: Mapping[str, object], form: Form, routes: Routes) -> None:
    kind = values.get("content_type")
    wants_skill = kind == "skills" or bool(form.single.get("skills_text", "").strip())
    closed = {"skills": routes.skills, "code": routes.code, "cogx-archive": routes.archives}
    name = "skills" if wants_skill else kind
    if name is not None and not closed[str(name)]:
        raise Refused(
            f"content_type: {name} is closed by policy; send the text as normal content, or ask the operator",
            code="content_type_refused",
        )


def _check_target(match: Match, values: Mapping[str, object]) -> None:
    if match.codec in (Codec.ADD, Codec.REMEMBER) and not values.keys() & {"datasetName", "datasetId"}:
        raise MalformedBody("datasetName: required unless datasetId is given")
    if match.codec is Codec.ONTOLOGY and "ontology_key" not in values:
        raise MalformedBody("ontology_key: required")


def _dataset(values: Mapping[str, object]) -> str | None:
    target = values.get("datasetId") or values.get("datasetName")
    return None if target is None else str(target)


def _query(query: str) -> tuple[tuple[str, str], ...]:
    """The checked query of an update; what Cognee does not know is left out."""
    found: dict[str, object] = {}
    for name, value in parse_qsl(query, keep_blank_values=True):
        if name in found:
            raise MalformedBody(f"{name}: given twice in the query")
        if name in _UPDATE_QUERY:
            found[name] = checked(name, _UPDATE_QUERY[name], value)
    for name in ("data_id", "dataset_id"):
        if name not in found:
            raise MalformedBody(f"{name}: required in the query")
    return tuple((name, str(value).lower()) for name, value in found.items())
