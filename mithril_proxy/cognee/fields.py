"""What a field of a Cognee call may hold: one kind a field, checked the same way for forms and JSON.

A kind that is not TEXT, TEXTS or TREE cannot carry a client's words: it is reduced to a canonical value.
"""

from __future__ import annotations

import enum
import math
import re
import uuid
from collections.abc import Mapping
from dataclasses import dataclass, field

from mithril_proxy.errors import MalformedBody


class Kind(enum.Enum):
    """The shape of one value."""

    TEXT = "a string"
    TEXTS = "a list of strings"
    TREE = "any JSON value"
    OBJECT = "a JSON object"
    UUID = "a UUID"
    UUIDS = "a list of UUIDs"
    BOOL = "true or false"
    INT = "an integer"
    NUMBER = "a finite number"
    CHOICE = "one of the known words"


SPOKEN = frozenset({Kind.TEXT, Kind.TEXTS, Kind.TREE, Kind.OBJECT})


@dataclass(frozen=True, slots=True)
class Field:
    """One field of a body. `choices` belongs to CHOICE."""

    kind: Kind
    choices: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Schema:
    """The fields of one JSON body. With `aliases`, the camelCase spelling of a name is the same field."""

    fields: Mapping[str, Field]
    required: tuple[str, ...] = ()
    aliases: bool = True
    drops_unknown: bool = False
    spellings: Mapping[str, str] = field(init=False, repr=False, default_factory=dict)

    def __post_init__(self) -> None:
        spellings = {name: name for name in self.fields}
        if self.aliases:
            spellings |= {camel(name): name for name in self.fields}
        object.__setattr__(self, "spellings", spellings)


def camel(name: str) -> str:
    """`dataset_id` as `datasetId`."""
    return re.sub(r"_(\w)", lambda hit: hit[1].upper(), name)


def checked(name: str, rule: Field, value: object) -> object:
    """`value` in its canonical form. Raises MalformedBody that names the field."""
    result = _CHECKS[rule.kind](value) if rule.kind is not Kind.CHOICE else _choice(rule, value)
    if result is None:
        raise MalformedBody(f"{name}: expected {expected(rule)}")
    return result


def expected(rule: Field) -> str:
    """What the field takes, for a message."""
    return f"one of {', '.join(sorted(rule.choices))}" if rule.kind is Kind.CHOICE else rule.kind.value


def _choice(rule: Field, value: object) -> object:
    return value if isinstance(value, str) and value in rule.choices else None


def _text(value: object) -> object:
    return value if isinstance(value, str) else None


def _texts(value: object) -> object:
    return list(value) if isinstance(value, list) and all(isinstance(entry, str) for entry in value) else None


def _object(value: object) -> object:
    return value if isinstance(value, dict) else None


def _uuid(value: object) -> object:
    try:
        return str(uuid.UUID(value)) if isinstance(value, str) else None
    except ValueError:
        return None


def _uuids(value: object) -> object:
    found = [_uuid(entry) for entry in value] if isinstance(value, list) else [None]
    return None if None in found else found


_TRUE = frozenset({"true", "1", "on", "t", "y", "yes"})
_FALSE = frozenset({"false", "0", "off", "f", "n", "no"})


def _bool(value: object) -> object:
    if isinstance(value, bool):
        return value
    word = str(value).strip().lower()
    return True if word in _TRUE else False if word in _FALSE else None


def _int(value: object) -> object:
    text = str(value).strip()
    if isinstance(value, bool) or not re.fullmatch(r"-?[0-9]{1,15}(\.0+)?", text):
        return None
    return int(float(text))


def _number(value: object) -> object:
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return None
    try:
        return value if math.isfinite(value) else None
    except OverflowError:
        return None


_CHECKS = {
    Kind.TEXT: _text,
    Kind.TEXTS: _texts,
    Kind.TREE: lambda value: value,
    Kind.OBJECT: _object,
    Kind.UUID: _uuid,
    Kind.UUIDS: _uuids,
    Kind.BOOL: _bool,
    Kind.INT: _int,
    Kind.NUMBER: _number,
}
