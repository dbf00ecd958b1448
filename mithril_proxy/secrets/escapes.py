r"""The views without escapes: percent `%41`, JSON and Python `\u0041`, `\x41`, `\n`, HTML `&quot;`, folded lines."""

from __future__ import annotations

import html
import re

import re2

from mithril_proxy.secrets.views import Decoded, View, replaced

_ESCAPES = (
    r"(?:\\u[0-9A-Fa-f]{4})+|(?:\\x[0-9A-Fa-f]{2})+|(?:\\[nrt\"'/\\])+|(?:\\\r?\n[ \t]*)+|(?:=\r?\n)+"
    r"|(?:=[0-9A-F]{2})+|&(?:#[0-9]{1,7}|#[xX][0-9A-Fa-f]{1,6}|quot|apos|amp|lt|gt|colon|equals|commat|sol|period);"
)
_PERCENT_RUN = re.compile(r"((?:%[0-9A-Fa-f]{2})+)")
_ESCAPE_RUN = re.compile(f"({_ESCAPES})")
_ESCAPE_GATE = re2.compile(_ESCAPES.encode())
_SIMPLE = {"n": "\n", "r": "\r", "t": "\t"}


def percent(text: str) -> View | None:
    """Percent escapes decoded, one level."""
    return replaced(text, _PERCENT_RUN, _unpercent) if "%" in text else None


def escapes(text: str) -> View | None:
    r"""JSON, Python and HTML escapes decoded and folded lines joined, one level."""
    if not ("\\" in text or "&" in text or "=" in text):
        return None
    if not _ESCAPE_GATE.search(text.encode("utf-8", "surrogatepass")):
        return None
    return replaced(text, _ESCAPE_RUN, _unescape)


def _uniform(decoded: str, run: str, width: int) -> Decoded:
    return decoded, width if len(decoded) * width == len(run) else 0


def _from_hex(run: str, mark: str, width: int) -> Decoded | None:
    """The text of `%41%42` and the like; None when the bytes are no UTF-8, as in the variable `%DB_PASSWORD%`."""
    try:
        return _uniform(bytes.fromhex(run.replace(mark, "")).decode(), run, width)
    except UnicodeDecodeError:
        return None


def _unpercent(run: str) -> Decoded | None:
    return _from_hex(run, "%", 3)


def _unescape(run: str) -> Decoded | None:
    if run[:2] == "\\u":
        units = bytes.fromhex(run.replace("\\u", "")).decode("utf-16-be", "replace")
        return _uniform(units, run, 6)
    if run[:2] == "\\x":
        return _from_hex(run, "\\x", 4)
    if run[0] == "&":
        return html.unescape(run), 0
    if run[-1] in " \t\n":
        return "", 0
    if run[0] == "=":
        return _from_hex(run, "=", 3)
    return "".join(_SIMPLE.get(letter, letter) for letter in run[1::2]), 2
