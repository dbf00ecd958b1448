"""An export as a folder or a zip, read within bounds and never unpacked.

1. Nothing is written: a member's name is only a name, so `../../etc/passwd` leads nowhere; it is refused all the same.
2. A member is read up to a limit that counts what comes out, whatever its header says; so is the sum of all.
3. In a folder, symbolic links are not followed.
"""

from __future__ import annotations

import os
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Protocol

from mithril_proxy.errors import ConfigurationError

MAX_MEMBERS = 500_000  # ten years of two hundred channels, one file a day, are 730,000; a usual export has thousands
MAX_MEMBER_BYTES = 64 * 1024 * 1024
MAX_TOTAL_BYTES = 8 * 1024 * 1024 * 1024
_SYMLINK_MODE = 0o120000


class UnreadableMember(Exception):
    """A member that cannot be read. The message says why."""


class Archive(Protocol):
    """Named members, with `/` between folders."""

    def names(self) -> tuple[str, ...]:
        """Every member's name, sorted."""
        ...

    def read(self, name: str) -> bytes:
        """One member. Raises UnreadableMember when it is too long or damaged."""
        ...


@dataclass(slots=True)
class Folder:
    """A folder on disk."""

    path: Path

    def names(self) -> tuple[str, ...]:
        """Every regular file below the folder."""
        return tuple(sorted(self._walk()))

    def read(self, name: str) -> bytes:
        """One file. Raises UnreadableMember."""
        try:
            with (self.path / name).open("rb") as file:
                content = file.read(MAX_MEMBER_BYTES + 1)
        except OSError as error:
            raise UnreadableMember(f"cannot be read ({error.strerror})") from None
        if len(content) > MAX_MEMBER_BYTES:
            raise UnreadableMember(f"is longer than {MAX_MEMBER_BYTES} bytes")
        return content

    def _walk(self) -> Iterator[str]:
        for folder, folders, files in os.walk(self.path, followlinks=False):
            folders[:] = sorted(name for name in folders if not (Path(folder) / name).is_symlink())
            for name in files:
                path = Path(folder) / name
                if path.is_file() and not path.is_symlink():
                    yield path.relative_to(self.path).as_posix()


@dataclass(slots=True)
class Zip:
    """A zip file that is open. `left_bytes` is what may still be read from it."""

    file: zipfile.ZipFile
    left_bytes: int = MAX_TOTAL_BYTES

    def names(self) -> tuple[str, ...]:
        """Every file in the zip. Raises ConfigurationError for a name that leaves it, or too many of them."""
        members = [member for member in self.file.infolist() if not member.is_dir()]
        if len(members) > MAX_MEMBERS:
            raise ConfigurationError(f"{self.file.filename}: {len(members)} files, at most {MAX_MEMBERS} are read")
        for member in members:
            if _leaves(member.filename):
                raise ConfigurationError(f"{self.file.filename}: {member.filename!r} leads out of the archive")
        return tuple(sorted(member.filename for member in members if not _is_link(member)))

    def read(self, name: str) -> bytes:
        """One member. Raises UnreadableMember, and ConfigurationError when the whole is a bomb."""
        try:
            with self.file.open(name) as member:
                content = member.read(min(MAX_MEMBER_BYTES, self.left_bytes) + 1)
        except (zipfile.BadZipFile, OSError, RuntimeError, NotImplementedError, EOFError) as error:
            raise UnreadableMember(f"is damaged or encrypted ({type(error).__name__})") from None
        self.left_bytes -= len(content)
        if self.left_bytes < 0:
            raise ConfigurationError(f"{self.file.filename}: unpacks to more than {MAX_TOTAL_BYTES} bytes")
        if len(content) > MAX_MEMBER_BYTES:
            raise UnreadableMember(f"unpacks to more than {MAX_MEMBER_BYTES} bytes")
        return content


@contextmanager
def opened(path: Path) -> Iterator[Archive]:
    """The archive at `path`. Raises ConfigurationError when it is neither a folder nor a zip."""
    if path.is_dir():
        yield Folder(path)
        return
    try:
        file = zipfile.ZipFile(path)
    except (OSError, zipfile.BadZipFile) as error:
        raise ConfigurationError(f"{path}: is neither a folder nor a zip ({type(error).__name__})") from None
    with file:
        yield Zip(file)


def _leaves(name: str) -> bool:
    parts = PurePosixPath(name.replace("\\", "/"))
    return parts.is_absolute() or ".." in parts.parts or ":" in name.split("/")[0]


def _is_link(member: zipfile.ZipInfo) -> bool:
    return (member.external_attr >> 16) & 0o170000 == _SYMLINK_MODE
