"""Credential guard: rules, matching, decoding views, JSON structure, stream scrubber.

Pure: no I/O but reading rule files."""

from mithril_proxy.secrets.guard import SecretGuard, check_examples, load_guard
from mithril_proxy.secrets.hits import FieldHit, Hit, Redacted, RedactedValue
from mithril_proxy.secrets.stream import ByteScrubber, StreamScrubber

__all__ = [
    "ByteScrubber",
    "FieldHit",
    "Hit",
    "Redacted",
    "RedactedValue",
    "SecretGuard",
    "StreamScrubber",
    "check_examples",
    "load_guard",
]
