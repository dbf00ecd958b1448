"""The compose file: valid by the published schema, and only Mithril can be reached."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from ruamel.yaml import YAML

ROOT = Path(__file__).resolve().parents[2]
COMPOSE = ROOT / "docker-compose.yml"


@pytest.fixture
def services() -> dict[str, Any]:
    compose: dict[str, Any] = YAML(typ="safe", pure=True).load(COMPOSE.read_text())
    found: dict[str, Any] = compose["services"]
    return found


def test_the_file_is_valid_by_the_compose_specification() -> None:
    check = (sys.executable, "-m", "check_jsonschema", "--builtin-schema", "vendor.compose-spec", str(COMPOSE))
    done = subprocess.run(check, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout


def test_only_mithril_publishes_a_port_and_only_on_this_machine(services: dict[str, Any]) -> None:
    assert {name: each.get("ports") for name, each in services.items() if "ports" in each} == {
        "mithril": ["127.0.0.1:8000:8080"]
    }


def test_cognee_runs_with_what_the_design_rests_on(services: dict[str, Any]) -> None:
    environment = services["cognee"]["environment"]
    assert environment["ENABLE_BACKEND_ACCESS_CONTROL"] == environment["REQUIRE_AUTHENTICATION"] == "true"
    assert environment["ALLOW_HTTP_REQUESTS"] == environment["ALLOW_CYPHER_QUERY"] == "false"
    assert "ACCEPT_LOCAL_FILE_PATH" not in environment  # 1.6.5 would refuse every write


def test_mithril_runs_without_rights_on_a_read_only_root(services: dict[str, Any]) -> None:
    mithril = services["mithril"]
    assert mithril["read_only"] is True
    assert mithril["cap_drop"] == ["ALL"]
    assert mithril["depends_on"] == {"cognee": {"condition": "service_healthy"}}


def test_no_secret_has_a_default(services: dict[str, Any]) -> None:
    for service in services.values():
        for name, value in service["environment"].items():
            if name.endswith(("PASSWORD", "SECRET", "API_KEY", "TOKEN")):
                assert value is None or (value.startswith("${") and ":-" not in value), name


def test_the_image_runs_as_a_user_without_rights_and_checks_its_health() -> None:
    last_stage = (ROOT / "deploy" / "Dockerfile").read_text().rpartition("\nFROM ")[2]
    words = {line.split()[0] for line in last_stage.splitlines() if line and line[0].isalpha()}
    assert {"USER", "HEALTHCHECK", "ENTRYPOINT"} <= words
    assert "USER root" not in last_stage
