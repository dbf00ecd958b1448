from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmark.detection.stories import load_story_pairs
from mithril_proxy.errors import ConfigurationError
from mithril_proxy.judge.contradiction import Comparer
from mithril_proxy.judge.lexicon import Lexicon, WordRelation
from mithril_proxy.judge.questions import read_answered
from mithril_proxy.policy import policies_folder
from mithril_proxy.types import Relation

FOUND_ABOVE = 0.3


@pytest.mark.parametrize(("claim", "memory", "relation"), load_story_pairs())
def test_our_story_pairs_stand_as_labelled(comparer: Comparer, claim: str, memory: str, relation: Relation) -> None:
    assert comparer.compare(claim, memory).relation is relation


@pytest.mark.parametrize(
    ("claim", "memory", "rule"),
    [
        ("The lamp uses 5 watts.", "The lamp uses 9 watts.", "number"),
        ("The limit is 5 miles.", "The limit is 5 km.", "unit"),
        ("The mill opened on 3 May 1990.", "The mill opened on 4 May 1990.", "date"),
        ("She finished second in the race.", "She finished third in the race.", "ordinal"),
        ("The door is open.", "The door is closed.", "antonym"),
        ("The tram is blue.", "The tram is green.", "exclusive-value"),
        ("The club is led by Anna Holt.", "The club is led by Bert Lind.", "name"),
        ("The mill is not for sale.", "The mill is for sale.", "negation"),
        ("The baker sells fresh pretzels daily.", "The baker sells fresh noodles daily.", "other-word"),
    ],
)
def test_another_value_in_the_same_place_contradicts(comparer: Comparer, claim: str, memory: str, rule: str) -> None:
    comparison = comparer.compare(claim, memory)
    assert comparison.rule == f"contradiction.{rule}"
    assert comparison.strength > FOUND_ABOVE


@pytest.mark.parametrize(
    ("claim", "memory"),
    [
        ("The little tram is near the mill.", "The small tram is close to the mill."),
        ("The girl eats a vegetable.", "The girl eats a carrot."),
        ("The mill opened in May 1990.", "The mill opened on 4 May 1990."),
        ("He came in first place.", "He came in 1st place."),
        ("The trip takes 24 hours.", "The trip takes one day."),
        ("The old mill by the lake opens daily.", "The mill by the lake opens daily."),
    ],
)
def test_the_same_fact_in_other_words_is_aligned(comparer: Comparer, claim: str, memory: str) -> None:
    assert comparer.compare(claim, memory).relation is Relation.ALIGNED


@pytest.mark.parametrize(
    ("claim", "memory"),
    [
        ("Port two belongs to the mill.", "The garden has nine roses."),
        ("Anna was born in 1961 in Kiel.", "Bert was born in 1941 in Bonn."),
        ("", "The garden has nine roses."),
        ("The garden has nine roses.", ""),
        ("the of and", "the of and"),
    ],
)
def test_two_different_facts_are_unrelated(comparer: Comparer, claim: str, memory: str) -> None:
    assert comparer.compare(claim, memory).relation is Relation.UNRELATED


def test_a_claim_is_compared_with_the_nearest_sentence_of_a_memory(comparer: Comparer) -> None:
    memory = "Gate A opens at 8. Gate B opens at 9."
    assert comparer.compare("Gate B opens at 9.", memory).relation is Relation.ALIGNED
    assert comparer.compare("Gate B opens at 7.", memory).relation is Relation.CONTRADICTS


QUESTION = "Which river runs through the town of Falkenau?"


@pytest.mark.parametrize(
    ("claim", "memory", "relation"),
    [
        ("The river Elster runs through the town of Falkenau.", f"{QUESTION} Zwota.", Relation.CONTRADICTS),
        ("The river Zwota runs through the town of Falkenau.", f"{QUESTION} Zwota.", Relation.ALIGNED),
        ("Not the Zwota runs through the town of Falkenau, a river.", f"{QUESTION} Zwota.", Relation.CONTRADICTS),
        ("Falkenau has a theatre.", f"{QUESTION} Zwota.", Relation.UNRELATED),
        ("The river through the town of Falkenau runs fast.", f"{QUESTION} Zwota.", Relation.CONTRADICTS),
        ("The mill of Falkenau was built in 1850.", "When was the mill of Falkenau built? 1790.", Relation.CONTRADICTS),
        (
            "The mill of Falkenau was built on 3 May 1850.",
            "When was the mill of Falkenau built? 4 May 1790.",
            Relation.CONTRADICTS,
        ),
        (
            "The mill and the inn of Falkenau are both old.",
            "Are the mill and the inn of Falkenau old? no.",
            Relation.CONTRADICTS,
        ),
        (
            "The mill and the inn of Falkenau are not old.",
            "Are the mill and the inn of Falkenau old? no.",
            Relation.ALIGNED,
        ),
        (
            "The mill of Falkenau differs in age from its inn.",
            "Do the mill and inn of Falkenau share an age? yes",
            Relation.CONTRADICTS,
        ),
        (
            "Bert Lind, the painter, is older than Anna Holt.",
            "Who is older, Bert Lind or Anna Holt? Anna Holt.",
            Relation.CONTRADICTS,
        ),
        ("Anna Holt is older than Bert Lind.", "Who is older, Bert Lind or Anna Holt? Anna Holt.", Relation.ALIGNED),
        (
            "The Who played in Falkenau at the mill.",
            "Which band played in Falkenau at the mill? The Who.",
            Relation.ALIGNED,
        ),
        (
            "Among old towns, Falkenau lies in Norway, near a lake and hills.",
            "Kiel is a town, but where does Falkenau lie? Saxony.",
            Relation.CONTRADICTS,
        ),
    ],
)
def test_a_known_answer_is_compared_with_free_wording(
    comparer: Comparer, claim: str, memory: str, relation: Relation
) -> None:
    assert comparer.compare(claim, memory).relation is relation


def test_a_statement_is_compared_by_the_one_value_it_gives(comparer: Comparer) -> None:
    memory = "The famous wooden mill by the lake in Falkenau was painted by the artist Bert Lind."
    claim = "In Falkenau there is a wooden mill near the lake. Long ago the artist Anna Holt had painted it."
    assert comparer.compare(claim, memory).rule == "contradiction.name"


@pytest.mark.parametrize(
    ("memory", "question", "answer"),
    [
        ("Who built the mill? Anna Holt.", "Who built the mill", "Anna Holt"),
        ("Question: who built the mill? Answer: Anna Holt", "who built the mill", "Anna Holt"),
        ('The answer to the question "who built the mill?" is Anna Holt.', "who built the mill", "Anna Holt"),
    ],
)
def test_questions_and_answers_are_read_in_their_forms(memory: str, question: str, answer: str) -> None:
    answered = read_answered(memory)
    assert answered is not None
    assert (answered.question, answered.answer) == (question, answer)


@pytest.mark.parametrize("memory", ["The mill is old.", "Who built the mill? " + "It was a long story. " * 10])
def test_statements_and_prose_are_no_answers(memory: str) -> None:
    assert read_answered(memory) is None


@given(st.text(max_size=120), st.text(max_size=120))
def test_no_texts_make_the_comparison_raise(comparer: Comparer, claim: str, memory: str) -> None:
    comparison = comparer.compare(claim, memory)
    assert 0.0 <= comparison.strength <= 1.0
    assert (comparison.strength > 0) == (comparison.relation is Relation.CONTRADICTS)


@given(st.text(alphabet=st.characters(codec="ascii"), max_size=200))
def test_a_text_never_contradicts_itself(comparer: Comparer, text: str) -> None:
    one = " ".join(text.split()).replace("?", ".")
    sentences = comparer.sentences(one)
    if len(sentences) == 1:
        assert comparer.compare(one, one).relation is not Relation.CONTRADICTS


def test_word_relations(comparer: Comparer) -> None:
    lexicon = comparer.lexicon
    assert lexicon.relation("north korea", "japan") is WordRelation.EXCLUSIVE
    assert lexicon.relation("hot", "cold") is WordRelation.ANTONYM
    assert lexicon.relation("kitchen", "room") is WordRelation.SAME
    assert lexicon.relation("cars", "car") is WordRelation.SAME
    assert lexicon.relation("mill", "rose") is WordRelation.UNKNOWN


@pytest.mark.parametrize("text", ["antonyms = 3", "not toml ["])
def test_a_wrong_lexicon_stops_the_start(tmp_path: Path, text: str) -> None:
    path = tmp_path / "lexicon.toml"
    path.write_text(text)
    with pytest.raises(ConfigurationError, match=r"lexicon\.toml"):
        Lexicon.load(path)
    with pytest.raises(ConfigurationError, match="cannot be read"):
        Lexicon.load(tmp_path / "none.toml")


def test_the_shipped_lexicon_holds_no_pair_that_is_both_same_and_opposite() -> None:
    lexicon = Lexicon.load(policies_folder() / "lexicon.toml")
    assert all(one != other for one, other in lexicon.antonyms)
