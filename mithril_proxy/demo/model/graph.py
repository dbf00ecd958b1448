"""Text to a knowledge graph in the shape that Cognee asks its model for.

One sentence gives one fact: what stands before its first verb, the verb, and what stands after it. Names that a
sentence mentions beside its subject become nodes of their own. This is grammar enough for Cognee to have a graph.
"""

from __future__ import annotations

import re
from typing import TypedDict

_SENTENCE = re.compile(r"(?<=[.!?])\s+|\n+")
_VERB = re.compile(
    r"\b(?P<verb>(?:is|are|was|were|has|have|had|must|may|should|can|will|cannot)(?: not| never)?(?: \w+ed)?"
    r"|uses?|runs?|owns?|needs?|requires?|keeps?|stores?|listens?|serves?|sends?|reads?|writes?|leads?|manages?"
    r"|starts?|stops?|expires?|rotates?|deploys?|approves?|allows?|contains?|lives?|works?|moved?|happens?)\b"
    r"(?: (?P<preposition>on|in|at|to|by|for|from|with|of|under|every))?"
)
_NAME = re.compile(r"\b[A-Z][\w.-]*(?: [A-Z][\w.-]*)*")
_ARTICLE = re.compile(r"^(?:the|a|an|our|your|their|its|all|every|each)\s+", re.IGNORECASE)
_PHRASE_WORDS = 7


class Node(TypedDict):
    """One entity; `id` is its name, so that the same name is the same entity."""

    id: str
    name: str
    type: str
    description: str


class Edge(TypedDict):
    """One fact between two entities."""

    source_node_id: str
    target_node_id: str
    relationship_name: str
    description: str


class Graph(TypedDict):
    """The nodes and edges of one text."""

    nodes: list[Node]
    edges: list[Edge]


def sentences(text: str) -> list[str]:
    """The sentences and lines of `text`, without empty ones."""
    return [part.strip() for part in _SENTENCE.split(text) if part.strip()]


def knowledge_graph(text: str) -> Graph:
    """The entities and facts of `text`; every edge joins two nodes of the graph."""
    nodes: dict[str, Node] = {}
    edges: dict[tuple[str, str, str], Edge] = {}
    for sentence in sentences(text):
        for source, relation, target in _facts(sentence):
            for name in (source, target):
                nodes.setdefault(name, _node(name, sentence))
            if source != target:
                edges.setdefault((source, relation, target), _edge(source, relation, target, sentence))
    return {"nodes": list(nodes.values()), "edges": list(edges.values())}


def _facts(sentence: str) -> list[tuple[str, str, str]]:
    """(subject, relation, object) of one sentence; a sentence without a verb is a fact about itself."""
    verb = next((match for match in _VERB.finditer(sentence) if match.start() > 0), None)
    if verb is None:
        name = _phrase(sentence) or "note"
        return [(name, "is", name)]
    subject = _phrase(sentence[: verb.start()]) or "note"
    relation = "_".join(verb.group().lower().split())
    objects = [(subject, relation, _phrase(sentence[verb.end() :]) or subject)]
    names = (_phrase(match.group()) for match in _NAME.finditer(sentence, verb.end()))
    return objects + [(subject, "mentions", name) for name in names if name]


def _phrase(words: str) -> str:
    """A short lower-case name for a piece of a sentence."""
    bare = re.sub(r"[^\w\s./:@%-]", "", words).strip(" .:-")
    return " ".join(_ARTICLE.sub("", bare).split()[:_PHRASE_WORDS]).lower()


def _node(name: str, sentence: str) -> Node:
    return {"id": name, "name": name, "type": "Concept", "description": sentence}


def _edge(source: str, relation: str, target: str, sentence: str) -> Edge:
    return {
        "source_node_id": source,
        "target_node_id": target,
        "relationship_name": relation,
        "description": sentence,
    }
