"""JSON bodies, read so that no two readers can disagree about them."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable

from mithril_proxy.cognee.fields import Schema, checked
from mithril_proxy.errors import BodyTooLarge, MalformedBody
from mithril_proxy.policy import Limits


def decode_json(content_type: str | None, body: bytes, limits: Limits) -> object:
    """The value of a JSON body: UTF-8, UTF-16 or UTF-32, with or without a byte order mark.

    Raises BodyTooLarge, or MalformedBody for another content type, a duplicate key, NaN or an infinite number, a lone
    surrogate or too many levels. The message names the place.
    """
    if len(body) > limits.max_body_bytes:
        raise BodyTooLarge(f"body: {len(body)} bytes, at most {limits.max_body_bytes} are taken")
    if not _is_json(content_type):
        raise MalformedBody("Content-Type: this route takes application/json")
    value = parse_json(body, "body")
    check_tree(value, "body", limits.max_json_depth)
    return value


def decode_object(content_type: str | None, body: bytes, limits: Limits) -> dict[str, object]:
    """The JSON object of a body. Raises as `decode_json`, and MalformedBody for any other JSON value."""
    value = decode_json(content_type, body, limits)
    if not isinstance(value, dict):
        raise MalformedBody("body: expected a JSON object")
    return value


def parse_json(raw: bytes | str, place: str) -> object:
    """The JSON value of `raw`. Raises MalformedBody that names `place`."""
    try:
        text = raw if isinstance(raw, str) else raw.decode(json.detect_encoding(raw))
        return json.loads(text, object_pairs_hook=_unique, parse_constant=_constant, parse_float=_finite)
    except _AmbiguityError as error:
        raise MalformedBody(f"{place}: {error}") from None
    except UnicodeDecodeError:
        raise MalformedBody(f"{place}: not valid Unicode") from None
    except RecursionError:
        raise MalformedBody(f"{place}: nested too deeply") from None
    except ValueError:
        raise MalformedBody(f"{place}: not valid JSON") from None


def canonical(body: dict[str, object], schema: Schema, *, place: str = "") -> dict[str, object]:
    """`body` under its snake_case names with checked values; null is left out, as Cognee means it.

    Raises MalformedBody for an unknown name (unless the schema drops them), for both spellings of one name, for a
    missing required name and for a value of the wrong kind.
    """
    found: dict[str, object] = {}
    for spelling, value in body.items():
        name = schema.spellings.get(spelling)
        if name is None and schema.drops_unknown:
            continue
        if name is None:
            raise MalformedBody(f"{place or 'body'}: unknown field {_shown(spelling)}")
        if name in found:
            raise MalformedBody(f"{place}{name}: given in both spellings; send one")
        found[name] = value
    given = {name: value for name, value in found.items() if value is not None}
    kept = {name: checked(place + name, schema.fields[name], value) for name, value in given.items()}
    for name in schema.required:
        if name not in kept:
            raise MalformedBody(f"{place}{name}: required")
    return kept


def check_tree(value: object, place: str, max_depth: int) -> None:
    """Raise MalformedBody when `value` is too deep or holds a lone surrogate."""
    level: list[object] = [value]
    depth = 0
    while level:
        if depth > max_depth:
            raise MalformedBody(f"{place}: nested deeper than {max_depth} levels")
        level = [child for parent in level for child in _children(parent, place)]
        depth += 1


def check_text(text: str, place: str) -> str:
    """`text`, if it is whole Unicode. Raises MalformedBody for a lone surrogate."""
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        raise MalformedBody(f"{place}: holds a lone surrogate") from None
    return text


def _children(parent: object, place: str) -> Iterable[object]:
    if isinstance(parent, str):
        check_text(parent, place)
    elif isinstance(parent, dict):
        for key in parent:
            check_text(key, place)
        return parent.values()
    elif isinstance(parent, list):
        return parent
    return ()


_SHOWN_KEY_CHARS = 40  # of a key in an error: enough to find it


class _AmbiguityError(ValueError):
    pass


def _unique(pairs: list[tuple[str, object]]) -> dict[str, object]:
    found: dict[str, object] = {}
    for key, value in pairs:
        if key in found:
            raise _AmbiguityError(f"the key {key[:_SHOWN_KEY_CHARS]!r} is given twice")
        found[key] = value
    return found


def _constant(word: str) -> float:
    raise _AmbiguityError(f"{word} is not JSON")


def _finite(text: str) -> float:
    value = float(text)
    if not math.isfinite(value):
        raise _AmbiguityError("a number is out of range")
    return value


def _is_json(content_type: str | None) -> bool:
    media_type = (content_type or "").split(";")[0].strip().lower()
    return media_type == "application/json" or (media_type.startswith("application/") and media_type.endswith("+json"))


def _shown(name: str) -> str:
    """A client's name, short and printable, for a message."""
    return repr(name[:40].encode("ascii", "backslashreplace").decode())
