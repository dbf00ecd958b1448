"""The systemd unit: read by systemd where it is there, and by rule everywhere."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from mithril_proxy.settings import Settings

UNIT = Path(__file__).resolve().parents[2] / "deploy" / "mithril.service"
MOST_EXPOSURE = 20  # of 100, by systemd's own count; 14 when this was written


@pytest.fixture
def service() -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for line in UNIT.read_text().partition("[Service]")[2].partition("[Install]")[0].splitlines():
        if line and not line.startswith("#"):
            key, _, value = line.partition("=")
            found.setdefault(key, []).append(value)
    return found


def test_it_runs_as_nobody_in_particular_and_writes_its_state_only(service: dict[str, list[str]]) -> None:
    assert service["DynamicUser"] == service["NoNewPrivileges"] == service["PrivateDevices"] == ["yes"]
    assert service["ProtectSystem"] == ["strict"]
    assert service["StateDirectory"] == ["mithril"]
    assert service["CapabilityBoundingSet"] == [""]


def test_it_reloads_drains_and_comes_back(service: dict[str, list[str]]) -> None:
    assert service["ExecReload"] == ["/bin/kill -HUP $MAINPID"]
    assert service["Restart"] == ["on-failure"]
    assert int(service["TimeoutStopSec"][0]) > Settings.model_fields["drain_timeout_s"].default


def test_its_settings_are_settings_of_mithril(service: dict[str, list[str]]) -> None:
    names = {line.partition("=")[0] for line in service["Environment"]}
    assert names <= {f"MITHRIL_{name.upper()}" for name in Settings.model_fields}
    assert not any("KEY" in name or "TOKEN" in name for name in names)


if shutil.which("systemd-analyze"):

    def analysed(*arguments: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(["systemd-analyze", *arguments], capture_output=True, text=True, check=False)

    def test_systemd_finds_nothing_wrong(tmp_path: Path) -> None:
        copy = tmp_path / UNIT.name
        copy.write_text(UNIT.read_text().replace("/opt/mithril/bin/mithril", sys.executable))
        done = analysed("verify", str(copy))
        assert (done.returncode, done.stderr) == (0, "")

    def test_systemd_counts_little_exposure() -> None:
        done = analysed("security", "--offline=true", f"--threshold={MOST_EXPOSURE}", str(UNIT))
        assert done.returncode == 0, done.stdout[-200:]
