"""Rule files: our own packs and stock gitleaks files, read into compiled rules.

1. Every gitleaks key keeps its meaning: `regex`, `secretGroup`, `entropy`, `keywords`, allow-lists, `[extend]`.
2. A path or a commit can never match here: a rule that asks for a path is left out, an allow-list that does is ignored.
3. Ours are under `[rules.x_mithril]`: `kind`, `validators`, `extend`, `examples`, `non_examples`.
4. A bad rule is a ConfigurationError with file, rule and reason. Nothing is ever half loaded.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import re2

from mithril_proxy.errors import ConfigurationError
from mithril_proxy.secrets.validators import VALIDATORS, Validator

MAX_RULES = 1000
MAX_REGEX_CHARS = 4096
MAX_EXTENDS = 2  # as gitleaks does
_KEYS = {"id", "description", "regex", "secretGroup", "entropy", "keywords", "path", "tags", "allowlist", "allowlists"}
_OWN_KEYS = {"kind", "validators", "extend", "examples", "non_examples"}
_EXTENSIONS = ("pem",)
_NOTHING = "{}"  # stands for nothing in an example, so that other scanners do not take the example for a leak


@dataclass(frozen=True, slots=True)
class Allowlist:
    """What excuses a match: `regexes` on `target` (secret, match or line), `stopwords` in the secret; any, or all."""

    regexes: tuple[re2._Regexp, ...]
    stopwords: tuple[str, ...]
    target: str
    needs_all: bool

    def excuses(self, secret: bytes, match: bytes, line: bytes) -> bool:
        """True when the match is allowed to stand."""
        subject = {"match": match, "line": line}.get(self.target, secret)
        lowered = secret.lower().decode("utf-8", "replace")
        checks = []
        if self.regexes:
            checks.append(any(regex.search(subject) for regex in self.regexes))
        if self.stopwords:
            checks.append(any(word in lowered for word in self.stopwords))
        return bool(checks) and (all(checks) if self.needs_all else any(checks))


@dataclass(frozen=True, slots=True)
class Rule:
    """One compiled rule. `groups` are the capture groups that may hold the secret, in order; `key` that of its name."""

    id: str
    kind: str
    pattern: str
    regex: re2._Regexp
    groups: tuple[int, ...]
    key: int
    entropy: float
    keywords: tuple[bytes, ...]
    allowlists: tuple[Allowlist, ...]
    validators: tuple[Validator, ...]
    extend: str
    examples: tuple[str, ...]
    non_examples: tuple[str, ...]
    source: str


def options(*, never_capture: bool = False) -> re2.Options:
    """RE2 options for every pattern of the guard: quiet, with room for the DFA of hundreds of rules."""
    chosen = re2.Options()
    chosen.log_errors = False
    chosen.max_mem = 64 << 20
    chosen.never_capture = never_capture
    return chosen


def load_rules(packs: Sequence[Path]) -> tuple[Rule, ...]:
    """Every rule of `packs`, in order of priority. Raises ConfigurationError naming file, rule and reason."""
    rules: dict[str, Rule] = {}
    for pack in packs:
        for rule in _read_pack(pack, 0):
            name = rule.id if rule.id not in rules else f"{_kebab(pack.stem)}-{rule.id}"
            if name in rules:
                raise ConfigurationError(f"{pack}: rule {rule.id!r}: the id is used twice")
            rules[name] = _renamed(rule, name)
    if len(rules) > MAX_RULES:
        raise ConfigurationError(f"{packs[-1]}: {len(rules)} rules, the limit is {MAX_RULES}")
    if not rules:
        raise ConfigurationError("secrets.packs: no rule at all, so nothing would be redacted")
    return tuple(rules.values())


def _renamed(rule: Rule, name: str) -> Rule:
    return rule if rule.id == name else Rule(name, *(getattr(rule, field) for field in Rule.__slots__[1:]))


def _kebab(name: str) -> str:
    return re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-")


def _read_pack(path: Path, depth: int) -> list[Rule]:
    table = _read_toml(path)
    extend = table.get("extend") or {}
    common = tuple(_allowlists(table, path, "(top level)"))
    rules = {rule.id: rule for rule in _extended(extend, path, depth)}
    own: set[str] = set()
    for raw in table.get("rules", ()):
        rule = _rule(raw, common, path)
        if rule is None:
            continue
        if rule.id in own:
            raise ConfigurationError(f"{path}: rule {rule.id!r}: the id is used twice")
        own.add(rule.id)
        rules[rule.id] = rule
    disabled = set(extend.get("disabledRules", ()))
    return [rule for rule in rules.values() if rule.id not in disabled]


def _extended(extend: dict[str, Any], path: Path, depth: int) -> list[Rule]:
    """The rules of the file that `[extend] path` names. `useDefault` asks for nothing: ours is an entry of its own."""
    if not extend.get("path"):
        return []
    if depth >= MAX_EXTENDS:
        raise ConfigurationError(f"{path}: [extend] path: more than {MAX_EXTENDS} files deep")
    return _read_pack(path.parent / extend["path"], depth + 1)


def _read_toml(path: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise ConfigurationError(f"{path}: cannot be read ({error.strerror})") from None
    except (UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise ConfigurationError(f"{path}: not valid TOML: {error}") from None


def _rule(raw: dict[str, Any], common: tuple[Allowlist, ...], path: Path) -> Rule | None:
    name = raw.get("id")
    if not isinstance(name, str) or not name:
        raise ConfigurationError(f"{path}: a rule has no id")
    try:
        return _compiled(name, raw, common, path)
    except (ValueError, TypeError, AttributeError) as error:
        raise ConfigurationError(f"{path}: rule {name!r}: {error}") from None


def _compiled(name: str, raw: dict[str, Any], common: tuple[Allowlist, ...], path: Path) -> Rule | None:
    own = raw.get("x_mithril", {})
    _refuse_unknown(own, _OWN_KEYS, "x_mithril.")
    if "x_mithril" in raw:
        _refuse_unknown(raw, _KEYS | {"x_mithril"}, "")
    if raw.get("path"):
        return None
    pattern = raw.get("regex", "")
    if not pattern:
        raise ValueError("has no regex")
    if len(pattern) > MAX_REGEX_CHARS:
        raise ValueError(f"regex of {len(pattern)} characters, the limit is {MAX_REGEX_CHARS}")
    regex = compile_regex(pattern)
    key = regex.groupindex.get(b"key", 0)
    return Rule(
        id=_kebab(name),
        kind=own.get("kind") or _kebab(name).replace("-", "_"),
        pattern=pattern,
        regex=regex,
        groups=_secret_groups(regex, int(raw.get("secretGroup", 0)), key),
        key=key,
        entropy=float(raw.get("entropy", 0.0)),
        keywords=tuple(word.lower().encode() for word in raw.get("keywords", ())),
        allowlists=tuple(_allowlists(raw, path, name)) + common,
        validators=tuple(_validator(word) for word in own.get("validators", ())),
        extend=_extension(own.get("extend", "")),
        examples=tuple(text.replace(_NOTHING, "") for text in own.get("examples", ())),
        non_examples=tuple(text.replace(_NOTHING, "") for text in own.get("non_examples", ())),
        source=str(path),
    )


def _refuse_unknown(table: dict[str, Any], known: set[str], prefix: str) -> None:
    unknown = sorted(set(table) - known)
    if unknown:
        raise ValueError(f"unknown key {prefix}{unknown[0]}")


def compile_regex(pattern: str) -> re2._Regexp:
    """`pattern` compiled by RE2 for UTF-8 bytes. Raises ValueError with RE2's own reason."""
    try:
        return re2.compile(pattern.encode(), options=options())
    except re2.error as error:
        reason = error.args[0] if error.args else "not a valid RE2 pattern"
        raise ValueError(f"bad regex: {reason.decode() if isinstance(reason, bytes) else reason}") from None


def _secret_groups(regex: re2._Regexp, chosen: int, key: int) -> tuple[int, ...]:
    if chosen > regex.groups:
        raise ValueError(f"secretGroup {chosen}: the regex has {regex.groups} groups")
    if chosen:
        return (chosen,)
    return tuple(group for group in range(1, regex.groups + 1) if group != key) or (0,)


def _validator(word: str) -> Validator:
    if word not in VALIDATORS:
        raise ValueError(f"unknown validator {word!r}; known are {', '.join(sorted(VALIDATORS))}")
    return VALIDATORS[word]


def _extension(word: str) -> str:
    if word and word not in _EXTENSIONS:
        raise ValueError(f"unknown extend {word!r}; known are {', '.join(_EXTENSIONS)}")
    return word


def _allowlists(table: dict[str, Any], path: Path, name: str) -> Iterator[Allowlist]:
    """The allow-lists of a file or a rule. One for named rules only is left out: that errs to redaction."""
    single = table.get("allowlist")
    for raw in ([single] if single else []) + list(table.get("allowlists", ())):
        if raw.get("targetRules"):
            continue
        needs_all = str(raw.get("condition", "OR")).upper() in ("AND", "&&")
        if needs_all and (raw.get("paths") or raw.get("commits")):
            continue
        try:
            regexes = tuple(compile_regex(pattern) for pattern in raw.get("regexes", ()))
        except ValueError as error:
            raise ConfigurationError(f"{path}: rule {name!r}: allow-list: {error}") from None
        stopwords = tuple(str(word).lower() for word in raw.get("stopwords", ()))
        if regexes or stopwords:
            yield Allowlist(regexes, stopwords, str(raw.get("regexTarget", "secret")), needs_all)
