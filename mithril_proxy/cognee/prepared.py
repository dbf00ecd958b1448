"""A write as it will reach Cognee, built from judged values alone; it can lie in the quarantine and be sent later."""

from __future__ import annotations

import base64
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

from mithril_proxy.cognee.uploads import OPAQUE_TYPE, TEXT_TYPE


@dataclass(frozen=True, slots=True)
class FilePart:
    """One file of a multipart body: judged text, or the opaque bytes that a reviewer lets through."""

    field: str
    filename: str
    text: str | None = None
    blob: bytes | None = None

    @property
    def content(self) -> bytes:
        """The bytes of the part."""
        return (self.text or "").encode("utf-8") if self.blob is None else self.blob


@dataclass(frozen=True, slots=True)
class PreparedWrite:
    """One upstream request. A body is either `document` (JSON) or `fields` and `files` (multipart)."""

    method: str
    path: str
    query: tuple[tuple[str, str], ...] = ()
    fields: tuple[tuple[str, str], ...] = ()
    files: tuple[FilePart, ...] = ()
    document: Mapping[str, object] | None = None

    def to_json(self) -> dict[str, Any]:
        """A form that JSON can hold; `from_json` gives the same write back."""
        return {
            "method": self.method,
            "path": self.path,
            "query": [list(pair) for pair in self.query],
            "fields": [list(pair) for pair in self.fields],
            "files": [_file_json(part) for part in self.files],
            "document": self.document,
        }

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> PreparedWrite:
        """The write that `to_json` described. Raises KeyError or TypeError for anything else."""
        return cls(
            method=value["method"],
            path=value["path"],
            query=_pairs(value["query"]),
            fields=_pairs(value["fields"]),
            files=tuple(_file_part(part) for part in value["files"]),
            document=value["document"],
        )


@dataclass(frozen=True, slots=True)
class Rendered:
    """A request ready for an HTTP client. `query` is without its question mark."""

    method: str
    path: str
    query: str
    content_type: str
    body: bytes


def render(prepared: PreparedWrite, boundary: str) -> Rendered:
    """The bytes of a write. `boundary` must be random: it may not occur in any part."""
    query = urlencode(prepared.query)
    if prepared.document is not None:
        body = json.dumps(prepared.document, ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode("utf-8")
        return Rendered(prepared.method, prepared.path, query, "application/json", body)
    parts = [_field(boundary, name, value) for name, value in prepared.fields]
    parts += [_file(boundary, part) for part in prepared.files]
    body = b"".join((*parts, f"--{boundary}--\r\n".encode()))
    return Rendered(prepared.method, prepared.path, query, f"multipart/form-data; boundary={boundary}", body)


def _field(boundary: str, name: str, value: str) -> bytes:
    head = f'--{boundary}\r\nContent-Disposition: form-data; name="{name}"\r\n\r\n'
    return head.encode() + value.encode("utf-8") + b"\r\n"


def _file(boundary: str, part: FilePart) -> bytes:
    media_type = TEXT_TYPE if part.blob is None else OPAQUE_TYPE
    head = (
        f'--{boundary}\r\nContent-Disposition: form-data; name="{part.field}"; filename="{part.filename}"\r\n'
        f"Content-Type: {media_type}\r\n\r\n"
    )
    return head.encode("utf-8") + part.content + b"\r\n"


def _pairs(value: list[list[str]]) -> tuple[tuple[str, str], ...]:
    return tuple((name, text) for name, text in value)


def _file_json(part: FilePart) -> dict[str, Any]:
    blob = None if part.blob is None else base64.b64encode(part.blob).decode("ascii")
    return {"field": part.field, "filename": part.filename, "text": part.text, "blob": blob}


def _file_part(value: Mapping[str, Any]) -> FilePart:
    blob = None if value["blob"] is None else base64.b64decode(value["blob"], validate=True)
    return FilePart(value["field"], value["filename"], value["text"], blob)
