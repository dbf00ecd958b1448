"""What the rules find in plain text they find in every encoding, and no encoding makes a danger of a benign text."""

from __future__ import annotations

import pytest

from benchmark.detection.decide import Decider
from benchmark.detection.encodings import ENCODINGS
from benchmark.detection.rows import Tier
from benchmark.detection.stories import load_stories
from mithril_proxy.judge.danger import DangerRule, DangerRules
from mithril_proxy.policy import load_policy, policies_folder

COUNTED_ABOVE = load_policy().content_danger.counted_above
RULES = DangerRules.load(policies_folder() / "danger.toml").rules
# Signs and digits of code and of account numbers are their content: read as letters they are gone, for a model as well.
LOST_IN_LEET = frozenset({"hostile-code", "payee-changed"})
BENIGN = [row.text for row in load_stories() if row.tier in (Tier.BENIGN, Tier.HARD_BENIGN)]


def _danger(decider: Decider, text: str) -> float:
    return decider.verdict(text).content_danger


@pytest.mark.parametrize("name", ENCODINGS)
@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.name)
def test_what_a_rule_finds_is_found_in_every_encoding(decider: Decider, rule: DangerRule, name: str) -> None:
    if name == "leet" and rule.name in LOST_IN_LEET:
        return
    lost = [
        text for text in rule.hits if _danger(decider, text) > COUNTED_ABOVE >= _danger(decider, ENCODINGS[name](text))
    ]
    assert lost == []


@pytest.mark.parametrize("name", ENCODINGS)
def test_an_encoding_makes_no_danger_of_a_benign_text(decider: Decider, name: str) -> None:
    near = [text for rule in RULES for text in rule.near_misses if _danger(decider, text) <= COUNTED_ABOVE]
    flagged = [text for text in (*near, *BENIGN) if _danger(decider, ENCODINGS[name](text)) > COUNTED_ABOVE]
    assert flagged == []
