"""A Slack export: `users.json`, `channels.json`, `groups.json` …, and one folder a channel with one file a day.

One record a message. Its text is what the author said and nothing else: with `Ada: ` before it the local judge takes
the authors of two equal messages for a contradiction (measured). Who, where and when travel as metadata.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import PurePosixPath
from typing import Any

from mithril_proxy.errors import ConfigurationError
from mithril_proxy.ingest.archive import Archive, UnreadableMember
from mithril_proxy.ingest.records import BadLine, Reading, Record, Skipped, moment_of
from mithril_proxy.ingest.slack_text import message_text

_DAY = re.compile(r"\d{4}-\d{2}-\d{2}\.json")
_SAID = frozenset({"", "bot_message", "thread_broadcast", "me_message", "file_share", "file_comment"})
_PRIVATE = ("dms.json", "mpims.json")


@dataclass(frozen=True, slots=True)
class Channel:
    """One conversation; `folder` is where its days lie."""

    id: str
    name: str
    folder: str


@dataclass(frozen=True, slots=True)
class SlackExport:
    """An export that was opened. `users` and `channel_names` map ids to names."""

    archive: Archive
    users: Mapping[str, str]
    channels: tuple[Channel, ...]
    days: Mapping[str, tuple[str, ...]]
    channel_names: Mapping[str, str] = field(default_factory=dict)

    def readings(self, only: frozenset[str] = frozenset()) -> Iterator[Reading]:
        """Every message, channel by channel, oldest day first; `only` names channels, all when it is empty."""
        for channel in self.channels:
            if not only or channel.name in only:
                for day in self.days.get(channel.folder, ()):
                    yield from self._day(channel, day)

    def _day(self, channel: Channel, member: str) -> Iterator[Reading]:
        origin = f"#{channel.name} {PurePosixPath(member).name}"
        try:
            messages = _json(self.archive, member)
        except UnreadableMember as error:
            yield BadLine(origin, 0, str(error))
            return
        if not isinstance(messages, list):
            yield BadLine(origin, 0, "is no list of messages")
            return
        for number, message in enumerate(messages, start=1):
            yield self._message(channel, origin, number, message)

    def _message(self, channel: Channel, origin: str, number: int, message: Any) -> Reading:
        reason = _fault(message)
        if reason is not None:
            return BadLine(origin, number, reason)
        if message.get("type", "message") != "message" or message.get("subtype", "") not in _SAID:
            return Skipped(origin, number)
        text = message_text(message, self.users, self.channel_names)
        if not text:
            return Skipped(origin, number)
        author_id, author = self._author(message)
        return Record(
            text=text,
            origin=origin,
            line=number,
            filename=f"slack_{_slug(channel.id)}_{_slug(message['ts'])}.txt",
            claimed_at=moment_of(message["ts"]),
            channel=channel.name,
            author_id=author_id,
            metadata={"slack": _place(channel, author, message)},
        )

    def _author(self, message: Mapping[str, Any]) -> tuple[str, str]:
        """(id, name) of who said it; the profile in the message names people who left."""
        author_id = str(message.get("user") or message.get("bot_id") or "")
        profile = message.get("user_profile")
        given = _name(profile) if isinstance(profile, Mapping) else ""
        name = self.users.get(author_id) or given or str(message.get("username") or author_id or "unknown")
        return author_id, name


def open_export(archive: Archive, *, private: bool = False) -> SlackExport:
    """The export in an archive; direct messages are left out unless `private`. Raises ConfigurationError."""
    names = archive.names()
    indexes = [name for name in names if PurePosixPath(name).name == "channels.json"]
    root = min((PurePosixPath(name).parent for name in indexes), key=lambda path: len(path.parts), default=None)
    if root is None:
        raise ConfigurationError("no channels.json: this is no Slack export")
    days = _days(names, root)
    channels = _channels(archive, names, root, days, private=private)
    listed = {channel.id: channel.name for channel in channels}
    return SlackExport(archive, _users(archive, names, root), channels, days, listed)


def _days(names: tuple[str, ...], root: PurePosixPath) -> dict[str, tuple[str, ...]]:
    """The days of each folder, oldest first."""
    found: dict[str, list[str]] = {}
    for name in names:
        path = PurePosixPath(name)
        if path.parent.parent == root and path.parent != root and _DAY.fullmatch(path.name):
            found.setdefault(path.parent.name, []).append(name)
    return {folder: tuple(days) for folder, days in found.items()}


def _channels(
    archive: Archive, names: tuple[str, ...], root: PurePosixPath, days: Mapping[str, object], *, private: bool
) -> tuple[Channel, ...]:
    """Channels by name. A folder that no index names is a channel of its own, unless an index of private ones does."""
    open_ones = [
        _channel(entry) for index in ("channels.json", "groups.json") for entry in _index(archive, names, root, index)
    ]
    closed = [_channel(entry) for index in _PRIVATE for entry in _index(archive, names, root, index)]
    known = {folder for channel in (*open_ones, *closed) for folder in (channel.folder, channel.id)}
    loose = [Channel(folder, folder, folder) for folder in days if folder not in known]
    closed_here = [Channel(one.id, one.name, one.folder if one.folder in days else one.id) for one in closed]
    return tuple(sorted((*open_ones, *loose, *(closed_here if private else ())), key=lambda channel: channel.name))


def _channel(entry: Mapping[str, Any]) -> Channel:
    identifier = str(entry.get("id", ""))
    name = str(entry.get("name") or identifier)
    return Channel(identifier or name, name, name)


def _users(archive: Archive, names: tuple[str, ...], root: PurePosixPath) -> dict[str, str]:
    users = {}
    for entry in _index(archive, names, root, "users.json"):
        profile = entry.get("profile")
        name = (_name(profile) if isinstance(profile, Mapping) else "") or str(entry.get("name", ""))
        if entry.get("id") and name:
            users[str(entry["id"])] = name
    return users


def _index(archive: Archive, names: tuple[str, ...], root: PurePosixPath, name: str) -> list[Mapping[str, Any]]:
    """The objects of an index file; none when it is missing. Raises ConfigurationError when it cannot be read."""
    member = (root / name).as_posix()
    if member not in names:
        return []
    try:
        listed = _json(archive, member)
    except UnreadableMember as error:
        raise ConfigurationError(f"{member}: {error}") from None
    return [entry for entry in listed if isinstance(entry, Mapping)] if isinstance(listed, list) else []


def _json(archive: Archive, member: str) -> Any:
    """Parsed JSON. Raises UnreadableMember."""
    try:
        return json.loads(archive.read(member))
    except (ValueError, RecursionError):
        raise UnreadableMember("is not valid JSON") from None


def _fault(message: Any) -> str | None:
    """What is wrong with a message, None when it can be read."""
    if not isinstance(message, Mapping):
        return "is no object"
    if not isinstance(message.get("text", ""), str):
        return "its text is no string"
    if not isinstance(message.get("ts"), str) or moment_of(message["ts"]) is None:
        return "its ts is no time"
    if "text" not in message and message.get("subtype", "") in _SAID:
        return "has no text"
    return None


def _name(profile: Mapping[str, Any]) -> str:
    return str(profile.get("display_name") or profile.get("real_name") or "")


def _place(channel: Channel, author: str, message: Mapping[str, Any]) -> dict[str, str]:
    """Where a message stood, as it travels beside the text."""
    thread = message.get("thread_ts")
    in_thread = {"thread": str(thread)} if thread and thread != message["ts"] else {}
    return {"channel": channel.name, "author": author, "ts": message["ts"], **in_thread}


def _slug(text: str) -> str:
    return re.sub(r"[^A-Za-z0-9.-]", "-", text)[:64]
