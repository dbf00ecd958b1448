"""What the stages pass on: a claim and the evidence found so far."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Protocol

from mithril_proxy.types import Claim, Finding, Memory, Provenance, Signals, VerifiedMemory


@dataclass(frozen=True, slots=True)
class Inspection:
    """One claim on its way through the chain. Stages return a new one with more evidence; they never decide."""

    claim: Claim
    provenance: Provenance
    memory: VerifiedMemory
    signals: Signals = field(default_factory=Signals)
    findings: tuple[Finding, ...] = ()
    context: tuple[Memory, ...] = ()
    judge: str = ""
    prompt_digest: str = ""

    def with_findings(self, *findings: Finding) -> Inspection:
        """The same inspection with these findings appended."""
        return replace(self, findings=self.findings + findings)


class Stage(Protocol):
    """One step of the chain. Its fields are its dependencies; it adds findings and signals only."""

    @property
    def name(self) -> str:
        """The first part of its rule ids."""
        ...

    async def inspect(self, inspection: Inspection) -> Inspection:
        """The inspection with this stage's evidence. May raise: the runner turns that into a finding."""
        ...


class NoMemory:
    """Verified memory that knows nothing: for dry runs and for claims with no dataset."""

    async def related(self, text: str) -> tuple[Memory, ...]:
        """Nothing."""
        return ()


@dataclass(frozen=True, slots=True)
class FixedMemory:
    """Verified memory given beforehand: `mithril evaluate` and tests."""

    memories: tuple[Memory, ...]

    async def related(self, text: str) -> tuple[Memory, ...]:
        """All of it, whatever the text."""
        return self.memories
