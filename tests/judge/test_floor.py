"""The local rules are a floor under the model: never outvoted, and not lost when the model is."""

from __future__ import annotations

import pytest

from mithril_proxy.errors import JudgeUnavailable
from mithril_proxy.judge.floor import FlooredJudge
from mithril_proxy.types import Finding, Relation, Verdict
from tests.judge.fakes import Answer, ScriptedJudge, memories

A, C, U = Relation.ALIGNED, Relation.CONTRADICTS, Relation.UNRELATED
RULE = Finding("contradiction", "danger.exfiltration", "", 0.9)
FLOOR = Verdict(0.7, 0.9, (A, C), (RULE,))
CONTEXT = memories(["one", "two"])


def floored(llm: Answer, floor: Verdict = FLOOR) -> FlooredJudge:
    return FlooredJudge(ScriptedJudge([llm]), ScriptedJudge([floor]))


async def test_a_model_that_sees_nothing_cannot_lower_what_the_rules_see() -> None:
    verdict = await floored(Verdict(0.0, 0.0, (U, A), model="m", prompt_digest="d")).judge("text", CONTEXT)
    assert (verdict.contradiction, verdict.content_danger) == (0.7, 0.9)
    assert verdict.relations == (U, C)
    assert verdict.findings == (RULE,)
    assert (verdict.model, verdict.prompt_digest) == ("m+local", "d")


async def test_a_model_may_see_more_than_the_rules() -> None:
    verdict = await floored(Verdict(0.8, 0.95, (C, C), model="m"), Verdict(0.1, 0.2, (U, U))).judge("text", CONTEXT)
    assert (verdict.contradiction, verdict.content_danger, verdict.relations) == (0.8, 0.95, (C, C))


async def test_both_judges_see_the_same_claim() -> None:
    judge = floored(Verdict(0.0, 0.0))
    await judge.judge("text", CONTEXT)
    for asked in (judge.llm, judge.local):
        assert isinstance(asked, ScriptedJudge)
        assert asked.asked == [("text", CONTEXT)]


async def test_without_the_model_the_error_carries_what_the_rules_found_and_no_support() -> None:
    with pytest.raises(JudgeUnavailable) as caught:
        await floored(JudgeUnavailable("timeout")).judge("text", CONTEXT)
    assert caught.value.reason == "timeout"
    partial = caught.value.partial
    assert partial is not None
    assert (partial.contradiction, partial.content_danger, partial.relations) == (0.7, 0.9, (U, C))
    assert partial.findings == (RULE,)


async def test_what_an_unfinished_judgement_found_counts_as_well() -> None:
    unfinished = JudgeUnavailable("malformed", partial=Verdict(0.75, 0.1, (C, A), model="m", prompt_digest="d"))
    with pytest.raises(JudgeUnavailable) as caught:
        await floored(unfinished).judge("text", CONTEXT)
    partial = caught.value.partial
    assert partial is not None
    assert (partial.contradiction, partial.content_danger, partial.relations) == (0.75, 0.9, (C, C))
    assert partial.prompt_digest == "d"
