"""What the judge knows of words: which exclude each other, which say the same (`policies/lexicon.toml`)."""

from __future__ import annotations

import enum
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import product
from pathlib import Path

from pydantic import BaseModel, ConfigDict, ValidationError

from mithril_proxy.errors import ConfigurationError
from mithril_proxy.judge.stems import stem_phrase


class Exclusive(BaseModel):
    """A group of which one member holds at a time. `kind` agrees with all; each of `same` agrees among itself."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    name: str
    kind: str = ""
    members: str
    phrases: tuple[str, ...] = ()
    same: tuple[str, ...] = ()


class _LexiconFile(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)

    function_words: str
    negations: str
    antonyms: tuple[tuple[str, str], ...]
    synonyms: tuple[str, ...]
    exclusive: tuple[Exclusive, ...]


class WordRelation(enum.Enum):
    """How two words or phrases stand to each other."""

    SAME = "same"
    ANTONYM = "antonym"
    EXCLUSIVE = "exclusive"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class Lexicon:
    """Word knowledge, by stem. Sets hold numbers of groups; two words that share a number belong together."""

    function_words: frozenset[str]
    negations: frozenset[str]
    antonyms: frozenset[tuple[str, str]]
    synonyms: Mapping[str, frozenset[int]]
    groups: Mapping[str, frozenset[int]]
    kinds: Mapping[str, frozenset[int]]

    @classmethod
    def load(cls, path: Path) -> Lexicon:
        """The lexicon of a file. Raises ConfigurationError that names it."""
        try:
            parsed = _LexiconFile.model_validate(tomllib.loads(path.read_text(encoding="utf-8")))
        except OSError as error:
            raise ConfigurationError(f"{path}: cannot be read ({error.strerror})") from None
        except (ValidationError, ValueError) as error:
            raise ConfigurationError(f"{path}: {error}") from None
        return cls(
            function_words=frozenset(parsed.function_words.split()),
            negations=frozenset(parsed.negations.split()),
            antonyms=frozenset(_antonym_pairs(parsed.antonyms)),
            synonyms=_numbered([line.split() for line in (*parsed.synonyms, *_sides(parsed))] + _same_lists(parsed)),
            groups=_numbered([[*group.members.split(), *group.phrases] for group in parsed.exclusive]),
            kinds=_numbered([group.kind.split() for group in parsed.exclusive]),
        )

    def relation(self, one: str, other: str) -> WordRelation:
        """How two lower-case words or phrases stand to each other."""
        left, right = stem_phrase(one), stem_phrase(other)
        if left == right:
            return WordRelation.SAME
        if (left, right) in self.antonyms:
            return WordRelation.ANTONYM
        if _meet(self.synonyms, left, right) or self._is_kind_of(left, right) or self._is_kind_of(right, left):
            return WordRelation.SAME
        return WordRelation.EXCLUSIVE if _meet(self.groups, left, right) else WordRelation.UNKNOWN

    def is_member(self, phrase: str) -> bool:
        """True for a value of any exclusive group."""
        return stem_phrase(phrase) in self.groups

    def group_numbers(self, phrase: str) -> frozenset[int]:
        """The exclusive groups that a word or phrase is a member of."""
        return self.groups.get(stem_phrase(phrase), frozenset())

    def _is_kind_of(self, kind: str, member: str) -> bool:
        return bool(self.kinds.get(kind, frozenset()) & self.groups.get(member, frozenset()))


def _meet(table: Mapping[str, frozenset[int]], left: str, right: str) -> bool:
    return bool(table.get(left, frozenset()) & table.get(right, frozenset()))


def _numbered(groups: Iterable[Iterable[str]]) -> dict[str, frozenset[int]]:
    table: dict[str, set[int]] = {}
    for number, words in enumerate(groups):
        for word in words:
            table.setdefault(stem_phrase(word), set()).add(number)
    return {word: frozenset(numbers) for word, numbers in table.items()}


def _antonym_pairs(pairs: Iterable[tuple[str, str]]) -> Iterable[tuple[str, str]]:
    for one, other in pairs:
        for left, right in product(one.split("|"), other.split("|")):
            yield stem_phrase(left), stem_phrase(right)
            yield stem_phrase(right), stem_phrase(left)


def _sides(parsed: _LexiconFile) -> Iterable[str]:
    """Each side of an antonym pair agrees among itself."""
    return (side.replace("|", " ") for pair in parsed.antonyms for side in pair)


def _same_lists(parsed: _LexiconFile) -> list[list[str]]:
    return [_members_of(line, group) for group in parsed.exclusive for line in group.same]


def _members_of(line: str, group: Exclusive) -> list[str]:
    """The words and phrases of a `same` line."""
    phrases = [phrase for phrase in group.phrases if phrase in line]
    for phrase in phrases:
        line = line.replace(phrase, " ")
    return [*line.split(), *phrases]
