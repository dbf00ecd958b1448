"""The README is true: each of its commands is run here or by the test named beside it; the outputs shown are real."""

from __future__ import annotations

import asyncio
import contextlib
import os
import re
import shlex
import socket
import sqlite3
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

from mithril_proxy.clock import SystemClock
from mithril_proxy.store import open_store
from mithril_proxy.store.transfer import backup

ROOT = Path(__file__).resolve().parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")
MOST_LINES = 165

RUN_ELSEWHERE = {
    "./scripts/demo --once": "tests/e2e/test_demo.py",  # `mithril demo --once`, which the script starts
    "./scripts/test": ".ci/run",
    "pip install .": "scripts/_bootstrap.py",
    "mithril serve --upstream http://127.0.0.1:8000": "tests/e2e/harness.py",
}
EXPECTED_EXITS = {  # with no Cognee there, and nothing held
    "mithril check": 1,
    'mithril quarantine release ID --reason "checked"': 1,
}
RUN_INSTEAD = {"mithril audit tail --follow --incidents": "mithril audit tail --incidents"}
POLICY = 'name = "mine"\n[thresholds]\naccept = 0.9\n'


@dataclass(frozen=True, slots=True)
class Example:
    """One command of the README, with the output that it shows; None when it shows none."""

    command: str
    output: str | None = None


def examples() -> list[Example]:
    found = [Example(line.split("  #")[0].strip()) for block in blocks("sh") for line in block.splitlines()]
    for block in blocks("console"):
        for part in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
            command, _, output = part.partition("\n")
            found.append(Example(command.split("  #")[0].strip(), output.strip("\n")))
    return [example for example in found if example.command]


def blocks(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```$", README, re.MULTILINE | re.DOTALL)


RUN_HERE = [each for each in examples() if each.command not in RUN_ELSEWHERE and not each.command.startswith("sqlite3")]


@pytest.fixture
def shell(tmp_path: Path) -> dict[str, str]:
    """The environment of a newcomer: `mithril` on the path, no settings, nothing behind the default upstream."""
    programs = tmp_path / "bin"
    programs.mkdir()
    mithril = programs / "mithril"
    mithril.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m mithril_proxy "$@"\n')
    mithril.chmod(0o755)
    kept = {name: value for name, value in os.environ.items() if not name.startswith("MITHRIL_")}
    return {
        **kept,
        "PATH": f"{programs}:{os.environ['PATH']}",
        "PYTHONPATH": str(ROOT),
        "MITHRIL_UPSTREAM_URL": f"http://127.0.0.1:{closed_port()}",
    }


@pytest.fixture(scope="module")
def empty_database(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """What `mithril serve` makes at its first start."""
    folder = tmp_path_factory.mktemp("database")
    asyncio.run(make_database(f"sqlite:///{folder}/mithril.db"))
    backup(f"sqlite:///{folder}/mithril.db", folder / "copy.db")
    return (folder / "copy.db").read_bytes()


async def make_database(url: str) -> None:
    await (await open_store(url, SystemClock())).close()


def closed_port() -> int:
    with contextlib.closing(socket.socket()) as free:
        free.bind(("127.0.0.1", 0))
        port: int = free.getsockname()[1]
        return port


@pytest.mark.parametrize("example", RUN_HERE, ids=lambda example: example.command[:60])
def test_a_command_of_the_readme_does_what_it_says(
    example: Example, shell: dict[str, str], empty_database: bytes, tmp_path: Path
) -> None:
    folder = tmp_path / "work"
    folder.mkdir()
    (folder / "my-policy.toml").write_text(POLICY)
    (folder / "mithril.db").write_bytes(empty_database)
    command = RUN_INSTEAD.get(example.command, example.command)
    done = run(("bash", "-o", "pipefail", "-c", command), shell, folder)
    assert done.returncode == EXPECTED_EXITS.get(example.command, 0), done.stderr
    assert "Traceback" not in done.stderr
    if example.output is not None:
        assert (done.stdout + done.stderr).rstrip() == example.output


def run(command: tuple[str, ...], environment: dict[str, str], folder: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(command, env=environment, cwd=folder, capture_output=True, text=True, check=False)


def test_the_query_of_the_readme_is_one_that_the_database_answers(empty_database: bytes, tmp_path: Path) -> None:
    (query,) = (each.command for each in examples() if each.command.startswith("sqlite3"))
    (tmp_path / "mithril.db").write_bytes(empty_database)
    _, name, statement = shlex.split(query)
    with contextlib.closing(sqlite3.connect(tmp_path / name)) as database:
        assert database.execute(statement).fetchall() == []


@pytest.mark.parametrize(("command", "place"), RUN_ELSEWHERE.items())
def test_what_is_run_elsewhere_stands_in_the_readme_and_the_place_is_there(command: str, place: str) -> None:
    assert command in {each.command for each in examples()}
    assert (ROOT / place).is_file()


def test_no_exception_is_made_for_a_command_that_is_gone() -> None:
    commands = {each.command for each in examples()}
    assert {*EXPECTED_EXITS, *RUN_INSTEAD} <= commands


def test_the_readme_stays_short_enough_to_be_read() -> None:
    assert len(README.splitlines()) <= MOST_LINES
