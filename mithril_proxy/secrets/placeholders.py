"""Values that stand for a credential but are none: variables, masks, words of documentation, code that fetches one.

Every test is of the WHOLE value: a real password may hold `${` or the word test.
"""

from __future__ import annotations

import re

_VARIABLE = re.compile(
    r"""<[^<>]*>|\$\{[^{}]*\}|\$\(.*|\$[A-Za-z_]\w*|\$env:\w+|%\w+%|%\([\w.]+\)[sd]?|%[sdv]|\{\{.*\}\}|\{%.*%\}|\{[^{}]*\}|<%.*%>|\#\{.*\}
    |\[[^\[\]]*\]|\(.*\)|@[\w.]+@|__[A-Z_]+__|![A-Za-z]+.*|&[a-z]+;|\[REDACTED[:\w-]*\]?""",
    re.X | re.S,
)
_MASK = re.compile(r"[*xX.•●#_\-=0?…+~]+|.{0,12}(?:\*{3,}|x{6,}|X{6,}|•{2,}|\.{3}|…).{0,8}")
_CODE = re.compile(
    r"""[A-Za-z_$][\w$]*(?:(?:\.|::|->|\?\.)[A-Za-z_$][\w$]*)*[(\[].*      # call(…) or index[…]
    |(?!(?:\D*\d){2})[A-Za-z_$][\w$]*(?:(?:\.|::|->|\?\.)[A-Za-z_$][\w$]*)+[;,)]*  # settings.password, no random dots
    |(?:new|await|return|lambda|typeof|process|os|env|secrets?|vars?|local|data|var|module|self|this|config|settings)[.\[(].*
    |(?:op|vault|ssm|arn|file|secretsmanager|keyvault|https?|env|ref|awskms|sops|azurekeyvault|projects)(?::|/).*
    |[a-z][a-z0-9+.-]*://.*|[A-Z]\w*<.*>[,;]?
    |@Microsoft\.KeyVault.*|/(?:run|etc|var|home|usr|tmp|opt|mnt|secrets?)/.*|~/.*|\.{1,2}/.*""",
    re.X | re.S,
)
_WORDS = re.compile(r"[A-Za-z][a-z]+|[A-Z]+(?![a-z])|[a-z]+")
_EMPTY_WORDS = frozenset(
    """a an any api app access admin abc account add auth authorization be bearer change changeme client code
    complex credential credentials database db default demo dev dummy empty encrypted enter env example fake
    false foo bar baz from generated get here hidden if in insert is it key keys local long masked me missing
    mock my na name new nil no none not null of omitted on optional or our pass passwd password passwords
    paste personal phrase placeholder please private production provided pw pwd qux random real redacted
    removed replace required root sample secret secrets secure server service set some something stored string
    str strong super test testing text the this to todo token tokens tbd true undefined unknown unset update
    use used user username value var variable vault very your yours x xx xxx xxxx y yes z""".split()  # noqa: SIM905
)
_TELLTALE = re.compile(
    r"x{8,}|X{8,}|(?i:example|dummy|placeholder|changeme|change[-_]?me|your[-_]|[-_]here\b|fake"
    r"|replace[-_]?(?:me|with)|redacted|insert[-_]|<[a-z _-]+>)"
)
_PROSE = frozenset(
    """a an and any are as at be before but by can cannot check contains does enter expired field for forgot has
    have if in incorrect invalid is it least may missing must need needs not of or please required reset see
    should than that the then these they this to too use was we were when which will with you your""".split()  # noqa: SIM905
)


def is_placeholder(value: str) -> bool:
    """True when `value` as a whole names, masks or fetches a credential instead of being one."""
    if _VARIABLE.fullmatch(value) or is_mask(value) or _CODE.fullmatch(value):
        return True
    return is_wordy(value) or bool(_TELLTALE.search(value))


def is_mask(value: str) -> bool:
    """True for `****`, `xxxx`, `abc…` and the like."""
    return bool(_MASK.fullmatch(value))


def is_wordy(value: str) -> bool:
    """True when `value` is made of documentation words only: `your-secret-token`, `changeme`, `test123`."""
    words = [word.lower() for word in _WORDS.findall(value)]
    rest = re.sub(r"[A-Za-z\s_.,:'-]+", "", value)
    return bool(words) and all(word in _EMPTY_WORDS for word in words) and rest in ("", "1", "12", "123", "!")


def is_prose(value: str) -> bool:
    """True when `value` reads as a sentence: spaces between words of which one is a function word."""
    words = value.lower().split()
    return len(words) > 1 and any(word.strip(".,;:!?") in _PROSE for word in words)
