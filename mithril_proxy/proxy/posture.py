"""What the upstream is and how it is set up: its version, and doors that stand open beside the proxy."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any, Literal

import orjson

from mithril_proxy.cognee.routes import unlisted
from mithril_proxy.errors import UpstreamUnavailable
from mithril_proxy.proxy.headers import RawHeaders
from mithril_proxy.proxy.upstream import Upstream, UpstreamRequest

OLDEST_VERSION = (1, 2)  # CHUNKS honours node_name from 1.2.0 on; before it a recall cannot be narrowed
NEWEST_VERSION = (1, 6)  # read and measured; a newer one may have routes and fields that nobody looked at
ANSWER_BYTES = 16 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class Observation:
    """One thing seen at the upstream, and what to do about it."""

    verdict: Literal["ok", "warn", "fail"]
    detail: str
    advice: str = ""


def parsed_version(text: str) -> tuple[int, int] | None:
    """Major and minor of a version such as `1.6.5-local`; None when there is none."""
    found = re.match(r"v?(\d+)\.(\d+)", text)
    return (int(found[1]), int(found[2])) if found else None


def judged_version(text: str) -> Observation:
    """Whether this version of Cognee is one that Mithril knows."""
    version = parsed_version(text)
    if version is None:
        return Observation("warn", f"version {text!r} is unknown", "Mithril was measured with Cognee 1.2 to 1.6")
    if version < OLDEST_VERSION:
        return Observation(
            "fail", f"version {text} is too old", "upgrade Cognee to 1.2 or later: before it recalls cannot be narrowed"
        )
    if version > NEWEST_VERSION:
        return Observation("warn", f"version {text} is newer than 1.6", "routes that Mithril does not know are refused")
    return Observation("ok", f"Cognee {text}")


async def observe_upstream(upstream: Upstream, url: str, service_key: str | None) -> tuple[Observation, ...]:
    """Everything that can be seen from outside. Reads only; never registers or writes."""
    credentials: RawHeaders = [] if service_key is None else [(b"x-api-key", service_key.encode())]
    try:
        status, health = await _get(upstream, "/health", [])
    except UpstreamUnavailable as error:
        return (Observation("fail", str(error), f"start Cognee, or set MITHRIL_UPSTREAM_URL (now {url})"),)
    if not isinstance(health, dict) or "version" not in health:
        return (Observation("fail", f"{url} does not answer like Cognee ({status})", "check MITHRIL_UPSTREAM_URL"),)
    observations = [judged_version(str(health["version"]))]
    observations.append(await _access_control(upstream))
    observations += await _service_credential(upstream, credentials)
    observations += await _routes(upstream)
    return tuple(observations)


async def _access_control(upstream: Upstream) -> Observation:
    status, _ = await _get(upstream, "/api/v1/datasets", [])
    if status in (401, 403):
        return Observation("ok", "access control is on")
    return Observation(
        "warn",
        "access control is off: every caller is the same user, and a dataset is no boundary",
        "set REQUIRE_AUTHENTICATION=true and ENABLE_BACKEND_ACCESS_CONTROL=true on Cognee",
    )


async def _service_credential(upstream: Upstream, credentials: RawHeaders) -> list[Observation]:
    status, _ = await _get(upstream, "/api/v1/datasets", credentials)
    if status == 200:
        return [
            Observation(
                "ok", "the service credential is accepted" if credentials else "no service credential is needed"
            )
        ]
    advice = "set MITHRIL_UPSTREAM_API_KEY to a Cognee API key: Mithril keys and releases need it"
    return [Observation("warn", f"the service credential is missing or refused ({status})", advice)]


async def _routes(upstream: Upstream) -> list[Observation]:
    """Routes that the upstream has and the table lacks, and registration that is open to anybody."""
    status, openapi = await _get(upstream, "/openapi.json", [])
    if status != 200 or not isinstance(openapi, dict):
        return [Observation("warn", "the upstream's OpenAPI file cannot be read", "unlisted routes are refused anyway")]
    observations = []
    calls = [(method, path) for path, methods in openapi.get("paths", {}).items() for method in methods]
    unknown = unlisted(calls)
    if unknown:
        names = ", ".join(f"{method} {path}" for method, path in unknown[:5])
        observations.append(
            Observation(
                "warn", f"{len(unknown)} routes that Mithril does not know: {names}", "calls to them are refused"
            )
        )
    if "/api/v1/auth/register" in openapi.get("paths", {}):
        advice = "nobody but Mithril should reach Cognee's port; close POST /api/v1/auth/register in the policy"
        observations.append(Observation("warn", "anybody who reaches Cognee can register a user", advice))
    return observations


async def _get(upstream: Upstream, path: str, headers: RawHeaders) -> tuple[int, Any]:
    """Status and parsed body, None when it is no JSON. Raises UpstreamUnavailable."""
    accept = [(b"accept", b"application/json"), (b"accept-encoding", b"identity")]
    async with await upstream.send(UpstreamRequest("GET", path, [*headers, *accept])) as answer:
        raw = await answer.read(ANSWER_BYTES)
        try:
            return answer.status, orjson.loads(raw)
        except orjson.JSONDecodeError:
            return answer.status, None
