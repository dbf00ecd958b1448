"""Stage 3: does verified memory speak for or against the claim, and is its content dangerous?

1. The probe looks up verified memory near each window of the claim, with the caller's own rights.
2. One judge pass scores contradiction and danger and says of every memory how it stands to the claim.
3. Missing evidence is a finding that ends in `.unavailable` and caps the status; it is never read as "no objection".
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, replace

from mithril_proxy.chain.corroboration import independent_aligned
from mithril_proxy.chain.gate import OPAQUE_RULE
from mithril_proxy.chain.inspection import Inspection
from mithril_proxy.chain.score import clamp, corroboration
from mithril_proxy.errors import JudgeUnavailable, UpstreamUnavailable
from mithril_proxy.policy import Policy
from mithril_proxy.types import Claim, Finding, Judge, Memory, Relation, Verdict, VerifiedMemory

PROBE_WINDOW_CHARS = 1500  # about 350 tokens: an embedding of more text is about nothing in particular
PROBE_WINDOWS = 8  # of one claim, spread evenly over its length


@dataclass(frozen=True, slots=True)
class Contradiction:
    """Adds contradiction, content_danger and corroboration, with the judge's findings."""

    judge: Judge
    policy: Policy
    name: str = "contradiction"

    async def inspect(self, inspection: Inspection) -> Inspection:
        """The inspection with what the judge and verified memory say."""
        claim = inspection.claim
        if claim.is_opaque:
            opaque = Finding("contradiction", OPAQUE_RULE, claim.id, 0.5, f"{claim.media_type} cannot be read as text")
            return inspection.with_findings(opaque)
        inspection = await self._probe(inspection)
        try:
            verdict = await self.judge.judge(judged_text(claim), inspection.context)
        except JudgeUnavailable as error:
            missing = Finding("contradiction", "judge.unavailable", claim.id, 0.6, error.reason)
            inspection = inspection.with_findings(missing)
            return inspection if error.partial is None else self._apply(inspection, error.partial)
        return self._apply(inspection, verdict)

    async def _probe(self, inspection: Inspection) -> Inspection:
        """The inspection with the verified memories near its claim, or with a finding that they are missing."""
        try:
            context = await related_memories(inspection.claim.text, inspection.memory)
        except UpstreamUnavailable as error:
            missing = Finding("contradiction", "probe.unavailable", inspection.claim.id, 0.6, str(error))
            return inspection.with_findings(missing)
        nearest = self.policy.contradiction.max_distance
        near = tuple(memory for memory in context if memory.distance is None or memory.distance <= nearest)
        return replace(inspection, context=near)

    def _apply(self, inspection: Inspection, verdict: Verdict) -> Inspection:
        independent = independent_aligned(
            inspection.context, verdict.relations, inspection.provenance.source, self.policy.lineages
        )
        signals = replace(
            inspection.signals,
            contradiction=clamp(verdict.contradiction),
            content_danger=clamp(verdict.content_danger),
            corroboration=corroboration(independent, self.policy),
        )
        findings = (replace(finding, claim_id=inspection.claim.id) for finding in verdict.findings)
        judged = replace(
            inspection,
            signals=signals,
            context=related(inspection.context, verdict.relations),
            judge=verdict.model,
            prompt_digest=verdict.prompt_digest,
        )
        return judged.with_findings(*findings)


def related(context: tuple[Memory, ...], relations: tuple[Relation, ...]) -> tuple[Memory, ...]:
    """The memories with what the judge says of each; those it says nothing of stay as they are."""
    said = zip(context, relations, strict=False)
    return tuple(replace(memory, relation=relation) for memory, relation in said) + context[len(relations) :]


def judged_text(claim: Claim) -> str:
    """All of a claim that a reader of the memory would see: its text, then its annotations."""
    return "\n".join((claim.text, *(annotation.text for annotation in claim.annotations)))


def probe_windows(text: str) -> tuple[str, ...]:
    """At most PROBE_WINDOWS pieces of `text`, evenly spread, each cut at white space where it can be."""
    if len(text) <= PROBE_WINDOW_CHARS:
        return (text,) if text.strip() else ()
    count = min(PROBE_WINDOWS, -(-len(text) // PROBE_WINDOW_CHARS))
    step = (len(text) - PROBE_WINDOW_CHARS) / (count - 1)
    pieces = (text[round(index * step) :][:PROBE_WINDOW_CHARS] for index in range(count))
    return tuple(piece for piece in pieces if piece.strip())


async def related_memories(text: str, memory: VerifiedMemory) -> tuple[Memory, ...]:
    """Verified memories near any window of `text`, each chunk once, nearest first. Raises UpstreamUnavailable."""
    answers = await asyncio.gather(*(memory.related(window) for window in probe_windows(text)))
    unique: dict[tuple[str | None, str], Memory] = {}
    for found in sorted((found for answer in answers for found in answer), key=_distance):
        unique.setdefault((found.chunk_id, found.text), found)
    return tuple(unique.values())


def _distance(memory: Memory) -> float:
    return memory.distance if memory.distance is not None else 0.0
