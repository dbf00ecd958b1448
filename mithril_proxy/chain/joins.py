"""The last stage: what single writes hide, their join shows.

1. The last writes of a source, and the last admitted writes about an entity that the claim names, are judged together
   with the claim as one text, in both orders. Danger that no part has alone is a finding and counts as the claim's own.
2. Only writes that are innocent by themselves are remembered, and a claim that completes an instruction is not: later
   writes of the same source, or about the same entity, are not blamed for it.
3. Fragments are short: a write longer than `max_note_chars` is neither joined nor remembered; the judge saw it whole.
4. A claim that says again what is known already is marked: it earns no reputation.
5. What is remembered is bounded in time, number and bytes, and lies in memory only.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass, replace

from mithril_proxy.chain.contradiction import judged_text
from mithril_proxy.chain.gate import gate
from mithril_proxy.chain.inspection import Inspection
from mithril_proxy.chain.likeness import Wording
from mithril_proxy.chain.recent import Note, RecentWrites, entities_of
from mithril_proxy.chain.reputation_rule import DUPLICATE_RULE
from mithril_proxy.chain.score import trust_score
from mithril_proxy.errors import JudgeUnavailable
from mithril_proxy.policy import Policy
from mithril_proxy.types import Finding, Judge

FRAGMENTS_RULE = "joins.fragments"
UNAVAILABLE_RULE = "joins.unavailable"
_STOPS = " \t\r\n.,;:!?"


@dataclass(frozen=True, slots=True)
class Joins:
    """Adds findings on what a claim means together with the writes before it. `judge` should be a cheap one."""

    recent: RecentWrites
    judge: Judge
    policy: Policy
    name: str = "joins"

    async def inspect(self, inspection: Inspection) -> Inspection:
        """The inspection with what the joins show; the claim is remembered when it is innocent."""
        claim, who = inspection.claim, inspection.provenance
        text = judged_text(claim)
        if claim.is_opaque or not text.strip():
            return inspection
        written = self.recent.written_by(who.principal)
        if _is_known(text, [*(note.text for note in written), *(memory.text for memory in inspection.context)]):
            known = Finding(self.name, DUPLICATE_RULE, claim.id, 0.0, "says again what is known already")
            inspection = inspection.with_findings(known)
        note = Note(_digest(text), text[: self.policy.joins.max_note_chars], who.principal)
        if len(text) > len(note.text) or self._is_dangerous_alone(inspection):
            return inspection
        entities = entities_of(text, self.policy.joins.entities)
        groups = (written, self.recent.about(who.dataset, entities))
        self.recent.remember_written(note)  # before the first await: claims judged at the same time see each other
        judged = await self._judge(inspection, note, groups)
        self._remember(judged, note, entities)
        return judged

    def _is_dangerous_alone(self, inspection: Inspection) -> bool:
        return inspection.signals.content_danger > self.policy.content_danger.counted_above

    async def _judge(self, inspection: Inspection, note: Note, groups: Iterable[tuple[Note, ...]]) -> Inspection:
        try:
            danger = max([await self._danger(join) for join in self._joins(note, groups)], default=0.0)
        except JudgeUnavailable as error:
            missing = Finding(self.name, UNAVAILABLE_RULE, inspection.claim.id, 0.6, error.reason)
            return inspection.with_findings(missing)
        if danger <= max(self.policy.joins.found_above, inspection.signals.content_danger):
            return inspection
        found = Finding(
            self.name, FRAGMENTS_RULE, inspection.claim.id, danger, "completes a text that is dangerous as one"
        )
        return replace(inspection, signals=replace(inspection.signals, content_danger=danger)).with_findings(found)

    async def _danger(self, join: str) -> float:
        return (await self.judge.judge(join, ())).content_danger

    def _joins(self, note: Note, groups: Iterable[tuple[Note, ...]]) -> tuple[str, ...]:
        """Every text to judge: each group with the claim, oldest first and newest first, each once."""
        joins: dict[str, None] = {}
        for group in groups:
            parts = self._parts(note, group)
            if len(parts) > 1:
                joins |= dict.fromkeys((_fused(parts[::-1]), _fused(parts)))
        return tuple(joins)

    def _parts(self, note: Note, group: tuple[Note, ...]) -> list[str]:
        """The claim and the writes before it, newest first, as many as `max_chars` hold."""
        parts, room = [note.text], self.policy.joins.max_chars - len(note.text)
        for earlier in reversed(group):
            room -= len(earlier.text)
            if room < 0:
                break
            if earlier.digest != note.digest:
                parts.append(earlier.text)
        return parts

    def _remember(self, judged: Inspection, note: Note, entities: tuple[str, ...]) -> None:
        """Forget a claim that was found out; keep one that will be admitted under the entities that it names."""
        if any(finding.rule == FRAGMENTS_RULE for finding in judged.findings):
            self.recent.forget_written(note)
        elif gate(trust_score(judged.signals, self.policy), judged.signals, judged.findings, self.policy).is_admitted:
            for entity in entities:
                self.recent.remember_about(judged.provenance.dataset, entity, note)


def _is_known(text: str, others: Iterable[str]) -> bool:
    wording = Wording.of(text)
    return any(wording.is_copy_of(Wording.of(other)) for other in others)


def _fused(parts: Iterable[str]) -> str:
    """The parts as one sentence: what would end it between them is left out."""
    return " ".join(part.strip(_STOPS) for part in parts)


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
