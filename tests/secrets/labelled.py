"""Labelled strings of other projects, read from a folder at run time."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Labelled:
    """One string, and whether its project calls it a credential."""

    kind: str
    is_credential: bool
    text: str


def read_labelled(folder: Path) -> list[Labelled]:
    """The rows of the eleven kinds; those that no project is sure about are left out."""
    rows = []
    for path in sorted(folder.rglob("*.tsv")):
        for line in path.read_text(encoding="utf-8").split("\n")[1:]:
            cells = line.split("\t")
            if len(cells) >= 3 and cells[1] in ("0", "1") and not cells[0].startswith("other"):
                rows.append(Labelled(cells[0], cells[1] == "1", _unescaped(cells[2])))
    return rows


def shares(rows: list[Labelled], finds: Callable[[str], bool]) -> tuple[float, float]:
    """The share of credentials that were found, and of the others that were taken for one."""
    found = [finds(row.text) for row in rows if row.is_credential]
    alarms = [finds(row.text) for row in rows if not row.is_credential]
    return sum(found) / len(found), sum(alarms) / len(alarms)


def _unescaped(text: str) -> str:
    return re.sub(r"\\(.)", lambda match: {"n": "\n", "t": "\t", "r": "\r"}.get(match[1], match[1]), text)
