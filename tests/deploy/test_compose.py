"""The compose file: valid by the published schema, and only Mithril can be reached."""

from __future__ import annotations

import os
import re
import shutil
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


def test_cognee_publishes_nothing_and_nothing_is_published_beyond_this_machine(services: dict[str, Any]) -> None:
    ports = {name: each["ports"] for name, each in services.items() if "ports" in each}
    assert ports.pop("mithril") == ["127.0.0.1:8000:8080", "127.0.0.1:8081:8081"]
    assert all(services[name]["profiles"] for name in ports)
    assert all(port.startswith("127.0.0.1:") for published in ports.values() for port in published)
    assert "cognee" not in ports


def test_only_mithril_shares_a_network_with_cognee_that_clients_are_on(services: dict[str, Any]) -> None:
    compose = YAML(typ="safe", pure=True).load(COMPOSE.read_text())
    assert compose["networks"]["memory"]["internal"] is True
    assert [name for name, each in services.items() if "memory" in each["networks"]] == ["cognee", "mithril"]


def test_the_mcp_server_reaches_memory_through_mithril_only(services: dict[str, Any]) -> None:
    server = services["cognee-mcp"]
    assert server["environment"]["API_URL"] == "http://mithril:8080"
    assert server["networks"] == ["clients"]
    assert "volumes" not in server


def test_what_is_extra_starts_only_when_it_is_asked_for(services: dict[str, Any]) -> None:
    assert {name: each["profiles"] for name, each in services.items() if "profiles" in each} == {
        "cognee-mcp": ["mcp"],
        "postgres": ["postgres"],
        "prometheus": ["monitoring"],
        "grafana": ["monitoring"],
    }


def test_what_is_mounted_from_the_checkout_is_there(services: dict[str, Any]) -> None:
    mounts = [volume for each in services.values() for volume in each.get("volumes", ()) if volume.startswith("./")]
    assert mounts
    assert [mount for mount in mounts if not (ROOT / mount.split(":")[0]).is_dir()] == []


def docker_has_compose() -> bool:
    """Whether this machine has the client; it needs no engine to read a file."""
    if shutil.which("docker") is None:
        return False
    return subprocess.run(["docker", "compose", "version"], capture_output=True, check=False).returncode == 0


if docker_has_compose():

    def test_docker_reads_the_file_with_every_profile() -> None:
        secrets = ("LLM_API_KEY", "COGNEE_USER_PASSWORD", "COGNEE_JWT_SECRET")
        environment = {**os.environ, **dict.fromkeys(secrets, "x"), "COMPOSE_PROFILES": "mcp,postgres,monitoring"}
        command = ["docker", "compose", "--file", str(COMPOSE), "config", "--quiet"]
        done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
        assert (done.returncode, done.stderr) == (0, "")


def test_cognee_runs_with_what_the_design_rests_on(services: dict[str, Any]) -> None:
    environment = services["cognee"]["environment"]
    assert environment["ENABLE_BACKEND_ACCESS_CONTROL"] == environment["REQUIRE_AUTHENTICATION"] == "true"
    assert environment["ALLOW_HTTP_REQUESTS"] == environment["ALLOW_CYPHER_QUERY"] == "false"
    assert environment["TELEMETRY_DISABLED"] == "1"
    assert "*" not in environment["CORS_ALLOWED_ORIGINS"]
    assert "ACCEPT_LOCAL_FILE_PATH" not in environment  # 1.6.5 would refuse every write


def test_mithril_runs_without_rights_on_a_read_only_root(services: dict[str, Any]) -> None:
    mithril = services["mithril"]
    assert mithril["read_only"] is True
    assert mithril["cap_drop"] == ["ALL"]
    assert mithril["depends_on"]["cognee"] == {"condition": "service_healthy"}
    assert mithril["depends_on"]["postgres"]["required"] is False


def test_no_secret_has_a_default(services: dict[str, Any]) -> None:
    for service in services.values():
        for name, value in service.get("environment", {}).items():
            if name.endswith(("PASSWORD", "SECRET", "API_KEY", "TOKEN")):
                assert value is None or re.fullmatch(r"\$\{\w+(:\?.+|-)?\}", value), name
