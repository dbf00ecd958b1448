"""Slack exports built for tests: as many messages as a test wants, none like another."""

from __future__ import annotations

import json
import random
import zipfile
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

START = datetime(2026, 11, 2, 8, 0, tzinfo=UTC)
USERS = {"U01ADA": "Ada", "U02BOB": "Bob", "U03EVE": "Eve"}
CHANNELS = ("announcements", "general", "random", "releases")
SUBJECTS = ("harbour", "granary", "foundry", "orchard", "quarry", "tannery", "bakery", "library", "dairy", "mill")
VERBS = ("ordered", "painted", "measured", "cleaned", "counted", "shipped", "mended", "stored", "sold", "labelled")
THINGS = ("barrels", "windows", "ledgers", "crates", "lamps", "ropes", "shelves", "tiles", "carts", "bells")


def message(at: datetime, text: str, user: str = "U01ADA", **more: Any) -> dict[str, Any]:
    return {"type": "message", "user": user, "text": text, "ts": f"{at.timestamp():.6f}", **more}


def conversation(count: int, seed: int = 7) -> dict[str, list[dict[str, Any]]]:
    """`count` messages over the channels, by day file: plain facts about many subjects."""
    chance = random.Random(seed)
    files: dict[str, list[dict[str, Any]]] = {}
    for number in range(count):
        channel = CHANNELS[number % len(CHANNELS)]
        at = START + timedelta(minutes=number * 3)
        name = f"{chance.choice(SUBJECTS)}{number}"
        text = f"The {name} {chance.choice(VERBS)} its {chance.choice(THINGS)} near <#C{channel[:3]}|{channel}>"
        user = chance.choice(tuple(USERS))
        more = {"thread_ts": f"{(at - timedelta(minutes=1)).timestamp():.6f}"} if number % 7 == 0 else {}
        files.setdefault(f"{channel}/{at:%Y-%m-%d}.json", []).append(message(at, text, user, **more))
    return files


def export_files(days: Mapping[str, object]) -> dict[str, object]:
    """All files of an export."""
    users = [{"id": key, "name": name.lower(), "profile": {"display_name": name}} for key, name in USERS.items()]
    channels = [{"id": f"C{name[:3]}", "name": name} for name in CHANNELS]
    return {"users.json": users, "channels.json": channels, **days}


def write_folder(folder: Path, files: Mapping[str, object]) -> Path:
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content if isinstance(content, bytes) else json.dumps(content).encode())
    return folder


def write_zip(path: Path, files: Mapping[str, object], *, below: str = "") -> Path:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            archive.writestr(below + name, content if isinstance(content, bytes) else json.dumps(content))
    return path


def lines(*values: object) -> bytes:
    return b"".join((value if isinstance(value, bytes) else json.dumps(value).encode()) + b"\n" for value in values)


def texts(messages: Iterable[Mapping[str, Any]]) -> list[str]:
    return [str(one["text"]) for one in messages]
