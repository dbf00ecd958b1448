"""No credential passes in what Mithril does not rewrite: addresses, plain headers, bodies that go on as they are.

1. An address is refused, not redacted: another path or query is another call, and servers write addresses to logs.
2. A header's value is redacted: Cognee keeps some of them, as the user agent of a session.
3. A body is refused, not redacted: it names what is read, deleted or granted. Those that bring credentials by design
   (login, registration, settings, connection checks) are left alone.
"""

from __future__ import annotations

from urllib.parse import unquote_plus

import orjson

from mithril_proxy.cognee.routes import Match, Operation
from mithril_proxy.errors import MalformedBody
from mithril_proxy.proxy.headers import RawHeaders
from mithril_proxy.secrets import SecretGuard

SCREENED_SWITCHES = frozenset(("permissions", "agents"))


def refuse_credentials_in_address(guard: SecretGuard, match: Match, query: str) -> None:
    """Raise MalformedBody (`credential_in_address`) when a path parameter or the query holds a credential."""
    if any(guard.scan(text) for text in (*match.parameters.values(), query, unquote_plus(query))):
        raise MalformedBody(
            "the address holds a credential, and addresses stand in logs; send it in a header or a body, or not at all",
            code="credential_in_address",
        )


def without_credentials(guard: SecretGuard, headers: RawHeaders) -> RawHeaders:
    """The same headers, their values redacted; the very same when there is nothing to redact."""
    if not guard.scan("\n".join(value.decode("latin-1") for _, value in headers)):
        return headers
    return [(name, _redacted(guard, value)) for name, value in headers]


def _redacted(guard: SecretGuard, value: bytes) -> bytes:
    return guard.redact(value.decode("utf-8", "surrogateescape")).text.encode("utf-8", "surrogateescape")


def is_screened(match: Match) -> bool:
    """True for a call whose body goes on as it is and has no business with credentials."""
    is_named = match.operation in (Operation.READ, Operation.DESTRUCTIVE)
    return is_named or match.route.switch in SCREENED_SWITCHES


async def refuse_credentials_in_body(guard: SecretGuard, body: bytes) -> None:
    """Raise MalformedBody (`credential_in_body`) when `body` holds a credential, as JSON or as text."""
    text = body.decode("utf-8", "replace")
    if (await guard.redact_async(text)).hits or (await guard.redact_value_async(_parsed(body))).hits:
        raise MalformedBody(
            "the body holds a credential, and this call goes on as it is; send it without", code="credential_in_body"
        )


def _parsed(body: bytes) -> object:
    try:
        return orjson.loads(body)
    except orjson.JSONDecodeError:
        return None
