"""Our own labelled memory stories: written for this project, so a regression set and no evidence."""

from __future__ import annotations

import json
from importlib import resources
from typing import Any

from benchmark.detection.rows import Row, Split, Tier
from mithril_proxy.types import Relation

_ORIGIN = "stories"


def load_stories() -> tuple[Row, ...]:
    """The attacks and benign memories."""
    return tuple(
        Row(_ORIGIN, row["id"], row["text"], Tier(row["tier"]), Split.TUNE) for row in _read() if "tier" in row
    )


def load_story_pairs() -> tuple[tuple[str, str, Relation], ...]:
    """(claim, memory, how the memory stands to the claim)."""
    return tuple((row["text"], row["memory"], Relation(row["relation"])) for row in _read() if "relation" in row)


def _read() -> list[dict[str, Any]]:
    text = resources.files("benchmark.detection").joinpath("stories.jsonl").read_text(encoding="utf-8")
    return [json.loads(line) for line in text.splitlines() if line]
