"""The chain: what happens to a claim, as one ordered tuple.

Redact comes first, because nothing after it may see a credential; the score and the gate follow the last stage and
are no stages, so no stage can skip them.
"""

from __future__ import annotations

from mithril_proxy.chain.contradiction import Contradiction
from mithril_proxy.chain.inspection import Stage
from mithril_proxy.chain.redact import Redact
from mithril_proxy.chain.reputation import Reputation, ReputationBook
from mithril_proxy.policy import Policy
from mithril_proxy.secrets import SecretGuard
from mithril_proxy.types import Judge


def build_chain(
    policy: Policy,
    *,
    guard: SecretGuard,
    book: ReputationBook,
    judge: Judge,
) -> tuple[Stage, ...]:
    """The stages in their order."""
    return (
        Redact(guard),
        Reputation(book),
        Contradiction(judge, policy),
    )
