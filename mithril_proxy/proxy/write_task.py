"""One decoded write on its way: decided claim by claim, forwarded by tags, answered.

1. Claims of one call are decided one after the other, so that a bad one already weighs on the next.
2. What was admitted under the same tags goes out as one upstream call; every decision gets its outcome.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from mithril_proxy.cognee.prepared import PreparedWrite
from mithril_proxy.cognee.sessions import Standing
from mithril_proxy.cognee.stored import places_of
from mithril_proxy.cognee.tags import Tags
from mithril_proxy.cognee.writes import WriteCall, forward_tags, prepare
from mithril_proxy.errors import UpstreamUnavailable
from mithril_proxy.firewall import Call, Judgement
from mithril_proxy.proxy.answers import send_error
from mithril_proxy.proxy.diverted import send_admitted, send_diverted, send_unforwarded
from mithril_proxy.proxy.exchange import Exchange
from mithril_proxy.proxy.forward import Forwarded, forward_write
from mithril_proxy.proxy.headers import REPORT_HEADER, header, rebuilt_request_headers
from mithril_proxy.proxy.probe import UpstreamMemory
from mithril_proxy.proxy.sessions import keep_standing
from mithril_proxy.store.interface import Outcome, StoredMemory
from mithril_proxy.types import Claim, Finding, Status


@dataclass(frozen=True, slots=True)
class Group:
    """Claims that go to the upstream in one call, because they get the same tags."""

    judgements: tuple[Judgement, ...]
    prepared: PreparedWrite


@dataclass(frozen=True, slots=True)
class WriteTask:
    """A write that was decoded. `standing` is what its session will be, None when it stores in none.

    `unread` says of each document that gave no text why it did not.
    """

    exchange: Exchange
    call: WriteCall
    tags: Tags
    standing: Standing | None
    unread: tuple[Finding, ...] = ()

    async def run(self) -> int:
        """Decide, forward, answer. Returns the HTTP status of the answer. Raises StoreUnavailable."""
        judgements = await self.decide()
        if any(judgement.is_withheld for judgement in judgements):
            detail = "the credential guard failed; nothing was forwarded, send the write again"
            await send_error(self.exchange.request.send, 503, "guard_unavailable", detail)
            return 503
        await self._note(_diverted(judgements), Outcome("diverted"))
        answers: list[Forwarded] = []
        groups = list(self._groups(judgements))
        while groups:
            group = groups.pop(0)
            try:
                answers.append(await self._forward(group))
            except UpstreamUnavailable as error:
                await self._abandon(groups)
                return await send_unforwarded(self.exchange, judgements, error)
            if not answers[-1].is_success:
                await self._abandon(groups)
                return await send_admitted(self.exchange, judgements, answers[-1])
        if answers:
            await keep_standing(self.exchange, self.call, self.standing)
        wants_report = header(self.exchange.request.headers, REPORT_HEADER) == b"items"
        if wants_report or _diverted(judgements):
            return await send_diverted(self.exchange, self.call, judgements, answers)
        return await send_admitted(self.exchange, judgements, *answers)

    async def decide(self) -> tuple[Judgement, ...]:
        """The recorded decision on each claim, in order. Raises StoreUnavailable."""
        exchange, call = self.exchange, self.call
        provenance = replace(exchange.identity.provenance, session=call.session, dataset=call.dataset)
        known = (*exchange.identity.findings, *_forged_findings(call.forged_tags))
        judgements = []
        for claim in call.claims:
            judgement = await exchange.services.firewall.decide(
                claim,
                provenance,
                memory=self._memory(),
                call=Call(exchange.id, exchange.match.route.name, exchange.services.policy.mode),
                prepare=self._held,
                findings=(
                    *(replace(finding, claim_id=claim.id) for finding in known),
                    *(finding for finding in self.unread if finding.claim_id == claim.id),
                ),
            )
            exchange.edge.metrics.count_decision(judgement.decision)
            judgements.append(judgement)
        return tuple(judgements)

    def _held(self, claim: Claim, decision_id: str) -> Mapping[str, Any]:
        """What the quarantine keeps of a claim: with the tags of an accepted one, since only a person releases it."""
        return self._prepared((claim,), self._tags_for(Status.ACCEPT), {claim.id: decision_id}).to_json()

    def _tags_for(self, status: Status) -> tuple[str, ...]:
        source = self.exchange.identity.provenance.source
        is_own = self.standing is not Standing.FOREIGN
        return forward_tags(self.call, status, source, self.tags, is_session_own=is_own)

    def _prepared(self, claims: Sequence[Claim], tags: tuple[str, ...], receipts: Mapping[str, str]) -> PreparedWrite:
        dataset = self.exchange.services.policy.forward.dataset or None
        return prepare(self.call, tuple(claims), tags=tags, dataset=dataset, receipts=receipts)

    def _memory(self) -> UpstreamMemory:
        """The verified memory that a claim of this call is compared with: that of the dataset it is meant for."""
        policy, call = self.exchange.services.policy, self.call
        json_type = b"application/json"
        headers = rebuilt_request_headers(self.exchange.upstream_headers(), content_type=json_type, accept=json_type)
        chosen = policy.forward.dataset
        ids = () if chosen else call.dataset_ids
        dataset = None if ids else chosen or call.dataset
        return UpstreamMemory(
            self.exchange.edge.upstream,
            headers,
            self.tags,
            policy.contradiction.probe_top_k,
            self.exchange.services.guard,
            datasets=(dataset,) if dataset else (),
            dataset_ids=ids,
        )

    def _groups(self, judgements: Sequence[Judgement]) -> tuple[Group, ...]:
        """The admitted claims by the tags they get, each group with its upstream write."""
        by_tags: dict[tuple[str, ...], list[Judgement]] = {}
        for judgement in judgements:
            if judgement.decision.status.is_admitted:
                by_tags.setdefault(self._tags_for(judgement.decision.status), []).append(judgement)
        return tuple(
            Group(tuple(members), self._prepared([member.claim for member in members], tags, _receipts(members)))
            for tags, members in by_tags.items()
        )

    async def _forward(self, group: Group) -> Forwarded:
        """Forward one group and record what became of its decisions. Raises UpstreamUnavailable."""
        try:
            forwarded = await forward_write(
                self.exchange.edge.upstream, group.prepared, self.exchange.upstream_headers()
            )
        except UpstreamUnavailable as error:
            await self._note(group.judgements, Outcome("upstream_error", None, {"reason": str(error)}))
            raise
        if forwarded.is_success:
            await self._keep_places(group, forwarded)
        kind = "forwarded" if forwarded.is_success else "upstream_error"
        await self._note(group.judgements, Outcome(kind, forwarded.status))
        return forwarded

    async def _keep_places(self, group: Group, forwarded: Forwarded) -> None:
        """Keep where the claims of a group lie now, so that they can be withdrawn."""
        places = places_of(group.prepared, forwarded.body)
        if len(places) != len(group.judgements):
            return  # turns of a session: they lie in no document of their own
        principal = self.exchange.identity.provenance.principal
        await self.exchange.edge.store.record_stored(
            [
                StoredMemory(one.decision.id, principal, place.dataset, place.filename, place.dataset_id, place.data_id)
                for one, place in zip(group.judgements, places, strict=True)
            ]
        )

    async def _abandon(self, groups: Sequence[Group]) -> None:
        """Record that groups were not tried, because one before them failed."""
        for group in groups:
            await self._note(group.judgements, Outcome("not_forwarded"))

    async def _note(self, judgements: Sequence[Judgement], outcome: Outcome) -> None:
        record = self.exchange.edge.store.record_outcome
        await asyncio.gather(*(record(judgement.decision.id, outcome) for judgement in judgements))  # one commit


def _receipts(judgements: Sequence[Judgement]) -> Mapping[str, str]:
    """The decision that admits each claim, to be kept beside the memory."""
    return {judgement.claim.id: judgement.decision.id for judgement in judgements}


def _diverted(judgements: Sequence[Judgement]) -> tuple[Judgement, ...]:
    return tuple(judgement for judgement in judgements if not judgement.decision.status.is_admitted)


def _forged_findings(forged: Sequence[str]) -> tuple[Finding, ...]:
    if not forged:
        return ()
    return (Finding("provenance", "provenance.forged-tag", "", 0.4, f"{len(forged)} reserved tags stripped"),)
