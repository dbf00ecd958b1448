from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mithril_proxy.demo.model.embeddings import DIMENSIONS, HashedWords, find_embedder


def cosine(one: str, other: str) -> float:
    first, second = HashedWords().vectors([one, other])
    return sum(a * b for a, b in zip(first, second, strict=True))


@given(st.text(max_size=100))
def test_every_text_has_a_unit_vector(text: str) -> None:
    (vector,) = HashedWords().vectors([text])
    assert len(vector) == DIMENSIONS
    assert math.isclose(sum(value * value for value in vector), 1.0, rel_tol=1e-9)


def test_the_same_words_are_near_and_other_words_are_far() -> None:
    assert cosine("the port is open", "The port is open!") == pytest.approx(1.0)
    assert cosine("the port is open", "the port is closed") > 0.4
    assert cosine("backups are kept", "ferries sail north") < 0.3


def test_without_the_wheels_words_are_hashed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda _name: None)
    assert find_embedder().name == "hashed-words"
