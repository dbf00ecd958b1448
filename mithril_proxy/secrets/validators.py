"""The named tests that a rule may ask of its match, after the pattern and before the hit.

Each takes a `Candidate` and answers True when it still looks like a credential. They see at most 4,096 characters.
"""

from __future__ import annotations

import base64
import binascii
import math
import re
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass

import orjson

from mithril_proxy.secrets.assignments import (
    classes,
    is_assigned_credential,
    is_named_credential,
    is_prose_password,
)
from mithril_proxy.secrets.placeholders import is_placeholder

MAX_VALUE_CHARS = 4096


@dataclass(frozen=True, slots=True)
class Candidate:
    """What a rule matched: the value, the credential word with what precedes it, and the text between the two."""

    value: str
    key: str
    between: str
    before: str
    after: str


Validator = Callable[[Candidate], bool]


def entropy(value: str) -> float:
    """Shannon entropy in bits a character."""
    total = len(value)
    return -sum(count / total * math.log2(count / total) for count in Counter(value).values())


def jwt_header(candidate: Candidate) -> bool:
    """The first part decodes to a JSON object that names an algorithm or a type."""
    return is_jwt_header(candidate.value.split(".", 1)[0])


def is_jwt_header(part: str) -> bool:
    """True when `part` is base64url of a JOSE header."""
    try:
        header = orjson.loads(base64.urlsafe_b64decode(part + "=" * (-len(part) % 4)))
    except (binascii.Error, ValueError):
        return False
    return isinstance(header, dict) and not {"alg", "typ", "enc", "kid", "cty"}.isdisjoint(header)


def no_mask(candidate: Candidate) -> bool:
    """No run of one filler character stands where the random part should be."""
    body = re.sub(r"^[A-Za-z_-]{2,12}[-_]", "", candidate.value)
    top = Counter(body.lower()).most_common(1)[0][1] if body else 0
    fillers = sum(body.count(letter) for letter in "xX*.#•")
    repeated = sum(bool(re.fullmatch(r"(\w)\1{5,}", part)) for part in body.split("-"))
    return repeated < 2 and fillers * 2 < len(body) and top * 5 < len(body) * 3 and "..." not in candidate.after[:3]


def not_example(candidate: Candidate) -> bool:
    """Not a key that its vendor prints in documentation."""
    return "EXAMPLE" not in candidate.value.upper() and "XXXXXX" not in candidate.value


def not_placeholder(candidate: Candidate) -> bool:
    """Not a variable, mask, documentation word or code."""
    return not is_placeholder(candidate.value)


def random_run(candidate: Candidate) -> bool:
    """A digit, and 16 characters in a row without a dash: `sk-learn-contrib-…` has neither."""
    body = candidate.value.split("-", 1)[-1]
    return any(map(str.isdigit, body)) and any(len(run) >= 16 for run in body.split("-"))


def has_digit(candidate: Candidate) -> bool:
    """At least one digit."""
    return any(map(str.isdigit, candidate.value))


def has_letter(candidate: Candidate) -> bool:
    """At least one letter: `1000:1000` is a user and a group."""
    return any(map(str.isalpha, candidate.value))


def bearer_value(candidate: Candidate) -> bool:
    """A digit in it, or 32 characters of high entropy: `bearer of bad news` has neither."""
    value = candidate.value
    if value[0] in "{<$[%(" or is_placeholder(value):
        return False
    if re.fullmatch(r"[a-z]+(?:[-_.][a-z]+)*\d{0,2}", value):
        return False
    return any(map(str.isdigit, value)) or (len(value) >= 32 and entropy(value) >= 3.5)


def basic_pair(candidate: Candidate) -> bool:
    """Base64 of `user:password`."""
    try:
        decoded = base64.b64decode(candidate.value + "=" * (-len(candidate.value) % 4))
    except (binascii.Error, ValueError):
        return False
    return b":" in decoded or (any(map(str.isdigit, candidate.value)) and len(candidate.value) >= 24)


_GENERIC_PASSWORDS = frozenset({"password", "pass", "passwd", "pwd", "secret", "pw", "yourpassword", "mypassword"})
_LOCAL_HOST = re.compile(r"@(?:localhost|127\.0\.0\.1|\[?::1\]?|host|hostname|server|db_?host)(?:[:/\s\"']|$)", re.I)


def uri_password(candidate: Candidate) -> bool:
    """A password before the host: no variable, no port, not the word `password` before localhost."""
    value = candidate.value
    if re.fullmatch(r"\d{1,5}[/?#].*", value, re.S):
        return False
    if value.lower() in _GENERIC_PASSWORDS:
        return not _LOCAL_HOST.match(candidate.after)
    if value == candidate.key and _LOCAL_HOST.match(candidate.after):
        return False
    return not is_uri_placeholder(value)


def is_uri_placeholder(value: str) -> bool:
    """True for `${PW}`, `{pw}`, `<pw>`, `$PW`, `***`, `[REDACTED:…]`, `your-password`."""
    if re.fullmatch(r"[$%{<\[(@].*[}>\])%@]|\$\w+|[*xX.•]+|%[sdv]|:\w+", value):
        return True
    return bool(
        re.fullmatch(
            r"(?i)(?:your|my|the|db|some)[-_]?(?:db[-_]?)?pass(?:word|wd)?|pass(?:word)?here|changeme|redacted|replace.*",
            value,
        )
    )


def assigned(candidate: Candidate) -> bool:
    """A credential-like name is given a credential-like value."""
    return is_assigned_credential(candidate.key, candidate.value, candidate.between, candidate.before, candidate.after)


def compared(candidate: Candidate) -> bool:
    """A constant that code compares with a credential."""
    return len(candidate.value) >= 6 and not is_placeholder(candidate.value) and classes(candidate.value) >= 2


def sibling_value(candidate: Candidate) -> bool:
    """The value beside or inside a field with a credential-like name."""
    return is_named_credential(_word(candidate.key), candidate.value)


def option_value(candidate: Candidate) -> bool:
    """The argument of a command-line option: no other option, no word of a sentence."""
    value = candidate.value
    return not value.startswith("-") and (has_digit(candidate) or classes(value) >= 3) and sibling_value(candidate)


def block_value(candidate: Candidate) -> bool:
    """The next line of a YAML name, deeper than the name itself."""
    lead = len(candidate.before) - len(candidate.before.lstrip(" -"))
    deeper = len(candidate.between.rpartition("\n")[2].rstrip("\"'")) > lead
    return deeper and not candidate.value.endswith(":") and sibling_value(candidate)


def _word(key: str) -> str:
    return key.strip("\"' \t")


def prose_password(candidate: Candidate) -> bool:
    """A sentence tells a password: `the password is …` with a value that no sentence would hold."""
    return is_prose_password(candidate.value)


VALIDATORS: Mapping[str, Validator] = {
    function.__name__: function
    for function in (
        jwt_header,
        no_mask,
        not_example,
        not_placeholder,
        random_run,
        has_digit,
        has_letter,
        bearer_value,
        basic_pair,
        uri_password,
        assigned,
        compared,
        sibling_value,
        option_value,
        block_value,
        prose_password,
    )
}
