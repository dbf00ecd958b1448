"""One labelled row, and which origins may be looked at while tuning.

1. Rules and thresholds were tuned on the rows of `Split.TUNE` alone; every number in RESULTS.md that is called a
   result is of `Split.REPORT`.
2. The split is by origin, by file or by kind of attack, not by row, because rows of one kind are variations of each
   other. Breaking_NLI is split by premise: all pairs of a premise fall on one side.
"""

from __future__ import annotations

import enum
import hashlib
from dataclasses import dataclass


class Split(enum.StrEnum):
    """What a row may be used for."""

    TUNE = "tune"
    REPORT = "report"


class Tier(enum.StrEnum):
    """How hard a row is for a firewall on the write path."""

    T1 = "T1 plain"
    T2 = "T2 stealthy, embedded, multilingual"
    T3 = "T3 false fact"
    BENIGN = "benign"
    HARD_BENIGN = "hard benign"


@dataclass(frozen=True, slots=True)
class Row:
    """One text, its tier and origin. `context` holds verified memories that a probe would have returned."""

    origin: str
    id: str
    text: str
    tier: Tier
    split: Split
    context: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Pair:
    """A claim and a memory, and whether they contradict."""

    origin: str
    claim: str
    memory: str
    contradicts: bool
    split: Split
    kind: str = ""


TUNED_AUTHENSOR_FILES = frozenset(
    {
        "memory-poisoning/sleeper-and-drift",
        "memory-poisoning/benign",
        "memory-poisoning/authority-injection",
        "prompt-injection/instruction-override",
        "prompt-injection/delimiter-injection",
        "prompt-injection/tricky-benign",
        "exfiltration/covert-channels",
    }
)
TUNED_ORIGINS = frozenset({"piguard", "bipia/text_attack_train", "bipia/email", "poisonedrag/hotpotqa", "stories"})
# Of CyberSecEval, whole injection variants; the translations of a prompt fall on its side.
TUNED_VARIANTS = frozenset(
    {
        "ignore_previous_instructions",
        "system_mode",
        "different_user_input_language",
        "persuasion",
        "indirect_reference",
        "payload_splitting",
    }
)
TUNED_NLI_SHARE = 4  # one premise in four


def split_of(origin: str) -> Split:
    """What the rows of an origin, or of an AUTHENSOR file, may be used for."""
    name = origin.removeprefix("authensor/")
    is_tuned = origin in TUNED_ORIGINS or name in TUNED_AUTHENSOR_FILES
    return Split.TUNE if is_tuned else Split.REPORT


def split_of_variant(variant: str) -> Split:
    """What the rows of a CyberSecEval injection variant may be used for."""
    return Split.TUNE if variant in TUNED_VARIANTS else Split.REPORT


def split_of_premise(premise: str) -> Split:
    """What the pairs of a Breaking_NLI premise may be used for."""
    chosen = hashlib.sha256(premise.encode()).digest()[0] % TUNED_NLI_SHARE == 0
    return Split.TUNE if chosen else Split.REPORT
