from __future__ import annotations

from typing import Any

import pytest

from mithril_proxy.demo.model.schema import smallest


@pytest.mark.parametrize(
    ("schema", "value"),
    [
        ({"type": "string"}, ""),
        ({"type": "string", "minLength": 3}, "---"),
        ({"type": "integer"}, 0),
        ({"type": "integer", "minimum": 5}, 5),
        ({"type": "number"}, 0.0),
        ({"type": "boolean"}, False),
        ({"type": "null"}, None),
        ({"type": ["string", "null"]}, None),
        ({"type": ["integer", "string"]}, 0),
        ({"const": 7}, 7),
        ({"default": "d", "type": "string"}, "d"),
        ({"enum": ["x", "y"]}, "x"),
        ({"anyOf": [{"type": "integer"}, {"type": "null"}]}, None),
        ({"oneOf": [{"type": "integer"}, {"type": "string"}]}, 0),
        ({"type": "array", "items": {"type": "integer"}, "minItems": 2}, [0, 0]),
        ({"type": "array"}, []),
        ({"properties": {"a": {"type": "integer"}, "b": {"type": "string"}}, "required": ["a"]}, {"a": 0}),
        ({"type": "object", "properties": {"a": {"type": "boolean"}}}, {"a": False}),
        ({"$ref": "#/$defs/n", "$defs": {"n": {"type": "integer"}}}, 0),
        ({"type": "unheard-of"}, None),
        ({}, ""),
    ],
)
def test_the_smallest_value_of_a_schema(schema: dict[str, Any], value: object) -> None:
    assert smallest(schema) == value


def test_a_schema_that_needs_itself_for_ever_ends() -> None:
    node: dict[str, Any] = {"type": "object", "properties": {"next": {"$ref": "#/$defs/node"}}, "required": ["next"]}
    assert isinstance(smallest({"$ref": "#/$defs/node", "$defs": {"node": node}}), dict)


def test_a_reference_to_itself_ends() -> None:
    assert smallest({"$ref": "#/$defs/a", "$defs": {"a": {"$ref": "#/$defs/a"}}}) == ""
