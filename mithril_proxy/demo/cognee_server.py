"""A real Cognee server of our own: any interpreter that has `cognee`, one folder for all it stores, a free port.

What Cognee 1.6.5 needs to run without network (measured): tiktoken's tables from litellm's own copy, or `/health`
stays 503; telemetry off; a model name that litellm knows, so that it asks for JSON schemas; `LLM_ANSWER_STREAMING` for
streamed answers. `ACCEPT_LOCAL_FILE_PATH=false` must not be set: the server reads back its own copy of every text
as a local file, and every write would answer 415.
"""

from __future__ import annotations

import contextlib
import json
import secrets
import subprocess
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from mithril_proxy.demo.children import Program, Progress, base_environment, foreign_module, free_port, quiet, running
from mithril_proxy.demo.model.embeddings import DIMENSIONS
from mithril_proxy.errors import DemoFailed

SERVICE_EMAIL = "service@example.com"
_FIND_TABLES = "import importlib.util as u, pathlib as p; print(p.Path(u.find_spec('litellm').origin).parent)"


@dataclass(frozen=True, slots=True)
class CogneeSetup:
    """What to start. `model_environment` says which model Cognee uses: `own_model`, or the user's LLM settings."""

    python: Path
    folder: Path
    model_environment: Mapping[str, str]
    access_control: bool = False
    port: int = 0


@dataclass(frozen=True, slots=True)
class Cognee:
    """A Cognee that answers. `api_key` is the service user's, None when access control is off."""

    url: str
    folder: Path
    log: Path
    api_key: str | None = None

    @property
    def headers(self) -> dict[str, str]:
        """What a call of the service user carries."""
        return {"X-Api-Key": self.api_key} if self.api_key else {}


@contextlib.contextmanager
def running_model(python: Path, folder: Path, *, progress: Progress = quiet) -> Iterator[str]:
    """Our own model server in `python`'s environment; its URL without `/v1`."""
    port = free_port()
    module = foreign_module(python, "mithril_proxy.demo.model_server", ("--port", str(port)))
    program = Program("model-server", module, folder.resolve(), base_environment())
    with running(program, f"http://127.0.0.1:{port}/health", progress=progress):
        yield f"http://127.0.0.1:{port}"


@contextlib.contextmanager
def running_cognee(setup: CogneeSetup, *, progress: Progress = quiet) -> Iterator[Cognee]:
    """A real Cognee, ready to be used; with access control on, its service user has an API key.

    Raises DemoFailed when it does not start.
    """
    folder = setup.folder.resolve()
    url = f"http://127.0.0.1:{free_port(setup.port)}"
    program = _program(setup, folder, url)
    with running(program, f"{url}/health", progress=progress):
        key = service_key(url, folder) if setup.access_control else None
        yield Cognee(url, folder, program.log, key)


def own_model(model_url: str) -> dict[str, str]:
    """The settings that make Cognee use our model server for answers and for embeddings."""
    return {
        "LLM_PROVIDER": "openai",
        "LLM_MODEL": "openai/gpt-4o-mini",
        "LLM_ENDPOINT": f"{model_url}/v1",
        "LLM_API_KEY": "not-needed",
        "LLM_ANSWER_STREAMING": "true",
        **own_embeddings(model_url),
    }


def own_embeddings(model_url: str) -> dict[str, str]:
    """The settings that make Cognee use our model server for embeddings."""
    return {
        "EMBEDDING_PROVIDER": "openai_compatible",
        "EMBEDDING_MODEL": "text-embedding-3-small",
        "EMBEDDING_DIMENSIONS": str(DIMENSIONS),
        "EMBEDDING_ENDPOINT": f"{model_url}/v1",
        "EMBEDDING_API_KEY": "not-needed",
    }


def client_environment(python: Path, folder: Path) -> dict[str, str]:
    """The settings that a Cognee client (SDK, cognee-cli) needs to run without network and outside the user's files."""
    return {**base_environment(), **_without_network(python), **_stores(folder)}


def _program(setup: CogneeSetup, folder: Path, url: str) -> Program:
    serve = ("-m", "uvicorn", "cognee.api.client:app", "--host", "127.0.0.1", "--log-level", "info")
    port = str(urllib.parse.urlsplit(url).port)
    environment = {
        **client_environment(setup.python, folder),
        **_access(folder, on=setup.access_control),
        **setup.model_environment,
        "HTTP_API_HOST": "127.0.0.1",
        "HTTP_API_PORT": port,
    }
    return Program("cognee", (str(setup.python), *serve, "--port", port), folder / "run", environment)


def _without_network(python: Path) -> dict[str, str]:
    return {
        "TIKTOKEN_CACHE_DIR": str(_litellm_folder(python) / "litellm_core_utils" / "tokenizers"),
        "TELEMETRY_DISABLED": "true",
        "DO_NOT_TRACK": "1",
        "LITELLM_LOCAL_MODEL_COST_MAP": "True",
        "LITELLM_TELEMETRY": "False",
        "RUNTIME__DLTHUB_TELEMETRY": "false",
        "HF_HUB_OFFLINE": "1",
        "ALLOW_HTTP_REQUESTS": "false",
        "COGNEE_SKIP_CONNECTION_TEST": "true",
        "NO_PROXY": "127.0.0.1,localhost",
        "ENV": "prod",
        "LOG_LEVEL": "WARNING",
    }


def _litellm_folder(python: Path) -> Path:
    found = subprocess.run(  # noqa: S603 - an interpreter that the user names
        [str(python), "-c", _FIND_TABLES], capture_output=True, text=True, check=False
    )
    if found.returncode:
        raise DemoFailed(f"{python} has no cognee. Install it there: {python} -m pip install cognee==1.6.5")
    return Path(found.stdout.strip())


def _stores(folder: Path) -> dict[str, str]:
    """Everything that Cognee writes, below one folder, in its embedded stores."""
    named = {
        "DATA_ROOT_DIRECTORY": "data",
        "SYSTEM_ROOT_DIRECTORY": "system",
        "CACHE_ROOT_DIRECTORY": "cache",
        "COGNEE_LOGS_DIR": "logs",
        "COGNEE_REPOS_DIR": "repos",
        "HOME": "home",
    }
    for name in named.values():
        (folder / name).mkdir(parents=True, exist_ok=True)
    # Cognee lays the nearest .env of any parent folder over its environment, unless it is told of another one
    no_settings = folder / "no-settings.env"
    no_settings.touch()
    engines = {"DB_PROVIDER": "sqlite", "VECTOR_DB_PROVIDER": "lancedb", "GRAPH_DATABASE_PROVIDER": "ladybug"}
    stores = {setting: str(folder / name) for setting, name in named.items()}
    return {**stores, **engines, "COGNEE_ENV_FILE": str(no_settings)}


def _access(folder: Path, *, on: bool) -> dict[str, str]:
    if not on:  # both are needed: either one alone leaves the default, which is on
        return {"REQUIRE_AUTHENTICATION": "false", "ENABLE_BACKEND_ACCESS_CONTROL": "false"}
    secret = _service_secret(folder)
    return {
        "REQUIRE_AUTHENTICATION": "true",
        "ENABLE_BACKEND_ACCESS_CONTROL": "true",
        "DEFAULT_USER_EMAIL": SERVICE_EMAIL,
        "DEFAULT_USER_PASSWORD": secret,
        "FASTAPI_USERS_JWT_SECRET": f"jwt-{secret}",
        "FASTAPI_USERS_RESET_PASSWORD_TOKEN_SECRET": f"reset-{secret}",
        "FASTAPI_USERS_VERIFICATION_TOKEN_SECRET": f"verify-{secret}",
    }


def _service_secret(folder: Path) -> str:
    """The service user's password: made once a folder, readable by its owner alone."""
    path = folder / "service-password"
    if not path.exists():
        path.touch(mode=0o600)
        path.write_text(secrets.token_urlsafe(32))
    return path.read_text()


def service_key(url: str, folder: Path) -> str:
    """An API key of the service user: the one of an earlier run in this folder, else a new one."""
    path = folder / "service-key"
    if path.exists():
        return path.read_text()
    form = urllib.parse.urlencode({"username": SERVICE_EMAIL, "password": _service_secret(folder)}).encode()
    token = _post(f"{url}/api/v1/auth/login", form, {})["access_token"]
    headers = {"Authorization": f"Bearer {token}", "Content-Type": "application/json"}
    key = str(_post(f"{url}/api/v1/auth/api-keys", b'{"name": "mithril"}', headers)["key"])
    path.touch(mode=0o600)
    path.write_text(key)
    return key


def _post(url: str, body: bytes, headers: Mapping[str, str]) -> dict[str, Any]:
    request = urllib.request.Request(url, body, dict(headers))  # noqa: S310 - a loopback URL of our own making
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    try:
        with opener.open(request, timeout=120) as response:
            answer: dict[str, Any] = json.load(response)
    except urllib.error.HTTPError as error:
        raise DemoFailed(f"{urllib.parse.urlsplit(url).path} answered {error.code}") from None
    return answer
