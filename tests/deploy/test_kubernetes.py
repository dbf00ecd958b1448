"""The manifests: valid by Kubernetes' own schemas, and only Mithril reaches Cognee."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import kubernetes_validate
import pytest
from ruamel.yaml import YAML

from mithril_proxy import __version__
from mithril_proxy.policy import load_policy
from mithril_proxy.settings import Settings

FOLDER = Path(__file__).resolve().parents[2] / "deploy" / "kubernetes"
SHAPES = ("sidecar", "gateway")
VERSIONS = ("1.30", kubernetes_validate.latest_version())

Manifest = dict[str, Any]


def manifests(shape: str) -> list[Manifest]:
    return list(YAML(typ="safe", pure=True).load_all((FOLDER / f"{shape}.yaml").read_text()))


def of_kind(shape: str, kind: str) -> dict[str, Manifest]:
    return {each["metadata"]["name"]: each for each in manifests(shape) if each["kind"] == kind}


def containers(shape: str) -> dict[str, Manifest]:
    pods = [each["spec"]["template"]["spec"] for each in of_kind(shape, "Deployment").values()]
    return {container["name"]: container for pod in pods for container in pod["containers"]}


def every_container() -> Iterator[Any]:
    for shape in SHAPES:
        for name, container in containers(shape).items():
            yield pytest.param(container, id=f"{shape}-{name}")


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize("shape", SHAPES)
def test_every_manifest_is_valid_by_the_schemas_of_kubernetes(shape: str, version: str) -> None:
    for manifest in manifests(shape):
        kubernetes_validate.validate(manifest, version, strict=True)


def test_a_manifest_with_a_wrong_key_is_found_by_the_schemas() -> None:
    wrong = {"apiVersion": "v1", "kind": "Service", "metadata": {"name": "a"}, "spec": {"porst": []}}
    with pytest.raises(kubernetes_validate.ValidationError):
        kubernetes_validate.validate(wrong, VERSIONS[-1], strict=True)


def test_in_the_gateway_shape_only_mithril_reaches_cognee() -> None:
    policy = of_kind("gateway", "NetworkPolicy")["cognee"]["spec"]
    assert policy["podSelector"] == {"matchLabels": {"app.kubernetes.io/name": "cognee"}}
    assert policy["ingress"] == [
        {
            "from": [{"podSelector": {"matchLabels": {"app.kubernetes.io/name": "mithril"}}}],
            "ports": [{"port": 8000, "protocol": "TCP"}],
        }
    ]


def test_in_the_sidecar_shape_cognee_listens_on_the_loopback_and_only_mithril_has_a_port() -> None:
    found = containers("sidecar")
    assert {"name": "BIND_ADDRESS", "value": "127.0.0.1"} in found["cognee"]["env"]
    assert "ports" not in found["cognee"]
    (service,) = of_kind("sidecar", "Service").values()
    assert [port["targetPort"] for port in service["spec"]["ports"]] == ["http"]
    assert found["mithril"]["ports"] == [{"name": "http", "containerPort": 8080}]


@pytest.mark.parametrize("shape", SHAPES)
def test_the_admin_plane_is_behind_no_service(shape: str) -> None:
    ports = [port for each in of_kind(shape, "Service").values() for port in each["spec"]["ports"]]
    assert {port["targetPort"] for port in ports} == {"http"}


@pytest.mark.parametrize("container", list(every_container()))
def test_a_container_runs_without_rights(container: Manifest) -> None:
    context = container["securityContext"]
    assert context["runAsNonRoot"] is True
    assert context["allowPrivilegeEscalation"] is False
    assert context["capabilities"] == {"drop": ["ALL"]}
    assert context.get("readOnlyRootFilesystem", False) is (container["name"] == "mithril")


@pytest.mark.parametrize("container", list(every_container()))
def test_a_container_has_a_pinned_image_probes_and_bounds(container: Manifest) -> None:
    assert container["image"] in (f"mithril:{__version__}", "cognee/cognee:1.6.5")
    assert {"startupProbe", "readinessProbe"} <= container.keys()
    assert "memory" in container["resources"]["limits"]


@pytest.mark.parametrize("shape", SHAPES)
def test_a_pod_has_the_profile_of_the_restricted_standard(shape: str) -> None:
    for deployment in of_kind(shape, "Deployment").values():
        pod = deployment["spec"]["template"]["spec"]
        assert pod["securityContext"]["seccompProfile"] == {"type": "RuntimeDefault"}
        assert pod["automountServiceAccountToken"] is False
        assert pod["securityContext"]["runAsNonRoot"] is True


@pytest.mark.parametrize("shape", SHAPES)
def test_secrets_come_from_a_secret(shape: str) -> None:
    for container in containers(shape).values():
        for variable in container["env"]:
            is_secret = variable["name"].endswith(("PASSWORD", "SECRET", "KEY", "TOKEN", "DATABASE_URL"))
            assert ("valueFrom" in variable) == is_secret, variable["name"]


@pytest.mark.parametrize("shape", SHAPES)
def test_mithril_is_set_by_settings_that_it_has(shape: str) -> None:
    names = {variable["name"] for variable in containers(shape)["mithril"]["env"]}
    assert names <= {f"MITHRIL_{name.upper()}" for name in Settings.model_fields}


@pytest.mark.parametrize("shape", SHAPES)
def test_cognee_runs_with_what_the_design_rests_on(shape: str) -> None:
    values = {variable["name"]: variable.get("value") for variable in containers(shape)["cognee"]["env"]}
    assert values["ENABLE_BACKEND_ACCESS_CONTROL"] == values["REQUIRE_AUTHENTICATION"] == "true"
    assert values["ALLOW_HTTP_REQUESTS"] == values["ALLOW_CYPHER_QUERY"] == "false"
    assert values["TELEMETRY_DISABLED"] == "1"
    assert "*" not in str(values["CORS_ALLOWED_ORIGINS"])
    assert "ACCEPT_LOCAL_FILE_PATH" not in values  # 1.6.5 would refuse every write


@pytest.mark.parametrize("shape", SHAPES)
def test_the_policy_of_the_config_map_can_be_used(shape: str, tmp_path: Path) -> None:
    (policy,) = of_kind(shape, "ConfigMap").values()
    (tmp_path / "policy.toml").write_text(policy["data"]["policy.toml"])
    assert load_policy(str(tmp_path / "policy.toml")).name == "cluster"


@pytest.mark.parametrize("shape", SHAPES)
def test_a_drain_is_given_the_time_that_it_may_take(shape: str) -> None:
    name = "memory" if shape == "sidecar" else "mithril"
    pod = of_kind(shape, "Deployment")[name]["spec"]["template"]["spec"]
    assert pod["terminationGracePeriodSeconds"] > Settings.model_fields["drain_timeout_s"].default


@pytest.mark.parametrize("shape", SHAPES)
def test_a_disruption_budget_covers_mithril_and_lets_a_node_be_drained(shape: str) -> None:
    (budget,) = of_kind(shape, "PodDisruptionBudget").values()
    selected = of_kind(shape, "Deployment")[budget["metadata"]["name"]]["spec"]
    assert budget["spec"]["selector"] == selected["selector"]
    assert budget["spec"].get("minAvailable", 0) < selected["replicas"]
