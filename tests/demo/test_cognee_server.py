from __future__ import annotations

import sys
from pathlib import Path

import pytest

from mithril_proxy.demo.cognee_server import (
    Cognee,
    CogneeSetup,
    client_environment,
    own_model,
    running_cognee,
    service_key,
)
from mithril_proxy.errors import DemoFailed

URL = "http://127.0.0.1:9"  # the discard port: nothing answers there


def with_litellm(folder: Path) -> Path:
    """An interpreter in whose environment only litellm can be found."""
    package = folder / "site" / "litellm"
    package.mkdir(parents=True)
    (package / "__init__.py").touch()
    python = folder / "python"
    python.write_text(f'#!/bin/sh\nPYTHONPATH={folder / "site"} exec {sys.executable} "$@"\n')
    python.chmod(0o755)
    return python


def test_the_service_user_is_named_in_every_call_and_only_when_there_is_one() -> None:
    assert Cognee(URL, Path(), Path(), "k").headers == {"X-Api-Key": "k"}
    assert Cognee(URL, Path(), Path()).headers == {}


def test_an_interpreter_without_cognee_is_named_with_what_to_do(tmp_path: Path) -> None:
    with (
        pytest.raises(DemoFailed, match=r"has no cognee\. Install it there: .* -m pip install cognee==1\.6\.5"),
        running_cognee(CogneeSetup(Path(sys.executable), tmp_path, own_model(URL))),
    ):
        pass


def test_a_client_finds_no_settings_but_ours(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LLM_API_KEY", "theirs")
    monkeypatch.setenv("COGNEE_SERVICE_URL", "http://elsewhere")
    environment = client_environment(with_litellm(tmp_path), tmp_path / "home")
    assert environment.keys().isdisjoint({"LLM_API_KEY", "COGNEE_SERVICE_URL"})
    assert Path(environment["COGNEE_ENV_FILE"]).read_text() == ""
    assert environment["TIKTOKEN_CACHE_DIR"].endswith("litellm/litellm_core_utils/tokenizers")
    assert all(str(tmp_path) in environment[name] for name in ("HOME", "DATA_ROOT_DIRECTORY", "SYSTEM_ROOT_DIRECTORY"))


def test_a_setting_that_stops_every_write_is_never_made(tmp_path: Path) -> None:
    assert "ACCEPT_LOCAL_FILE_PATH" not in client_environment(with_litellm(tmp_path), tmp_path / "home")


def test_a_key_of_an_earlier_run_is_used_again(tmp_path: Path) -> None:
    (tmp_path / "service-key").write_text("from before")
    assert service_key(URL, tmp_path) == "from before"
