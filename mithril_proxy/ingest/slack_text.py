"""Slack's markup as plain text: mentions by name, links with their label, entities as characters. Pure."""

from __future__ import annotations

import html
import re
from collections.abc import Mapping
from typing import Any

_ANGLE = re.compile(r"<([^<>]*)>")


def plain_text(text: str, users: Mapping[str, str], channels: Mapping[str, str]) -> str:
    """`text` as a person reads it in Slack."""
    return html.unescape(_ANGLE.sub(lambda found: _spoken(found[1], users, channels), text)).strip()


def message_text(message: Mapping[str, Any], users: Mapping[str, str], channels: Mapping[str, str]) -> str:
    """All that a message says: its text, what is quoted below it, and the names of its files."""
    parts = [message["text"], *_attached(message.get("attachments"))]
    said = [plain_text(part, users, channels) for part in parts]
    said += [f"[file: {name}]" for name in _files(message.get("files"))]
    return "\n".join(dict.fromkeys(part for part in said if part))


def _spoken(inner: str, users: Mapping[str, str], channels: Mapping[str, str]) -> str:
    target, _, label = inner.partition("|")
    if target.startswith("@"):
        return "@" + (users.get(target[1:]) or label or target[1:])
    if target.startswith("#"):
        return "#" + (channels.get(target[1:]) or label or target[1:])
    if target.startswith("!"):
        return label or "@" + target[1:].split("^")[0]
    address = target.removeprefix("mailto:")
    return f"{label} ({address})" if label and label != address else address


def _attached(attachments: object) -> list[str]:
    """The texts below a message; a fallback only where there is nothing else."""
    found: list[str] = []
    for attachment in attachments if isinstance(attachments, list) else ():
        if isinstance(attachment, Mapping):
            texts = [attachment.get(name) for name in ("pretext", "title", "text")]
            spoken = [text for text in texts if isinstance(text, str) and text]
            fallback = attachment.get("fallback")
            found += spoken or ([fallback] if isinstance(fallback, str) else [])
    return found


def _files(files: object) -> list[str]:
    listed = [file for file in files if isinstance(file, Mapping)] if isinstance(files, list) else []
    names = [file.get("title") or file.get("name") for file in listed]
    return [name for name in names if isinstance(name, str) and name]
