"""How this process runs: addresses, credentials, files. What is allowed stands in the policy file instead.

Read from the environment, then from `.env` in the working folder; prefix `MITHRIL_`.
"""

from __future__ import annotations

from typing import Annotated, Literal
from urllib.parse import urlsplit

from pydantic import Field, SecretStr, ValidationError, field_validator
from pydantic_settings import BaseSettings, SettingsConfigDict

from mithril_proxy.errors import ConfigurationError

Seconds = Annotated[float, Field(gt=0.0)]


class Settings(BaseSettings):
    """One process's settings. `MITHRIL_UPSTREAM_URL` sets `upstream_url`, and so on."""

    model_config = SettingsConfigDict(env_prefix="MITHRIL_", env_file=".env", extra="ignore", frozen=True)

    upstream_url: str = Field("http://127.0.0.1:8000", description="The Cognee server.")
    upstream_api_key: SecretStr | None = Field(
        None, description="Service credential: sent to Cognee in place of a Mithril key, and for releases."
    )
    key: SecretStr | None = Field(
        None, description="Mithril key that `mithril mcp` and `mithril ingest` write with; the proxy does not use it."
    )
    listen: str = Field("127.0.0.1:8080", description="Data plane: where Cognee's clients connect.")
    admin_listen: str = Field("127.0.0.1:8081", description="Admin plane: operators only; never publish it.")
    admin_token: SecretStr | None = Field(
        None, description="Bearer token of the admin plane; made at first start if unset."
    )
    database_url: str = Field("sqlite+aiosqlite:///./mithril.db", description="Decisions, quarantine, sources, audit.")
    policy: str = Field("policies/default.toml", description="Policy file, or the name of one shipped with Mithril.")
    judge: Literal["openai", "local"] | None = Field(
        None, description="openai or local; unset: openai when LLM_API_KEY is set, else local."
    )
    llm_base_url: str | None = Field(None, description="OpenAI-compatible endpoint; unset: OpenAI's.")
    llm_api_key: SecretStr | None = Field(None, description="Key of that endpoint.")
    llm_model: str = Field("gpt-4o-mini", description="Model of the openai judge.")
    connect_timeout_s: Seconds = Field(5.0, description="Connecting to the upstream.")
    read_timeout_s: Seconds = Field(
        600.0, description="Longest silence of the upstream: remember waits for its pipeline."
    )
    drain_timeout_s: Seconds = Field(30.0, description="How long SIGTERM waits for open requests.")
    secret_tag_key: SecretStr | None = Field(
        None, description="Adds a keyed tag to redactions so that two secrets can be told apart."
    )
    audit_syslog: str | None = Field(
        None, description="Where audit events go as syslog: udp://host:514, tcp://host:601 or unix:///dev/log."
    )
    audit_webhook_url: str | None = Field(None, description="Where audit events are posted, signed.")
    audit_webhook_secret: SecretStr | None = Field(None, description="Shared secret that signs those posts.")
    log_level: Literal["debug", "info", "warning", "error"] = Field("info", description="Least level that is logged.")
    log_format: Literal["console", "json"] = Field("console", description="json: one object a line.")

    @field_validator("upstream_url")
    @classmethod
    def _is_http_url(cls, value: str) -> str:
        parts = urlsplit(value)
        if parts.scheme not in ("http", "https") or not parts.netloc:
            raise ValueError("must be http://host:port or https://host:port")
        if parts.path.strip("/") or parts.query or parts.fragment:
            raise ValueError("must have no path: Mithril speaks Cognee's API at the root")
        return value.rstrip("/")

    @field_validator("listen", "admin_listen")
    @classmethod
    def _is_address(cls, value: str) -> str:
        split_address(value)
        return value

    @property
    def effective_judge(self) -> Literal["openai", "local"]:
        """The judge that runs: the one named, else openai when there is a key for it."""
        return self.judge or ("openai" if self.llm_api_key else "local")


def split_address(value: str) -> tuple[str, int]:
    """Host and port of `host:port` or `[v6]:port`. Raises ValueError."""
    host, separator, port = value.rpartition(":")
    if not separator or not host or not port.isdigit() or int(port) > 65535:
        raise ValueError(f"must be host:port, not {value!r}")
    return host.strip("[]"), int(port)


def load_settings(**overrides: object) -> Settings:
    """Settings from environment and `.env`; `overrides` (from options, None ignored) win.

    Raises ConfigurationError that names the variable and the reason.
    """
    given = {name: value for name, value in overrides.items() if value is not None}
    try:
        return Settings(**given)  # type: ignore[arg-type]
    except ValidationError as error:
        first = error.errors()[0]
        name = "_".join(str(part) for part in first["loc"]).upper()
        raise ConfigurationError(f"MITHRIL_{name}: {first['msg']}") from None
