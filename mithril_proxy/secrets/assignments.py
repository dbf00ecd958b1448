"""When `name = value` gives a credential away: the name must end in a credential word, the value must look like one.

1. The name is read as words (camelCase, snake_case, kebab-case). It counts when its last word is a credential word,
   or when one stands earlier and the words after it are no attribute of one (`password_hint`, `token_url`).
2. The value must not be a placeholder, and be the stronger the weaker the syntax around it: quoted, `=`, `:`.
"""

from __future__ import annotations

import enum
import re

from mithril_proxy.secrets.placeholders import is_placeholder, is_prose


class Family(enum.Enum):
    """What kind of credential a name speaks of. Only passwords may be words that a person chose."""

    PASSWORD = enum.auto()
    TOKEN = enum.auto()


_PASSWORD_WORDS = frozenset(
    """password passwd passwort passphrase passcode pass pwd pw kennwort senha contraseña contrasena motdepasse
    пароль 密码 パスワード passw""".split()  # noqa: SIM905
)
_TOKEN_WORDS = frozenset(
    """secret secrete token apikey apitoken authtoken accesstoken accesskey secretkey privatekey credential
    credentials auth bearer jwt pat""".split()  # noqa: SIM905
)
_KEY_QUALIFIERS = frozenset(
    """api access secret private encryption encrypt decryption signing sign auth account storage master service
    license session shared sas ssh deploy app application admin webhook crypto cipher aes hmac jwt rsa
    functions host subscription consumer client integration ingest write read project bot user personal ocp""".split()  # noqa: SIM905
)
_ATTRIBUTES = frozenset(
    """name names url uri endpoint id ids identifier length len size count limit min max file filename path dir
    type kind policy hint reset expiry expires expiration expire ttl age variable var field label description
    desc format prefix suffix hash hashed digest algorithm alg issuer audience scope scopes status state
    version placeholder required enabled disabled budget usage used remaining cost price index position regex
    pattern rules rule manager store provider vault arn ref reference source env header param parameter input
    form strength history rotation dialog page link text title error message msg location server method mode
    class config settings setting options option valid check validator helper util utils factory service
    handler group user username email hours days minutes seconds ms at time timestamp date created updated
    ring chain pair pairs board words char chars codec per agent limits counts total""".split()  # noqa: SIM905
)
_PUBLIC = frozenset("public csrf xsrf pub publishable cancellation next page pagination continuation sort".split())  # noqa: SIM905
_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[^\W\dA-Za-z_]+|\d+")
_UUID = re.compile(r"[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}")
_CLASSES = (re.compile(r"[a-z]"), re.compile(r"[A-Z]"), re.compile(r"\d"), re.compile(r"[^A-Za-z0-9\s]"))
_ODD = re.compile(r"[!@#$%^&*{}\[\]<>?=+~|]")
_SIZE_OR_DATE = re.compile(
    r"v?\d+(?:[.:/_-]\d+)*(?:[a-zA-Z]{0,4}|[-_](?:days?|hours?|mins?|minutes?|chars?|characters?|bits?|bytes?|long))?"
    r"|\d{4}-\d\d-\d\d[T ].*|[A-Za-z]+-?\d{1,4}(?:-[A-Za-z]+)*|[a-z]+(?:[-/_.][a-z0-9]+)*\d?"
)


def family_of(name: str) -> tuple[Family, bool] | None:
    """The family that `name` speaks of, and whether the name ends in it; None when it speaks of none."""
    words = [] if "[REDACTED:" in name else [word.lower() for word in _WORD.findall(name)][-8:]
    if not words or not _PUBLIC.isdisjoint(words):
        return None
    for index in range(len(words) - 1, -1, -1):
        family = _family(words, index)
        if family is None:
            continue
        trailing = [word for word in words[index + 1 :] if not word.isdigit()]
        if not _ATTRIBUTES.isdisjoint(trailing):
            return None
        return family, not trailing
    return None


def _family(words: list[str], index: int) -> Family | None:
    word = words[index]
    if word in _PASSWORD_WORDS or (len(word) > 6 and word.endswith(("password", "passwd", "passphrase", "passwort"))):
        return Family.PASSWORD
    if word in _TOKEN_WORDS or (len(word) > 6 and word.endswith(("token", "secret", "apikey"))):
        return Family.TOKEN
    if word == "key" and index and words[index - 1] in _KEY_QUALIFIERS:
        return Family.TOKEN
    return None


def classes(value: str) -> int:
    """How many of lower case, upper case, digits and symbols stand in `value`."""
    return sum(bool(one.search(value)) for one in _CLASSES)


def is_uuid(value: str) -> bool:
    """True for the canonical text of a UUID."""
    return bool(_UUID.fullmatch(value))


def is_assigned_credential(name: str, value: str, between: str, before: str, after: str) -> bool:
    """True when `name` `between` `value` gives a credential away. `between` holds the operator and quotes."""
    family = family_of(name)
    if family is None or len(value) < 6 or is_placeholder(value) or is_uuid(value):
        return False
    kind, ends_in_it = family
    if between[-1:] in tuple("\"'`") and after[:1] == between[-1:]:
        return _is_quoted_credential(kind, value, between)
    if not ends_in_it:
        return False
    return _is_bare_credential(kind, name, value, between, before, after)


def is_named_credential(name: str, value: str) -> bool:
    """True when the string `value` under the JSON key `name` is a credential."""
    family = family_of(name)
    if family is None or len(value) < 6 or is_placeholder(value) or is_uuid(value):
        return False
    return _is_quoted_credential(family[0], value, '":"')


def _is_quoted_credential(kind: Family, value: str, between: str) -> bool:
    if is_prose(value):
        return kind is Family.PASSWORD and "=" in between and len(value.split()) > 3 and " is " not in value
    strong = _is_strong(value)
    if not between.strip("\"'`\\ ,"):
        return strong and " " not in value
    if kind is Family.PASSWORD:
        return (
            strong
            or value.isdigit()
            or (len(value) >= 8 and " " not in value and bool(re.search(r"[^\W_]", value)))
            or len(value.split()) >= 3
        )
    return (strong and " " not in value and not _SIZE_OR_DATE.fullmatch(value)) or _is_random_letters(value)


def _is_strong(value: str) -> bool:
    """A digit and something else, three classes of characters, or several symbols that no word or name holds."""
    if not re.search(r"[^\W_]", value):
        return False
    if classes(value) >= 3 or (re.search(r"\d", value) and classes(value) >= 2):
        return True
    return len(_ODD.findall(value)) >= 3


def _is_random_letters(value: str) -> bool:
    return len(value) >= 20 and value.isalpha() and not value.islower() and not re.search(r"[a-z]{6}", value)


def _is_bare_credential(kind: Family, name: str, value: str, between: str, before: str, after: str) -> bool:
    if _SIZE_OR_DATE.fullmatch(value):
        return kind is Family.PASSWORD and "=" in between and _is_chosen_word(name, value, between, before, after)
    if ":" in between and "=" not in between:
        return bool(re.search(r"[^\W\d_]", value)) and _is_strong(value)
    if ">" in between:
        return classes(value) >= 3
    return bool(re.search(r"[^\W_]", value)) and classes(value) >= 2


def _is_chosen_word(name: str, value: str, between: str, before: str, after: str) -> bool:
    """`DB_PASSWORD=tangerine` in a settings file, not `password = value` in code: it is all of its line."""
    if before.strip(" \t") or after[:1] not in ("", "\n", "\r"):
        return False
    if re.search(r"\d", value):
        return bool(re.search(r"[A-Za-z]", value)) or len(value) >= 6
    return name.isupper() and between == "=" and len(value) >= 8


def is_prose_password(value: str) -> bool:
    """True when no sentence would hold `value`: a digit and a letter or a symbol, and not `12-characters`."""
    if len(value) < 6 or is_placeholder(value) or is_uuid(value) or _SIZE_OR_DATE.fullmatch(value):
        return False
    return bool(re.search(r"\d", value)) and classes(value) >= 2
