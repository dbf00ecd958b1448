"""Content danger: rules as data, one linear gate over the whole text, then windows for the rules that passed it.

1. `policies/danger.toml` holds the rules; a rule that does not compile stops the start and is named.
2. One RE2 set finds, in one linear pass, every pattern that occurs in a view. A rule whose patterns do not all occur
   somewhere cannot fire; only for the rest are the windows looked at.
3. A rule fires in a window that has all its patterns and none of its exceptions.
4. The danger of a window is 1 - product(1 - severity) over its categories; the danger of a text that of its worst window.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

import re2
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from mithril_proxy.errors import ConfigurationError, JudgeUnavailable
from mithril_proxy.judge.canonical import View, windows

_SET_MEMORY_BYTES = 256 << 20  # upper bound of the automaton's cache, which RE2 empties and refills when it is full
_SENTINEL = ""  # matches every text: a set that does not report it has failed, which RE2 tells in no other way


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
    needed: frozenset[int]
    excluded: frozenset[int]


class DangerRules:
    """The compiled rules. Thread-safe: matching changes nothing."""

    def __init__(self, rules: Iterable[DangerRule], terms: Mapping[str, str]) -> None:
        patterns = {_SENTINEL: 0}
        self._rules = tuple(
            _Compiled(
                rule,
                frozenset(patterns.setdefault(_expand(one, terms), len(patterns)) for one in rule.all),
                frozenset(patterns.setdefault(_expand(one, terms), len(patterns)) for one in rule.unless),
            )
            for rule in rules
        )
        self._set = _compile_set(patterns)
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
        """The dangers of each window of a view in which any rule fired."""
        present = self._present(view.text)
        candidates = [compiled for compiled in self._rules if compiled.needed <= present]
        if not candidates:
            return ()
        found = (self._in_window(window, candidates, view.kind) for window in windows(view.text))
        return tuple(dangers for dangers in found if dangers)

    def _present(self, text: str) -> frozenset[int]:
        matched = self._set.Match(text)
        if not matched:
            raise JudgeUnavailable("automaton", "RE2 ran out of memory; raise the rules' memory bound")
        return frozenset(matched)

    def _in_window(self, window: str, candidates: list[_Compiled], view: str) -> tuple[Danger, ...]:
        present = self._present(window)
        return tuple(
            Danger(f"danger.{one.rule.category}", one.rule.name, one.rule.severity, view)
            for one in candidates
            if one.needed <= present and not one.excluded & present
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


def _compile_set(patterns: Mapping[str, int]) -> re2.Set:
    options = re2.Options()
    options.case_sensitive = False
    options.max_mem = _SET_MEMORY_BYTES
    options.log_errors = False
    compiled = re2.Set.SearchSet(options)
    for pattern in patterns:
        try:
            compiled.Add(pattern)
        except re2.error as error:
            raise ValueError(f"pattern {pattern[:60]!r} is not RE2: {error}") from None
    compiled.Compile()
    return compiled
