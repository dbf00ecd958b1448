"""One reader a kind of document: its pieces of text, in order. They run in the worker, never in the server.

A piece comes lazily, so that a document over its bound is left as soon as that shows. Readers raise whatever their
library raises; the worker's exit code says that it happened.
"""

from __future__ import annotations

import io
import zipfile
from collections.abc import Iterable, Iterator
from typing import Any

from mithril_proxy.extract.kinds import Kind


class OverBound(Exception):
    """The document is over a bound. `args[0]` is the word for it."""


def pieces(kind: Kind, content: bytes, *, max_pages: int, max_unpacked_bytes: int) -> Iterator[str]:
    """The text of a document, piece by piece. Raises OverBound, or what the library raises for a broken file."""
    if kind is Kind.PDF:
        yield from _pdf(content, max_pages)
        return
    _check_archive(content, max_unpacked_bytes)
    readers = {Kind.DOCX: _docx, Kind.XLSX: _xlsx, Kind.PPTX: _pptx}
    yield from readers[kind](content, max_pages)


def _check_archive(content: bytes, max_unpacked_bytes: int) -> None:
    """Refuse an archive that says it unpacks to more than the bound; one that lies hits the memory limit instead."""
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        if sum(member.file_size for member in archive.infolist()) > max_unpacked_bytes:
            raise OverBound("too_large")


def _pdf(content: bytes, max_pages: int) -> Iterator[str]:
    import pypdf

    reader = pypdf.PdfReader(io.BytesIO(content))
    if reader.is_encrypted:
        raise OverBound("encrypted")
    if len(reader.pages) > max_pages:
        raise OverBound("too_many_pages")
    for page in reader.pages:
        yield page.extract_text()


def _docx(content: bytes, max_pages: int) -> Iterator[str]:
    import docx

    document = docx.Document(io.BytesIO(content))
    yield from _blocks(document.iter_inner_content())
    for section in document.sections:
        for part in (section.header, section.footer):
            yield from _blocks(part.iter_inner_content())


def _blocks(blocks: Iterable[Any]) -> Iterator[str]:
    """Paragraphs as they stand, tables row by row."""
    for block in blocks:
        if hasattr(block, "rows"):
            for row in block.rows:
                yield "\t".join(cell.text for cell in row.cells)
        else:
            yield block.text


def _xlsx(content: bytes, max_pages: int) -> Iterator[str]:
    import openpyxl

    workbook = openpyxl.load_workbook(io.BytesIO(content), read_only=True, data_only=True)
    if len(workbook.worksheets) > max_pages:
        raise OverBound("too_many_pages")
    for sheet in workbook.worksheets:
        yield str(sheet.title)
        for row in sheet.iter_rows(values_only=True):
            yield "\t".join("" if value is None else str(value) for value in row).rstrip("\t")


def _pptx(content: bytes, max_pages: int) -> Iterator[str]:
    import pptx

    slides = pptx.Presentation(io.BytesIO(content)).slides
    if len(slides) > max_pages:
        raise OverBound("too_many_pages")
    for slide in slides:
        yield from _shapes(slide.shapes)
        if slide.has_notes_slide and slide.notes_slide.notes_text_frame is not None:
            yield slide.notes_slide.notes_text_frame.text


def _shapes(shapes: Iterable[Any]) -> Iterator[str]:
    for shape in shapes:
        if hasattr(shape, "shapes"):
            yield from _shapes(shape.shapes)
        elif shape.has_text_frame:
            yield shape.text_frame.text
        elif shape.has_table:
            for row in shape.table.rows:
                yield "\t".join(cell.text for cell in row.cells)
