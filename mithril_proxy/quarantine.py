"""The life cycle of a held claim, as tables. Pure.

```
pending ──▶ releasing ──▶ released
   ▲ │           │
   │ │           └── the upstream said no ──▶ pending
   │ ├──▶ released     (a grant: nothing is forwarded by Mithril)
   │ ├──▶ rejected
   │ └──▶ expired
```
1. A step that is in no table is InvalidTransition. Who commits it first wins; everybody else is refused.
2. `releasing` is an intent, committed before the upstream is called. It carries a lease and an idempotency key. When
   the process dies, the lease runs out and whoever takes it over sends under the same key: nothing is lost, and an
   upstream that knows the key (or, like Cognee, stores one text once) doubles nothing.
3. A reviewer who changes their mind takes a step of RECONSIDERED; the store then undoes what the first review taught.
   What was rejected or expired is opened again (`pending`), and can then be released in the usual way.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from types import MappingProxyType

from mithril_proxy.errors import InvalidTransition
from mithril_proxy.types import ReviewState

_P, _G, _R, _J, _E = (
    ReviewState.PENDING,
    ReviewState.RELEASING,
    ReviewState.RELEASED,
    ReviewState.REJECTED,
    ReviewState.EXPIRED,
)

TRANSITIONS: Mapping[ReviewState, frozenset[ReviewState]] = MappingProxyType(
    {_P: frozenset({_G, _R, _J, _E}), _G: frozenset({_R, _P}), _R: frozenset(), _J: frozenset(), _E: frozenset()}
)
RECONSIDERED: Mapping[ReviewState, frozenset[ReviewState]] = MappingProxyType(
    {_P: frozenset(), _G: frozenset(), _R: frozenset({_J}), _J: frozenset({_P, _R}), _E: frozenset({_P, _R, _J})}
)
AUDIT_KINDS: Mapping[ReviewState, str] = MappingProxyType(
    {_P: "release", _G: "release", _R: "release", _J: "reject", _E: "expire"}
)


def may_move(before: ReviewState, after: ReviewState) -> bool:
    """True when the life cycle leads from `before` to `after`."""
    return after in TRANSITIONS[before]


def may_reconsider(before: ReviewState, after: ReviewState) -> bool:
    """True when a reviewer who changes their mind may go from `before` to `after`."""
    return after in RECONSIDERED[before]


def may_release(state: ReviewState, lease_until: datetime | None, now: datetime) -> bool:
    """True when a release may begin now: the claim is waiting, or whoever was releasing it let the lease run out."""
    if state is ReviewState.RELEASING:
        return lease_until is None or lease_until <= now
    return may_move(state, ReviewState.RELEASING)


def check_release(state: ReviewState, lease_until: datetime | None, now: datetime) -> None:
    """Nothing when a release may begin now. Raises InvalidTransition."""
    if may_release(state, lease_until, now):
        return
    if state is ReviewState.RELEASING:
        raise InvalidTransition(f"this claim is being released; that attempt has until {lease_until:%H:%M:%S} UTC")
    raise InvalidTransition(_refusal(state, ReviewState.RELEASING, TRANSITIONS))


def check_move(before: ReviewState, after: ReviewState) -> None:
    """Nothing when the life cycle allows it. Raises InvalidTransition."""
    if not may_move(before, after):
        raise InvalidTransition(_refusal(before, after, TRANSITIONS))


def check_reconsider(before: ReviewState, after: ReviewState) -> None:
    """Nothing when a reviewer may change their mind so. Raises InvalidTransition."""
    if not may_reconsider(before, after):
        raise InvalidTransition(_refusal(before, after, RECONSIDERED))


def _refusal(before: ReviewState, after: ReviewState, table: Mapping[ReviewState, frozenset[ReviewState]]) -> str:
    allowed = ", ".join(sorted(table[before])) or "nothing"
    return f"a held claim that is {before} cannot become {after}; it can become: {allowed}"
