from __future__ import annotations

import pytest

from mithril_proxy.demo.model_choice import choose_model

OURS = "http://127.0.0.1:8100"


def test_without_a_key_our_model_answers_and_the_local_rules_judge() -> None:
    choice = choose_model({}, OURS)
    assert choice.cognee["LLM_ENDPOINT"] == choice.cognee["EMBEDDING_ENDPOINT"] == f"{OURS}/v1"
    assert choice.mithril == {"MITHRIL_JUDGE": "local"}


@pytest.mark.parametrize("name", ["LLM_API_KEY", "OPENAI_API_KEY"])
def test_a_key_of_the_users_brings_their_model_and_keeps_our_embeddings(name: str) -> None:
    choice = choose_model({name: "k", "UNRELATED": "x"}, OURS)
    assert choice.cognee["LLM_API_KEY"] == "k"
    assert "LLM_ENDPOINT" not in choice.cognee
    assert "UNRELATED" not in choice.cognee
    assert choice.cognee["EMBEDDING_ENDPOINT"] == f"{OURS}/v1"
    assert choice.mithril == {
        "MITHRIL_JUDGE": "openai",
        "MITHRIL_LLM_API_KEY": "k",
        "MITHRIL_LLM_MODEL": "gpt-4o-mini",
    }


def test_embeddings_that_the_user_chose_are_used() -> None:
    choice = choose_model({"LLM_API_KEY": "k", "EMBEDDING_MODEL": "theirs"}, OURS)
    assert choice.cognee["EMBEDDING_MODEL"] == "theirs"
    assert "EMBEDDING_ENDPOINT" not in choice.cognee


def test_a_compatible_endpoint_judges_too() -> None:
    environment = {"LLM_API_KEY": "k", "LLM_PROVIDER": "custom", "LLM_ENDPOINT": "http://h/v1", "LLM_MODEL": "openai/m"}
    choice = choose_model(environment, OURS)
    assert choice.mithril["MITHRIL_LLM_BASE_URL"] == "http://h/v1"
    assert choice.mithril["MITHRIL_LLM_MODEL"] == "m"


def test_behind_another_providers_key_the_local_rules_judge() -> None:
    choice = choose_model({"LLM_API_KEY": "k", "LLM_PROVIDER": "anthropic", "LLM_MODEL": "a"}, OURS)
    assert choice.mithril == {"MITHRIL_JUDGE": "local"}
    assert choice.cognee["LLM_PROVIDER"] == "anthropic"
