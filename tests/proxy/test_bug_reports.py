"""What other proxies of this kind were reported for, as requests: each test is a kind of fault, not one input."""

from __future__ import annotations

import gzip
import hashlib
import json
import zlib
from collections.abc import AsyncIterator
from pathlib import Path

import orjson
import pytest

from tests.harness import Bench, FakeAnswer, FakeUpstream, Sent, bench, json_answer, multipart
from tests.secrets import fakes

JSON = [("content-type", "application/json")]
GUARDED = ("/api/v1/remember", "/api/v1/add", "/api/v1/recall", "/api/v1/search", "/api/v1/remember/entry")


@pytest.fixture
async def setup(tmp_path: Path) -> AsyncIterator[Bench]:
    async with bench(tmp_path) as ready:
        await ready.register("wiki", 0.98)
        yield ready


# --- Content-Length after a rewritten body --------------------------------------------------------------------------

TEXTS = {
    "shrinks": f"The office opens at nine, ask with {fakes.OPENAI} at the door.",
    "grows": 'The office opens at nine, password = "hunt' + 'er42!" at the door.',
    "multi-byte": f"\U0001f511\U0001f389 Zür\u00e9 {fakes.AWS} \U0001f511",
}


@pytest.mark.parametrize("name", TEXTS)
async def test_the_upstream_gets_the_length_of_the_bytes_it_gets(setup: Bench, name: str) -> None:
    query = {"query": TEXTS[name], "note": "x"}
    body = json.dumps(query, ensure_ascii=False).encode()
    await setup.call("POST", "/api/v1/recall", headers=[*JSON, ("content-length", str(len(body)))], body=body)
    [sent] = setup.upstream.sent
    assert b"[REDACTED:" in sent.body
    lengths = [value for key, value in sent.headers if key.lower() == b"content-length"]
    assert lengths in ([], [str(len(sent.body)).encode()])
    assert orjson.loads(sent.body)["query"].startswith(TEXTS[name][:2])


@pytest.mark.parametrize("name", TEXTS)
async def test_the_client_gets_the_length_of_the_bytes_it_gets(tmp_path: Path, name: str) -> None:
    upstream = FakeUpstream(script=lambda sent: json_answer({"note": TEXTS[name]}))
    async with bench(tmp_path, upstream=upstream) as setup:
        reply = await setup.call("GET", "/api/v1/datasets")
    assert "[REDACTED:" in reply.json()["note"]
    assert reply.header("content-length") == str(len(reply.body))


async def test_an_answer_without_a_body_keeps_its_length(tmp_path: Path) -> None:
    upstream = FakeUpstream(script=lambda sent: FakeAnswer(200, [(b"content-length", b"1234")], []))
    async with bench(tmp_path, upstream=upstream) as setup:
        reply = await setup.call("HEAD", "/openapi.json")
    assert (reply.header("content-length"), reply.body) == ("1234", b"")


# --- compressed bodies ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("encoding", ["gzip", "x-gzip", "deflate", "br", "zstd"])
@pytest.mark.parametrize("path", GUARDED)
async def test_a_body_that_says_it_is_compressed_is_refused(setup: Bench, path: str, encoding: str) -> None:
    plain = json.dumps({"query": f"see {fakes.GITHUB}"}).encode()
    for body in (plain, gzip.compress(plain), zlib.compress(plain), gzip.compress(bytes(1 << 22))):
        reply = await setup.call("POST", path, headers=[*JSON, ("content-encoding", encoding)], body=body)
        assert reply.status == 415
    assert setup.upstream.sent == []


async def test_a_read_asks_for_an_uncompressed_answer(setup: Bench) -> None:
    await setup.call("GET", "/api/v1/datasets", headers=[("accept-encoding", "gzip, br")])
    [sent] = setup.upstream.sent
    assert sent.header("accept-encoding") == "identity"


# --- identifiers stay, odd passwords go -----------------------------------------------------------------------------

UUID = "6f1a2f0e-6a0e-4a9e-9f61-0d3f0c5d8b11"
IDENTIFIERS = (
    UUID,
    "commit " + hashlib.sha1(b"a", usedforsecurity=False).hexdigest(),
    "integrity sha512-" + "q80Zf3kP9vQ2mZt7LwR4sN/+" * 3 + "q80Zf3kP9vQ2mA==",
    "assignVariablesOjTabBar1482653721SelectedItem",
    "tokenizationId " + hashlib.md5(b"a", usedforsecurity=False).hexdigest(),
)


async def test_identifiers_in_a_memory_come_back_as_they_are(tmp_path: Path) -> None:
    value = [{"id": UUID, "token_id": UUID, "text": text} for text in IDENTIFIERS]
    upstream = FakeUpstream(script=lambda sent: json_answer(value))
    async with bench(tmp_path, upstream=upstream) as setup:
        reply = await setup.call("GET", f"/api/v1/datasets/{UUID}/data")
    assert reply.json() == value


async def test_a_password_with_slash_and_plus_is_redacted(tmp_path: Path) -> None:
    password = "LIkaITK744sG54VgABW" + "/+p4NXFr"
    upstream = FakeUpstream(script=lambda sent: json_answer({"text": f"sasl_password={password}"}))
    async with bench(tmp_path, upstream=upstream) as setup:
        reply = await setup.call("GET", "/api/v1/datasets")
    assert reply.json() == {"text": "sasl_password=[REDACTED:assignment]"}


# --- limits ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("path", [*GUARDED, "/api/v1/visualize/multi", "/api/v1/forget"])
async def test_one_byte_over_the_limit_is_413_on_every_path_and_names_the_limit(setup: Bench, path: str) -> None:
    limit = setup.plane.services.policy.limits.max_body_bytes
    piece = bytes(1 << 20)
    pieces = [piece] * (limit // len(piece)) + [b"x" * (limit % len(piece) + 1)]
    headers = [*JSON, ("transfer-encoding", "chunked")]
    reply = await setup.call("POST", path, headers=headers, pieces=pieces)
    assert (reply.status, reply.json()["error"]) == (413, "body_too_large")
    assert str(limit) in reply.json()["detail"]
    assert setup.upstream.sent == []


@pytest.mark.parametrize("size", [0, 1, 70_000, 1 << 20])
async def test_what_is_only_observed_arrives_byte_for_byte(tmp_path: Path, size: int) -> None:
    text = (f"note {fakes.GITHUB} " * (size // 40 + 1))[:size].encode()
    body, content_type = multipart([("datasetName", "main")], [("data", "a.txt", text)])
    async with bench(tmp_path, policy="observe.toml") as setup:
        await setup.call("POST", "/api/v1/add", headers=[("content-type", content_type)], body=body)
        sent: list[Sent] = setup.upstream.sent
        assert [hashlib.sha256(one.body).digest() for one in sent] == [hashlib.sha256(body).digest()]
        assert fakes.GITHUB.encode() not in setup.database_bytes()


# --- two readings of one JSON ---------------------------------------------------------------------------------------

ESCAPED = "".join(f"\\u{ord(letter):04x}" for letter in fakes.GITHUB)
AMBIGUOUS = (
    b'{"query": "hello", "query": "' + fakes.GITHUB.encode() + b'"}',
    b'{"query": "' + fakes.GITHUB.encode() + b'", "query": "hello"}',
    b'{"query": "\\ud800"}',
    b'{"query": "a", "top_k": NaN}',
    b'{"query": "a", "top_k": 1e400}',
    b'{"query": ' + b"[" * 10_000 + b"]" * 10_000 + b"}",
)


@pytest.mark.parametrize("body", AMBIGUOUS, ids=range(len(AMBIGUOUS)))
@pytest.mark.parametrize("path", ["/api/v1/recall", "/api/v1/search", "/api/v1/remember/entry"])
async def test_json_that_can_be_read_in_two_ways_is_refused_unsaid(setup: Bench, path: str, body: bytes) -> None:
    reply = await setup.call("POST", path, headers=JSON, body=body)
    assert reply.status == 400
    assert fakes.GITHUB.encode() not in reply.body + setup.database_bytes()
    assert setup.upstream.sent == []


@pytest.mark.parametrize("path", ["/api/v1/recall", "/api/v1/search"])
async def test_a_credential_in_unicode_escapes_is_one(setup: Bench, path: str) -> None:
    body = b'{"query": "see ' + ESCAPED.encode() + b'", "' + ESCAPED.encode() + b'": 1}'
    await setup.call("POST", path, headers=JSON, body=body)
    for sent in setup.upstream.sent:
        assert ESCAPED.encode() not in sent.body
        assert fakes.GITHUB.encode() not in sent.body
