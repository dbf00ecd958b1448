import json

import pytest

from mithril_proxy.errors import ConfigurationError
from mithril_proxy.secrets import SecretGuard
from tests.secrets import fakes as f

LABEL = "[REDACTED:assignment]"


@pytest.mark.parametrize(
    ("value", "redacted", "paths"),
    [
        ({"password": f.PASSWORD}, {"password": LABEL}, ["password"]),
        ({"a": {"dbPassword": f.PASSWORD, "n": 1}}, {"a": {"dbPassword": LABEL, "n": 1}}, ["a.dbPassword"]),
        ({"passwords": {"password": ["x", f.PASSWORD]}}, {"passwords": {"password": ["x", LABEL]}}, None),
        ([{"name": "DB_PASSWORD", "value": "x9Kq2LpV7m"}], [{"name": "DB_PASSWORD", "value": LABEL}], ["[0].value"]),
        ({"Key": "api_token", "Value": "x9Kq2LpV7m"}, {"Key": "api_token", "Value": LABEL}, ["Value"]),
        ({"note": f"see {f.GITHUB}"}, {"note": "see [REDACTED:github_token]"}, ["note"]),
        ({f.GITHUB: 1}, {"[REDACTED:github_token]": 1}, None),
        ({"a": json.dumps({"token": "x9Kq2LpV7m"})}, {"a": json.dumps({"token": LABEL})}, ["a.token"]),
        (
            {"id": f.AWS, "other": f.AWS_SECRET, "sha": "a" * 40},
            {"id": "[REDACTED:aws_access_key]", "other": "[REDACTED:aws_access_key]", "sha": "a" * 40},
            ["id", "other"],
        ),
        (f.DB_URI, "postgres://app:[REDACTED:db_uri]@db.internal:5432/memories", [""]),
    ],
)
def test_a_value_is_judged_with_its_key_and_its_siblings(
    guard: SecretGuard, value: object, redacted: object, paths: list[str] | None
) -> None:
    result = guard.redact_value(value)
    assert result.value == redacted
    assert paths is None or [found.path for found in result.hits] == paths


@pytest.mark.parametrize(
    "value",
    [
        {"password": 12345678, "token": None, "secret": True, "auth": {}},
        {"id": "123e4567-e89b-12d3-a456-426614174000", "dataset_id": "6fe4476ee5a1832882e326b506d14126"},
        {"token": "123e4567-e89b-12d3-a456-426614174000"},
        {"password": "", "secret": "${VAULT}", "api_key": "<your key>"},
        {"name": "color", "value": "x9Kq2LpV7m"},
        {"name": 7, "value": "x9Kq2LpV7m"},
        {"name": "x" * 200, "value": "x9Kq2LpV7m"},
        {"text": '{"a": [1, 2.50, 1e3], "b": null}', "broken": '{"a": '},
        ["BEGIN of the story", 1, "the end"],
        [],
        3.5,
    ],
)
def test_what_holds_no_credential_comes_back_as_the_same_object(guard: SecretGuard, value: object) -> None:
    result = guard.redact_value(value)
    assert result.value is value
    assert result.hits == ()


def test_a_key_as_a_list_of_lines_is_gone_line_by_line(guard: SecretGuard) -> None:
    value = {"lines": ["before", *f.PEM.splitlines(), "after"], "n": 1}
    result = guard.redact_value(value)
    assert isinstance(result.value, dict)
    assert result.value["lines"] == ["before", *["[REDACTED:private_key]"] * 4, "after"]


def test_json_in_a_string_is_walked_three_deep_and_then_read_as_text(guard: SecretGuard) -> None:
    packed: object = {"password": f.PASSWORD}
    for _ in range(5):
        packed = {"body": json.dumps(packed)}
    assert f.PASSWORD not in json.dumps(guard.redact_value(packed).value)


def test_nesting_beyond_the_limit_is_replaced_not_passed_on(guard: SecretGuard) -> None:
    value: object = f.GITHUB
    for _ in range(200):
        value = [value]
    result = guard.redact_value(value)
    assert f.GITHUB not in json.dumps(result.value)
    assert result.hits[0].hit.rule == "redact.too-deep"


def test_two_keys_that_become_equal_stay_two(guard: SecretGuard) -> None:
    other = f.GITHUB[::-1].replace("_phg", "")
    value = {f.GITHUB: 1, "ghp" + "_" + other: 2}
    result = guard.redact_value(value).value
    assert isinstance(result, dict)
    assert sorted(result.values()) == [1, 2]


def test_the_path_of_the_caller_begins_every_path(guard: SecretGuard) -> None:
    result = guard.redact_value({"password": f.PASSWORD, "a b": f.GITHUB}, "body")
    assert [found.path for found in result.hits] == ["body.password", "body[*]"]


def test_without_the_assignment_rule_keys_mean_nothing(tmp_path_factory: pytest.TempPathFactory) -> None:
    from mithril_proxy.secrets import load_guard

    pack = tmp_path_factory.mktemp("pack") / "one.toml"
    pack.write_text("[[rules]]\nid = 'x'\nregex = 'zzz'\n", encoding="utf-8")
    value = {"password": f.PASSWORD}
    assert load_guard([pack]).redact_value(value).value is value
    with pytest.raises(ConfigurationError):
        load_guard([])
