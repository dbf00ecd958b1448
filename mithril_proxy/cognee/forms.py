"""Form bodies, multipart or urlencoded, read by the parser that Cognee itself uses; never forwarded as they came."""

from __future__ import annotations

import codecs
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING
from urllib.parse import unquote_to_bytes

from python_multipart.exceptions import FormParserError
from python_multipart.multipart import (
    MultipartParser,
    QuerystringParser,
    parse_options_header,
)

from mithril_proxy.errors import BodyTooLarge, MalformedBody
from mithril_proxy.policy import Limits

if TYPE_CHECKING:
    from python_multipart.multipart import MultipartCallbacks

MULTIPART, URLENCODED = b"multipart/form-data", b"application/x-www-form-urlencoded"


@dataclass(frozen=True, slots=True)
class Upload:
    """One file part as it came."""

    filename: str
    media_type: str
    content: bytes


@dataclass(frozen=True, slots=True)
class Form:
    """A checked form: single values, repeated values and files, each by field name."""

    single: Mapping[str, str]
    repeated: Mapping[str, tuple[str, ...]]
    files: Mapping[str, tuple[Upload, ...]]


@dataclass(frozen=True, slots=True)
class FormShape:
    """Which names a form takes and how often."""

    single: frozenset[str]
    repeated: frozenset[str] = frozenset()
    files: frozenset[str] = frozenset()


Part = tuple[str, str | Upload]


def decode_form(content_type: str | None, body: bytes, shape: FormShape, limits: Limits) -> Form:
    """The checked form of a body.

    Raises BodyTooLarge, or MalformedBody that names the field: an unknown name, a single value given twice, text where
    a file belongs or a file where text belongs, bytes that are not UTF-8, another charset.
    """
    if len(body) > limits.max_body_bytes:
        raise BodyTooLarge(f"body: {len(body)} bytes, at most {limits.max_body_bytes} are taken")
    media_type, options = parse_options_header(content_type)
    if media_type == MULTIPART:
        parts = _multipart(options, body, limits.max_claims + 100)
    elif media_type == URLENCODED:
        parts = _urlencoded(body, limits.max_claims + 100)
    else:
        raise MalformedBody("Content-Type: this route takes multipart/form-data or application/x-www-form-urlencoded")
    return _sorted(parts, shape)


def _sorted(parts: list[Part], shape: FormShape) -> Form:
    single: dict[str, str] = {}
    repeated: dict[str, tuple[str, ...]] = {}
    files: dict[str, tuple[Upload, ...]] = {}
    for name, value in parts:
        if name in shape.files:
            _add_file(name, value, files)
        elif isinstance(value, Upload):
            raise MalformedBody(f"{_known(name, shape)}: takes text, not a file")
        elif name in shape.repeated:
            repeated[name] = (*repeated.get(name, ()), value)
        elif name in single:
            raise MalformedBody(f"{name}: given twice")
        else:
            single[_known(name, shape)] = value
    return Form(single, repeated, files)


def _add_file(name: str, value: str | Upload, files: dict[str, tuple[Upload, ...]]) -> None:
    """Keep an upload; a blank text part is how Swagger UI says "no file"."""
    if isinstance(value, str):
        if value.strip():
            raise MalformedBody(f"{name}: takes file parts (with a filename), not text; send text as `raw_data`")
        return
    if value.filename or value.content:
        files[name] = (*files.get(name, ()), value)


def _known(name: str, shape: FormShape) -> str:
    if name not in shape.single | shape.repeated | shape.files:
        raise MalformedBody(f"form: unknown field {name[:40].encode('ascii', 'backslashreplace').decode()!r}")
    return name


class _Collector:
    """Callbacks of the multipart parser: gathers whole parts."""

    def __init__(self, max_parts: int) -> None:
        self.parts: list[Part] = []
        self.ended = False
        self._max_parts = max_parts
        self._headers: dict[bytes, bytes] = {}
        self._name = self._value = b""
        self._content = bytearray()

    def callbacks(self) -> MultipartCallbacks:
        """What the parser calls."""
        return {
            "on_part_begin": self.on_part_begin,
            "on_part_data": self.on_part_data,
            "on_part_end": self.on_part_end,
            "on_header_field": self.on_header_field,
            "on_header_value": self.on_header_value,
            "on_header_end": self.on_header_end,
            "on_end": self.on_end,
        }

    def on_part_begin(self) -> None:
        self._headers, self._content = {}, bytearray()

    def on_header_field(self, raw: bytes, start: int, end: int) -> None:
        self._name += raw[start:end]

    def on_header_value(self, raw: bytes, start: int, end: int) -> None:
        self._value += raw[start:end]

    def on_header_end(self) -> None:
        name = self._name.lower()
        if name in self._headers:
            raise MalformedBody("multipart: a part gives a header twice")
        self._headers[name] = self._value
        self._name = self._value = b""

    def on_part_data(self, raw: bytes, start: int, end: int) -> None:
        self._content += raw[start:end]

    def on_part_end(self) -> None:
        if len(self.parts) >= self._max_parts:
            raise MalformedBody(f"multipart: more than {self._max_parts} parts")
        self.parts.append(_part(self._headers, bytes(self._content)))

    def on_end(self) -> None:
        self.ended = True


def _part(headers: Mapping[bytes, bytes], content: bytes) -> Part:
    disposition = headers.get(b"content-disposition", b"").decode("latin-1")
    kind, options = parse_options_header(disposition)
    if kind != b"form-data" or b"name" not in options:
        raise MalformedBody("multipart: a part has no form-data name")
    name = _utf8(options[b"name"], "multipart: a field name")
    if b"filename" not in options:
        return name, _utf8(content, f"{name[:40]!a}")
    filename = _utf8(options[b"filename"], f"{name[:40]!a}: its filename")
    return name, Upload(filename, headers.get(b"content-type", b"").decode("latin-1"), content)


def _multipart(options: Mapping[bytes, bytes], body: bytes, max_parts: int) -> list[Part]:
    charset = options.get(b"charset", b"utf-8").decode("latin-1")
    if not _is_utf8(charset):
        raise MalformedBody("Content-Type: the charset of a form must be UTF-8")
    if not options.get(b"boundary"):
        raise MalformedBody("Content-Type: multipart without a boundary")
    collector = _Collector(max_parts)
    try:
        parser = MultipartParser(options[b"boundary"], collector.callbacks())
        parser.write(body)
        parser.finalize()
    except FormParserError:
        raise MalformedBody("multipart: the body is not valid multipart/form-data") from None
    if not collector.ended:
        raise MalformedBody("multipart: the body ends before its last boundary")
    return collector.parts


def _urlencoded(body: bytes, max_parts: int) -> list[Part]:
    pairs: list[list[bytearray]] = []
    parser = QuerystringParser(
        {
            "on_field_start": lambda: pairs.append([bytearray(), bytearray()]),
            "on_field_name": lambda raw, start, end: pairs[-1][0].extend(raw[start:end]),
            "on_field_data": lambda raw, start, end: pairs[-1][1].extend(raw[start:end]),
        }
    )  # not strict, so it raises nothing, like Cognee's
    parser.write(body)
    parser.finalize()
    if len(pairs) > max_parts:
        raise MalformedBody(f"form: more than {max_parts} fields")
    return [(_unquoted(name), _unquoted(value)) for name, value in pairs]


def _unquoted(raw: bytearray) -> str:
    if not raw.isascii():
        raise MalformedBody("form: bytes outside ASCII must be percent-encoded")
    return _utf8(unquote_to_bytes(bytes(raw).replace(b"+", b" ")), "form")


def _is_utf8(charset: str) -> bool:
    try:
        return codecs.lookup(charset).name in ("utf-8", "ascii")
    except (LookupError, ValueError):
        return False


def _utf8(raw: bytes, place: str) -> str:
    try:
        return raw.decode("utf-8")
    except UnicodeDecodeError:
        raise MalformedBody(f"{place}: not valid UTF-8") from None
