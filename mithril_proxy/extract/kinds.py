"""Which documents can be read. Both the name and the first bytes must say so."""

from __future__ import annotations

import enum
from pathlib import PurePosixPath


class Kind(enum.StrEnum):
    """A kind of document that has a reader."""

    PDF = "pdf"
    DOCX = "docx"
    XLSX = "xlsx"
    PPTX = "pptx"


_ZIP = b"PK\x03\x04"
_PDF_HEAD_BYTES = 1024  # PDF readers look for the header this far (ISO 32000-1, annex H.3.4.1)


def document_kind(filename: str, content: bytes) -> Kind | None:
    """The kind of a document, None when it is none or its bytes are not what its name says."""
    suffix = PurePosixPath(filename.lower()).suffix.removeprefix(".")
    if suffix not in tuple(Kind):
        return None
    kind = Kind(suffix)
    is_genuine = b"%PDF-" in content[:_PDF_HEAD_BYTES] if kind is Kind.PDF else content.startswith(_ZIP)
    return kind if is_genuine else None
