"""Credential guard: rules, matching, decoding views, JSON structure, stream scrubber. Pure: no I/O but reading rule files."""

from mithril_proxy.secrets.guard import SecretGuard, check_examples, load_guard
from mithril_proxy.secrets.hits import FieldHit, Hit, Redacted, RedactedValue

__all__ = ["FieldHit", "Hit", "Redacted", "RedactedValue", "SecretGuard", "check_examples", "load_guard"]
