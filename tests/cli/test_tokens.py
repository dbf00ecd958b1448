"""`mithril tokens`."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from mithril_proxy.cli.tokens import tokens
from mithril_proxy.errors import InvalidTransition, NotFound


@pytest.fixture
def database(tmp_path: Path) -> str:
    return f"sqlite+aiosqlite:///{tmp_path}/mithril.db"


def run(database: str, *arguments: str) -> Result:
    return CliRunner().invoke(tokens, [*arguments, "--database", database])


def test_a_token_is_printed_once_and_only_its_name_is_listed(database: str, tmp_path: Path) -> None:
    made = run(database, "add", "marta", "--scope", "review")
    assert made.exit_code == 0, made.output
    token = made.stdout.strip()
    assert token.startswith("mt_")
    assert "shown this once" in made.stderr
    listed = run(database, "list")
    assert "marta" in listed.stdout
    assert token not in listed.stdout
    assert token.encode() not in b"".join(path.read_bytes() for path in tmp_path.glob("mithril.db*"))


def test_json_has_the_same(database: str) -> None:
    made = json.loads(run(database, "add", "marta", "--scope", "read", "--json").stdout)
    assert (made["name"], made["scope"]) == ("marta", "read")
    assert run(database, "revoke", "marta").stdout == "marta: revoked\n"
    listed = json.loads(run(database, "list", "--json").stdout)
    assert set(listed) == {"name", "scope", "created_at", "revoked_at"}
    assert listed["revoked_at"] is not None
    assert "marta" in run(database, "list").stdout


@pytest.mark.parametrize("name", ["admin", " "])
def test_some_names_cannot_be_had(database: str, name: str) -> None:
    assert isinstance(run(database, "add", name).exception, InvalidTransition)


def test_a_token_that_is_not_there_cannot_be_revoked(database: str) -> None:
    assert isinstance(run(database, "revoke", "nobody").exception, NotFound)
