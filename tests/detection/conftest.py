from __future__ import annotations

import os

import pytest

from benchmark.detection.decide import Decider
from mithril_proxy.judge.local import LocalJudge
from mithril_proxy.policy import load_policy, policies_folder

# The third-party sets are not part of this project; without them their gate does not exist.
collect_ignore = [] if os.environ.get("MITHRIL_TEST_DATA") else ["test_third_party_gate.py"]


@pytest.fixture(scope="session")
def decider() -> Decider:
    return Decider(LocalJudge.load(policies_folder() / "danger.toml"), load_policy())
