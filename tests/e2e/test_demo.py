"""`mithril demo --once --compare`, as a newcomer runs it."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from mithril_proxy.demo.children import stop
from mithril_proxy.demo.outcome import decisions
from mithril_proxy.types import Status

pytestmark = pytest.mark.e2e
TIMEOUT_S = 600.0


def test_the_demo_shows_every_decision_and_ends_well(cognee_python: Path, tmp_path: Path) -> None:
    command = (sys.executable, "-m", "mithril_proxy", "demo", "--once", "--compare", "--folder", str(tmp_path / "demo"))
    environment = {name: value for name, value in os.environ.items() if name not in ("LLM_API_KEY", "OPENAI_API_KEY")}
    with (tmp_path / "output").open("w+") as output:
        child = subprocess.Popen(
            (*command, "--cognee-python", str(cognee_python)),
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
        )
        try:
            child.wait(TIMEOUT_S)
        finally:
            stop(child, grace_s=60.0)  # a demo that is told to end ends its servers; one that is killed cannot
    shown = (tmp_path / "output").read_text()
    assert child.returncode == 0, shown
    decided = decisions(tmp_path / "demo" / "run" / "mithril" / "mithril.db")
    assert {Status.ACCEPT, Status.WARN, Status.REVIEW, Status.QUARANTINE} <= {each.status for each in decided}
    assert "NOT EXPECTED" not in shown
    assert "Files of Mithril and its Cognee that hold the planted key: 0" in shown
    assert "Files of the bare Cognee that hold it: 0" not in shown
    assert not list((tmp_path / "demo").rglob("*.pid"))  # every server was ended
