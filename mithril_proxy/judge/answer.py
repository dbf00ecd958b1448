"""What a language model's answer says, or why it says nothing. Pure.

1. An answer counts only inside `<verdict-NONCE> … </verdict-NONCE>`, each of the two tags standing exactly once. The
   nonce is new for every request, so that no judged text can hold one; prose around the fence is ignored.
2. Inside stand exactly one `<score name="contradiction">` and one `<score name="danger">`, each a plain decimal number
   in 0..1, and exactly one `<chunk id="N">aligned|contradicts|unrelated</chunk>` for every memory that was shown.
3. Names and tags that are not asked for are ignored: a model that says more than it should has still answered.
4. Everything else is `malformed`, `out_of_range` or `refused`: never a guess, never a default.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from mithril_proxy.errors import JudgeUnavailable
from mithril_proxy.types import Relation

_TAG = re.compile(r"<(score|chunk)\b([^<>]*)>([^<>]*)</\1\s*>")
_OPENING = re.compile(r"<(?:score|chunk)\b")
_ATTRIBUTE = re.compile(r"""\b(name|id)\s*=\s*(["'])([\w-]{1,40})\2""", re.ASCII)
_DECIMAL = re.compile(r"[+-]?(?:\d{1,9}(?:\.\d{1,18})?|\.\d{1,18})", re.ASCII)
_REFUSAL = re.compile(r"\W*(?:sorry\b|i(?:['’]?m| am) (?:sorry|unable|not able)|i can(?:not|['’]?t)\b)", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Answer:
    """One pass: contradiction and danger, each 0..1, and one relation for each memory shown, in its order."""

    contradiction: float
    content_danger: float
    relations: tuple[Relation, ...]


def parse_verdict(content: str, *, nonce: str, chunks: int) -> Answer:
    """The one answer that `content` holds under this nonce about `chunks` memories.

    Raises JudgeUnavailable with the reason malformed, out_of_range or refused; its message never quotes the answer.
    """
    tags = _tags(_fenced(content, nonce))
    scores = _named(tags, "score", "name")
    relations = _named(tags, "chunk", "id")
    expected = [str(number) for number in range(1, chunks + 1)]
    if sorted(relations) != sorted(expected):
        raise JudgeUnavailable("malformed", f"{len(relations)} of {chunks} memories answered")
    return Answer(
        contradiction=_score(scores, "contradiction"),
        content_danger=_score(scores, "danger"),
        relations=tuple(_relation(relations[number]) for number in expected),
    )


def _fenced(content: str, nonce: str) -> str:
    """What stands inside the fence. Raises JudgeUnavailable unless there is exactly one."""
    opening, closing = f"<verdict-{nonce}>", f"</verdict-{nonce}>"
    if content.count(opening) == 0 and _REFUSAL.match(content):
        raise JudgeUnavailable("refused", "the model declined to judge")
    if content.count(opening) != 1 or content.count(closing) != 1:
        raise JudgeUnavailable("malformed", "not exactly one fenced verdict")
    rest = content.partition(opening)[2]
    inside, found, _ = rest.partition(closing)
    if not found:
        raise JudgeUnavailable("malformed", "the fence closes before it opens")
    return inside


def _tags(inside: str) -> list[tuple[str, dict[str, str], str]]:
    """(tag, attributes, text) of every tag asked for. Raises JudgeUnavailable when one is broken or nested."""
    found = _TAG.findall(inside)
    if len(found) != len(_OPENING.findall(inside)):
        raise JudgeUnavailable("malformed", "a tag is not closed")
    return [(tag, _attributes(attributes), text.strip()) for tag, attributes, text in found]


def _attributes(text: str) -> dict[str, str]:
    found = _ATTRIBUTE.findall(text)
    attributes = {name: value for name, _, value in found}
    if len(attributes) != len(found):
        raise JudgeUnavailable("malformed", "an attribute stands twice")
    return attributes


def _named(tags: list[tuple[str, dict[str, str], str]], tag: str, attribute: str) -> dict[str, str]:
    """Text by name of every `tag`. Raises JudgeUnavailable when a name stands twice or is missing."""
    named: dict[str, str] = {}
    for found, attributes, text in tags:
        if found != tag:
            continue
        name = attributes.get(attribute)
        if name is None or name in named:
            raise JudgeUnavailable("malformed", f"a {tag} without a name, or twice the same")
        named[name] = text
    return named


def _score(scores: dict[str, str], name: str) -> float:
    text = scores.get(name)
    if text is None or not _DECIMAL.fullmatch(text):
        raise JudgeUnavailable("malformed", f"the {name} score is missing or no decimal number")
    value = float(text)
    if not 0.0 <= value <= 1.0:
        raise JudgeUnavailable("out_of_range", f"the {name} score is not in 0..1")
    return abs(value)  # "-0.0" is zero, and zero has no sign


def _relation(text: str) -> Relation:
    try:
        return Relation(text.lower())
    except ValueError:
        raise JudgeUnavailable("malformed", "a memory's relation is none of the three words") from None
