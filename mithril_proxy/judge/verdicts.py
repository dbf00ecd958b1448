"""How several verdicts on one claim become one: evidence against it always wins. Pure."""

from __future__ import annotations

from collections.abc import Callable
from itertools import zip_longest

from mithril_proxy.types import Finding, Relation, Verdict

Combine = Callable[[Relation, Relation], Relation]


def both(first: Relation, second: Relation) -> Relation:
    """Of two readings of the same text: one contradiction is enough, alignment needs both."""
    if Relation.CONTRADICTS in (first, second):
        return Relation.CONTRADICTS
    return first if first is second else Relation.UNRELATED


def either(first: Relation, second: Relation) -> Relation:
    """Of two parts of one text: one contradiction is enough, and so is one alignment."""
    if Relation.CONTRADICTS in (first, second):
        return Relation.CONTRADICTS
    return Relation.ALIGNED if Relation.ALIGNED in (first, second) else Relation.UNRELATED


def above_floor(judged: Relation, floor: Relation) -> Relation:
    """Of a judge and the rules below it: the judge's word, but for a contradiction that the rules see."""
    return Relation.CONTRADICTS if floor is Relation.CONTRADICTS else judged


def worse(first: Verdict, second: Verdict, combine: Combine) -> Verdict:
    """Element by element the worse of both: no score is lower than in either, no finding is lost."""
    pairs = zip_longest(first.relations, second.relations, fillvalue=Relation.UNRELATED)
    return Verdict(
        contradiction=max(first.contradiction, second.contradiction),
        content_danger=max(first.content_danger, second.content_danger),
        relations=tuple(combine(*pair) for pair in pairs),
        findings=_united(first.findings, second.findings),
        model="+".join(dict.fromkeys((first.model, second.model))),
        prompt_digest=first.prompt_digest or second.prompt_digest,
    )


def _united(first: tuple[Finding, ...], second: tuple[Finding, ...]) -> tuple[Finding, ...]:
    return tuple(dict.fromkeys(first + second))
