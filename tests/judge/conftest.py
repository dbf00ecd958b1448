from __future__ import annotations

import pytest

from mithril_proxy.judge.contradiction import Comparer
from mithril_proxy.judge.danger import DangerRules
from mithril_proxy.judge.local import LocalJudge
from mithril_proxy.policy import policies_folder


@pytest.fixture(scope="session")
def local_judge() -> LocalJudge:
    return LocalJudge.load(policies_folder() / "danger.toml")


@pytest.fixture(scope="session")
def rules(local_judge: LocalJudge) -> DangerRules:
    return local_judge.rules


@pytest.fixture(scope="session")
def comparer(local_judge: LocalJudge) -> Comparer:
    return local_judge.comparer
