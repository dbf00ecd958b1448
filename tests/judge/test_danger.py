from __future__ import annotations

from pathlib import Path

import pytest

from mithril_proxy.errors import ConfigurationError, JudgeUnavailable
from mithril_proxy.judge.canonical import View
from mithril_proxy.judge.danger import Danger, DangerRule, DangerRules, check_rules, danger_score

RULE = """
[terms]
verb = '(?:drop|throw)'
[[rules]]
name = "drop-vase"
category = "vases"
severity = 0.6
all = ['\\b{verb}\\b', '\\bvase\\b']
unless = ['\\bnever\\b']
hits = ["drop the vase"]
near_misses = ["never drop the vase"]
"""


@pytest.fixture
def vases(tmp_path: Path) -> DangerRules:
    path = tmp_path / "danger.toml"
    path.write_text(RULE)
    return DangerRules.load(path)


def _names(rules: DangerRules, text: str) -> set[str]:
    return {danger.name for window in rules.find(View("plain", text)) for danger in window}


def test_every_shipped_rule_fires_on_its_hits_and_on_none_of_its_near_misses(rules: DangerRules) -> None:
    assert check_rules(rules) == ()


def test_rule_names_are_unique(rules: DangerRules) -> None:
    names = [rule.name for rule in rules.rules]
    assert len(names) == len(set(names))


@pytest.mark.parametrize(
    ("text", "fires"),
    [
        ("Drop it. That vase is old.", True),
        ("Drop it. Then rest. That vase is old.", False),
        ("Never drop a vase.", False),
        ("Never mind. Drop it. The vase falls.", True),
        ("A vase stands here.", False),
        ("", False),
    ],
)
def test_a_rule_fires_when_all_its_patterns_and_no_exception_are_in_one_window(
    vases: DangerRules, text: str, fires: bool
) -> None:
    assert _names(vases, text) == ({"drop-vase"} if fires else set())


def test_a_long_text_never_hides_a_sentence(vases: DangerRules) -> None:
    filler = "The garden is green. " * 2000
    for text in (f"Drop the vase. {filler}", f"{filler}Drop the vase. {filler}", f"{filler}Drop the vase."):
        assert _names(vases, text) == {"drop-vase"}


def test_examples_that_are_wrong_are_named() -> None:
    rule = DangerRule(name="odd", category="odd", severity=0.5, all=("cat",), hits=("dog",), near_misses=("cat",))
    assert check_rules(DangerRules([rule], {})) == ("odd: hits[0] does not fire", "odd: near_misses[0] fires")


@pytest.mark.parametrize(
    ("severities", "score"),
    [([], 0.0), ([("a", 0.5)], 0.5), ([("a", 0.5), ("a", 0.4)], 0.5), ([("a", 0.5), ("b", 0.5)], 0.75)],
)
def test_categories_add_up_and_rules_of_one_category_do_not(severities: list[tuple[str, float]], score: float) -> None:
    dangers = [Danger(f"danger.{category}", "x", severity, "plain") for category, severity in severities]
    assert danger_score(dangers) == score


def test_a_gate_that_ran_out_of_memory_is_no_clean_text(vases: DangerRules, monkeypatch: pytest.MonkeyPatch) -> None:
    class Exhausted:
        def Match(self, text: str, potential: bool) -> list[int]:  # noqa: N802
            return []

    monkeypatch.setattr(vases, "_gate", Exhausted())
    with pytest.raises(JudgeUnavailable):
        vases.find(View("plain", "drop the vase"))


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("rules = 3", "rules"),
        ("not toml [", "danger.toml"),
        (RULE.replace("severity = 0.6", "severity = 6"), "severity"),
        (RULE.replace("'\\bvase\\b'", "'(?=vase)'"), "RE2"),
    ],
)
def test_a_wrong_rule_file_stops_the_start_and_is_named(tmp_path: Path, text: str, named: str) -> None:
    path = tmp_path / "danger.toml"
    path.write_text(text)
    with pytest.raises(ConfigurationError, match=named):
        DangerRules.load(path)


def test_a_missing_rule_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match="cannot be read"):
        DangerRules.load(tmp_path / "none.toml")
