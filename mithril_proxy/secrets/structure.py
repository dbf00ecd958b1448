"""JSON values: every string is judged with the key it stands under and the fields beside it, never as serialised text.

1. Types stay: an object stays an object, a string a string; numbers, booleans and null are not touched.
2. A string under a credential-like key is an assignment; `{"name": "DB_PASSWORD", "value": "…"}` is one, too.
3. A string that holds JSON is walked as JSON, three deep. What did not change is returned as the very same object.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field, replace
from typing import Protocol

from mithril_proxy.secrets.assignments import is_named_credential
from mithril_proxy.secrets.hits import FieldHit, Hit, Redacted, RedactedValue, Span, merge

MAX_NESTING = 128  # twice what the default policy lets in; deeper values are replaced, not passed on unread
MAX_JSON_IN_STRINGS = 3
MAX_NAME_CHARS = 128
_NAME_KEYS = ("name", "key", "env", "field", "label", "variable", "param", "id")
_VALUE_KEYS = ("value", "val", "content", "default", "data", "secret", "text")
_AWS_SECRET = re.compile(r"[A-Za-z0-9/+]{40}")
_PLAIN_KEY = re.compile(r"[A-Za-z_][\w-]*")


class Scanner(Protocol):
    """The part of the guard that is needed here."""

    @property
    def assignment_rank(self) -> int | None:
        """The rank of the rule that names assignments; None when no pack has one."""
        ...

    def spans(self, text: str, depth: int = 0) -> list[Span]:
        """What stands in a text."""
        ...

    def hit(self, rank: int, value: str, start: int, end: int) -> Hit:
        """The hit of a rule."""
        ...

    def redact_spans(self, text: str, spans: list[Span]) -> Redacted:
        """The text without these spans and whatever the result still holds."""
        ...


@dataclass(slots=True)
class _Walk:
    """One walk over one value: collects the hits."""

    guard: Scanner
    hits: list[FieldHit] = field(default_factory=list)

    def value(self, value: object, path: str, key: str, nesting: int, inner: int) -> object:
        if isinstance(value, str):
            return self.string(value, path, key, nesting, inner)
        if isinstance(value, (dict, list)) and nesting >= MAX_NESTING:
            self.hits.append(FieldHit(path, Hit("too_deep", "redact.too-deep", 0, 0)))
            return "[REDACTED:too_deep]"
        if isinstance(value, dict):
            return self.mapping(value, path, nesting, inner)
        if isinstance(value, list):
            return self.sequence(value, path, key, nesting, inner)
        return value

    def string(self, text: str, path: str, key: str, nesting: int, inner: int) -> str:
        unpacked = self.packed_json(text, path, key, nesting, inner)
        if unpacked is not None:
            return unpacked
        spans = self.guard.spans(text)
        rank = self.guard.assignment_rank
        if rank is not None and key and is_named_credential(key, text):
            spans = merge([*spans, Span(0, len(text), rank)])
        return self.without(text, spans, path)

    def without(self, text: str, spans: list[Span], path: str) -> str:
        if not spans:
            return text
        redacted = self.guard.redact_spans(text, spans)
        self.hits += [FieldHit(path, hit) for hit in redacted.hits]
        return redacted.text

    def packed_json(self, text: str, path: str, key: str, nesting: int, inner: int) -> str | None:
        """`text` again as JSON when it holds an object or array; None when it is no such thing."""
        if inner >= MAX_JSON_IN_STRINGS or text.lstrip()[:1] not in ("{", "["):
            return None
        try:
            held = json.loads(text)
        except (ValueError, RecursionError):
            return None
        walked = self.value(held, path, key, nesting + 1, inner + 1)
        return text if walked is held else json.dumps(walked, ensure_ascii=False)

    def mapping(self, table: dict[str, object], path: str, nesting: int, inner: int) -> dict[str, object]:
        named = _sibling_names(table)
        before = len(self.hits)
        walked: dict[str, object] = {}
        for key, value in table.items():
            below = _below(path, key)
            walked[self.key(key, below, walked)] = self.value(value, below, named.get(key, key), nesting + 1, inner)
        if any(found.hit.kind == "aws_access_key" for found in self.hits[before:]):
            self.aws_siblings(walked, path)
        return walked if len(self.hits) > before else table

    def key(self, key: str, path: str, taken: dict[str, object]) -> str:
        """A key without credentials, still distinct from the others."""
        clean = self.without(key, self.guard.spans(key), path) if isinstance(key, str) else key
        while clean in taken:
            clean += "_"
        return clean

    def aws_siblings(self, table: dict[str, object], path: str) -> None:
        """The secret half of an AWS key pair, known only by the access key beside it."""
        for key, value in table.items():
            if isinstance(value, str) and _AWS_SECRET.fullmatch(value) and re.search(r"[G-Zg-z/+]", value):
                found = replace(self.aws_hit(), start=0, end=len(value))
                self.hits.append(FieldHit(_below(path, key), found))
                table[key] = found.label

    def aws_hit(self) -> Hit:
        return next(found.hit for found in reversed(self.hits) if found.hit.kind == "aws_access_key")

    def sequence(self, values: list[object], path: str, key: str, nesting: int, inner: int) -> list[object]:
        before = len(self.hits)
        lines = self.key_lines(values, path)
        walked = [self.value(value, f"{path}[{index}]", key, nesting + 1, inner) for index, value in enumerate(lines)]
        return walked if len(self.hits) > before else values

    def key_lines(self, values: list[object], path: str) -> list[object]:
        """`values` with a private key removed that is spread over them line by line."""
        if not any(isinstance(value, str) and "BEGIN" in value for value in values):
            return values
        lines = [value if isinstance(value, str) else "" for value in values]
        spans = [span for span in self.guard.spans("\n".join(lines)) if span.end - span.start > 40]
        return [
            self.without(value, _overlap(spans, lines, index), f"{path}[{index}]") if isinstance(value, str) else value
            for index, value in enumerate(values)
        ]


def _overlap(spans: list[Span], lines: list[str], index: int) -> list[Span]:
    """What of `spans` over the joined lines lies in line `index`, when the span reaches beyond that line."""
    start = sum(len(line) + 1 for line in lines[:index])
    end = start + len(lines[index])
    return [
        Span(max(span.start, start) - start, min(span.end, end) - start, span.rank)
        for span in spans
        if span.start < end and span.end > start and not (start <= span.start and span.end <= end)
    ]


def _below(path: str, key: str) -> str:
    if not _PLAIN_KEY.fullmatch(str(key)):
        return f"{path}[*]"
    return f"{path}.{key}" if path else key


def _sibling_names(table: dict[str, object]) -> dict[str, str]:
    """For each value field of `{"name": "DB_PASSWORD", "value": …}`, the name beside it."""
    lowered = {key.lower(): key for key in table if isinstance(key, str)}
    names = (table[lowered[key]] for key in _NAME_KEYS if key in lowered)
    name = next((one for one in names if isinstance(one, str)), "")
    if not name or len(name) > MAX_NAME_CHARS:
        return {}
    return {lowered[key]: name for key in _VALUE_KEYS if key in lowered}


def redact_value(guard: Scanner, value: object, path: str) -> RedactedValue:
    """`value` without credentials; the same object when it holds none."""
    walk = _Walk(guard)
    walked = walk.value(value, path, path.rpartition(".")[2], 0, 0)
    return RedactedValue(walked, tuple(walk.hits))
