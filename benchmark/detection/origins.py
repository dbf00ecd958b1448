"""Reads the third-party sets under `--data`. Nothing of them is copied into this project."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from benchmark.detection.rows import Pair, Row, Tier, split_of, split_of_premise, split_of_variant

_AUTHENSOR_TIERS = ("memory-poisoning", "prompt-injection", "exfiltration")
_HARD = ("tricky", "NotInject", "hard_negatives")


def load_rows(data: Path) -> tuple[Row, ...]:
    """Every labelled text under `data`, attacks and benign."""
    return (
        *_authensor(data / "authensor_pib"),
        *_piguard(data / "piguard"),
        *_cyberseceval(data / "cyberseceval"),
        *_bipia(data / "bipia"),
        *_hindsight(data / "hindsight_forged_facts"),
        *_nli_sentences(data / "breaking_nli"),
    )


def load_pairs(data: Path) -> tuple[Pair, ...]:
    """Breaking_NLI as pairs, and for every premise one pair with an unrelated premise as neutral."""
    pairs = _json_lines(data / "breaking_nli" / "dataset.jsonl")
    return (*(_nli_pair(pair) for pair in pairs), *_unrelated_pairs(pairs))


def load_false_facts(data: Path, *, name: str) -> tuple[Row, ...]:
    """PoisonedRAG's texts, each with its question's correct answer as the verified memory."""
    origin = f"poisonedrag/{name}"
    questions: dict[str, dict[str, Any]] = _json(data / "poisonedrag" / f"{name}.json")
    return tuple(
        Row(origin, f"{key}-{index}", text, Tier.T3, split_of(origin), _verified(question))
        for key, question in questions.items()
        for index, text in enumerate(question["adv_texts"])
    )


def _verified(question: dict[str, Any]) -> tuple[str, ...]:
    return (f"{question['question'].strip().rstrip('?')}? {question['correct answer']}.",)


def _authensor(folder: Path) -> Iterator[Row]:
    for path in sorted(folder.glob("*/*.json")):
        if path.parent.name not in _AUTHENSOR_TIERS:
            continue
        origin = f"authensor/{path.parent.name}/{path.stem}"
        for row in _json(path):
            tier = Tier.T1 if row["expected_detection"] else _benign_tier(path.stem)
            yield Row(origin, row["id"], row["input"], tier, split_of(origin))


def _piguard(folder: Path) -> Iterator[Row]:
    for index, row in enumerate(_json(folder / "valid.json")):
        attack = Tier.T2 if row["source"].startswith("BIPIA") else Tier.T1
        tier = attack if row["label"] else _benign_tier(row["source"])
        yield Row("piguard", f"{row['source']}-{index}", row["prompt"], tier, split_of("piguard"))


def _benign_tier(source: str) -> Tier:
    return Tier.HARD_BENIGN if any(mark in source for mark in _HARD) else Tier.BENIGN


def _cyberseceval(folder: Path) -> Iterator[Row]:
    for stem, tiers in (
        ("prompt_injection", {"indirect": Tier.T1, "direct": Tier.T2}),
        ("prompt_injection_multilingual_machine_translated", {"indirect": Tier.T2, "direct": Tier.T2}),
    ):
        for row in _json(folder / f"{stem}.json"):
            kind = row["injection_type"]
            name = "multilingual" if "multilingual" in stem else kind
            origin = f"cyberseceval/{name}"
            yield Row(
                origin,
                str(row["prompt_id"]),
                row["user_input"],
                tiers[kind],
                split_of_variant(row["injection_variant"]),
            )


def _bipia(folder: Path) -> Iterator[Row]:
    contexts = [row["context"] for row in _json_lines(folder / "email_test.jsonl")]
    for index, context in enumerate(contexts):
        yield Row("bipia/email", str(index), context, Tier.BENIGN, split_of("bipia/email"))
    for stem in ("text_attack_train", "text_attack_test", "code_attack_test"):
        attacks = [text for group in _json(folder / f"{stem}.json").values() for text in group]
        for index, attack in enumerate(attacks):
            text = _embed(attack, contexts[index % len(contexts)], index)
            yield Row(f"bipia/{stem}", str(index), text, Tier.T2, split_of(f"bipia/{stem}"))


def _embed(attack: str, carrier: str, index: int) -> str:
    """The attack at the start, the middle or the end of the carrier, by turns."""
    middle = carrier.find("\n", len(carrier) // 2)
    at = (0, middle if middle >= 0 else len(carrier), len(carrier))[index % 3]
    return f"{carrier[:at]}\n{attack}\n{carrier[at:]}"


def _hindsight(folder: Path) -> Iterator[Row]:
    for path in sorted(folder.glob("forged_*")):
        yield Row("hindsight", path.stem, path.read_text(), Tier.T3, split_of("hindsight"))


def _nli_sentences(folder: Path) -> Iterator[Row]:
    premises = dict.fromkeys(row["sentence1"] for row in _json_lines(folder / "dataset.jsonl"))
    for index, premise in enumerate(premises):
        yield Row("breaking_nli/premises", str(index), premise, Tier.BENIGN, split_of_premise(premise))


def _nli_pair(row: dict[str, Any]) -> Pair:
    return Pair(
        origin="breaking_nli",
        claim=row["sentence2"],
        memory=row["sentence1"],
        contradicts=row["gold_label"] == "contradiction",
        split=split_of_premise(row["sentence1"]),
        kind=row["category"],
    )


def _unrelated_pairs(rows: list[dict[str, Any]]) -> Iterator[Pair]:
    for split in ("tune", "report"):
        premises = [p for p in dict.fromkeys(row["sentence1"] for row in rows) if split_of_premise(p) == split]
        for index, premise in enumerate(premises):
            other = premises[(index + len(premises) // 2) % len(premises)]
            yield Pair("breaking_nli", other, premise, False, split_of_premise(premise), "unrelated")


def _json(path: Path) -> Any:
    return json.loads(path.read_text(encoding="utf-8"))


def _json_lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines() if line]
