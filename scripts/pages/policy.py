"""docs/policy.md, from policies/default.toml: every key, its default, its range and its reason.

The reasons are the comments of that file, which a TOML parser drops, so its lines are read here.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from mithril_proxy.policy import Policy, policies_folder
from scripts.pages.tables import code, table

HEAD = """\
# The policy

Made by `scripts/docs` from `policies/default.toml`. A policy is one TOML file; a key that it leaves out keeps the default
below, so a policy of your own may be two lines long. Relative paths in it start at its own folder, then at the policies
shipped with Mithril. An unknown key, a wrong type or a number out of range stops the start.

```sh
mithril policy check my-policy.toml          # validates it and runs every rule's examples
mithril serve --policy my-policy.toml        # or MITHRIL_POLICY; `kill -HUP` loads it again
```

`strict.toml` and `observe.toml` are shipped beside it. The digest of the whole policy, rule files and prompts included,
stands in every decision.
"""
PRINCIPALS = """\
## `[[principals]]`

None by default. A source that is known by a credential of its own, for clients that keep their Cognee key.
"""

ARRAY = "caps"  # the one array of tables with defaults

_SECTION = re.compile(r"\[\[?([\w.]+)\]\]?\s*(?:#\s*(.*))?")
_KEY = re.compile(r"([\w-]+)\s*=\s*(.*)")
_COMMENT = re.compile(r"""((?:[^"'#]|"[^"]*"|'[^']*')*)#\s*(.*)""")


@dataclass(slots=True)
class Section:
    """One table of the file: its name, the comment beside it, and its keys with value and reason."""

    name: str
    note: str = ""
    keys: list[tuple[str, str, str]] = field(default_factory=list)


def policy_page() -> str:
    """Markdown with every key of the default policy."""
    lines = (policies_folder() / "default.toml").read_text(encoding="utf-8").splitlines()
    sections = _joined(read_sections(lines))
    parts = [HEAD]
    for section in sections:
        parts += [_heading(section), *_rows(section), ""]
    rows = [(code(name), _allowed(each)) for name, each in _schema("principals").items()]
    return "\n".join([*parts, PRINCIPALS, *table(("key", "allowed"), rows), ""])


def read_sections(lines: list[str]) -> Iterator[Section]:
    """The tables of a TOML file with one key a line, the keys above the first table under the name ``."""
    section = Section("")
    for line in lines:
        if found := _SECTION.fullmatch(line.strip()):
            yield section
            section = Section(found[1], found[2] or "")
        elif found := _KEY.fullmatch(line.strip()):
            value, reason = _split(found[2])
            section.keys.append((found[1], value, reason))
    yield section


def _split(text: str) -> tuple[str, str]:
    """Value and comment of what stands behind the equals sign."""
    found = _COMMENT.fullmatch(text)
    return (found[1].strip(), found[2]) if found else (text.strip(), "")


def _joined(sections: Iterator[Section]) -> list[Section]:
    """The sections, with those of one array of tables made one."""
    joined: dict[str, Section] = {}
    for section in sections:
        first = joined.setdefault(section.name, section)
        if first is not section:
            first.keys += section.keys
            first.note = first.note or section.note
    return list(joined.values())


def _heading(section: Section) -> str:
    if not section.name:
        return "## Top level\n"
    title = f"[[{section.name}]]" if section.name == ARRAY else f"[{section.name}]"
    return f"## `{title}`\n" + (f"\n{section.note[:1].upper()}{section.note[1:]}.\n" if section.note else "")


def _rows(section: Section) -> list[str]:
    if section.name == ARRAY:
        return _caps(section)
    schema = _schema(section.name)
    rows = [(code(key), code(value), _allowed(schema.get(key, {})), reason) for key, value, reason in section.keys]
    return table(("key", "default", "allowed", "why"), rows) if rows else ["Empty by default."]


def _caps(section: Section) -> list[str]:
    """One row a cap, and what each of its keys may be."""
    caps: list[dict[str, str]] = []
    for key, value, reason in section.keys:
        if key == "when":
            caps.append({})
        caps[-1] |= {key: value, "why": caps[-1].get("why") or reason}
    rows = [
        (code(cap["when"]), code(cap.get("rule") or cap.get("threshold", "")), code(cap["at_best"]), cap["why"])
        for cap in caps
    ]
    allowed = [f"- `{key}`: {_allowed(schema)}" for key, schema in _schema(section.name).items()]
    return [*table(("when", "rule or threshold", "at_best", "why"), rows), "", *allowed]


def _schema(name: str) -> dict[str, Any]:
    """The JSON schema of each key of a table; empty for a table whose keys are free."""
    whole = Policy.model_json_schema()
    node: dict[str, Any] = whole
    for part in name.split(".") if name else ():
        node = _resolved(whole, node.get("properties", {}).get(part, {}))
    return {key: _resolved(whole, each) for key, each in node.get("properties", {}).items()}


def _resolved(whole: dict[str, Any], node: dict[str, Any]) -> dict[str, Any]:
    node = node.get("items", node) if "$ref" in node.get("items", {}) else node
    reference = node.get("$ref", "").rpartition("/")[2]
    return whole["$defs"][reference] if reference else node


def _allowed(schema: dict[str, Any]) -> str:
    """The values that a key may have, in a few words."""
    if "anyOf" in schema:
        schema = schema["anyOf"][0]
    if "enum" in schema:
        return ", ".join(code(str(value)) for value in schema["enum"])
    if schema.get("type") == "array":
        return "list"
    if schema.get("type") in ("integer", "number"):
        return _range(schema)
    return {"boolean": "`true`, `false`", "string": "text"}.get(str(schema.get("type")), "")


def _range(schema: dict[str, Any]) -> str:
    low, high = schema.get("minimum"), schema.get("maximum")
    if low is not None and high is not None:
        return f"{low:g} to {high:g}"
    if "exclusiveMinimum" in schema:
        above = f"above {schema['exclusiveMinimum']:g}"
        return f"{above}, to {high:g}" if high is not None else above
    return f"{low:,} or more" if isinstance(low, int) else f"{low:g} or more" if low is not None else "number"
