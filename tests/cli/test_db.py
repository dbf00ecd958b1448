"""`mithril db`, as a person calls it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from mithril_proxy.cli import mithril
from mithril_proxy.errors import ConfigurationError
from mithril_proxy.store.migrate import HEAD


@pytest.fixture
def url(tmp_path: Path) -> str:
    return f"sqlite+aiosqlite:///{tmp_path}/mithril.db"


def called(*arguments: str) -> str:
    done = CliRunner().invoke(mithril, ["db", *arguments])
    if done.exception is not None:
        raise done.exception
    return done.stdout


def test_migrate_makes_a_database_and_then_has_nothing_to_do(url: str) -> None:
    assert called("migrate", "--database", url) == f"schema {HEAD} (before: none)\n"
    assert called("migrate", "--database", url) == f"schema {HEAD}: nothing to do\n"
    assert json.loads(called("migrate", "--json", "--database", url)) == {"before": HEAD, "after": HEAD}


def test_backup_says_what_it_wrote(url: str, tmp_path: Path) -> None:
    called("migrate", "--database", url)
    first, second = tmp_path / "first.db", tmp_path / "second.db"
    length = json.loads(called("backup", str(first), "--json", "--database", url))["bytes"]
    assert length == first.stat().st_size
    assert called("backup", str(second), "--database", url) == f"{second}: {length} bytes, integrity checked\n"


def test_copy_counts_its_rows_and_refuses_a_target_that_is_in_use(url: str, tmp_path: Path) -> None:
    called("migrate", "--database", url)
    fresh, other = f"sqlite:///{tmp_path}/fresh.db", f"sqlite:///{tmp_path}/other.db"
    assert json.loads(called("copy", "--to", fresh, "--json", "--database", url))["rows"]["audit"] == 0
    assert "audit intact in the copy: 0 rows" in called("copy", "--to", other, "--database", url)
    with pytest.raises(ConfigurationError, match="itself"):
        called("copy", "--to", url, "--database", url)
