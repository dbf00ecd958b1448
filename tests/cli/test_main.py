"""The command as a whole: help, exit codes and errors in one line."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

from mithril_proxy.cli import COMMANDS, mithril


def run(folder: Path, *arguments: str, text: str = "") -> subprocess.CompletedProcess[str]:
    """One run of the command in a folder of its own."""
    path = os.pathsep.join((str(Path(__file__).resolve().parents[2]), os.environ.get("PYTHONPATH", "")))
    return subprocess.run(
        (sys.executable, "-m", "mithril_proxy", *arguments),
        cwd=folder, env={**os.environ, "PYTHONPATH": path}, input=text, capture_output=True, text=True, check=False,
    )  # fmt: skip


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_explains_itself(name: str) -> None:
    result = CliRunner().invoke(mithril, [name, "--help"])
    assert result.exit_code == 0, result.output
    assert "Usage:" in result.output


def test_an_unknown_command_is_a_usage_error(tmp_path: Path) -> None:
    done = run(tmp_path, "nonsense")
    assert done.returncode == 2
    assert "nonsense" in done.stderr


def test_a_wrong_policy_names_file_key_and_reason(tmp_path: Path) -> None:
    (tmp_path / "mine.toml").write_text("[weights]\nfreshness = 7\n")
    done = run(tmp_path, "policy", "check", "mine.toml")
    assert done.returncode == 2
    assert "mine.toml: weights.freshness: " in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("weigths = 1\n", "weigths: unknown key"),
        ("[weights\n", "not valid TOML"),
        ('mode = "sometimes"\n', "mode: "),
        ("[thresholds]\naccept = 0.1\n", "descend"),
        ('[secrets]\npacks = ["missing.toml"]\n', "missing.toml"),
    ],
)
def test_each_kind_of_wrong_policy_is_told(tmp_path: Path, content: str, said: str) -> None:
    (tmp_path / "mine.toml").write_text(content)
    done = run(tmp_path, "evaluate", "--policy", "mine.toml", "--text", "x")
    assert done.returncode == 2
    assert said in done.stderr


def test_a_source_is_registered_shown_and_reset(tmp_path: Path) -> None:
    added = json.loads(run(tmp_path, "sources", "add", "my-agent", "--prior", "0.9", "--json").stdout)
    assert added["key"].startswith("mk_")
    assert added["key"].encode() not in b"".join(path.read_bytes() for path in tmp_path.glob("mithril.db*"))
    [listed] = [json.loads(line) for line in run(tmp_path, "sources", "list", "--json").stdout.splitlines()]
    assert (listed["source"], listed["reputation"], listed["keys"]) == ("my-agent", 0.9, 1)
    assert run(tmp_path, "sources", "reset", "my-agent", "--reputation", "0.5", "--reason", "audit").returncode == 0
    shown = json.loads(run(tmp_path, "sources", "show", "my-agent", "--json").stdout)
    assert shown["reputation"] == 0.5
    assert run(tmp_path, "audit", "verify").stdout.startswith("intact: ")


def test_what_is_not_there_is_told_with_exit_code_1(tmp_path: Path) -> None:
    for arguments in (("quarantine", "show", "qua_none"), ("sources", "show", "nobody")):
        done = run(tmp_path, *arguments)
        assert done.returncode == 1
        assert done.stderr.startswith("mithril: ")


def test_claims_are_evaluated_line_by_line(tmp_path: Path) -> None:
    fact = "The office opens at nine."
    leak = "Its key is ghp_" + "k7Qw2Zr9Lm4Xc8Vb1Nj5Hg3Fd6Sa0PoIuYtR"
    lines = [
        {"id": "a", "text": fact, "source_reputation": 0.98},
        {"id": "b", "text": fact, "source_reputation": 0.30, "claimed_at": "2020-01-01T00:00:00Z"},
        {"id": "c", "text": leak, "context": ["x"], "context_sources": []},
    ]
    done = run(tmp_path, "evaluate", "--jsonl", text="\n".join(json.dumps(line) for line in lines))
    first, second, third = (json.loads(line) for line in done.stdout.splitlines())
    assert (first["status"], round(first["score"], 3), first["redacted"]) == ("warn", 0.842, False)
    assert (second["status"], second["signals"]["freshness"]) == ("quarantine", 0.0)
    assert third["redacted"] is True
    assert "redact.github-token" in {finding["rule"] for finding in third["findings"]}


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("{broken", "line 1: no JSON"),
        ('{"id": 1}', "line 1: text"),
        ('{"text": "x", "source_reputation": 3}', "source_reputation"),
    ],
)
def test_a_wrong_line_is_named(tmp_path: Path, line: str, said: str) -> None:
    done = run(tmp_path, "evaluate", "--jsonl", text=line)
    assert done.returncode == 2
    assert said in done.stderr


def test_check_says_what_fails_and_what_to_do(tmp_path: Path) -> None:
    done = run(tmp_path, "check", "--upstream", "http://127.0.0.1:9")
    assert done.returncode == 1
    assert "ok    policy" in done.stdout
    assert "ok    database" in done.stdout
    assert "fail  upstream" in done.stdout
    assert "→ start Cognee" in done.stdout
