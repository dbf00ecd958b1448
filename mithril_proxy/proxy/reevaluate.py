"""Judging held claims again, with the policy, the judge and the verified memory of now.

1. Entries held only because evidence was missing are judged again by themselves and go out when they pass: they would
   have passed at once, had the judge been there.
2. Everything else is judged again when an operator asks, and goes out only when the operator says so.
3. The new decision is recorded like any other, but moves no reputation: the source did nothing new.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from mithril_proxy.chain.gate import UNAVAILABLE_SUFFIX
from mithril_proxy.clock import Clock
from mithril_proxy.cognee.tags import Tags
from mithril_proxy.errors import InvalidTransition, MithrilError
from mithril_proxy.firewall import Call, Firewall, Judgement
from mithril_proxy.proxy.headers import RawHeaders
from mithril_proxy.proxy.probe import UpstreamMemory
from mithril_proxy.proxy.release import Releases
from mithril_proxy.secrets import SecretGuard
from mithril_proxy.store.desk import REEVALUATE_ROUTE, DeskStore
from mithril_proxy.types import Annotation, Claim, Mode, Provenance, QuarantineEntry, ReviewState

REVIEWER = "re-evaluation"
BATCH = 50


@dataclass(frozen=True, slots=True)
class Reevaluation:
    """How a held claim stands now. `is_released` is True when it was forwarded for it."""

    entry: QuarantineEntry
    judgement: Judgement
    is_released: bool = False


@dataclass(frozen=True, slots=True)
class Reevaluator:
    """Judges held claims again."""

    store: DeskStore
    firewall: Firewall
    releases: Releases
    guard: SecretGuard
    tags: Tags
    headers: RawHeaders
    clock: Clock

    async def reevaluate(self, entry: QuarantineEntry, *, release: bool) -> Reevaluation:
        """Judge one pending entry again, and release it if it passes and `release` is set.

        Raises InvalidTransition when it is not pending, StoreUnavailable, and what a release raises.
        """
        if entry.state is not ReviewState.PENDING:
            raise InvalidTransition(f"{entry.id} is {entry.state}; only pending claims are judged again")
        judgement = await self._judge(entry)
        await self.store.record(judgement.decision)
        if not is_missing_evidence(judgement.decision.reasons):
            await self.store.mark_reevaluated(entry.id, judgement.decision.id)
        if not (release and judgement.decision.status.is_admitted):
            return Reevaluation(entry, judgement)
        reason = (
            f"passes now: {judgement.decision.status} {judgement.decision.trust.score:.3f} ({judgement.decision.id})"
        )
        return Reevaluation(await self.releases.release(entry.id, reviewer=REVIEWER, reason=reason), judgement, True)

    async def heal(self) -> int:
        """Judge again, and release where they pass, the entries held for missing evidence alone. How many went out.

        Each is judged until its evidence was complete once; what it got then stands for a reviewer to see. Stops at the
        first entry whose evidence is missing still, and at the first that cannot be forwarded.
        """
        released = 0
        for entry in await self.store.awaiting_evidence(BATCH):
            try:
                result = await self.reevaluate(entry, release=True)
            except MithrilError:
                return released
            released += result.is_released
            if is_missing_evidence(result.judgement.decision.reasons):
                return released
        return released

    async def _judge(self, entry: QuarantineEntry) -> Judgement:
        source = await self.store.source(entry.principal)
        provenance = Provenance(entry.principal, entry.source, source.prior, dataset=entry.dataset)
        claim = Claim(
            id=self.clock.new_id("clm"),
            text=entry.text,
            locator=entry.id,
            claimed_at=entry.created_at,
            annotations=tuple(
                Annotation(path, text) for path, text in strings_in(entry.prepared) if text != entry.text
            ),
        )
        memory = UpstreamMemory(
            self.releases.upstream,
            self.headers,
            self.tags,
            self.firewall.policy.contradiction.probe_top_k,
            self.guard,
            datasets=(entry.dataset,) if entry.dataset else (),
        )
        call = Call(entry.id, REEVALUATE_ROUTE, Mode.OBSERVE)
        return await self.firewall.inspect(claim, provenance, memory=memory, call=call)


def is_missing_evidence(reasons: Sequence[str]) -> bool:
    """True when a decision for these reasons lacked evidence."""
    return any(reason.endswith(UNAVAILABLE_SUFFIX) for reason in reasons)


def strings_in(value: object, path: str = "prepared") -> Iterator[tuple[str, str]]:
    """Every string in a JSON value with its path; keys are no text of the client's."""
    if isinstance(value, str):
        yield path, value
    elif isinstance(value, Mapping):
        for key, inner in value.items():
            yield from strings_in(inner, f"{path}.{key}")
    elif isinstance(value, (list, tuple)):
        for index, inner in enumerate(value):
            yield from strings_in(inner, f"{path}[{index}]")


def held_summary(result: Reevaluation) -> Mapping[str, Any]:
    """What a command prints of one re-evaluation."""
    decision = result.judgement.decision
    return {
        "quarantine_id": result.entry.id,
        "before": result.entry.status,
        "now": decision.status,
        "score": round(decision.trust.score, 3),
        "released": result.is_released,
        "reasons": decision.reasons,
    }
