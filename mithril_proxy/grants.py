"""Grants: a person released a claim that Mithril itself may not forward, so its writer's next attempt passes, once.

1. A grant holds for one principal and one write: the text, and everything that goes with it, as the reviewer saw it.
   Another file name or another label makes another write, which is judged like any.
2. It is spent before the write is recorded as admitted. Of two writes at once one passes.
3. The reviewer's word has moved the reputation of the source already; the granted write moves nothing.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Protocol

from mithril_proxy.errors import InvalidTransition
from mithril_proxy.types import Decision, Finding, QuarantineEntry

GRANTED_RULE = "gate.granted"


class GrantBook(Protocol):
    """Where grants are kept. Raises StoreUnavailable."""

    async def find_grant(self, principal: str, claim_digest: str) -> QuarantineEntry | None:
        """The oldest unused grant for this principal and text; None when there is none."""
        ...

    async def use_grant(self, quarantine_id: str, decision_id: str) -> None:
        """Spend a grant. Raises NotFound, InvalidTransition when it is spent."""
        ...


class NoGrants:
    """The grants of a dry run."""

    async def find_grant(self, principal: str, claim_digest: str) -> QuarantineEntry | None:
        """None."""
        return None

    async def use_grant(self, quarantine_id: str, decision_id: str) -> None:
        """Raises InvalidTransition."""
        raise InvalidTransition("there are no grants in a dry run")


async def spend_grant(book: GrantBook, decision: Decision, prepared: Mapping[str, Any]) -> Finding | None:
    """The finding that says that a grant was spent on this write; None when there is none for it."""
    grant = await book.find_grant(decision.provenance.principal, decision.claim_digest)
    if grant is None or not _is_same_write(grant, decision, prepared):
        return None
    try:
        await book.use_grant(grant.id, decision.id)
    except InvalidTransition:
        return None
    return Finding("gate", GRANTED_RULE, decision.claim_id, 0.0, f"{grant.id} was released by a reviewer")


def _is_same_write(grant: QuarantineEntry, decision: Decision, prepared: Mapping[str, Any]) -> bool:
    """True when nothing but the id of the decision, which a write carries with it, differs from what was reviewed."""
    reviewed = json.dumps(grant.prepared, sort_keys=True).replace(grant.decision_id, decision.id)
    return reviewed == json.dumps(prepared, sort_keys=True)


def is_granted(decision: Decision) -> bool:
    """True when a reviewer's word, and not the score, admitted the claim."""
    return any(finding.rule == GRANTED_RULE for finding in decision.findings)
