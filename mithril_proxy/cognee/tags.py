"""Node-set tags: which ones a client may send, and what an admitted write carries.

Cognee identifies a node set by its name in lower case with spaces as underscores and apostrophes dropped, so a write
tagged `VERIFIED` renames the node set `verified` (measured on 1.6.5). Tags are therefore compared in normal form.
"""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from mithril_proxy.policy import Forward
from mithril_proxy.types import Status

TWIN_SEPARATOR = "::"
MAX_TAG_CHARS = 128

# Sets that Cognee 1.6.5 itself gives to what it derives from sessions and skills; they name no source.
COGNEE_SETS = frozenset({"user_sessions_from_cache", "agent_trace_feedbacks", "session_learnings", "skills"})

_APOSTROPHES = str.maketrans("", "", "'\u2018\u2019\u02bc\u2032\uff07`")
_INVISIBLE = frozenset({"Cc", "Cf", "Co", "Cn", "Cs"})
_MAX_NESTING = 4


def normal_form(tag: str) -> str:
    """The form in which two tags are the same: NFKC, case folded, without apostrophes and invisible characters."""
    folded = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", tag).casefold())
    visible = "".join(char for char in folded if unicodedata.category(char) not in _INVISIBLE)
    return re.sub(r"[\s_]+", "_", visible.translate(_APOSTROPHES)).strip("_")


def slug(name: str) -> str:
    """`name` as a tag: `[a-z0-9_-]`, at most 63 characters, never empty. A registered source's name is its own slug."""
    if re.fullmatch(r"[a-z0-9][a-z0-9_-]{0,62}", name):
        return name
    plain = re.sub(r"[^a-z0-9_-]+", "-", normal_form(name)).strip("-_")
    return plain[:63] or "unnamed"


@dataclass(frozen=True, slots=True)
class Tags:
    """The tag rules of one policy. `sources` are the names of every source that may write."""

    forward: Forward
    sources: frozenset[str] = frozenset()

    @property
    def verified(self) -> str:
        """The tag of everything that was admitted."""
        return self.forward.verified_tag

    def is_reserved(self, tag: str) -> bool:
        """True when only Mithril may set it, in whatever spelling."""
        form = normal_form(tag)
        own = {normal_form(self.verified), normal_form(self.forward.low_confidence_tag)}
        known = {normal_form(source) for source in self.sources}
        return form in own | known or form.split(TWIN_SEPARATOR)[0].strip("_") in own

    def split_client(self, values: Iterable[object]) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """(kept, forged): the client's own tags in normal form, and the normal forms of those that are reserved."""
        flat = [tag for value in values for tag in _flat(value)]
        forged = [normal_form(tag) for tag in flat if self.is_reserved(tag)]
        kept = [normal_form(tag)[:MAX_TAG_CHARS] for tag in flat if not self.is_reserved(tag)]
        return tuple(dict.fromkeys(tag for tag in kept if tag)), tuple(dict.fromkeys(forged))

    def for_forward(
        self, status: Status, source: str, client_tags: Iterable[str] = (), *, is_session: bool = False
    ) -> tuple[str, ...]:
        """The tags of an admitted write: verified, its source, the client's tags and their `verified::` twins.

        A session keeps the first set it was given and refuses another (409): its writes carry the constant part only.
        """
        constant = (self.verified, slug(source))
        if is_session:
            return constant
        low = (self.forward.low_confidence_tag,) if status is not Status.ACCEPT else ()
        own = tuple(tag for tag in client_tags if not self.is_reserved(tag))
        return tuple(dict.fromkeys((*constant, *low, *own, *(self.twin(tag) for tag in own))))

    def twin(self, tag: str) -> str:
        """The tag that stands for "verified and `tag`", since Cognee can only filter by OR."""
        return f"{self.verified}{TWIN_SEPARATOR}{normal_form(tag)[:MAX_TAG_CHARS]}"

    def narrowed(self, node_names: Iterable[object]) -> tuple[str, ...]:
        """What `node_name` becomes: verified alone, or the twins of the tags that the client narrowed to."""
        kept, forged = self.split_client(node_names)
        return (self.verified,) if forged or not kept else tuple(self.twin(tag) for tag in kept)

    def is_verified(self, node_sets: object) -> bool:
        """True when a stored memory's own node sets hold the verified tag, exactly as Mithril writes it."""
        return isinstance(node_sets, (list, tuple)) and self.verified in node_sets

    def source_of(self, node_sets: Iterable[object]) -> str | None:
        """The source among a memory's node sets: a known one, else the tag that has no twin and is nobody else's."""
        tags = [tag for tag in node_sets if isinstance(tag, str)]
        for tag in tags:
            if tag in self.sources:
                return tag
        own = {self.verified, self.forward.low_confidence_tag} | COGNEE_SETS
        left = [tag for tag in tags if tag not in own and TWIN_SEPARATOR not in tag and self.twin(tag) not in tags]
        return left[0] if left else None


def _flat(value: object, depth: int = 0) -> Iterator[str]:
    """The tags in a value: a string, a list, or a string that is itself a JSON list (one MCP client sends that)."""
    if depth > _MAX_NESTING:
        return
    if isinstance(value, (list, tuple)):
        for entry in value:
            yield from _flat(entry, depth + 1)
    elif isinstance(value, str):
        inner = _json_value(value)
        if inner is None:
            yield value
        else:
            yield from _flat(inner, depth + 1)


def _json_value(text: str) -> list[object] | str | None:
    if not text.lstrip().startswith(("[", '"')):
        return None
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, (list, str)) else None
