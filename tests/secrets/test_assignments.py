import pytest

from mithril_proxy.secrets.assignments import Family, family_of, is_assigned_credential, is_prose_password
from mithril_proxy.secrets.placeholders import is_placeholder, is_prose

PASSWORD, TOKEN = Family.PASSWORD, Family.TOKEN


@pytest.mark.parametrize(
    ("name", "family"),
    [
        ("password", (PASSWORD, True)),
        ("DB_PASSWORD", (PASSWORD, True)),
        ("PGPASSWORD", (PASSWORD, True)),
        ("db.pass", (PASSWORD, True)),
        ("password_2", (PASSWORD, True)),
        ("apikey_myservice", (TOKEN, False)),
        ("accessToken", (TOKEN, True)),
        ("AWS_SECRET_ACCESS_KEY", (TOKEN, True)),
        ("Api-Key", (TOKEN, True)),
        ("", None),
        ("key", None),
        ("[REDACTED:aws_access_key]", None),
        ("public_key", None),
        ("publicToken", None),
        ("csrf-token", None),
        ("password_hint", None),
        ("token_url", None),
        ("credentialsId", None),
        ("max_tokens", None),
        ("authorType", None),
        ("compass", None),
        ("monkey", None),
    ],
)
def test_a_name_speaks_of_a_credential_or_not(name: str, family: tuple[Family, bool] | None) -> None:
    assert family_of(name) == family


@pytest.mark.parametrize(
    ("name", "between", "value", "after", "is_credential"),
    [
        ("password", ' = "', "tangerine", '"', True),
        ("password", ' = "', "short", '"', False),
        ("password", ' = "', "correct horse battery staple", '"', True),
        ("password", ': "', "must be at least 8 characters", '"', False),
        ("password", ': "', "........,,,,", '"', False),
        ("token", ': "', "identifier", '"', False),
        ("token", ': "', "QWERTZUIOPasdfGHJKLYXCV", '"', True),
        ("token", ': "', "a1b2c3d4e5", '"', True),
        ("token", ': "', "v1.2.3", '"', False),
        ("token", ' "', "else1 if", '"', False),
        ("password", "=", "tangerine", "\n", False),
        ("DB_PASSWORD", "=", "tangerine", "\n", True),
        ("DB_PASSWORD", "=", "tangerine", " x", False),
        ("DB_PASSWORD", "=", "short", "", False),
        ("DB_PASSWORD", "=", "tangerine42", "", True),
        ("DB_PASSWORD", "=", "12345678", "", True),
        ("DB_PASSWORD", ": ", "12345678", "", False),
        ("password", ": ", "abc123def!", "", True),
        ("password", ": ", "somewhere", "", False),
        ("password", " => ", "tangerine+", "", False),
        ("password", " => ", "Tangerine+4", "", True),
        ("password", "=", "tange{rine", "", True),
        ("api_key_service", "=", "a1b2c3d4e5", "", False),
    ],
)
def test_the_value_must_be_stronger_where_the_syntax_is_weaker(
    name: str, between: str, value: str, after: str, is_credential: bool
) -> None:
    assert is_assigned_credential(name, value, between, "", after) is is_credential


@pytest.mark.parametrize(
    ("value", "is_told"),
    [("hunter2!x", True), ("12-characters", False), ("2026-12-01", False), ("abc", False), ("SHA256", False)],
)
def test_a_sentence_tells_a_password(value: str, is_told: bool) -> None:
    assert is_prose_password(value) is is_told


@pytest.mark.parametrize(
    "value",
    [
        "<x>",
        "${A}",
        "$A",
        "%A%",
        "{{ a }}",
        "{a}",
        "[a]",
        "****",
        "xxxxxxxx",
        "abc...",
        "a.b",
        "f(x)",
        "your-key-here",
        "changeme",
        "test123",
        "https://h/p",
        "/run/secrets/x",
        "op://v/i",
        "[REDACTED:jwt]",
        "[REDACTED:jwt:7f3a]",
    ],
)
def test_what_only_stands_for_a_credential_is_a_placeholder(value: str) -> None:
    assert is_placeholder(value)


@pytest.mark.parametrize(
    "value", ["a${b}9x", "pre<9x>", "hunter2", "m{{h}o)p${e]n", "Test-9-Cats", "I1D2UJ.QLs5Gh.fR7DA"]
)
def test_the_whole_value_must_be_one(value: str) -> None:
    assert not is_placeholder(value)


@pytest.mark.parametrize(("value", "answer"), [("see the wiki", True), ("correct horse", False), ("the", False)])
def test_prose_needs_words_that_sentences_are_made_of(value: str, answer: bool) -> None:
    assert is_prose(value) is answer
