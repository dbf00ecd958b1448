"""The API keeps to its OpenAPI document, for whatever schemathesis can think of."""

from __future__ import annotations

import secrets
import subprocess
import sys
from pathlib import Path

from tests.live import live_mithril

EXAMPLES = 5  # of each operation, beside those that cover every constraint: about a thousand calls
DEADLINE_S = 400
CONFIG = """
[[operations]]
include-name = "POST /api/v1/policy/simulate"
# that thresholds descend is no rule which JSON Schema can state
checks.positive_data_acceptance.enabled = false
"""


def test_the_api_keeps_to_its_document(tmp_path: Path) -> None:
    policy = tmp_path / "patient.toml"
    policy.write_text("[desk]\nfailures = 1000000\n")  # wrong tokens are tried by the hundred
    (tmp_path / "schemathesis.toml").write_text(CONFIG)
    token = secrets.token_urlsafe(24)
    with live_mithril(tmp_path, token=token, policy=str(policy)) as live:
        for number in range(3):
            live.run(live.bench.register(f"source-{number}", 0.6))
            live.run(live.bench.remember(f"Room {number} is free.", source=f"source-{number}"))
        options = ("--phases", "examples,coverage,fuzzing", "--max-examples", str(EXAMPLES), "--no-color")
        command = [sys.executable, "-m", "schemathesis.cli", "run", f"{live.admin_url}/api/v1/openapi.json", *options]
        command += ["--generation-deterministic", "--header", f"Authorization: Bearer {token}"]
        ended = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=DEADLINE_S, check=False)
    assert ended.returncode == 0, ended.stdout[-5000:] + ended.stderr[-2000:]
