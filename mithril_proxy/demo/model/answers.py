"""What the model says: structured output for a schema, else the lines of its context that fit the question."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from mithril_proxy.demo.model.graph import knowledge_graph, sentences
from mithril_proxy.demo.model.schema import Schema, smallest

_QUESTION = re.compile(r"The question is: `(.*?)`", re.DOTALL)
_CONTEXT = re.compile(r"\bcontext\b[^`]*`(.*)`", re.DOTALL)
_TURN = re.compile(r"CURRENT USER MESSAGE:\n(.*?)(?:\n\n[A-Z ]{6,}|\Z)", re.DOTALL)
_PROMPTED_SCHEMA = re.compile(r"schema:\s*```json\s*(\{.*?\})\s*```", re.DOTALL)
_WORD = re.compile(r"[a-z0-9]+")
_MAX_LINES = 6
_SUMMARY_CHARS = 400


@dataclass(frozen=True, slots=True)
class Prompt:
    """One chat request: what the system and the user said, and the shape the answer must have."""

    system: str
    user: str
    schema: Schema | None = None

    @property
    def text(self) -> str:
        """Everything that was said, as a scripted answer's pattern sees it."""
        return f"{self.system}\n{self.user}"


def read_prompt(body: Mapping[str, Any]) -> Prompt:
    """The prompt of a chat-completions body. Other fields do not change what this model says."""
    spoken: dict[bool, list[str]] = {True: [], False: []}
    for message in body.get("messages", ()):
        spoken[message.get("role") in ("system", "developer")].append(_content(message.get("content")))
    system, user = "\n".join(spoken[True]), "\n".join(spoken[False])
    return Prompt(system, user, _asked_schema(body.get("response_format") or {}, system))


def reply(prompt: Prompt) -> str:
    """The model's answer: JSON when a schema was asked for, else text."""
    if prompt.schema is not None:
        return json.dumps(_structured(prompt, prompt.schema))
    if "SearchType" in prompt.system:
        return "CHUNKS"
    return _answer(prompt.user)


def _content(content: Any) -> str:
    """The text of a message, whether it is one string or a list of parts."""
    if isinstance(content, list):
        return "\n".join(str(part.get("text", "")) for part in content if isinstance(part, dict))
    return content if isinstance(content, str) else ""


def _asked_schema(response_format: Mapping[str, Any], system: str) -> Schema | None:
    """The schema of `response_format`, or the one that litellm writes into the prompt for models without it."""
    if response_format.get("type") == "json_schema":
        return dict(response_format.get("json_schema", {}).get("schema") or {})
    prompted = _PROMPTED_SCHEMA.search(system)
    if prompted:
        return dict(json.loads(prompted.group(1)))
    return {"type": "object"} if response_format.get("type") == "json_object" else None


def _structured(prompt: Prompt, schema: Schema) -> Any:
    """A value of `schema` with the fields filled that Cognee's memory rests on."""
    value = smallest(schema)
    if not isinstance(value, dict):
        return value
    for name in schema.get("properties", {}):
        if name in _FIELDS:
            value[name] = _FIELDS[name](prompt)
    return value


def _summary(prompt: Prompt) -> str:
    return " ".join(sentences(prompt.user)[:2])[:_SUMMARY_CHARS] or "nothing"


def _turn(prompt: Prompt) -> str:
    """The question inside Cognee's session analysis, which is to be answered as it stands."""
    match = _TURN.search(prompt.user)
    return (match.group(1) if match else prompt.user).strip()


_FIELDS: Mapping[str, Any] = {
    "nodes": lambda prompt: knowledge_graph(prompt.user)["nodes"],
    "edges": lambda prompt: knowledge_graph(prompt.user)["edges"],
    "summary": _summary,
    "description": _summary,
    "answer": lambda prompt: _answer(prompt.user),
    "query_to_answer": _turn,
    "response_to_user": lambda _prompt: None,
}


def _answer(user: str) -> str:
    """The sentences of the context that share most words with the question."""
    question, context = _QUESTION.search(user), _CONTEXT.search(user)
    wanted = set(_WORD.findall((question.group(1) if question else user).lower()))
    known = dict.fromkeys(sentences(context.group(1) if context else user))
    ranked = sorted(known, key=lambda line: -len(wanted & set(_WORD.findall(line.lower()))))
    return " ".join(ranked[:_MAX_LINES]) or "I know nothing about that."
