"""The API holds what its OpenAPI document says, for whatever schemathesis can think of."""

from __future__ import annotations

import secrets
from pathlib import Path

import schemathesis
from hypothesis import HealthCheck, settings
from schemathesis.checks import CHECKS, load_all_checks

from tests.live import live_mithril

EXAMPLES = 15  # an operation: 26 operations take about a minute


def test_the_api_keeps_to_its_document(tmp_path: Path) -> None:
    load_all_checks()
    token = secrets.token_urlsafe(24)
    with live_mithril(tmp_path, token=token) as live:
        for number in range(3):
            live.run(live.bench.register(f"source-{number}", 0.6))
            live.run(live.bench.remember(f"Room {number} is free.", source=f"source-{number}"))
        schema = schemathesis.openapi.from_url(f"{live.admin_url}/api/v1/openapi.json")
        headers = {"Authorization": f"Bearer {token}"}

        @schema.parametrize()
        @settings(max_examples=EXAMPLES, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))
        def keeps(case: schemathesis.Case) -> None:
            case.call_and_validate(headers=headers, checks=list(CHECKS.get_all()))

        for operation in schema.get_all_operations():
            test = schema  # replaced below
            assert operation is not None, test
