"""Whole requests as TOML: what a client sent, what it got, and what reached the upstream.

Each file of `tests/scenarios/` holds one or more `[[scenario]]`:

- `title`: the behaviour, as a sentence; `trick`: the number in the list of bypasses, where it is one.
- `source`: `trusted` (0.98), `middling` (0.60), or absent for an unknown writer. `policy`: a shipped policy.
- `request`: method, path, headers; and one of `fields` + `files` (multipart), `json`, `raw` (text) or `hex` (bytes).
- `memories`: verified memories that the probe finds, as `[text, tag, …]`.
- `answer`: status and json of the upstream.
- `expect`: status, error, decision, reasons, no_reasons, reaches_upstream, upstream_path, upstream_has, upstream_lacks,
  node_sets, reply_has, reply_lacks, held, query.
"""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import orjson
import pytest

from tests.harness import Bench, FakeUpstream, Reply, bench, chunk, json_answer, multipart

FOLDER = Path(__file__).parent / "scenarios"
PRIORS = {"trusted": 0.98, "middling": 0.60}


def scenarios() -> list[Any]:
    found = []
    for path in sorted(FOLDER.glob("*.toml")):
        for scenario in tomllib.loads(path.read_text())["scenario"]:
            found.append(pytest.param(scenario, id=f"{path.stem}: {scenario['title']}"))
    return found


def body_of(request: dict[str, Any]) -> tuple[bytes, str | None]:
    """The body of a scenario and the Content-Type that belongs to it."""
    if "json" in request:
        return orjson.dumps(request["json"]), "application/json"
    if "fields" in request or "files" in request:
        files = [(name, filename, _unescaped(text)) for name, filename, text in request.get("files", [])]
        return multipart([(name, value) for name, value in request.get("fields", [])], files)
    if "urlencoded" in request:
        return urlencode(
            [(name, value) for name, value in request["urlencoded"]]
        ).encode(), "application/x-www-form-urlencoded"
    if "hex" in request:
        return bytes.fromhex(request["hex"]), None
    return request.get("raw", "").encode(), None


def _unescaped(text: str) -> bytes:
    return text.encode()


async def perform(setup: Bench, scenario: dict[str, Any]) -> Reply:
    request = scenario["request"]
    body, content_type = body_of(request)
    headers = [(name, value) for name, value in request.get("headers", [])]
    if content_type is not None and not any(name.lower() == "content-type" for name, _ in headers):
        headers.append(("content-type", content_type))
    return await setup.call(
        request.get("method", "POST"), request["path"], source=scenario.get("source"), headers=headers, body=body
    )


@pytest.mark.parametrize("scenario", scenarios())
async def test_scenario(scenario: dict[str, Any], tmp_path: Path) -> None:
    answer = scenario.get("answer", {})
    upstream = FakeUpstream(
        script=lambda sent: json_answer(answer.get("json", {"status": "completed"}), answer.get("status", 200)),
        memories=[chunk(text, *tags) for text, *tags in scenario.get("memories", [])],
    )
    async with bench(tmp_path, policy=scenario.get("policy", "default.toml"), upstream=upstream) as setup:
        for name, prior in PRIORS.items():
            await setup.register(name, prior)
        reply = await perform(setup, scenario)
        await check(setup, reply, scenario["expect"])


async def check(setup: Bench, reply: Reply, expect: dict[str, Any]) -> None:
    sent = b"\n".join(
        b" ".join((call.method.encode(), call.target.encode(), call.body)) for call in setup.upstream.sent
    )
    text = reply.body.decode("utf-8", "replace")
    assert reply.status == expect["status"], text
    if "error" in expect:
        assert reply.json()["error"] == expect["error"], text
        assert isinstance(reply.json()["detail"], str)
    if "decision" in expect:
        assert reply.header("x-mithril-status") == expect["decision"], text
    reasons = await _reasons(setup, reply)
    for reason in expect.get("reasons", []):
        assert reason in reasons, reasons
    for reason in expect.get("no_reasons", []):
        assert reason not in reasons, reasons
    if "reaches_upstream" in expect:
        assert bool(setup.upstream.sent) is expect["reaches_upstream"], sent
    for fragment in expect.get("upstream_has", []):
        assert fragment.encode() in sent, sent
    for fragment in expect.get("upstream_lacks", []):
        assert fragment.encode() not in sent, sent
    if "upstream_path" in expect:
        assert [call.target.partition("?")[0] for call in setup.upstream.sent] == [expect["upstream_path"]]
    if "node_sets" in expect:
        assert _node_sets(setup) == expect["node_sets"]
    for fragment in expect.get("reply_has", []):
        assert fragment in text
    for fragment in expect.get("reply_lacks", []):
        assert fragment not in text
    for fragment in expect.get("database_lacks", []):
        assert fragment.encode() not in setup.database_bytes()


async def _reasons(setup: Bench, reply: Reply) -> set[str]:
    decision_id = reply.header("x-mithril-decision")
    if decision_id is None:
        return set()
    decision = await setup.store.decision(decision_id)
    return {finding["rule"] for finding in decision["findings"]}


def _node_sets(setup: Bench) -> list[str]:
    """The node_set values of the one forwarded form, in order."""
    marker = b'name="node_set"\r\n\r\n'
    return [part.split(b"\r\n")[0].decode() for call in setup.upstream.sent for part in call.body.split(marker)[1:]]


def test_every_known_trick_has_a_scenario() -> None:
    """Number 39 stands in `proxy/test_websockets.py`."""
    covered = {
        scenario.get("trick")
        for path in FOLDER.glob("*.toml")
        for scenario in tomllib.loads(path.read_text())["scenario"]
    }
    assert set(range(1, 45)) - covered == {39}
