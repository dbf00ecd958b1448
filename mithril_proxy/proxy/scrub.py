"""Takes credentials out of what a client would read, and says so."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace

from mithril_proxy.proxy.exchange import Exchange
from mithril_proxy.secrets import SecretGuard
from mithril_proxy.types import Annotation

MAX_ANSWER_BYTES = 64 * 1024 * 1024
INLINE_ANSWER_BYTES = 64 * 1024  # a larger answer is parsed and scrubbed in a thread


@dataclass(slots=True)
class Scrubber:
    """Removes credentials from what a client would read, and counts them."""

    guard: SecretGuard
    rules: list[str] = field(default_factory=list)

    def value(self, value: object) -> object:
        """A JSON value with every credential in it redacted; types and ids stay."""
        redacted = self.guard.redact_value(value)
        self.rules += [found.hit.rule for found in redacted.hits]
        return redacted.value

    def text(self, text: str) -> str:
        """Text with every credential redacted."""
        redacted = self.guard.redact(text)
        self.rules += [hit.rule for hit in redacted.hits]
        return redacted.text


async def note_scrubbed(exchange: Exchange, scrubber: Scrubber) -> None:
    """Count what was scrubbed and leave one audit row: a credential that was found in memory is an incident."""
    for rule in scrubber.rules:
        exchange.edge.metrics.scrubbed.labels(rule).inc()
    if scrubber.rules:
        payload = {"rules": sorted(set(scrubber.rules)), "count": len(scrubber.rules), "request_id": exchange.id}
        await exchange.edge.store.append_audit("scrubbed", exchange.match.route.name, payload)


async def redacted_annotations(guard: SecretGuard, annotations: Iterable[Annotation]) -> tuple[Annotation, ...]:
    """The same strings at the same places, without credentials."""
    return tuple([replace(given, text=(await guard.redact_async(given.text)).text) for given in annotations])
