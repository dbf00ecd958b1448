"""How far a private key reaches after its `-----BEGIN … PRIVATE KEY-----` line.

1. To the END line, when one follows within 64 KB and no other key begins before it.
2. Else over the lines that look like its body, quoted, indented or escaped as they may be.
3. A header that is only named in prose has no body and is no key.
"""

from __future__ import annotations

import re2

MAX_KEY_BYTES = 65_536
_END = re2.compile(rb"-{4,5} ?END [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?(?: ?-{4,5})?|-{4,5} ?BEGIN ")
_BODY = re2.compile(rb"[A-Za-z0-9+/=_-]{16,}")
_BREAK = rb"(?:\r?\n|(?:\\\\?r)?\\\\?n)"
_FIRST_LINE = re2.compile(rb"^[\"', \t]*" + _BREAK + rb"[>\s\"'|#*]*[^\s\"'][^\r\n]*")
_LINES = re2.compile(
    rb"^(?:[ \t]*(?:" + _BREAK + rb"|,)[>\s\"'|#*]*(?:[A-Za-z0-9-]{3,20}: [^\r\n\\]*|[A-Za-z0-9+/=_-]{4,}[\"',]*))+"
)
_ONE_LINE = re2.compile(rb"^(?:[ \t]+[A-Za-z0-9+/=_-]{16,})+")


def key_end(encoded: bytes, header_end: int) -> int | None:
    """Where the key whose header ends at `header_end` ends; None when only a header stands there."""
    tail = encoded[header_end : header_end + MAX_KEY_BYTES]
    end = _END.search(tail)
    if end and b"END" in end.group():
        body = tail[: end.start()]
        return header_end + end.end() if _is_body(body) else None
    if end:
        tail = tail[: end.start()]
    for shape in (_LINES, _FIRST_LINE, _ONE_LINE):
        body = shape.search(tail)
        if body:
            return header_end + _grown(tail, body.end())
    return None


def _is_body(body: bytes) -> bool:
    return bool(body.strip()) and bool(_FIRST_LINE.search(body) or _BODY.search(body))


def _grown(tail: bytes, done: int) -> int:
    """`done`, or further when more body lines follow the first."""
    more = _LINES.search(tail[done:])
    return done + (more.end() if more else 0)
