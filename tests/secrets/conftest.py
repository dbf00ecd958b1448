from __future__ import annotations

import os

import pytest

from mithril_proxy.policy import policies_folder
from mithril_proxy.secrets import SecretGuard, load_guard

# The labelled strings are not part of this project; without them their gate does not exist.
collect_ignore = [] if os.environ.get("MITHRIL_TEST_DATA") else ["test_labelled_gate.py"]


@pytest.fixture(scope="session")
def guard() -> SecretGuard:
    return load_guard([policies_folder() / "secrets.toml"])
