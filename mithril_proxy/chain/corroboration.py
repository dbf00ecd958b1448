"""How many independent sources say the same: what copies, aliases and one shared document can never raise. Pure.

Two aligned memories depend on each other when they come from one lineage (a source, or several names that the policy
ties together), from one document (data id), or when one text is a copy of the other. Dependence is passed on: what
depends on the same memory is one voice. A voice that reaches back to the claim's own source is no voice at all.
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import combinations

from mithril_proxy.chain.likeness import is_copy
from mithril_proxy.types import Memory, Relation


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
    aligned = [memory for memory, relation in pairs if relation is Relation.ALIGNED]
    own = lineages.get(own_source, own_source)
    return sum(all(_lineage(memory, lineages) != own for memory in voice) for voice in _voices(aligned, lineages))


def _voices(memories: list[Memory], lineages: Mapping[str, str]) -> list[list[Memory]]:
    """The memories in groups, such that no memory depends on one of another group."""
    group_of = list(range(len(memories)))
    for first, second in combinations(range(len(memories)), 2):
        if group_of[first] != group_of[second] and _depend(memories[first], memories[second], lineages):
            joined, left = group_of[first], group_of[second]
            group_of = [joined if group == left else group for group in group_of]
    return [
        [memory for memory, group in zip(memories, group_of, strict=True) if group == wanted]
        for wanted in sorted(set(group_of))
    ]


def _depend(first: Memory, second: Memory, lineages: Mapping[str, str]) -> bool:
    lineage = _lineage(first, lineages)
    return (
        (lineage is not None and lineage == _lineage(second, lineages))
        or (first.data_id is not None and first.data_id == second.data_id)
        or is_copy(first.text, second.text)
    )


def _lineage(memory: Memory, lineages: Mapping[str, str]) -> str | None:
    return None if memory.source is None else lineages.get(memory.source, memory.source)
