"""The smallest value that a JSON schema accepts: what the model says where it has nothing to say."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

_MAX_DEPTH = 12  # a recursive schema ends here
_EMPTY: dict[str, Any] = {"integer": 0, "number": 0.0, "boolean": False, "null": None}

Schema = Mapping[str, Any]


def smallest(schema: Schema, root: Schema | None = None, *, depth: int = 0) -> Any:
    """A value that `schema` accepts, as small as can be: defaults, null, empty lists, first choices."""
    root = schema if root is None else root
    schema = _resolved(schema, root)
    for key in ("default", "const"):
        if key in schema:
            return schema[key]
    if schema.get("enum"):
        return schema["enum"][0]
    choices = [_resolved(choice, root) for key in ("anyOf", "oneOf", "allOf") for choice in schema.get(key, ())]
    if choices:
        return smallest(_simplest(choices), root, depth=depth + 1)
    return _by_type(schema, root, depth)


def _by_type(schema: Schema, root: Schema, depth: int) -> Any:
    kinds = schema.get("type", "object" if "properties" in schema else "string")
    kind = kinds if isinstance(kinds, str) else ("null" if "null" in kinds else kinds[0])
    if kind == "object":
        return _object(schema, root, depth)
    if kind == "array":
        return [smallest(schema.get("items", {}), root, depth=depth + 1)] * int(schema.get("minItems", 0))
    if kind in ("integer", "number"):
        return schema.get("minimum", _EMPTY[kind])
    return _EMPTY.get(kind, "-" * int(schema.get("minLength", 0)) if kind == "string" else None)


def _object(schema: Schema, root: Schema, depth: int) -> dict[str, Any]:
    properties: Mapping[str, Schema] = schema.get("properties", {})
    if depth > _MAX_DEPTH:
        return {}
    required = schema.get("required", list(properties))
    return {name: smallest(properties[name], root, depth=depth + 1) for name in required if name in properties}


def _simplest(choices: list[Schema]) -> Schema:
    """Null where it is allowed, else the first choice."""
    return next((choice for choice in choices if choice.get("type") == "null"), choices[0])


def _resolved(schema: Schema, root: Schema) -> Schema:
    """`schema` with its `$ref` followed inside `root`."""
    for _ in range(_MAX_DEPTH):
        if "$ref" not in schema:
            return schema
        target: Any = root
        for part in str(schema["$ref"]).lstrip("#/").split("/"):
            target = target[part]
        schema = target
    return {}
