"""The OpenAPI 3.1 document of the admin API, written from the table of endpoints. Pure.

Pydantic writes the schemas of what is taken (models) and given (dataclasses); here they are only put in their places.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, Literal

from pydantic import BaseModel, TypeAdapter

from mithril_proxy import __version__
from mithril_proxy.admin.endpoint import PREFIX, Endpoint
from mithril_proxy.admin.shapes import Nothing, Problem

REFERENCE = "#/components/schemas/{model}"
PATH_PARAMETER = re.compile(r"{(\w+)(?::path)?}")
PROBLEMS = {
    400: "What was sent is not valid",
    401: "No token, or one that is not valid",
    403: "The token's scope does not cover this",
    404: "There is no such thing",
    409: "The life cycle does not allow this step",
    413: "The body is too large",
    422: "The policy is wrong",
    429: "Too many wrong tokens from this address",
    502: "The Cognee server cannot be reached, or refused the write",
    503: "The database cannot be used now",
    504: "The Cognee server did not answer in time",
}

Json = dict[str, Any]
SchemaKey = tuple[str, Any]


def openapi_document(endpoints: Sequence[Endpoint]) -> Json:
    """The document as JSON types."""
    given = {endpoint.gives for endpoint in endpoints if endpoint.gives is not str} | {Problem}
    taken = {endpoint.takes for endpoint in endpoints if endpoint.method != "GET" and endpoint.takes is not Nothing}
    wanted: list[tuple[SchemaKey, Literal["validation", "serialization"], TypeAdapter[Any]]] = [
        *((("in", kind), "validation", TypeAdapter(kind)) for kind in sorted(taken, key=_name)),
        *((("out", kind), "serialization", TypeAdapter(kind)) for kind in sorted(given, key=_name)),
    ]
    places, definitions = TypeAdapter.json_schemas(wanted, ref_template=REFERENCE)
    schemas = {key[0]: schema for key, schema in places.items()}
    paths: Json = {}
    for endpoint in endpoints:
        path = PATH_PARAMETER.sub(r"{\1}", PREFIX + endpoint.path)
        paths.setdefault(path, {})[endpoint.method.lower()] = _operation(endpoint, schemas)
    return {
        "openapi": "3.1.0",
        "info": {"title": "Mithril admin API", "version": __version__},
        "paths": paths,
        "components": {
            "schemas": definitions.get("$defs", {}),
            "securitySchemes": {"token": {"type": "http", "scheme": "bearer"}},
        },
    }


def _operation(endpoint: Endpoint, schemas: dict[Any, Json]) -> Json:
    operation: Json = {
        "summary": endpoint.summary,
        "operationId": endpoint.answer.__name__,
        "parameters": [*_path_parameters(endpoint), *_query_parameters(endpoint)],
        "responses": _responses(endpoint, schemas),
        "security": [] if endpoint.scope is None else [{"token": []}],
    }
    if endpoint.scope is not None:
        operation["description"] = f"Needs a token of scope `{endpoint.scope}` or higher."
    if endpoint.method != "GET" and endpoint.takes is not Nothing:
        schema = schemas[("in", endpoint.takes)]
        operation["requestBody"] = {"required": True, "content": {"application/json": {"schema": schema}}}
    return operation


def _path_parameters(endpoint: Endpoint) -> list[Json]:
    names = PATH_PARAMETER.findall(endpoint.path)
    schema = {"type": "string", "minLength": 1}
    return [{"name": name, "in": "path", "required": True, "schema": schema} for name in names]


def _query_parameters(endpoint: Endpoint) -> list[Json]:
    """The fields of the query; one that may be left out is not required, and never sent as null."""
    if endpoint.method != "GET":
        return []
    schema = endpoint.takes.model_json_schema()
    definitions = schema.get("$defs", {})
    return [
        {"name": name, "in": "query", "required": False, "schema": _plain_schema(field, definitions)}
        for name, field in schema.get("properties", {}).items()
    ]


def _plain_schema(schema: Json, definitions: Json) -> Json:
    """A schema with its references put in place and without null."""
    if "$ref" in schema:
        return _plain_schema(definitions[schema["$ref"].rpartition("/")[2]], definitions)
    choices = [one for one in schema.get("anyOf", ()) if one.get("type") != "null"]
    rest = {key: value for key, value in schema.items() if key not in ("anyOf", "title", "default")}
    if not choices:
        return rest
    if len(choices) == 1:
        return {**rest, **_plain_schema(choices[0], definitions)}
    return {**rest, "anyOf": [_plain_schema(one, definitions) for one in choices]}


def _responses(endpoint: Endpoint, schemas: dict[Any, Json]) -> Json:
    has_input = endpoint.takes is not Nothing or endpoint.method == "GET"
    statuses = {503, *endpoint.errors, *((400,) if has_input else ())}
    statuses |= set() if endpoint.scope is None else {401, 403, 429}
    schema = {"type": "string"} if endpoint.gives is str else schemas[("out", endpoint.gives)]
    responses: Json = {
        str(endpoint.status): {"description": "Done", "content": {endpoint.media_type: {"schema": schema}}}
    }
    problem = {"application/json": {"schema": schemas[("out", Problem)]}}
    for status in sorted(statuses):
        responses[str(status)] = {"description": PROBLEMS[status], "content": problem}
    return responses


def _name(kind: type[BaseModel] | type) -> str:
    return kind.__name__
