"""Which model the demo uses: the user's own when a key is set, else our model server."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from mithril_proxy.demo.cognee_server import own_embeddings, own_model

_COGNEE_SETTINGS = ("LLM_", "EMBEDDING_", "HTTP_PROXY", "HTTPS_PROXY", "http_proxy", "https_proxy")
_OPENAI_COMPATIBLE = ("", "openai", "custom")


@dataclass(frozen=True, slots=True)
class ModelChoice:
    """Settings for Cognee and for Mithril's judge, and a line that says what was chosen."""

    cognee: Mapping[str, str]
    mithril: Mapping[str, str]
    description: str


def choose_model(environment: Mapping[str, str], model_url: str) -> ModelChoice:
    """The user's model when LLM_API_KEY or OPENAI_API_KEY is set, else our model server at `model_url`.

    Embeddings stay ours unless the user chose some: the distances that the policy knows were measured with them.
    """
    key = environment.get("LLM_API_KEY") or environment.get("OPENAI_API_KEY")
    if not key:
        said = "no LLM key is set: our deterministic model server answers, and the local rules judge"
        return ModelChoice(own_model(model_url), {"MITHRIL_JUDGE": "local"}, said)
    chosen = {name: value for name, value in environment.items() if name.startswith(_COGNEE_SETTINGS)}
    embeddings = {} if any(name.startswith("EMBEDDING_") for name in chosen) else own_embeddings(model_url)
    model = environment.get("LLM_MODEL", "openai/gpt-4o-mini")
    cognee = {**embeddings, **chosen, "LLM_API_KEY": key, "LLM_MODEL": model}
    return ModelChoice(cognee, _judge(environment, key, model), f"your LLM key is set: {model} answers and judges")


def _judge(environment: Mapping[str, str], key: str, model: str) -> dict[str, str]:
    """Mithril's judge speaks OpenAI's API; behind another provider's key the local rules judge."""
    if environment.get("LLM_PROVIDER", "") not in _OPENAI_COMPATIBLE:
        return {"MITHRIL_JUDGE": "local"}
    endpoint = environment.get("LLM_ENDPOINT")
    return {
        "MITHRIL_JUDGE": "openai",
        "MITHRIL_LLM_API_KEY": key,
        "MITHRIL_LLM_MODEL": model.removeprefix("openai/"),
        **({"MITHRIL_LLM_BASE_URL": endpoint} if endpoint else {}),
    }
