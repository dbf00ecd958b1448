from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from mithril_proxy.demo.model.graph import knowledge_graph, sentences


def test_a_sentence_becomes_subject_relation_and_object() -> None:
    graph = knowledge_graph("The billing service listens on port 8443.")
    assert [node["id"] for node in graph["nodes"]] == ["billing service", "port 8443"]
    (edge,) = graph["edges"]
    assert edge["relationship_name"] == "listens_on"
    assert edge["description"] == "The billing service listens on port 8443."


def test_a_name_beside_the_subject_becomes_a_node() -> None:
    graph = knowledge_graph("The billing service is owned by Ada Kern.")
    assert ("billing service", "ada kern") in {
        (edge["source_node_id"], edge["target_node_id"]) for edge in graph["edges"]
    }


def test_the_same_name_in_two_sentences_is_one_node() -> None:
    graph = knowledge_graph("Alpha uses Beta. Gamma uses Beta.")
    assert sorted(node["id"] for node in graph["nodes"]) == ["alpha", "beta", "gamma"]


def test_a_sentence_without_a_verb_is_one_node_and_no_fact() -> None:
    graph = knowledge_graph("hello there")
    assert [node["id"] for node in graph["nodes"]] == ["hello there"]
    assert graph["edges"] == []


def test_signs_alone_are_a_note() -> None:
    assert [node["id"] for node in knowledge_graph("!!!")["nodes"]] == ["note"]


def test_a_subject_without_an_object_is_a_fact_about_itself() -> None:
    assert knowledge_graph("The ferry runs.")["edges"] == []


def test_sentences_end_at_signs_and_at_lines() -> None:
    assert sentences("One. Two!\n\nThree") == ["One.", "Two!", "Three"]


@given(st.text(max_size=300))
def test_every_edge_joins_two_nodes_of_the_graph(text: str) -> None:
    graph = knowledge_graph(text)
    names = {node["id"] for node in graph["nodes"]}
    assert all({edge["source_node_id"], edge["target_node_id"]} <= names for edge in graph["edges"])
