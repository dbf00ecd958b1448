"""Releasing and rejecting held claims: the use case behind the command, the API and the desk.

1. The intent to release is committed before the upstream is called, the outcome after it; a crash between the two is
   taken over when the lease has run out, and Cognee stores one text under one name once, so nothing is doubled.
2. A release goes out with the service credential, with the tags of an accepted write: a person vouches for it.
3. What a person decides is evidence: a release is a good write, and takes back what the decision that held it cost its
   source; a reject costs trust, unless that decision has cost it already.
4. Without a service credential, where Cognee asks for one, a release becomes a grant (`mithril_proxy.grants`).
5. Where policy asks for a second reviewer, the first release is a proposal; another person's release confirms it, with
   the text that was proposed.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

import orjson

from mithril_proxy.chain.reputation_rule import BLAMED, BLAMED_WITHOUT_EVIDENCE, review_step
from mithril_proxy.cognee.prepared import PreparedWrite
from mithril_proxy.cognee.stored import places_of
from mithril_proxy.errors import MithrilError, UpstreamUnavailable
from mithril_proxy.policy import Policy
from mithril_proxy.proxy.correction import as_typed, corrected
from mithril_proxy.proxy.forward import Forwarded, forward_write
from mithril_proxy.proxy.headers import RawHeaders
from mithril_proxy.proxy.upstream import Upstream
from mithril_proxy.quarantine import check_reconsider
from mithril_proxy.secrets import SecretGuard
from mithril_proxy.store.desk import DeskStore, ReleaseProposal
from mithril_proxy.store.interface import Correction, Outcome, Page, Release, ReputationStep, StoredMemory
from mithril_proxy.types import QuarantineEntry, ReviewState

EVENTS = 500  # of a source that are looked through for the step of one decision
DETAIL_CHARS = 300  # of the upstream's own error text, which may go to the reviewer


class ReleaseRefused(MithrilError):
    """The upstream did not take a released claim; it waits for review again. The message holds its answer."""


@dataclass(frozen=True, slots=True)
class Releases:
    """What a reviewer can do with a held claim."""

    store: DeskStore
    upstream: Upstream
    policy: Policy
    guard: SecretGuard
    service_key: str | None

    async def release(
        self, quarantine_id: str, *, reviewer: str, reason: str, text: str | None = None
    ) -> QuarantineEntry:
        """Forward a held claim, exactly once; with `text`, in its place. Still pending when it needs a second reviewer.

        Raises NotFound, InvalidTransition, RequestError (the text), UpstreamUnavailable and ReleaseRefused (the claim
        is pending again in both).
        """
        entry = await self.store.held(quarantine_id)
        correction = await self._correction(entry, text)
        if entry.state is ReviewState.PENDING and entry.status in self.policy.review.second_reviewer:
            proposal = await self._other_proposal(entry, reviewer, reason, correction)
            if proposal is None:
                return entry
            correction = await self._correction(entry, proposal.text)
        return await self._forward(entry, reviewer, reason, correction)

    async def reconsider(
        self, quarantine_id: str, state: ReviewState, *, reviewer: str, reason: str
    ) -> QuarantineEntry:
        """Change a review: open or release what was rejected or expired, reject what was released.

        What the review taught is undone. A released memory stays in Cognee; only Cognee's own forget takes it out.
        Raises what `release` raises.
        """
        entry = await self.store.held(quarantine_id)
        check_reconsider(entry.state, state)
        if state is not ReviewState.RELEASED:
            step = await self._rejected(entry) if state is ReviewState.REJECTED else None
            return await self.store.reconsider(quarantine_id, state, reviewer=reviewer, reason=reason, step=step)
        await self.store.reconsider(quarantine_id, ReviewState.PENDING, reviewer=reviewer, reason=reason)
        return await self.release(quarantine_id, reviewer=reviewer, reason=reason)

    async def _correction(self, entry: QuarantineEntry, text: str | None) -> Correction | None:
        """What goes out in place of the held text; None when it stays, or is on its way already."""
        if text is None or entry.state is ReviewState.RELEASING or as_typed(text) == as_typed(entry.text):
            return None
        return await corrected(entry, as_typed(text), self.guard, self.policy.limits.max_text_chars)

    async def _other_proposal(
        self, entry: QuarantineEntry, reviewer: str, reason: str, correction: Correction | None
    ) -> ReleaseProposal | None:
        """What somebody else proposed and this release confirms; None when this release became the proposal."""
        text = None if correction is None else correction.text
        proposal = await self.store.proposal(entry.id)
        if proposal is not None and proposal.reviewer != reviewer and text in (None, proposal.text):
            return proposal
        await self.store.propose_release(entry.id, reviewer=reviewer, reason=reason, text=text)
        return None

    async def _forward(
        self, entry: QuarantineEntry, reviewer: str, reason: str, correction: Correction | None
    ) -> QuarantineEntry:
        release = await self.store.begin_release(entry.id, reviewer=reviewer, reason=reason, correction=correction)
        try:
            forwarded = await forward_write(
                self.upstream, PreparedWrite.from_json(release.entry.prepared), self.headers()
            )
        except UpstreamUnavailable as error:
            await self.store.abandon_release(release, Outcome("upstream_error", None, {"reason": str(error)}))
            raise
        if not forwarded.is_success:
            refused = await self._refused(release, forwarded)
            if correction is not None or forwarded.status not in (401, 403) or self.service_key is not None:
                raise refused
            return await self._grant(release.entry, reviewer, reason)
        await self._keep_place(release, forwarded)
        step = review_step(ReviewState.RELEASED, self.policy, was_blamed=await self._was_blamed(release.entry))
        return await self.store.finish_release(release, Outcome("forwarded", forwarded.status), step=step)

    async def reject(self, quarantine_id: str, *, reviewer: str, reason: str) -> QuarantineEntry:
        """Close a held claim for good. Raises NotFound, InvalidTransition."""
        entry = await self.store.held(quarantine_id)
        step = await self._rejected(entry)
        return await self.store.review(quarantine_id, ReviewState.REJECTED, reviewer=reviewer, reason=reason, step=step)

    async def _keep_place(self, release: Release, forwarded: Forwarded) -> None:
        """Keep where the claim lies now, so that it can be withdrawn."""
        entry = release.entry
        await self.store.record_stored(
            [
                StoredMemory(
                    entry.decision_id, entry.principal, place.dataset, place.filename, place.dataset_id, place.data_id
                )
                for place in places_of(PreparedWrite.from_json(entry.prepared), forwarded.body)[:1]
            ]
        )

    async def _grant(self, entry: QuarantineEntry, reviewer: str, reason: str) -> QuarantineEntry:
        """Let the writer's own next attempt pass: Mithril has no credential to forward with."""
        step = review_step(ReviewState.RELEASED, self.policy, was_blamed=await self._was_blamed(entry))
        return await self.store.grant(entry.id, reviewer=reviewer, reason=reason, step=step)

    async def _refused(self, release: Release, forwarded: Forwarded) -> ReleaseRefused:
        """The claim pending again, and what to say of it."""
        await self.store.abandon_release(release, Outcome("upstream_error", forwarded.status))
        advice = ""
        if forwarded.status in (401, 403, 404) and self.service_key is None:
            advice = "; set MITHRIL_UPSTREAM_API_KEY to a Cognee API key that may write to this dataset"
        return ReleaseRefused(
            f"Cognee answered {forwarded.status}: {_explanation(forwarded)}{advice}; the claim is pending again"
        )

    def headers(self) -> RawHeaders:
        """Headers of a call in the name of the service, not of a client."""
        return service_headers(self.upstream, self.service_key)

    async def _was_blamed(self, entry: QuarantineEntry) -> bool:
        """True when the decision that held the claim has cost its source trust; a review of it is another matter."""
        events = await self.store.reputation_events(entry.principal, Page(limit=EVENTS))
        blamed = (BLAMED, BLAMED_WITHOUT_EVIDENCE)
        return any(event.decision_id == entry.decision_id and event.reason in blamed for event in events)

    async def _rejected(self, entry: QuarantineEntry) -> ReputationStep | None:
        """What a rejection costs: nothing when the decision itself has cost it already."""
        return None if await self._was_blamed(entry) else review_step(ReviewState.REJECTED, self.policy)


def service_headers(upstream: Upstream, service_key: str | None) -> RawHeaders:
    """Headers of a call in the name of the service, not of a client."""
    host = urlsplit(f"//{upstream.netloc}").netloc.encode()
    credentials = [] if service_key is None else [(b"x-api-key", service_key.encode())]
    return [(b"host", host), (b"user-agent", b"mithril"), *credentials]


def _explanation(forwarded: Forwarded) -> str:
    """What the upstream says of itself, short."""
    try:
        body: Any = orjson.loads(forwarded.body)
    except orjson.JSONDecodeError:
        return "no JSON"
    words = (body.get("error") or body.get("detail")) if isinstance(body, dict) else None
    return str(words or "no reason")[:DETAIL_CHARS]
