"""The last writes of every source and about every entity, within bounds: in memory, gone with the process.

1. A ring holds the last `max_writes` notes of one source or entity that are younger than `window_s`.
2. There are at most `max_keys` rings and `max_bytes` of text in all; the ring that was used least recently goes first.
3. Rings about entities belong to one dataset: what is written in one is never joined with another.
"""

from __future__ import annotations

import re
from collections import OrderedDict
from dataclasses import dataclass

from mithril_proxy.clock import Clock
from mithril_proxy.policy import Joins as JoinsRule

_Key = tuple[str, str, str]

NOTE_BYTES = 300  # what a note costs beside its text: objects, digest, ring
_ENTITY = re.compile(
    r"[\w.+-]+@[\w-]+(?:\.[\w-]+)+"  # mail address
    r"|\b(?:[a-z0-9-]+\.)+[a-z]{2,24}\b(?:/[\w./-]*)?"  # host or URL
    r"|\b\d{1,3}(?:\.\d{1,3}){3}\b"  # IPv4
    r"|\B@\w{3,40}"  # handle
    r"|(?<=\s)~?/[\w./-]{3,}"  # path
    r"|\b[A-Za-z]+(?:[-_][A-Za-z0-9]+)+\b"  # backup-host, DB_PRIMARY
    r"|\b[A-Z]{2,}[-_]?\d+\b"  # OPS-1234
    r"|(?<=[a-z,] )[A-Z][\w]{2,}(?: [A-Z]\w+)*"  # a name inside a sentence
)


@dataclass(frozen=True, slots=True)
class Note:
    """One write as it is remembered."""

    digest: str
    text: str
    principal: str


@dataclass(frozen=True, slots=True)
class _Dated:
    note: Note
    at_s: float


class RecentWrites:
    """What was written lately, by source and by entity."""

    def __init__(self, rule: JoinsRule, clock: Clock) -> None:
        self._rule = rule
        self._clock = clock
        self._rings: OrderedDict[_Key, tuple[_Dated, ...]] = OrderedDict()
        self.bytes = 0

    def __len__(self) -> int:
        return len(self._rings)

    def written_by(self, principal: str) -> tuple[Note, ...]:
        """The last writes of a principal, oldest first."""
        return tuple(dated.note for dated in self._touch(("written", "", principal)))

    def about(self, dataset: str | None, entities: tuple[str, ...]) -> tuple[Note, ...]:
        """The last admitted writes in a dataset that name any of these entities, oldest first."""
        dated = {one for entity in entities for one in self._touch(("about", dataset or "", entity))}
        ordered = sorted(dated, key=lambda one: (one.at_s, one.note.digest))
        return tuple(one.note for one in ordered[-self._rule.max_writes :])

    def remember_written(self, note: Note) -> None:
        """Add a write to its principal's ring; one that is there already becomes the newest."""
        self._add(("written", "", note.principal), note)

    def remember_about(self, dataset: str | None, entity: str, note: Note) -> None:
        """Add an admitted write to an entity's ring."""
        self._add(("about", dataset or "", entity), note)

    def forget_written(self, note: Note) -> None:
        """Take a write out of its principal's ring."""
        key = ("written", "", note.principal)
        self._put(key, tuple(dated for dated in self._live(key) if dated.note.digest != note.digest))

    def _touch(self, key: _Key) -> tuple[_Dated, ...]:
        """What lives in a ring, which is the most recently used one from now on."""
        live = self._live(key)
        self._put(key, live)
        return live

    def _live(self, key: _Key) -> tuple[_Dated, ...]:
        oldest_s = self._clock.monotonic_s() - self._rule.window_s
        return tuple(dated for dated in self._rings.get(key, ()) if dated.at_s > oldest_s)

    def _add(self, key: _Key, note: Note) -> None:
        others = tuple(dated for dated in self._live(key) if dated.note.digest != note.digest)
        added = (*others, _Dated(note, self._clock.monotonic_s()))
        self._put(key, added[-self._rule.max_writes :])
        while len(self._rings) > self._rule.max_keys or self.bytes > self._rule.max_bytes:
            self.bytes -= _size(self._rings.popitem(last=False)[1])

    def _put(self, key: _Key, ring: tuple[_Dated, ...]) -> None:
        """Make `ring` the newest one; an empty ring is none."""
        self.bytes += _size(ring) - _size(self._rings.pop(key, ()))
        if ring:
            self._rings[key] = ring


def entities_of(text: str, most: int) -> tuple[str, ...]:
    """The first `most` things that a text names, casefolded: hosts, addresses, paths, identifiers, names."""
    found = dict.fromkeys(match.group().rstrip("./").casefold() for match in _ENTITY.finditer(text[:4000]))
    return tuple(found)[:most]


def _size(ring: tuple[_Dated, ...]) -> int:
    return sum(len(dated.note.text.encode("utf-8", "surrogatepass")) + NOTE_BYTES for dated in ring)
