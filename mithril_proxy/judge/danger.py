"""Content danger: rules as data, one linear gate over the whole text, then windows for the rules that passed it.

1. `policies/danger.toml` holds the rules; a rule that does not compile stops the start and is named.
2. One linear pass over a view finds the words that patterns cannot do without; then a rule's patterns are tried one by
   one until one is missing. Only for rules with all their patterns somewhere are the windows looked at.
3. A rule fires in a window that has all its patterns and none of its exceptions.
4. The danger of a window is 1 - product(1 - severity) over its categories; that of a text is that of its worst window.
"""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import re2
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from mithril_proxy.errors import ConfigurationError, JudgeUnavailable
from mithril_proxy.judge.canonical import View, windows

_PATTERN_MEMORY_BYTES = 64 << 20  # bound of one pattern's automaton; RE2 turns to a slower linear scan above it
# Stands at the end of every gated text: a gate that does not report it has run out of memory; it tells in no other way.
_SENTINEL = "mithrilgatesentinel"


class DangerRule(BaseModel):
    """One rule as it stands in the file: every pattern of `all` and none of `unless` in one window."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    name: str = Field(pattern=r"^[a-z0-9-]+$")
    category: str = Field(pattern=r"^[a-z0-9-]+$")
    severity: float = Field(gt=0.0, le=1.0)
    all: tuple[str, ...] = Field(min_length=1)
    unless: tuple[str, ...] = ()
    hits: tuple[str, ...] = Field(min_length=1)
    near_misses: tuple[str, ...] = Field(min_length=1)


class _RuleFile(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)

    terms: dict[str, str] = {}
    rules: tuple[DangerRule, ...]


@dataclass(frozen=True, slots=True)
class Danger:
    """A rule that fired: its category's rule id (`danger.category`), its own name, and the view that showed it."""

    rule: str
    name: str
    severity: float
    view: str


@dataclass(frozen=True, slots=True)
class _Compiled:
    rule: DangerRule
    needed: tuple[int, ...]
    excluded: tuple[int, ...]


class DangerRules:
    """The compiled rules. Thread-safe: matching changes nothing."""

    def __init__(self, rules: Iterable[DangerRule], terms: Mapping[str, str]) -> None:
        numbers = {_SENTINEL: 0}
        self._rules = tuple(
            _Compiled(
                rule,
                tuple(numbers.setdefault(_expand(one, terms), len(numbers)) for one in rule.all),
                tuple(numbers.setdefault(_expand(one, terms), len(numbers)) for one in rule.unless),
            )
            for rule in rules
        )
        self._patterns = tuple(_compile(pattern) for pattern in numbers)
        self._gate = _compile_gate(numbers)
        self.rules = tuple(compiled.rule for compiled in self._rules)

    @classmethod
    def load(cls, path: Path) -> DangerRules:
        """The rules of a file. Raises ConfigurationError that names the file and what is wrong."""
        try:
            parsed = _RuleFile.model_validate(tomllib.loads(path.read_text(encoding="utf-8")))
            return cls(parsed.rules, _nested(parsed.terms))
        except OSError as error:
            raise ConfigurationError(f"{path}: cannot be read ({error.strerror})") from None
        except (ValidationError, ValueError, KeyError) as error:
            raise ConfigurationError(f"{path}: {error}") from None

    def find(self, view: View) -> tuple[tuple[Danger, ...], ...]:
        """The dangers of each window of a view in which any rule fired. Raises JudgeUnavailable."""
        possible = self._possible(view.text)
        occurs = self._occurrence(view.text)
        candidates = [
            one for one in self._rules if possible.issuperset(one.needed) and all(occurs(each) for each in one.needed)
        ]
        if not candidates:
            return ()
        found = (self._in_window(window, candidates, view.kind) for window in windows(view.text))
        return tuple(dangers for dangers in found if dangers)

    def _possible(self, text: str) -> frozenset[int]:
        """The patterns that a text may match, going by the words they need."""
        matched = frozenset(self._gate.Match(f"{text} {_SENTINEL}", True))
        if 0 not in matched:
            raise JudgeUnavailable("automaton", "RE2 ran out of memory in the gate of the danger rules")
        return matched

    def _occurrence(self, text: str) -> Callable[[int], bool]:
        """Tells of a pattern's number whether it occurs in `text`, each pattern tried at most once."""
        return cache(lambda number: self._patterns[number].search(text) is not None)

    def _in_window(self, window: str, candidates: list[_Compiled], view: str) -> tuple[Danger, ...]:
        occurs = self._occurrence(window)
        return tuple(
            Danger(f"danger.{one.rule.category}", one.rule.name, one.rule.severity, view)
            for one in candidates
            if all(occurs(each) for each in one.needed) and not any(occurs(each) for each in one.excluded)
        )


def danger_score(dangers: Iterable[Danger]) -> float:
    """Danger of one window, 0..1: the worst of each category, categories joined as independent evidence."""
    worst: dict[str, float] = {}
    for danger in dangers:
        worst[danger.rule] = max(worst.get(danger.rule, 0.0), danger.severity)
    innocent = 1.0
    for severity in worst.values():
        innocent *= 1.0 - severity
    return round(1.0 - innocent, 6)


def check_rules(rules: DangerRules) -> tuple[str, ...]:
    """What is wrong with the rules' own examples: one line a hit that does not fire or a near miss that does."""
    return tuple(problem for rule in rules.rules for problem in _check(rules, rule))


def _check(rules: DangerRules, rule: DangerRule) -> Iterable[str]:
    for index, text in enumerate(rule.hits):
        if not _fires(rules, rule, text):
            yield f"{rule.name}: hits[{index}] does not fire"
    for index, text in enumerate(rule.near_misses):
        if _fires(rules, rule, text):
            yield f"{rule.name}: near_misses[{index}] fires"


def _fires(rules: DangerRules, rule: DangerRule, text: str) -> bool:
    return any(danger.name == rule.name for window in rules.find(View("plain", text)) for danger in window)


def _nested(terms: Mapping[str, str]) -> dict[str, str]:
    expanded: dict[str, str] = {}
    for name, pattern in terms.items():
        expanded[name] = _expand(pattern, expanded)
    return expanded


def _expand(pattern: str, terms: Mapping[str, str]) -> str:
    for name, term in terms.items():
        pattern = pattern.replace("{" + name + "}", term)
    return pattern


def _options() -> re2.Options:
    options = re2.Options()
    options.case_sensitive = False
    options.max_mem = _PATTERN_MEMORY_BYTES
    options.log_errors = False
    return options


def _compile(pattern: str) -> re2._Regexp:
    try:
        return re2.compile(pattern, _options())
    except re2.error as error:
        raise ValueError(f"pattern {pattern[:60]!r} is not RE2: {error}") from None


def _compile_gate(patterns: Iterable[str]) -> re2.Filter:
    gate = re2.Filter()
    for pattern in patterns:
        gate.Add(pattern, _options())
    gate.Compile()
    return gate
