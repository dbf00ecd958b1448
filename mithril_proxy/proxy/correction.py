"""A reviewer's corrected text in place of a held one, in the write that would have been forwarded. Pure but the guard.

1. The text is replaced wherever the whole of it stands in the write; nothing else of the write changes.
2. Credentials in the new text are redacted like those of any write.
3. What is stored in pieces, or is not text, cannot be corrected: it is released as it is, or not at all.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from mithril_proxy.errors import InvalidTransition, RequestError
from mithril_proxy.secrets import SecretGuard
from mithril_proxy.store.interface import Correction
from mithril_proxy.types import QuarantineEntry


def as_typed(text: str) -> str:
    """A text as the person typed it: a browser sends every line end as CR LF."""
    return text.replace("\r\n", "\n")


async def corrected(entry: QuarantineEntry, text: str, guard: SecretGuard, max_chars: int) -> Correction:
    """The correction that puts `text` in the place of the entry's. Raises RequestError, InvalidTransition."""
    if not text.strip():
        raise RequestError("text: a corrected text cannot be empty; reject the claim instead", code="empty_text")
    if len(text) > max_chars:
        raise RequestError(f"text: longer than {max_chars} characters", code="text_too_long")
    redacted = (await guard.redact_async(text)).text
    prepared, count = _replaced(entry.prepared, entry.text, redacted)
    if count == 0:
        raise InvalidTransition("the text of this write does not stand in one piece and cannot be corrected")
    return Correction(redacted, prepared)


def _replaced(value: Any, old: str, new: str) -> tuple[Any, int]:
    """A JSON value with every string that is `old` replaced, and how many there were. Keys stay as they are."""
    if isinstance(value, str):
        return (new, 1) if value == old else (value, 0)
    if isinstance(value, Mapping):
        pairs = {key: _replaced(inner, old, new) for key, inner in value.items()}
        return {key: inner for key, (inner, _) in pairs.items()}, sum(count for _, count in pairs.values())
    if isinstance(value, (list, tuple)):
        several = [_replaced(inner, old, new) for inner in value]
        return [inner for inner, _ in several], sum(count for _, count in several)
    return value, 0
