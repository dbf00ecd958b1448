"""A real Cognee with access control off and one with it on, each behind a Mithril of its own, started when needed.

`MITHRIL_TEST_COGNEE_PYTHON` names an interpreter that has cognee==1.6.5; scripts/test sets it.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import httpx2
import pytest

from mithril_proxy.demo.cognee_server import CogneeSetup, own_model, running_cognee, running_model
from mithril_proxy.demo.mithril_server import MithrilSetup, running_mithril
from tests.e2e.harness import TIMEOUT_S, Stack, codename

VARIABLE = "MITHRIL_TEST_COGNEE_PYTHON"


@pytest.fixture(scope="session")
def cognee_python() -> Path:
    named = os.environ.get(VARIABLE)
    if named:
        return Path(named)
    lacking = f"THE E2E LAYER WAS NOT RUN: {VARIABLE} does not name a Python with cognee==1.6.5; use scripts/test"
    if os.environ.get("CI") == "true":
        pytest.fail(lacking)
    pytest.skip(lacking)


@pytest.fixture(scope="session")
def model_url(cognee_python: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with running_model(cognee_python, tmp_path_factory.mktemp("model")) as url:
        yield url


def running_stack(python: Path, folder: Path, model_url: str, *, access_control: bool) -> Iterator[Stack]:
    setup = CogneeSetup(python, folder / "cognee", own_model(model_url), access_control=access_control)
    measured = {name: value for name, value in os.environ.items() if name.startswith("COVERAGE_")}
    with (
        running_cognee(setup) as cognee,
        running_mithril(MithrilSetup(folder / "mithril", cognee, measured)) as mithril,
        httpx2.Client(timeout=TIMEOUT_S, trust_env=False) as http,
    ):
        yield Stack(cognee, mithril, python, http)


@pytest.fixture(scope="session")
def open_stack(cognee_python: Path, model_url: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stack]:
    yield from running_stack(cognee_python, tmp_path_factory.mktemp("open"), model_url, access_control=False)


@pytest.fixture(scope="session")
def guarded_stack(cognee_python: Path, model_url: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stack]:
    yield from running_stack(cognee_python, tmp_path_factory.mktemp("guarded"), model_url, access_control=True)


@pytest.fixture(params=["open_stack", "guarded_stack"], ids=["access-control-off", "access-control-on"])
def stack(request: pytest.FixtureRequest) -> Stack:
    """Both upstreams in turn, with a dataset of the test's own. Not a session parameter: random order would restart."""
    running: Stack = request.getfixturevalue(request.param)
    return replace(running, dataset=codename())
