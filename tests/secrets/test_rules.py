from pathlib import Path

import pytest

from mithril_proxy.errors import ConfigurationError
from mithril_proxy.policy import policies_folder
from mithril_proxy.secrets import SecretGuard, check_examples, load_guard
from mithril_proxy.secrets.engine import Engine
from mithril_proxy.secrets.rules import load_rules

SHIPPED = policies_folder() / "secrets.toml"
STOCK = """
title = "as another tool ships it"
[allowlist]
paths = ['''lock$''']
stopwords = ["testing"]
[[rules]]
id = "acme-token"
description = "d"
regex = '''\\b(acme_[a-z0-9]{12,}) '''
entropy = 2
keywords = ["acme_"]
  [[rules.allowlists]]
  regexTarget = "line"
  regexes = ['''fixture''']
  [[rules.allowlists]]
  condition = "AND"
  paths = ['''x''']
  regexes = ['''.*''']
  [[rules.allowlists]]
  paths = ['''y''']
  [[rules.allowlists]]
  targetRules = ["other"]
  regexes = ['''.*''']
  [[rules.allowlists]]
  condition = "AND"
  regexTarget = "match"
  regexes = ['''q q''', '''_both''']
  stopwords = ["both"]
[[rules]]
id = "optional"
regex = '''(never)?opt-[0-9]{3}'''
[[rules]]
id = "sha"
regex = '''([a-f0-9]{40})'''
keywords = ["sourcegraph"]
[[rules]]
id = "file"
path = '''key$'''
[[rules]]
id = "second"
regex = '''(id)=([a-z]{8})'''
secretGroup = 2
"""


def written(folder: Path, text: str, name: str = "pack.toml") -> Path:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path


def rule(regex: str = "abc", extra: str = "", name: str = "r") -> str:
    return f"[[rules]]\nid = \"{name}\"\nregex = '''{regex}'''\n{extra}"


@pytest.fixture
def stock(tmp_path: Path) -> SecretGuard:
    return load_guard([written(tmp_path, STOCK, "stock.toml")])


@pytest.mark.parametrize(
    ("text", "redacted"),
    [
        ("key acme_a1b2c3d4e5f6 end", "key [REDACTED:acme_token] end"),
        ("key acme_aaaaaaaaaaaa end", "key acme_aaaaaaaaaaaa end"),
        ("fixture acme_a1b2c3d4e5f6 end", "fixture acme_a1b2c3d4e5f6 end"),
        ("key acme_both1a2b3c4d5 end", "key acme_both1a2b3c4d5 end"),
        ("opt-123", "[REDACTED:optional]"),
        ("key acme_testinga1b2c3 end", "key acme_testinga1b2c3 end"),
        ("commit 9a038989604e8da62ecddbe2094b16ce1b778be1", "commit 9a038989604e8da62ecddbe2094b16ce1b778be1"),
        ("sourcegraph 9a038989604e8da62ecddbe2094b16ce1b778be1", "sourcegraph [REDACTED:sha]"),
        ("id=abcdefgh", "id=[REDACTED:second]"),
    ],
)
def test_a_stock_file_keeps_its_meaning(stock: SecretGuard, text: str, redacted: str) -> None:
    assert stock.redact(text).text == redacted


def test_a_stock_rule_is_named_after_its_id(stock: SecretGuard) -> None:
    assert stock.scan("key acme_a1b2c3d4e5f6 end")[0].rule == "redact.acme-token"


def test_an_id_that_an_earlier_pack_has_carries_its_own_pack_name(tmp_path: Path) -> None:
    first, second = (written(tmp_path, rule(name="jwt"), name) for name in ("a.toml", "my_pack.toml"))
    assert [one.id for one in load_rules([first, second])] == ["jwt", "my-pack-jwt"]


def test_an_id_that_three_packs_have_is_refused(tmp_path: Path) -> None:
    (tmp_path / "x").mkdir()
    places = (tmp_path / "a.toml", tmp_path / "b.toml", tmp_path / "x" / "b.toml")
    with pytest.raises(ConfigurationError, match="used twice"):
        load_rules([written(place.parent, rule(), place.name) for place in places])


def test_an_extending_file_replaces_and_disables_rules(tmp_path: Path) -> None:
    written(tmp_path, rule("abc", name="one") + rule("def", name="two"), "base.toml")
    top = '[extend]\nuseDefault = true\npath = "base.toml"\ndisabledRules = ["two"]\n' + rule("xyz", name="one")
    loaded = load_rules([written(tmp_path, top)])
    assert [(one.id, one.pattern) for one in loaded] == [("one", "xyz")]


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("x = [", "not valid TOML"),
        ("title = 'none'", "no rule at all"),
        (rule("(?=x)"), "rule 'r': bad regex"),
        (rule("a" * 4097), "the limit is 4096"),
        (rule() + rule(), "used twice"),
        ("[[rules]]\nregex = 'a'", "has no id"),
        ("[[rules]]\nid = 'r'", "has no regex"),
        (rule("a(b)", "secretGroup = 2"), "the regex has 1 groups"),
        (rule("a", "entropy = 'high'"), "rule 'r'"),
        (rule("a", "[rules.x_mithril]\nvalidators = ['nope']"), "unknown validator 'nope'"),
        (rule("a", "[rules.x_mithril]\nextend = 'nope'"), "unknown extend 'nope'"),
        (rule("a", "[rules.x_mithril]\nkinds = 'nope'"), "unknown key x_mithril.kinds"),
        (rule("a", "keyword = ['a']\n[rules.x_mithril]\nkind = 'k'"), "unknown key keyword"),
        (rule("a", "[[rules.allowlists]]\nregexes = ['(']"), "allow-list: bad regex"),
        ("[extend]\npath = 'pack.toml'", "more than 2 files deep"),
        ("".join(rule(name=f"r{n}") for n in range(1001)), "the limit is 1000"),
        (rule("REDACTED"), "the label [REDACTED:r] is itself redacted"),
        (rule("abc", "[rules.x_mithril]\nexamples = ['xyz']"), "example 1 is not found"),
        (rule("abc", "[rules.x_mithril]\nnon_examples = ['abc']"), "non-example 1 is redacted"),
    ],
)
def test_a_bad_file_is_refused_with_the_reason(tmp_path: Path, text: str, reason: str) -> None:
    with pytest.raises(ConfigurationError) as refused:
        load_guard([written(tmp_path, text)])
    assert reason in str(refused.value)


def test_a_missing_file_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match=r"none\.toml: cannot be read"):
        load_guard([tmp_path / "none.toml"])


def test_the_shipped_rules_pass_their_own_examples() -> None:
    assert check_examples([SHIPPED]) == ()


def test_every_shipped_rule_has_both_lists() -> None:
    assert [one.id for one in load_rules([SHIPPED]) if not (one.examples and one.non_examples)] == []


@pytest.mark.parametrize("one", load_rules([SHIPPED]), ids=lambda one: one.id)
def test_a_shipped_rule_fires_the_gate_on_its_examples(one: object) -> None:
    from mithril_proxy.secrets.rules import Rule

    assert isinstance(one, Rule)
    engine = Engine((one,))
    assert any(engine.find(text) for text in one.examples), one.id


def test_a_foreign_pack_does_not_fail_our_non_examples(tmp_path: Path) -> None:
    greedy = written(tmp_path, rule("see the wiki", name="greedy"))
    assert check_examples([SHIPPED, greedy]) == ()
