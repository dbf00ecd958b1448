"""How many independent sources say the same: what copies, aliases and one shared document can never raise. Pure.

Two aligned memories depend on each other when they come from one lineage (a source, or several names that the policy
ties together), from one document (data id), or when one text is a copy of the other. Dependence is passed on: what
depends on the same memory is one voice. A voice that reaches back to the claim's own source is no voice at all.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import combinations

from mithril_proxy.chain.likeness import Wording
from mithril_proxy.types import Memory, Relation


@dataclass(frozen=True, slots=True)
class _Witness:
    """What one memory is known by."""

    lineage: str | None
    document: str | None
    wording: Wording

    def depends_on(self, other: _Witness) -> bool:
        return (
            (self.lineage is not None and self.lineage == other.lineage)
            or (self.document is not None and self.document == other.document)
            or self.wording.is_copy_of(other.wording)
        )


def independent_aligned(
    memories: tuple[Memory, ...],
    relations: tuple[Relation, ...],
    own_source: str,
    lineages: Mapping[str, str],
) -> int:
    """Independent voices among the memories that are aligned with a claim of `own_source`.

    `relations` holds one entry per memory; a memory without one is not aligned. `lineages` maps a source to the name
    it speaks for; a source that it leaves out speaks for itself, and a memory without a source stands alone.
    """
    pairs = zip(memories, relations, strict=False)
    aligned = [_witness(memory, lineages) for memory, relation in pairs if relation is Relation.ALIGNED]
    own = lineages.get(own_source, own_source)
    return sum(all(witness.lineage != own for witness in voice) for voice in _voices(aligned))


def _witness(memory: Memory, lineages: Mapping[str, str]) -> _Witness:
    lineage = None if memory.source is None else lineages.get(memory.source, memory.source)
    return _Witness(lineage, memory.data_id, Wording.of(memory.text))


def _voices(witnesses: list[_Witness]) -> list[list[_Witness]]:
    """The witnesses in groups, such that none depends on one of another group."""
    voice_of = list(range(len(witnesses)))
    for first, second in combinations(range(len(witnesses)), 2):
        if voice_of[first] != voice_of[second] and witnesses[first].depends_on(witnesses[second]):
            kept, joined = voice_of[first], voice_of[second]
            voice_of = [kept if voice == joined else voice for voice in voice_of]
    return [
        [witness for witness, voice in zip(witnesses, voice_of, strict=True) if voice == wanted]
        for wanted in sorted(set(voice_of))
    ]
