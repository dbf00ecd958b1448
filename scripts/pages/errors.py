"""docs/errors.md: every error code in the source, with its HTTP status and what to do about it.

Codes are found by reading the source: `code="…"` of a raised error, `code = "…"` of an error's class, a status followed by
a code (`503, "draining"`), and `{"error": "…"}` of an answer. A code without advice below stops the making of the page.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

import mithril_proxy
from mithril_proxy import errors
from scripts.pages.advice import ADVICE, MADE_UP
from scripts.pages.tables import code, table

PACKAGE = Path(mithril_proxy.__file__).parent
ADMIN = ("admin", "mcp")
ELSEWHERE = ("demo", "ingest", "client", "cli")  # they answer nobody over HTTP, or are not the proxy
_CODE = re.compile(r"[a-z]+(_[a-z]+)+|unauthorised|forbidden|draining|refused|error")

HEAD = """\
# Error codes

Made by `scripts/docs` from the source. An error that is Mithril's own is `{"error": "<code>", "detail": "<what was wrong and
what to do>"}`; the codes are stable, the details are for people. What Cognee itself answers passes through in Cognee's own
shapes. A refused call stands in the audit under its code (`mithril audit tail`) and is counted in
`mithril_refusals_total` ([metrics.md](metrics.md)). 503 carries `Retry-After`.
"""
DIVERTED = """\
A write that was held is no error: 202 with `{"status": "review" | "quarantined", "decision_id", "quarantine_id", "score",
"reasons", …}`. A rejected one is 403 with the same keys and `error` beside them; the policy may change these statuses
([policy.md](policy.md), `[responses]`).
"""


@dataclass(frozen=True, slots=True)
class Coded:
    """One place in the source that answers with a code. `status` is 0 where the code alone stands there."""

    plane: str
    code: str
    status: int


def errors_page() -> str:
    """Markdown with every code of the data plane and of the admin plane. Raises KeyError for one without advice."""
    found = {*find_codes(), *MADE_UP_CODES}
    parts = [HEAD]
    for plane, note in (("Data plane", DIVERTED), ("Admin plane", "")):
        parts += [f"## {plane}", "", *([note] if note else []), *_table(plane, found), ""]
    return "\n".join(parts)


def _table(plane: str, found: set[Coded]) -> list[str]:
    names = sorted({each.code for each in found if each.plane == plane})
    rows = [(code(name), _statuses(found, plane, name), ADVICE[name]) for name in names]
    return table(("code", "status", "what to do"), rows)


def _statuses(found: set[Coded], plane: str, name: str) -> str:
    here = {each.status for each in found if (each.plane, each.code) == (plane, name) and each.status}
    return ", ".join(str(status) for status in sorted(here))


def find_codes(package: Path = PACKAGE) -> Iterator[Coded]:
    """Every code in the source of a package."""
    for path in sorted(package.rglob("*.py")):
        part = path.relative_to(package).parts[0]
        if part in ELSEWHERE:
            continue
        plane = "Admin plane" if part in ADMIN else "Data plane"
        for name, status in _codes(ast.parse(path.read_text(encoding="utf-8"))):
            yield Coded(plane, name, status)


def _codes(tree: ast.Module) -> Iterator[tuple[str, int]]:
    for node in ast.walk(tree):
        match node:
            case ast.Call():
                yield from _of_call(node)
                yield from _of_pairs(node.args)
            case ast.Tuple():
                yield from _of_pairs(node.elts)
            case ast.ClassDef():
                yield from _of_class(node)


def _of_call(call: ast.Call) -> Iterator[tuple[str, int]]:
    """`Refused("…", code="…")`, and `answer_json({"error": "…"}, 401)`."""
    for keyword in call.keywords:
        if keyword.arg == "code" and (name := _text(keyword.value)):
            raised = call.func.id if isinstance(call.func, ast.Name) else ""
            yield name, int(getattr(getattr(errors, raised, None), "status", 0))
    for value in (*call.args, *(keyword.value for keyword in call.keywords)):
        if isinstance(value, ast.Dict) and (name := _error_of(value)):
            yield name, next(_statuses_in(call), 0)


def _error_of(node: ast.Dict) -> str:
    pairs = zip(node.keys, node.values, strict=True)
    return next((_text(value) for key, value in pairs if isinstance(key, ast.Constant) and key.value == "error"), "")


def _statuses_in(call: ast.Call) -> Iterator[int]:
    for value in (*call.args, *(keyword.value for keyword in call.keywords)):
        if isinstance(value, ast.Constant) and isinstance(value.value, int) and 400 <= value.value < 600:
            yield value.value


def _of_pairs(values: list[ast.expr]) -> Iterator[tuple[str, int]]:
    """A status with a code behind it."""
    for first, second in pairwise(values):
        status = first.value if isinstance(first, ast.Constant) else None
        if isinstance(status, int) and 400 <= status < 600 and (name := _text(second)):
            yield name, status


def _of_class(node: ast.ClassDef) -> Iterator[tuple[str, int]]:
    """`code` and `status` of an error's class."""
    values = {
        target.id: each.value
        for each in node.body
        if isinstance(each, ast.Assign)
        for target in each.targets
        if isinstance(target, ast.Name)
    }
    if "code" in values and (name := _text(values["code"])):
        status = values.get("status")
        yield name, status.value if isinstance(status, ast.Constant) and isinstance(status.value, int) else 0


def _text(node: ast.expr) -> str:
    """The code that an expression is; empty when it is none."""
    value = node.value if isinstance(node, ast.Constant) else None
    return value if isinstance(value, str) and _CODE.fullmatch(value) else ""


MADE_UP_CODES = tuple(Coded(*each) for each in MADE_UP)
