"""The chain: what happens to a claim, as one ordered tuple.

Redact comes first, because nothing after it may see a credential; joins come last, because they need to know that a
claim is innocent by itself. The score and the gate follow the last stage and are no stages, so no stage can skip them.
"""

from __future__ import annotations

from typing import Protocol

from mithril_proxy.chain.contradiction import Contradiction
from mithril_proxy.chain.inspection import Stage
from mithril_proxy.chain.joins import Joins
from mithril_proxy.chain.probation import Probation, SourceBook
from mithril_proxy.chain.recent import RecentWrites
from mithril_proxy.chain.redact import Redact
from mithril_proxy.chain.reputation import PriorReputation, Reputation, ReputationBook
from mithril_proxy.clock import Clock
from mithril_proxy.policy import Policy
from mithril_proxy.secrets import SecretGuard
from mithril_proxy.types import Judge


class Book(ReputationBook, SourceBook, Protocol):
    """Where principals and their reputations stand."""


def build_chain(
    policy: Policy, *, guard: SecretGuard, judge: Judge, local: Judge, book: Book, recent: RecentWrites, clock: Clock
) -> tuple[Stage, ...]:
    """The stages in their order. `local` is a judge that costs nothing to ask again."""
    return (
        Redact(guard),
        Reputation(book),
        Probation(book, policy, clock),
        Contradiction(judge, policy),
        Joins(recent, local, policy),
    )


def build_dry_chain(policy: Policy, *, guard: SecretGuard, judge: Judge) -> tuple[Stage, ...]:
    """The stages that judge a claim by itself, with its prior for a reputation: nothing is remembered between two."""
    return (Redact(guard), Reputation(PriorReputation()), Contradiction(judge, policy))
