"""The bars on labelled strings of other projects, in the folder that MITHRIL_TEST_DATA names."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from mithril_proxy.policy import policies_folder
from mithril_proxy.secrets import SecretGuard, load_guard
from tests.secrets.labelled import Labelled, read_labelled, shares

DATA = Path(os.environ["MITHRIL_TEST_DATA"]) / "secrets"
PACK = sorted(
    path for path in (DATA / "gitleaks.toml", Path(os.environ.get("MITHRIL_TEST_GITLEAKS", ""))) if path.is_file()
)


@pytest.fixture(scope="module")
def rows() -> list[Labelled]:
    return read_labelled(DATA)


def test_nine_tenths_are_found_and_three_in_a_hundred_are_false_alarms(
    guard: SecretGuard, rows: list[Labelled]
) -> None:
    found, alarms = shares(rows, lambda text: bool(guard.scan(text)))
    assert found >= 0.90
    assert alarms <= 0.03


if PACK:  # without the stock pack its bar does not exist

    @pytest.mark.parametrize("pack", PACK[:1], ids=lambda path: path.name)
    def test_with_the_stock_pack_more_are_found_and_no_more_false_alarms_rise(pack: Path, rows: list[Labelled]) -> None:
        both = load_guard([policies_folder() / "secrets.toml", pack])
        found, alarms = shares(rows, lambda text: bool(both.scan(text)))
        assert found >= 0.93
        assert alarms <= 0.03
