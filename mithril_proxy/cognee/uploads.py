"""What an uploaded file is: text that can be judged, or opaque bytes; and under which name it travels on."""

from __future__ import annotations

import codecs
import hashlib
import re
from dataclasses import dataclass
from pathlib import PurePosixPath

from charset_normalizer import from_bytes

from mithril_proxy.cognee.forms import Upload
from mithril_proxy.errors import BodyTooLarge, MalformedBody

TEXT_TYPE, OPAQUE_TYPE = "text/plain; charset=utf-8", "application/octet-stream"
MAX_FILENAME_CHARS = 255

# Cognee 1.6.5 (infrastructure/files/utils/guess_file_type.py) takes these for text by name alone, whatever they hold.
NAMED_TEXT = frozenset({".txt", ".text", ".csv", ".md", ".markdown", ".json", ".xml", ".yaml", ".yml"})

# Names of documents, images, sound, archives and programs: Cognee opens them with a loader, not as text.
OPAQUE_SUFFIXES = frozenset(
    {
        ".pdf", ".doc", ".docx", ".odt", ".rtf", ".epub", ".xls", ".xlsx", ".ods", ".ppt", ".pptx", ".odp", ".msg",
        ".eml", ".png", ".jpg", ".jpeg", ".jpe", ".jpx", ".apng", ".gif", ".webp", ".bmp", ".tif", ".tiff", ".ico",
        ".heic", ".heif", ".avif", ".psd", ".dwg", ".xcf", ".cr2", ".jxr", ".svgz", ".mp3", ".m4a", ".aac", ".ogg",
        ".oga", ".opus", ".flac", ".wav", ".amr", ".aiff", ".mid", ".midi", ".mp4", ".m4v", ".mov", ".avi", ".mkv",
        ".webm", ".mpg", ".mpeg", ".wmv", ".flv", ".3gp", ".zip", ".tar", ".gz", ".tgz", ".bz2", ".xz", ".7z",
        ".rar", ".zst", ".lz", ".z", ".jar", ".whl", ".deb", ".rpm", ".iso", ".dmg", ".exe", ".dll", ".so", ".bin",
        ".class", ".wasm", ".sqlite", ".db", ".parquet", ".pickle", ".pkl", ".npy",
    }
)  # fmt: skip

# Beginnings by which Cognee's type sniffer (filetype 1.2) takes printable bytes for something else than text.
_SNIFFED = (
    "%PDF", "%!PS", "{\\rtf", "BM", "GIF", "FLV", "OggS", "fLaC", "RIFF", "FORM", "MZ", "PK", "Rar!", "7z", "BZh",
    "CWS", "FWS", "Cr24", "SQLi", "!<arch>", "AC10", "wOF", "LZIP", "OTTO", "ID3", "MThd", "#!AMR", "gimp", "II",
    "MM", "8BPS", "NES",
)  # fmt: skip
_BOMS = (codecs.BOM_UTF8, codecs.BOM_UTF32_LE, codecs.BOM_UTF32_BE, codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
_BOM_CODECS = ("utf-8-sig", "utf-32", "utf-32", "utf-16", "utf-16")
_BINARY = tuple(chr(code) for code in (*range(0x09), *range(0x0E, 0x1B), *range(0x1C, 0x20)))
MAX_CHAOS = 0.1  # charset-normalizer's share of disorder; its own documentation calls 0.2 the limit of plausible
MIN_COHERENCE = 0.5  # its fit to a language: 0.62 for right guesses of Russian, 0.38 for a wrong one of French
_SAMPLE_BYTES = 65_536  # enough for charset-normalizer to be sure; more only costs time


@dataclass(frozen=True, slots=True)
class Reading:
    """An upload as it will be judged: `text` is None for opaque bytes."""

    filename: str
    media_type: str
    text: str | None


def read_upload(upload: Upload, place: str, max_text_chars: int, *, keeps_folders: bool = False) -> Reading:
    """The upload's text, or that it has none. Raises MalformedBody for its name, BodyTooLarge for too much text.

    `keeps_folders` leaves a relative path in the name, which tells one skill from another.
    """
    name = _clean_name(upload.filename, place, keeps_folders)
    media_type = _media_type(upload.media_type)
    suffix = PurePosixPath(name).suffix.lower()
    text = None if suffix in OPAQUE_SUFFIXES else decode_text(upload.content)
    if text is None:
        return Reading(name or unnamed(upload.content), media_type, None)
    if len(text) > max_text_chars:
        raise BodyTooLarge(f"{place}: {len(text)} characters, at most {max_text_chars} are judged; split the file")
    return Reading(_text_name(name, text) if name else text_name(text), media_type, text)


def decode_text(content: bytes) -> str | None:
    """The text of `content` in its own charset; None when it is not text."""
    for mark, codec in zip(_BOMS, _BOM_CODECS, strict=True):
        if content.startswith(mark):
            return _plain(_decoded(content, codec))
    text = _decoded(content, "utf-8")
    return _plain(text if text is not None else _guessed(content))


def text_name(text: str, suffix: str = ".txt") -> str:
    """`text_<md5>.txt`, the name that Cognee and its SDK give to a text: another text never has it."""
    digest = hashlib.md5(text.encode("utf-8", "surrogatepass"), usedforsecurity=False).hexdigest()
    return f"text_{digest}{suffix}"


def is_own_name(filename: str, text: str) -> bool:
    """True for the name that Cognee's SDK makes from the text itself: it says nothing that the text does not."""
    return filename.startswith("text_") and filename == text_name(text)


def renamed(filename: str, text: str) -> str:
    """The name for changed content: Cognee refuses other content under a known name (409)."""
    suffix = PurePosixPath(filename).suffix.lower()
    return text_name(text, suffix if suffix in NAMED_TEXT else ".txt")


def unnamed(content: bytes) -> str:
    """A name for opaque bytes that came with none."""
    return f"file_{hashlib.md5(content, usedforsecurity=False).hexdigest()}.bin"


def header_safe(filename: str, *, keeps_folders: bool = False) -> str:
    """The last component of a name, or its relative path, as it can stand in a header value."""
    parts = [part for part in filename.replace("\\", "/").replace('"', "'").split("/") if part not in ("", ".", "..")]
    return "/".join(parts if keeps_folders else parts[-1:])


def _clean_name(filename: str, place: str, keeps_folders: bool) -> str:
    """A client's file name as it travels on. Raises MalformedBody for one that no header can hold."""
    if any(ord(char) < 32 or ord(char) == 127 for char in filename):
        raise MalformedBody(f"{place}: its filename holds a control character")
    name = header_safe(filename, keeps_folders=keeps_folders)
    if len(name) > MAX_FILENAME_CHARS:
        raise MalformedBody(f"{place}: its filename is longer than {MAX_FILENAME_CHARS} characters")
    return name


def _text_name(name: str, text: str) -> str:
    """`name`, with `.txt` after it when Cognee would take this text for something else."""
    if PurePosixPath(name).suffix.lower() in NAMED_TEXT:
        return name
    return f"{name}.txt" if text.startswith(_SNIFFED) or "ustar" in text[257:262] else name


def _media_type(value: str) -> str:
    media_type = value.split(";")[0].strip().lower()
    return media_type if re.fullmatch(r"[a-z0-9.+-]{1,60}/[a-z0-9.+-]{1,80}", media_type) else "text/plain"


def _decoded(content: bytes, codec: str) -> str | None:
    try:
        return content.decode(codec)
    except (UnicodeDecodeError, UnicodeError):
        return None


def _guessed(content: bytes) -> str | None:
    """The text in the charset that fits its language best; without a clear winner, in the one of Western Europe."""
    if b"\0" in content:
        return None
    matches = from_bytes(content[:_SAMPLE_BYTES])
    best = matches.best()
    if best is None or best.chaos >= MAX_CHAOS:
        return None
    is_clear = best.coherence >= MIN_COHERENCE
    western = next((match for match in matches if match.encoding == "cp1252"), None)
    return _decoded(content, best.encoding if is_clear or western is None else western.encoding)


def _plain(text: str | None) -> str | None:
    """`text`, if no control character says that it is none. One search a character is faster than a class of them."""
    return None if text is None or any(char in text for char in _BINARY) else text
