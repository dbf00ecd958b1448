"""Requests as clients of Cognee send them, built by hand so that a test can also build broken ones."""

from __future__ import annotations

import itertools
import json
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from mithril_proxy.cognee.calls import WriteCall
from mithril_proxy.cognee.form_writes import Rules
from mithril_proxy.cognee.routes import find_route
from mithril_proxy.cognee.tags import Tags
from mithril_proxy.cognee.writes import decode_write
from mithril_proxy.policy import Policy, load_policy

BOUNDARY = "b0undary"
MULTIPART = f"multipart/form-data; boundary={BOUNDARY}"
URLENCODED = "application/x-www-form-urlencoded"
JSON = "application/json"

POLICY = load_policy()
OPEN = POLICY.model_copy(
    update={"routes": POLICY.routes.model_copy(update=dict.fromkeys(type(POLICY.routes).model_fields, True))}
)
TAGS = Tags(POLICY.forward, frozenset({"slack", "security-policy", "unknown-agent"}))
RULES = Rules(POLICY.limits, POLICY.routes, TAGS)
OPEN_RULES = Rules(OPEN.limits, OPEN.routes, TAGS)


@dataclass(frozen=True)
class File:
    """One file part."""

    content: bytes
    filename: str = "notes.txt"
    media_type: str = "text/plain"


def multipart(*parts: tuple[str, str | File], boundary: str = BOUNDARY) -> bytes:
    """A multipart body, with `\\r\\n` and no charset, as aiohttp, httpx and browsers send it."""
    body = b""
    for name, value in parts:
        head = f'Content-Disposition: form-data; name="{name}"'
        content = value.encode() if isinstance(value, str) else value.content
        if isinstance(value, File):
            head += f'; filename="{value.filename}"\r\nContent-Type: {value.media_type}'
        body += f"--{boundary}\r\n{head}\r\n\r\n".encode() + content + b"\r\n"
    return body + f"--{boundary}--\r\n".encode()


def ids(prefix: str = "c") -> Callable[[], str]:
    """Identifiers in order: c0, c1, …"""
    counter = itertools.count()
    return lambda: f"{prefix}{next(counter)}"


def policy_with(**switches: bool) -> Policy:
    """The default policy with these switches of [routes]."""
    return POLICY.model_copy(update={"routes": POLICY.routes.model_copy(update=switches)})


def rules_with(**switches: bool) -> Rules:
    """What a decoder knows of such a policy."""
    policy = policy_with(**switches)
    return Rules(policy.limits, policy.routes, TAGS)


def small_rules(**limits: int) -> Rules:
    """The default rules with other limits."""
    return Rules(POLICY.limits.model_copy(update=limits), POLICY.routes, TAGS)


def form_call(call: str, *parts: tuple[str, str | File], query: str = "", rules: Rules = RULES) -> WriteCall:
    """A decoded multipart write; `call` is `POST /api/v1/add`."""
    method, path = call.split(" ")
    return decode_write(find_route(method, path), MULTIPART, query, multipart(*parts), rules=rules, new_id=ids())


def json_call(call: str, body: object, *, rules: Rules = RULES) -> WriteCall:
    """A decoded JSON write."""
    method, path = call.split(" ")
    return decode_write(find_route(method, path), JSON, "", json.dumps(body).encode(), rules=rules, new_id=ids())


def fields_named(pairs: Iterable[tuple[str, str]], name: str) -> list[str]:
    """All values of one form field."""
    return [value for field, value in pairs if field == name]
