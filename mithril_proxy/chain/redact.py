"""Stage 1: credentials leave the text before anything else sees it."""

from __future__ import annotations

from dataclasses import dataclass, replace

from mithril_proxy.chain.inspection import Inspection
from mithril_proxy.secrets import Hit, SecretGuard
from mithril_proxy.types import Annotation, Claim, Finding

PLANTED_SEVERITY = 0.9  # a credential in memory is leaked to every later reader, but it is gone once redacted


@dataclass(frozen=True, slots=True)
class Redact:
    """Replaces every credential in the claim and its annotations by `[REDACTED:<kind>]`."""

    guard: SecretGuard
    name: str = "redact"

    async def inspect(self, inspection: Inspection) -> Inspection:
        """The inspection with a redacted claim and one finding a credential."""
        claim = inspection.claim
        body = await self.guard.redact_async(claim.text)
        findings = [_finding(claim, claim.locator, hit) for hit in body.hits]
        annotations = []
        for annotation in claim.annotations:
            redacted = await self.guard.redact_async(annotation.text)
            annotations.append(Annotation(annotation.locator, redacted.text))
            findings += [_finding(claim, annotation.locator, hit) for hit in redacted.hits]
        clean = replace(claim, text=body.text, annotations=tuple(annotations)) if findings else claim
        return replace(inspection, claim=clean).with_findings(*findings)


def _finding(claim: Claim, locator: str, hit: Hit) -> Finding:
    tag = f", tag {hit.tag}" if hit.tag else ""
    return Finding(
        "redact",
        hit.rule,
        claim.id,
        PLANTED_SEVERITY,
        f"{hit.kind} in {locator}, {hit.end - hit.start} characters{tag}",
    )
