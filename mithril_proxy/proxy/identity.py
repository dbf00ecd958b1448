"""Who sends a request: by what it can prove, never by what it says of itself.

In this order:

1. a Mithril key (`mk_…`) where a Cognee key would go: the registered source it was issued to; the key is swapped for
   the service credential, so it never reaches the upstream;
2. the SHA-256 of the client's own Cognee key, token or login cookie, when the policy names it under `[[principals]]`;
3. `unknown-agent`, with one reputation a credential, and one for all that send none.

`X-Mithril-Source: <name>` is obeyed only when that principal may declare the name.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from http.cookies import CookieError, SimpleCookie
from typing import Protocol

from mithril_proxy.errors import MalformedBody, RequestError
from mithril_proxy.policy import Policy, SourceRule
from mithril_proxy.proxy.headers import CREDENTIALS, RawHeaders, all_values
from mithril_proxy.store.interface import Source
from mithril_proxy.types import Finding, Provenance

MITHRIL_KEY_PREFIX = "mk_"
UNKNOWN_SOURCE = "unknown-agent"
LOGIN_COOKIE = "auth_token"  # Cognee's default AUTH_TOKEN_COOKIE_NAME
BUCKET_HEX = 16  # 64 bits of the credential's digest: no two credentials share a bucket by chance


class UnknownKey(RequestError):
    """A Mithril key that was never issued or is revoked."""

    status = 401
    code = "unknown_key"


class KeyBook(Protocol):
    """Where issued Mithril keys stand. Raises `StoreUnavailable`."""

    async def source_by_key(self, key_digest: str) -> Source | None:
        """The source of a key by its SHA-256 hex; None when unknown or revoked."""
        ...


@dataclass(frozen=True, slots=True)
class Identity:
    """A sender. `credentials` are the headers that stand for it at the upstream."""

    provenance: Provenance
    credentials: RawHeaders
    holds_mithril_key: bool = False
    findings: tuple[Finding, ...] = ()


class Identifies(Protocol):
    """Finds out who sends a request."""

    async def identify(self, headers: RawHeaders, peer: str | None) -> Identity:
        """The sender of a request with these headers. Raises RequestError, StoreUnavailable."""
        ...


@dataclass(frozen=True, slots=True)
class Identifier:
    """Finds out who sends a request."""

    policy: Policy
    keys: KeyBook
    service_key: str | None

    async def identify(self, headers: RawHeaders, peer: str | None) -> Identity:
        """The sender of a request with these headers. Raises UnknownKey, MalformedBody, StoreUnavailable."""
        credential = _credential(headers)
        declared = _single(headers, b"x-mithril-source")
        if credential is not None and credential.startswith(MITHRIL_KEY_PREFIX):
            source = await self.keys.source_by_key(_digest(credential))
            if source is None:
                raise UnknownKey(
                    "this Mithril key was never issued or is revoked; `mithril sources add NAME` issues one"
                )
            rule = self._rule_named(source.name)
            may_declare = source.may_declare + (rule.may_declare if rule else ())
            known = Provenance(source.principal, source.name, source.prior, is_authenticated=True, peer=peer)
            return self._declare(known, declared, may_declare, self._service_credentials(), holds_mithril_key=True)
        own = [(name, value) for name, value in headers if name.lower() in CREDENTIALS]
        rule = self._rule_for(credential)
        if rule is None:
            return self._declare(self._unknown(credential, peer), declared, (), own)
        prior = rule.prior if rule.prior is not None else self.policy.prior_of(rule.name)
        known = Provenance(rule.name, rule.name, prior, is_authenticated=True, peer=peer)
        return self._declare(known, declared, rule.may_declare, own)

    def _declare(
        self,
        known: Provenance,
        declared: str | None,
        may_declare: tuple[str, ...],
        credentials: RawHeaders,
        *,
        holds_mithril_key: bool = False,
    ) -> Identity:
        """The identity as it is, or under the name it declares if it may."""
        if declared is None or declared == known.source:
            return Identity(known, credentials, holds_mithril_key)
        if declared in may_declare:
            as_declared = Provenance(
                declared, declared, self.policy.prior_of(declared), is_authenticated=True, peer=known.peer
            )
            return Identity(as_declared, credentials, holds_mithril_key)
        ignored = Finding(
            "provenance", "provenance.undeclarable-source", "", 0.3, f"{known.source} may not declare another source"
        )
        return Identity(known, credentials, holds_mithril_key, (ignored,))

    def _unknown(self, credential: str | None, peer: str | None) -> Provenance:
        bucket = "anonymous" if credential is None else _digest(credential)[:BUCKET_HEX]
        return Provenance(f"{UNKNOWN_SOURCE}/{bucket}", UNKNOWN_SOURCE, self.policy.reputation.unknown_prior, peer=peer)

    def _rule_for(self, credential: str | None) -> SourceRule | None:
        if credential is None:
            return None
        digest = _digest(credential)
        return next((rule for rule in self.policy.principals if digest in rule.credential_sha256), None)

    def _rule_named(self, name: str) -> SourceRule | None:
        return next((rule for rule in self.policy.principals if rule.name == name), None)

    def _service_credentials(self) -> RawHeaders:
        return [] if self.service_key is None else [(b"x-api-key", self.service_key.encode())]


def _digest(credential: str) -> str:
    return hashlib.sha256(credential.encode("utf-8", "surrogateescape")).hexdigest()


def _credential(headers: RawHeaders) -> str | None:
    """What Cognee would look at first: X-Api-Key, then a Bearer token, then the login cookie; None when there is none.

    A Mithril key wins wherever it stands, so that it can never travel on to the upstream.
    """
    api_key = _single(headers, b"x-api-key")
    scheme, _, token = (_single(headers, b"authorization") or "").partition(" ")
    bearer = token.strip() if scheme.lower() == "bearer" else ""
    offered = [value for value in (api_key, bearer, _login_cookie(headers)) if value]
    return next((value for value in offered if value.startswith(MITHRIL_KEY_PREFIX)), next(iter(offered), None))


def _login_cookie(headers: RawHeaders) -> str:
    jar: SimpleCookie = SimpleCookie()
    try:
        jar.load("; ".join(value.decode("latin-1") for value in all_values(headers, b"cookie")))
    except CookieError:
        return ""
    return jar[LOGIN_COOKIE].value if LOGIN_COOKIE in jar else ""


def _single(headers: RawHeaders, name: bytes) -> str | None:
    """The value of a header that may stand once. Raises MalformedBody when it is repeated."""
    values = all_values(headers, name)
    if len(values) > 1:
        raise MalformedBody(f"{name.decode()}: sent more than once; send it once", code="repeated_header")
    return values[0].decode("latin-1").strip() if values else None
