"""The image: two stages, no rights, no build tools, a health check. Read, not built: that needs an engine."""

from __future__ import annotations

from pathlib import Path

from mithril_proxy import __version__

DOCKERFILE = (Path(__file__).resolve().parents[2] / "deploy" / "Dockerfile").read_text()
FIRST, LAST = DOCKERFILE.split("\nFROM ")[1:]


def words_of(stage: str) -> list[str]:
    return [line.split()[0] for line in stage.splitlines()[1:] if line and line[0].isupper()]


def test_the_last_stage_runs_as_a_user_without_rights_and_checks_its_health() -> None:
    assert {"USER", "HEALTHCHECK", "ENTRYPOINT", "STOPSIGNAL"} <= set(words_of(LAST))
    assert "USER 10001:10001" in LAST  # a number: Kubernetes cannot see from a name that it is not root
    assert "/_mithril/health/ready" in LAST


def test_the_last_stage_installs_nothing() -> None:
    assert "pip install" not in LAST
    assert "apt-get" not in DOCKERFILE
    assert "pip uninstall --yes" in LAST
    assert "-slim" in DOCKERFILE.splitlines()[2]


def test_what_the_last_stage_sets_leaves_the_desk_unpublished() -> None:
    assert "MITHRIL_ADMIN_LISTEN=127.0.0.1:8081" in LAST
    assert [line for line in LAST.splitlines() if line.startswith("EXPOSE")] == ["EXPOSE 8080"]


def test_the_image_is_named_after_this_version() -> None:
    assert f"mithril:{__version__}" in DOCKERFILE
