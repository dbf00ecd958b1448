"""A credential planted in every place that a client controls, on every route, is searched for in every output.

Searched are what the upstream received, Mithril's own answers, logs, metrics, exception texts and the database's files.
Left out by design: credential headers, and bodies of calls that bring credentials (login, settings, connection checks).
"""

from __future__ import annotations

import io
import itertools
import json
import re
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from urllib.parse import quote

import pytest
import structlog
from prometheus_client import generate_latest

from mithril_proxy.cognee.table import ROUTES, Operation, Route
from mithril_proxy.policy import policies_folder
from mithril_proxy.proxy.plane import DataPlane
from mithril_proxy.proxy.screen import SCREENED_SWITCHES
from tests.cognee.write_rows import Row, write_rows
from tests.harness import Bench, FakeAnswer, FakeUpstream, Reply, Sent, bench, json_answer
from tests.secrets import fakes

SECRETS = {
    "github": fakes.GITHUB,
    "aws": fakes.AWS,
    "jwt": fakes.JWT,
    "uri": "postgres" + "://app:" + "Zx8QpL2vN5t" + "@db.internal/memories",
}
NEEDLES = (fakes.GITHUB, fakes.AWS, fakes.JWT, "Zx8QpL2vN5t")
MARK = re.compile(rb"mark\d\d\d")
ROWS = [*write_rows(), *(row for row in write_rows(("mark900 tag",)) if b"mark900" in row.body)]
OTHERS = [
    route for route in ROUTES if route.operation not in (Operation.WRITE, Operation.RECALL) and route.method != "WS"
]
RECALLS = [route for route in ROUTES if route.operation is Operation.RECALL]
PLAIN_HEADERS = ("user-agent", "referer", "x-request-id", "traceparent", "x-mithril-source", "accept", "x-anything")


@pytest.fixture
def log() -> Iterator[io.StringIO]:
    """What every logger of the process writes, exceptions with their texts included."""
    written = io.StringIO()
    before = structlog.get_config()
    structlog.configure(
        processors=[structlog.processors.format_exc_info, structlog.processors.JSONRenderer()],
        logger_factory=structlog.PrintLoggerFactory(written),
        cache_logger_on_first_use=False,
    )
    yield written
    structlog.configure(**before)


@pytest.fixture
def opened(tmp_path: Path) -> str:
    """A policy in which every route is open."""
    text = (policies_folder() / "default.toml").read_text(encoding="utf-8")
    head, rest = text.split("[routes]", 1)
    routes, tail = rest.split("\n[documents]", 1)
    path = tmp_path / "open.toml"
    path.write_text(f"{head}[routes]{routes.replace('= false', '= true')}\n[documents]{tail}", encoding="utf-8")
    return str(path)


@pytest.fixture
async def setup(tmp_path: Path, opened: str, log: io.StringIO) -> AsyncIterator[Bench]:
    async with bench(tmp_path, policy=opened, upstream=FakeUpstream(script=_honest)) as ready:
        yield ready


def _honest(sent: Sent) -> FakeAnswer:
    return json_answer([])


def everything(setup: Bench, log: io.StringIO, replies: list[Reply]) -> dict[str, bytes]:
    """Every output of a data plane, by name."""
    plane: DataPlane = setup.plane
    sent = [*setup.upstream.sent, *setup.upstream.probes]
    return {
        "upstream": b"\n".join(b"\n".join((one.target.encode(), repr(one.headers).encode(), one.body)) for one in sent),
        "answers": b"\n".join(repr(reply.headers).encode() + reply.body for reply in replies),
        "log": log.getvalue().encode(),
        "metrics": generate_latest(plane.edge.metrics.registry),
        "database": setup.database_bytes(),
    }


def leaks(outputs: dict[str, bytes]) -> list[str]:
    """Where in the outputs a planted credential stands, as it is or percent-encoded, with what is around it."""
    shapes = {shape for needle in NEEDLES for shape in (needle, quote(needle, safe=""))}
    return [
        f"{name}: {output[max(0, found.start() - 60) : found.end()]!r}"
        for name, output in outputs.items()
        for shape in sorted(shapes)
        for found in itertools.islice(re.finditer(re.escape(shape.encode()), output), 3)
    ]


def planted(row: Row, mark: bytes, secret: str) -> bytes:
    """The body of `row` with `secret` where `mark` stood."""
    return row.body.replace(mark, secret.encode() + b" ")


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.name)
async def test_no_place_of_a_write_leaks(setup: Bench, log: io.StringIO, row: Row) -> None:
    method, path = row.call.split(" ")
    target = f"{path}?{row.query}" if row.query else path
    marks = sorted(set(MARK.findall(row.body)))
    replies = []
    for number, (mark, secret) in enumerate(itertools.product(marks, SECRETS.values())):
        await setup.register(f"s{number}", 0.98)  # a source of its own, since a planted credential costs reputation
        headers = [("content-type", row.content_type)]
        body = planted(row, mark, secret)
        replies.append(await setup.call(method, target, source=f"s{number}", headers=headers, body=body))
    assert {reply.status for reply in replies} <= {200, 202, 403}
    assert leaks(everything(setup, log, replies)) == []


async def test_most_writes_with_a_planted_credential_reach_the_upstream_redacted(
    setup: Bench, log: io.StringIO
) -> None:
    await setup.register("wiki", 0.98)
    reply = await setup.remember(f"The office opens at nine. {fakes.GITHUB}", source="wiki", filename=fakes.AWS)
    assert reply.status in (200, 202)
    outputs = everything(setup, log, [reply])
    assert b"[REDACTED:github_token]" in outputs["upstream"] + outputs["database"]


def trees(secret: str) -> dict[str, object]:
    """JSON with a secret in a string, in a key, deep, and in a string that is itself JSON."""
    return {
        "query": f"what is {secret} for",
        "datasets": [secret],
        "session_id": secret,
        "node_name": [secret],
        "response_schema": {"title": {secret: [json.dumps({"a": {"b": secret}})]}},
        secret: {"deep": [[{"x": secret}]]},
    }


@pytest.mark.parametrize("secret", SECRETS.values(), ids=SECRETS.keys())
@pytest.mark.parametrize("route", RECALLS, ids=lambda route: route.name)
async def test_no_place_of_a_recall_leaks(setup: Bench, log: io.StringIO, route: Route, secret: str) -> None:
    replies = [
        await setup.recall({"query": "what", name: value}, path=route.template) for name, value in trees(secret).items()
    ]
    replies.append(await setup.recall(trees(secret), path=route.template))
    replies.append(await setup.recall({"query": "x"}, path=f"{route.template}?q={quote(secret)}"))
    assert leaks(everything(setup, log, replies)) == []


def addresses(route: Route, secret: str) -> list[str]:
    """The route's address with `secret` in each parameter, as a query's value and name, and as a bare query."""
    names = re.findall(r"\{\w+\}", route.template)
    plain = re.sub(r"\{\w+\}", "a1", route.template)
    encoded = quote(secret, safe="")
    given = [f"{plain}?q={encoded}", f"{plain}?{encoded}=1", f"{plain}?{encoded}", f"{plain}?a=1&note=see+{encoded}+ok"]
    for name in names if "/" not in secret else ():
        given.append(re.sub(r"\{\w+\}", "a1", route.template.replace(name, encoded)))
    return given


@pytest.mark.parametrize("secret", SECRETS.values(), ids=SECRETS.keys())
async def test_no_address_or_header_of_another_call_leaks(setup: Bench, log: io.StringIO, secret: str) -> None:
    replies = []
    for route in OTHERS:
        replies += [await setup.call(route.method, address) for address in addresses(route, secret)]
        plain = re.sub(r"\{\w+\}", "a1", route.template)
        headers = [(name, f"by {secret}") for name in PLAIN_HEADERS]
        replies.append(await setup.call(route.method, plain, headers=headers))
    assert leaks(everything(setup, log, replies)) == []


def is_inspected(route: Route) -> bool:
    """True when the route's body is screened; False for those that bring credentials by design."""
    return route.operation in (Operation.READ, Operation.DESTRUCTIVE) or route.switch in SCREENED_SWITCHES


@pytest.mark.parametrize("secret", SECRETS.values(), ids=SECRETS.keys())
async def test_no_body_of_another_call_leaks(setup: Bench, log: io.StringIO, secret: str) -> None:
    bodies = [json.dumps(trees(secret)), f"note={quote(secret, safe='')}", f"see {secret}"]
    types = ("application/json", "application/x-www-form-urlencoded", "text/plain")
    replies = [
        await setup.call(
            route.method,
            re.sub(r"\{\w+\}", "a1", route.template),
            headers=[("content-type", media_type)],
            body=body.encode(),
        )
        for route in filter(is_inspected, OTHERS)
        for media_type, body in zip(types, bodies, strict=True)
    ]
    assert leaks(everything(setup, log, replies)) == []


@pytest.mark.parametrize("secret", SECRETS.values(), ids=SECRETS.keys())
async def test_a_refused_or_failing_call_says_no_credential(setup: Bench, log: io.StringIO, secret: str) -> None:
    setup.upstream.script = lambda sent: RuntimeError(f"the upstream said {secret}")
    paths = (f"/api/v1/{quote(secret, safe='')}", f"/{secret}", "/api/v1/datasets", f"/api/v1/nothing?x={secret}")
    replies = [await setup.call(method, path) for method in ("GET", "POST", "DELETE") for path in paths]
    broken = [b"{", f'{{"{secret}": '.encode(), f'{{"entry": "{secret}"}}'.encode(), secret.encode()]
    for body in broken:
        for path in ("/api/v1/remember/entry", "/api/v1/recall", "/api/v1/add"):
            headers = [("content-type", "application/json; charset=" + secret)]
            replies.append(await setup.call("POST", path, headers=headers, body=body))
            headers = [("content-type", "application/json")]
            replies.append(await setup.call("POST", path, headers=headers, body=body))
    assert leaks(everything(setup, log, replies)) == []
