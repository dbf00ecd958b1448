"""Who counts as another voice: independent sources only."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mithril_proxy.chain.corroboration import independent_aligned
from mithril_proxy.chain.gate import gate
from mithril_proxy.chain.score import corroboration, trust_score
from mithril_proxy.types import Memory, Relation, Signals, Status
from tests.chain.decisions import DEFAULT

A, C, U = Relation.ALIGNED, Relation.CONTRADICTS, Relation.UNRELATED
TEXTS = (
    "The deploy freeze starts on Friday at noon UTC.",
    "From noon on Friday nobody may deploy, says the release calendar.",
    "Release management closed the pipeline: no rollouts after Friday 12:00.",
    "Change board minutes record that the freeze begins with Friday's lunch.",
)


def chunk(text: int, source: str | None, data_id: str | None = None) -> Memory:
    return Memory(TEXTS[text], source, data_id=data_id)


def count(*memories: Memory, own: str = "me", lineages: dict[str, str] | None = None) -> int:
    return independent_aligned(memories, (A,) * len(memories), own, lineages or {})


@pytest.mark.parametrize(
    ("memories", "expected"),
    [
        ((), 0),
        ((chunk(0, "docs"),), 1),
        ((chunk(0, "docs"), chunk(1, "slack")), 2),
        ((chunk(0, None), chunk(1, None)), 2),
        ((chunk(0, "docs"), chunk(1, "docs")), 1),
        ((chunk(0, "docs"), chunk(0, "slack")), 1),
        ((chunk(0, None), chunk(0, None), chunk(0, None)), 1),
        ((chunk(0, "docs", "d1"), chunk(1, "slack", "d1")), 1),
        ((chunk(0, "docs", "d1"), chunk(1, "slack", "d2")), 2),
        ((chunk(0, "me"),), 0),
        ((chunk(0, "me"), chunk(1, "docs")), 1),
        ((chunk(0, "me"), chunk(0, "docs")), 0),
        ((chunk(0, "me", "d1"), chunk(1, "docs", "d1")), 0),
        ((chunk(0, "docs"), chunk(0, "slack"), chunk(1, "slack"), chunk(2, "wiki")), 2),
        ((chunk(0, "a"), chunk(1, "b"), chunk(2, "c"), chunk(3, "d")), 4),
    ],
)
def test_only_independent_voices_count(memories: tuple[Memory, ...], expected: int) -> None:
    assert count(*memories) == expected
    assert count(*memories[::-1]) == expected


def test_names_of_one_lineage_are_one_voice() -> None:
    bots = {"slack-bot": "slack", "slack-import": "slack"}
    assert count(chunk(0, "slack-bot"), chunk(1, "slack-import"), chunk(2, "slack"), lineages=bots) == 1
    assert count(chunk(0, "slack-bot"), own="slack-import", lineages=bots) == 0


@pytest.mark.parametrize("relation", [U, C])
def test_memories_that_are_not_aligned_do_not_count(relation: Relation) -> None:
    assert independent_aligned((chunk(0, "a"), chunk(1, "b")), (A, relation), "me", {}) == 1


def test_a_memory_without_a_relation_is_not_aligned() -> None:
    assert independent_aligned((chunk(0, "a"), chunk(1, "b")), (A,), "me", {}) == 1


def test_two_chunks_of_two_sources_lift_098_from_warn_to_accept() -> None:
    seen = []
    for memories in ((), (chunk(0, "docs"), chunk(1, "slack"))):
        signals = Signals(0.98, corroboration(count(*memories), DEFAULT))
        trust = trust_score(signals, DEFAULT)
        seen.append((round(trust.score, 3), gate(trust, signals, (), DEFAULT)))
    assert seen == [(0.842, Status.WARN), (0.890, Status.ACCEPT)]


memory = st.builds(
    Memory,
    st.sampled_from(TEXTS),
    st.sampled_from([None, "me", "a", "b", "c"]),
    data_id=st.sampled_from([None, "d1", "d2"]),
)


@given(st.lists(memory, max_size=7), st.data())
def test_what_depends_on_a_memory_never_raises_the_count(memories: list[Memory], data: st.DataObject) -> None:
    if not memories:
        return
    root = data.draw(st.sampled_from(memories))
    copy = Memory(f"Note: {root.text.upper()}", data.draw(st.sampled_from([None, "me", "a", "new"])))
    assert count(*memories, copy) <= count(*memories)


@given(st.lists(memory, max_size=7))
def test_there_are_never_more_voices_than_other_names(memories: list[Memory]) -> None:
    nameless = sum(one.source is None for one in memories)
    assert count(*memories) <= nameless + len({one.source for one in memories} - {None, "me"})
