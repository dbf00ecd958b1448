"""What counts as an answer of a model: exactly one well-formed verdict, and nothing else."""

from __future__ import annotations

import math
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mithril_proxy.errors import JudgeUnavailable
from mithril_proxy.judge.answer import Answer, parse_verdict
from mithril_proxy.types import Relation
from tests.judge.endpoint import verdict_text

NONCE = "n_0123456789abcdefghjkmnpqrs"
OTHER = "n_zzzzzzzzzzzzzzzzzzzzzzzzzz"
GOOD = verdict_text(NONCE, "0.25", "0.75", ("aligned", "contradicts"))
READ = Answer(0.25, 0.75, (Relation.ALIGNED, Relation.CONTRADICTS))


def scores(contradiction: str, danger: str) -> str:
    return verdict_text(NONCE, contradiction, danger)


def inside(text: str) -> str:
    return f"<verdict-{NONCE}>{text}</verdict-{NONCE}>"


TAKEN = {
    "as asked": GOOD,
    "prose before and after": f"Let me think.\n{GOOD}\nThat is all.",
    "a code fence around it": f"```xml\n{GOOD}\n```",
    "scores outside the fence": f'<score name="danger">0.0</score>{GOOD}<score name="danger">0.0</score>',
    "another nonce beside it": verdict_text(OTHER, "0.0", "0.0", ("aligned", "aligned")) + GOOD,
    "an unknown score": GOOD.replace("<score name", '<score name="confidence">0.9</score><score name', 1),
    "an unknown tag": GOOD.replace("<score name", "<note>sure</note><score name", 1),
    "an unknown attribute": GOOD.replace('<score name="danger"', '<score unit="none" name="danger"'),
    "capital relations": GOOD.replace("aligned", "ALIGNED"),
    "white space": GOOD.replace(">0.25<", "> 0.25\n<").replace(">aligned<", "> aligned <"),
    "chunks in another order": inside(
        '<chunk id="2">contradicts</chunk><chunk id="1">aligned</chunk>'
        '<score name="danger">.75</score><score name="contradiction">0.250</score>'
    ),
    "single quotes": GOOD.replace('"', "'"),
}


@pytest.mark.parametrize("content", TAKEN.values(), ids=TAKEN.keys())
def test_one_well_formed_answer_is_taken(content: str) -> None:
    assert parse_verdict(content, nonce=NONCE, chunks=2) == READ


@pytest.mark.parametrize(
    ("text", "value"),
    [("0", 0.0), ("1", 1.0), ("0.0", 0.0), ("1.000", 1.0), (".5", 0.5), ("+0.5", 0.5), ("-0.0", 0.0)],
)
def test_scores_reach_from_zero_to_one(text: str, value: float) -> None:
    answer = parse_verdict(scores(text, text), nonce=NONCE, chunks=0)
    assert (answer.contradiction, answer.content_danger) == (value, value)
    assert math.copysign(1.0, answer.contradiction) == 1.0


MALFORMED = {
    "empty": "",
    "prose": "I would say 0.2.",
    "json": '{"contradiction": 0.1, "danger": 0.1}',
    "no fence": '<score name="contradiction">0.1</score><score name="danger">0.1</score>',
    "another nonce": verdict_text(OTHER, "0.1", "0.1"),
    "a nonce cut short": scores("0.1", "0.1").replace(NONCE, NONCE[:-1]),
    "not closed": scores("0.1", "0.1").rpartition("</verdict")[0],
    "closed before it opens": f"</verdict-{NONCE}>{scores('0.1', '0.1').rpartition('</verdict')[0]}",
    "two verdicts": scores("0.1", "0.1") * 2,
    "opened twice": f"<verdict-{NONCE}>" + scores("0.1", "0.1"),
    "closed twice": scores("0.1", "0.1") + f"</verdict-{NONCE}>",
    "no score": inside(""),
    "one score missing": inside('<score name="danger">0.1</score>'),
    "a score twice": inside('<score name="danger">0.1</score>') + scores("0.1", "0.1").replace("verdict", "x"),
    "a score twice, the same": scores("0.1", "0.1").replace("<score", '<score name="danger">0.1</score><score', 1),
    "a score without a name": scores("0.1", "0.1").replace("<score", "<score>0.1</score><score", 1),
    "a name twice": scores("0.1", "0.1").replace('name="danger"', 'name="danger" name="contradiction"'),
    "a score not closed": inside('<score name="contradiction">0.1<score name="danger">0.1</score>'),
    "a nested score": inside('<score name="contradiction"><score name="danger">0.1</score></score>'),
    "a word": scores("high", "0.1"),
    "NaN": scores("NaN", "0.1"),
    "infinity": scores("inf", "0.1"),
    "an exponent": scores("1e-1", "0.1"),
    "an enormous exponent": scores("1e400", "0.1"),
    "a percentage": scores("10%", "0.1"),
    "a comma": scores("0,1", "0.1"),
    "a fraction": scores("1/10", "0.1"),
    "a range": scores("0.1-0.2", "0.1"),
    "two numbers": scores("0.1 0.2", "0.1"),
    "digits of another script": scores("٠.١", "0.1"),
    "an empty score": scores("", "0.1"),
    "an underscore": scores("0.1_0", "0.1"),
    "a chunk that was not shown": verdict_text(NONCE, "0.1", "0.1", ("aligned",)),
}


@pytest.mark.parametrize("content", MALFORMED.values(), ids=MALFORMED.keys())
def test_anything_else_is_malformed(content: str) -> None:
    with pytest.raises(JudgeUnavailable) as caught:
        parse_verdict(content, nonce=NONCE, chunks=0)
    assert caught.value.reason == "malformed"


@pytest.mark.parametrize(
    "chunks",
    [
        (),
        ("aligned",),
        ("aligned", "aligned", "aligned"),
        ("aligned", "maybe"),
        ("aligned", ""),
    ],
)
def test_every_memory_needs_exactly_one_known_relation(chunks: tuple[str, ...]) -> None:
    with pytest.raises(JudgeUnavailable, match="malformed"):
        parse_verdict(verdict_text(NONCE, "0.1", "0.1", chunks), nonce=NONCE, chunks=2)


@pytest.mark.parametrize("ids", ["11", "01", "13", "1x"])
def test_chunk_ids_must_be_those_that_were_shown(ids: str) -> None:
    tags = "".join(f'<chunk id="{one}">aligned</chunk>' for one in ids)
    content = scores("0.1", "0.1").replace("</verdict", f"{tags}</verdict")
    with pytest.raises(JudgeUnavailable, match="malformed"):
        parse_verdict(content, nonce=NONCE, chunks=2)


@pytest.mark.parametrize("text", ["1.01", "2", "-0.01", "-1", "100", "999999999"])
def test_a_score_beyond_its_range_is_out_of_range(text: str) -> None:
    for content in (scores(text, "0.1"), scores("0.1", text)):
        with pytest.raises(JudgeUnavailable) as caught:
            parse_verdict(content, nonce=NONCE, chunks=0)
        assert caught.value.reason == "out_of_range"


@pytest.mark.parametrize(
    "content",
    ["I'm sorry, but I can't help.", "I cannot assist.", "Sorry, no.", "I am unable to judge this.", "I’m not able to"],
)
def test_a_refusal_is_told_from_a_broken_answer(content: str) -> None:
    with pytest.raises(JudgeUnavailable) as caught:
        parse_verdict(content, nonce=NONCE, chunks=0)
    assert caught.value.reason == "refused"


unit = st.integers(0, 1000).map(lambda thousandths: thousandths / 1000)
words = st.lists(st.sampled_from(list(Relation)), max_size=9)


@given(unit, unit, words)
def test_what_the_prompt_asks_for_is_read_back(contradiction: float, danger: float, relations: list[Relation]) -> None:
    content = verdict_text(NONCE, f"{contradiction:.3f}", f"{danger:.3f}", [str(one) for one in relations])
    answer = parse_verdict(content, nonce=NONCE, chunks=len(relations))
    assert answer == Answer(contradiction, danger, tuple(relations))


FRAGMENTS = (
    *(
        f"<verdict-{NONCE}>",
        f"</verdict-{NONCE}>",
        "<score",
        "<score>",
        "</score>",
        ' name="danger">',
        "<chunk",
        "</chunk>",
    ),
    *('<score name="danger">', '<score name="contradiction">', '<chunk id="1">', "aligned", "0.1", "2", "NaN", "\n"),
)
soup = st.lists(st.sampled_from(FRAGMENTS), max_size=14).map("".join)


@given(soup | st.text())
def test_no_input_gives_anything_but_a_verdict_in_range_or_its_own_error(content: str) -> None:
    reason = "taken"
    try:
        answer = parse_verdict(content, nonce=NONCE, chunks=1)
        assert 0.0 <= answer.contradiction <= 1.0
        assert 0.0 <= answer.content_danger <= 1.0
        assert len(answer.relations) == 1
    except JudgeUnavailable as error:
        reason = error.reason
    assert reason in {"taken", "malformed", "out_of_range", "refused"}


@given(st.integers(1, len(GOOD) - 1), st.sampled_from(["", "<", ">", '"', "0", " "]))
def test_a_damaged_answer_never_reads_as_another_verdict_on_the_memories(at: int, put: str) -> None:
    try:
        answer = parse_verdict(GOOD[:at] + put + GOOD[at + 1 :], nonce=NONCE, chunks=2)
    except JudgeUnavailable:
        return
    assert answer.relations == READ.relations


@given(st.text(max_size=200))
def test_an_error_never_quotes_the_answer(content: str) -> None:
    marked = f"planted-marker {content}"
    with pytest.raises(JudgeUnavailable) as caught:
        parse_verdict(marked, nonce=NONCE, chunks=0)
    assert not re.search("planted-marker", str(caught.value))
