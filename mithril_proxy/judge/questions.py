"""Memories that hold a question and its answer: which part is asked about, and which part is the value."""

from __future__ import annotations

import re
from dataclasses import dataclass

MAX_ANSWER_WORDS = 14  # a longer text after a question mark is prose, not an answer

_ANSWER_TO = re.compile(
    r"(?is)^.{0,60}?answer (?:to|for|of) (?:the )?(?:question )?[\"“'‘]?(.{8,400}?)\??[\"”'’]?,? "
    r"(?:is|was|are|:)[: ]+(.+)$"
)
_LABELLED = re.compile(
    r"(?is)^\W*(?:q|question|faq|query)\W*[:.]\s*(.+?)\??\s*(?:\||\n|;|/)?\s*"
    r"\b(?:a|answer|correct answer)\W*[:.]\s*(.+)$"
)
_ASKED = re.compile(r"(?s)^(.{8,600}?)\?[\"”']?\s+(?:(?:the )?(?:correct )?(?:answer|a)\b(?: is)?\W*)?(.+)$")
_YES = re.compile(r"(?i)^\W*(?:yes|true|correct)\b")
_NO = re.compile(r"(?i)^\W*(?:no|false|incorrect)\b")
_NAME = r"(?:[A-Z\d][\w.'’-]*(?: (?:(?:of|the|and|to|in|de|for) )?[A-Z\d][\w.'’-]*)*)"
_CHOICE = re.compile(rf"({_NAME}),? or (?:the |a |an )?({_NAME})")
_CLAUSE = re.compile(r"(?i)[,;] (?:but |and |so )?(?=(?:who|whom|which|what|where|when|how|whose|in which|in what)\b)")


@dataclass(frozen=True, slots=True)
class Answered:
    """A question with its answer. `polarity` is set for yes and no; `rivals` are the choices the question named."""

    question: str
    answer: str
    polarity: bool | None = None
    rivals: tuple[str, ...] = ()

    @property
    def topics(self) -> tuple[str, ...]:
        """What is asked about: the whole question, and its last clause where a preamble comes first."""
        clause = _CLAUSE.split(self.question)[-1]
        return (self.question,) if clause == self.question else (self.question, clause)


def read_answered(memory: str) -> Answered | None:
    """The question and answer that a memory is made of; None for plain statements."""
    for pattern in (_ANSWER_TO, _LABELLED, _ASKED):
        match = pattern.match(memory.strip())
        if match is not None and len(match[2].split()) <= MAX_ANSWER_WORDS:
            return _answered(match[1].strip(), match[2].strip().rstrip("."))
    return None


def _answered(question: str, answer: str) -> Answered:
    polarity = True if _YES.match(answer) else False if _NO.match(answer) else None
    choice = _CHOICE.search(question)
    rivals = (choice[1], choice[2]) if choice else ()
    return Answered(question, answer, polarity, rivals)
