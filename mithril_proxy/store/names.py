"""Which names a source may have. Pure.

A source's name tags its memories, so it must never be mistaken for one of Mithril's own tags, however it is spelled.
"""

from __future__ import annotations

import re
import unicodedata

from mithril_proxy.errors import InvalidTransition

RESERVED = frozenset({"verified", "low_confidence", "unknown-agent"})
_SLUG = re.compile(r"[a-z0-9][a-z0-9_-]{0,62}")


def normal_form(name: str) -> str:
    """A tag as Cognee compares it: NFKC, casefolded, spaces as underscores, apostrophes dropped."""
    return unicodedata.normalize("NFKC", name).casefold().replace(" ", "_").replace("'", "").replace("\u2019", "")


def check_source_name(name: str) -> None:
    """Nothing when a source may be called `name`. Raises InvalidTransition that says what is wrong with it."""
    if normal_form(name) in {normal_form(reserved) for reserved in RESERVED}:
        raise InvalidTransition(f"{name!r} is reserved: it would look like one of Mithril's own tags")
    if _SLUG.fullmatch(name) is None:
        raise InvalidTransition(
            "a source name has 1 to 63 characters of a-z, 0-9, _ and -, and begins with a letter or digit"
        )
