"""Several verdicts become one: evidence against a claim is never lost."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mithril_proxy.judge.verdicts import above_floor, both, either, worse
from mithril_proxy.types import Finding, Relation, Verdict

A, C, U = Relation.ALIGNED, Relation.CONTRADICTS, Relation.UNRELATED


@pytest.mark.parametrize(
    ("combine", "table"),
    [
        (both, {(A, A): A, (A, U): U, (U, A): U, (U, U): U, (A, C): C, (C, A): C, (U, C): C, (C, U): C, (C, C): C}),
        (either, {(A, A): A, (A, U): A, (U, A): A, (U, U): U, (A, C): C, (C, A): C, (U, C): C, (C, U): C, (C, C): C}),
        (
            above_floor,
            {(A, A): A, (A, U): A, (U, A): U, (U, U): U, (A, C): C, (C, A): C, (U, C): C, (C, U): C, (C, C): C},
        ),
    ],
)
def test_relations_combine(
    combine: Callable[[Relation, Relation], Relation], table: dict[tuple[Relation, Relation], Relation]
) -> None:
    assert {pair: combine(*pair) for pair in table} == table


unit = st.floats(0, 1)
finding = st.builds(Finding, st.just("contradiction"), st.sampled_from(["a.b", "c.d"]), st.just(""), unit)
verdict = st.builds(
    Verdict,
    unit,
    unit,
    relations=st.lists(st.sampled_from(list(Relation)), max_size=3).map(tuple),
    findings=st.lists(finding, max_size=3).map(tuple),
    model=st.sampled_from(["m", "local"]),
)


@given(verdict, verdict, st.sampled_from([both, either, above_floor]))
def test_no_score_is_lower_and_no_finding_is_lost(
    first: Verdict, second: Verdict, combine: Callable[[Relation, Relation], Relation]
) -> None:
    combined = worse(first, second, combine)
    for part in (first, second):
        assert combined.contradiction >= part.contradiction
        assert combined.content_danger >= part.content_danger
        assert set(part.findings) <= set(combined.findings)
        pairs = zip(part.relations, combined.relations, strict=False)
        assert all(after is C for before, after in pairs if before is C)
    assert len(combined.relations) == max(len(first.relations), len(second.relations))


def test_both_models_are_named_and_the_prompts_kept() -> None:
    combined = worse(Verdict(0, 0, model="m", prompt_digest="d"), Verdict(0, 0, model="local"), above_floor)
    assert (combined.model, combined.prompt_digest) == ("m+local", "d")
