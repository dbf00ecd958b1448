"""The guard over text that arrives in pieces: nothing leaves that a later piece could turn into a credential.

1. `_context` is the end of what has left already, as it was: read again with every piece, never sent again.
2. `_held` waits: the unfinished run of token characters, what follows a credential word on its line and the next two,
   an open base64 block, a quoted word that code may compare, a private key without its end.
3. A run or a key that outgrows `MAX_HELD_CHARS` is suppressed until it ends; what was held is dropped, never released.
"""

from __future__ import annotations

import codecs

import re2

from mithril_proxy.secrets.guard import SecretGuard
from mithril_proxy.secrets.hits import Hit
from mithril_proxy.secrets.letters import INVISIBLE
from mithril_proxy.secrets.views import characters

CONTEXT_CHARS = 512
WATCH_CHARS = 512  # how far behind a credential word its value may still begin or end
WATCH_LINES = 3  # a YAML block value stands on the next line, an AWS pair on three
MAX_HELD_CHARS = 65_536  # the longest private key armour seen is 16 KB
OVERSIZED = "[REDACTED:oversized]"

_RUN = re2.compile(f"[A-Za-z0-9+/=_.~%:@\\\\&#;$^!*{INVISIBLE}-]+\\z".encode())
_RUN_END = re2.compile(f"[^A-Za-z0-9+/=_.~%:@\\\\&#;$^!*{INVISIBLE}-]".encode())
_BLOB = re2.compile(rb"[A-Za-z0-9+/_=-]{20,}(?:\r?\n[ \t>]*[A-Za-z0-9+/_=-]*)*\z")
_COMPARED = re2.compile(rb"\"[^\"\s]{0,200}(?:\"[ \t]*(?:[=!]{1,3}[ \t]*\w*)?)?\z")
_KEY_END = re2.compile(rb"-{4,5} ?END [A-Z0-9 ]{0,40}KEY(?: BLOCK)?(?: ?-{4,5})?|\r?\n[ \t]*\r?\n")
_WATCHED = re2.compile(
    rb"(?i)pass|pwd|pw\b|kennwort|senha|contrase|\xd0\xbf\xd0\xb0\xd1\x80\xd0\xbe\xd0\xbb\xd1\x8c|\xe5\xaf\x86\xe7\xa0\x81"
    rb"|\xe3\x83\x91\xe3\x82\xb9|secret|token|key|credential|auth|bearer|basic|\bpat\b|BEGIN|----|login|identified|sign|A[KS]IA"
    rb"|A3T|://|-u\b|--user|cookie|putty|flyv1"
)
_TAIL = re2.compile(rb"\A[\s\"',>|#*\\nr]*\z")


class StreamScrubber:
    """Scrubs one text stream. Feed pieces of any size; what comes out joins to a text without credentials."""

    def __init__(self, guard: SecretGuard) -> None:
        self._guard = guard
        self._context = ""
        self._held = ""
        self._until: re2._Regexp | None = None

    def feed(self, text: str) -> str:
        """What may leave now that `text` has arrived; maybe nothing."""
        self._held += text
        if self._until is not None and not self._resume():
            return ""
        cut = self._cut()
        if len(self._held) - cut > MAX_HELD_CHARS:
            return self._release(cut) + self._suppress()
        return self._release(cut) if cut else ""

    def close(self) -> str:
        """The rest of the stream."""
        if self._until is not None:
            self._held = ""
        return self._release(len(self._held), is_last=True)

    def _resume(self) -> bool:
        """Drop what is suppressed; False while it has not ended."""
        assert self._until is not None
        encoded = _encoded(self._held)
        end = self._until.search(encoded)
        if end is None:
            self._held = self._held[-96:] if self._until is _KEY_END else ""
            return False
        stop = end.end() if self._until is _KEY_END else end.start()
        self._held = encoded[stop:].decode("utf-8", "surrogatepass")
        self._context, self._until = "", None
        return True

    def _suppress(self) -> str:
        is_key = "PRIVATE KEY" in self._held[:4096]
        self._until = _KEY_END if is_key else _RUN_END
        self._held = self._held[-96:] if is_key else ""
        self._context = ""
        return OVERSIZED

    def _cut(self) -> int:
        """How much of the held text could leave by its form alone."""
        encoded = _encoded(self._held)
        cut = len(encoded)
        for shape in (_RUN, _BLOB, _COMPARED):
            open_run = shape.search(encoded)
            if open_run:
                cut = min(cut, open_run.start())
        return characters(encoded[: min(cut, _watch_start(encoded))])

    def _release(self, cut: int, *, is_last: bool = False) -> str:
        """The first `cut` characters without credentials, less what a hit at their end keeps back."""
        read = self._context + self._held
        before = len(self._context)
        hits = self._guard.scan(read)
        end = before + cut
        if not is_last:
            for hit in hits:
                if hit.end > before and (hit.start < end < hit.end or _is_open(read, hit, end)):
                    end = min(end, max(hit.start, before))
        clean = _clipped(read, hits, before, end)
        self._context = _whole_words(read[max(0, end - CONTEXT_CHARS) : end], is_all=end <= CONTEXT_CHARS)
        self._held = read[end:]
        return clean


class ByteScrubber:
    """Scrubs one UTF-8 byte stream, also when a piece ends inside a character."""

    def __init__(self, guard: SecretGuard) -> None:
        self._scrubber = StreamScrubber(guard)
        self._decoder = codecs.getincrementaldecoder("utf-8")("surrogateescape")

    def feed(self, piece: bytes) -> bytes:
        """What may leave now; maybe nothing."""
        return _bytes(self._scrubber.feed(self._decoder.decode(piece)))

    def close(self) -> bytes:
        """The rest of the stream."""
        rest = self._decoder.decode(b"", final=True)
        return _bytes(self._scrubber.feed(rest) + self._scrubber.close())


def _encoded(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "surrogateescape")


def _watch_start(encoded: bytes) -> int:
    """Where the earliest credential word stands whose value may still come."""
    floor = max(0, len(encoded) - WATCH_CHARS)
    for word in _WATCHED.finditer(encoded, floor):
        if encoded.count(b"\n", word.end()) < WATCH_LINES:
            return _token_start(encoded, word.start())
    return len(encoded)


def _token_start(encoded: bytes, at: int) -> int:
    """Where the run of non-blank bytes around `at` begins, so that no name is torn."""
    line = max(encoded.rfind(b" ", 0, at), encoded.rfind(b"\n", 0, at), encoded.rfind(b"\t", 0, at))
    return line + 1


def _is_open(read: str, hit: Hit, end: int) -> bool:
    """True for a private key that reaches the cut without its END line."""
    if hit.kind != "private_key" or "END" in read[max(hit.start, hit.end - 80) : hit.end]:
        return False
    return bool(hit.end >= end or _TAIL.search(_encoded(read[hit.end : end])))


def _clipped(read: str, hits: tuple[Hit, ...], start: int, end: int) -> str:
    """`read[start:end]` with the hits in it replaced."""
    pieces: list[str] = []
    done = start
    for hit in hits:
        if hit.end <= start or hit.start >= end:
            continue
        pieces += (read[done : max(done, hit.start)], hit.label)
        done = min(hit.end, end)
    return "".join((*pieces, read[done:end]))


def _whole_words(context: str, *, is_all: bool) -> str:
    """`context` from its first blank on: half a word would look like the beginning of one."""
    if is_all:
        return context
    blank = context.find(" ")
    return context[blank:] if blank >= 0 else context
