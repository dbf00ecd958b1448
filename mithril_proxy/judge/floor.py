"""The local rules as a floor under a language model: what they see is never outvoted."""

from __future__ import annotations

from dataclasses import dataclass, replace

from mithril_proxy.errors import JudgeUnavailable
from mithril_proxy.judge.verdicts import above_floor, worse
from mithril_proxy.types import Judge, Memory, Relation, Verdict


@dataclass(frozen=True, slots=True)
class FlooredJudge:
    """Asks both judges; the verdict is at least as bad as the local rules say.

    With the model unavailable, the error carries what the rules found, so that an outage never hides their evidence.
    """

    llm: Judge
    local: Judge
    name: str = "openai"

    async def judge(self, text: str, context: tuple[Memory, ...]) -> Verdict:
        """The model's verdict, raised to the floor. Raises JudgeUnavailable, with the floor as `partial`."""
        floor = await self.local.judge(text, context)
        try:
            judged = await self.llm.judge(text, context)
        except JudgeUnavailable as error:
            partial = floor if error.partial is None else worse(error.partial, floor, above_floor)
            # an unfinished judgement may count against the claim, never for it
            relations = tuple(_without_support(relation) for relation in partial.relations)
            partial = replace(partial, relations=relations)
            raise JudgeUnavailable(error.reason, "only the local rules", partial=partial) from None
        return worse(judged, floor, above_floor)


def _without_support(relation: Relation) -> Relation:
    return Relation.UNRELATED if relation is Relation.ALIGNED else relation
