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
_BREAK = rb"(?:\r?\n|(?:\\+r)?\\+n)"
_FIRST_LINE = re2.compile(rb"[\"', \t]*" + _BREAK + rb"[>\s\"'|#*]*[^\s\"'>|#*-][^\r\n]*")
_LINES = re2.compile(
    rb"(?:[ \t]*(?:" + _BREAK + rb"|,)[>\s\"'|#*]*(?:[A-Za-z0-9-]{3,20}: [^\r\n\\]*|[A-Za-z0-9+/=_]{4,}[\"',]*))+"
)
_ONE_LINE = re2.compile(rb"(?:[ \t]+[A-Za-z0-9+/=_-]{16,})+")


def key_end(encoded: bytes, header_end: int) -> int | None:
    """Where the key whose header ends at `header_end` ends; None when only a header stands there."""
    limit = min(len(encoded), header_end + MAX_KEY_BYTES)
    end = _END.search(encoded, header_end, limit)
    if end and b"END" in end.group():
        return end.end() if _is_body(encoded, header_end, end.start()) else None
    limit = end.start() if end else limit
    for shape in (_LINES, _FIRST_LINE, _ONE_LINE):
        body = shape.match(encoded, header_end, limit)
        if body:
            more = _LINES.match(encoded, body.end(), limit)
            return int(more.end() if more else body.end())
    return None


def _is_body(encoded: bytes, start: int, end: int) -> bool:
    """True when a key stands between header and END: lines of their own, or a run that no sentence holds."""
    return bool(_FIRST_LINE.match(encoded, start, end) or _BODY.search(encoded, start, end))
