"""Documents made on the spot, honest and broken."""

from __future__ import annotations

import io
import zipfile

import docx
import openpyxl
import pptx
from pypdf import PdfWriter
from pypdf.generic import DecodedStreamObject, DictionaryObject, NameObject

SENTENCE = "The Atlas server listens on port 8443."


def pdf(*pages: str, password: str = "") -> bytes:
    """A PDF with one line of Helvetica a page."""
    writer = PdfWriter()
    for text in pages:
        page = writer.add_blank_page(612, 792)
        stream = DecodedStreamObject()
        stream.set_data(f"BT /F1 12 Tf 72 700 Td ({text}) Tj ET".encode())
        font = {"/Type": "/Font", "/Subtype": "/Type1", "/BaseFont": "/Helvetica"}
        fonts = DictionaryObject(
            {NameObject("/F1"): DictionaryObject({NameObject(k): NameObject(v) for k, v in font.items()})}
        )
        page[NameObject("/Resources")] = DictionaryObject({NameObject("/Font"): fonts})
        page[NameObject("/Contents")] = writer._add_object(stream)
    if password:
        writer.encrypt(password, algorithm="RC4-128")
    return _saved(writer.write)


def docx_file() -> bytes:
    """A Word document with a paragraph, a table and a footer."""
    document = docx.Document()
    document.add_paragraph(SENTENCE)
    table = document.add_table(1, 2)
    table.cell(0, 0).text, table.cell(0, 1).text = "left cell", "right cell"
    document.sections[0].footer.paragraphs[0].text = "the footer"
    return _saved(document.save)


def xlsx(*titles: str) -> bytes:
    """A workbook with these sheets."""
    workbook = openpyxl.Workbook()
    workbook.remove(workbook.worksheets[0])
    for title in titles:
        sheet = workbook.create_sheet(title)
        sheet.append([SENTENCE, None, 5])
    return _saved(workbook.save)


def pptx_file(slides: int = 1) -> bytes:
    """A presentation with a title, a group, a table and notes on each slide."""
    presentation = pptx.Presentation()
    for _ in range(slides):
        slide = presentation.slides.add_slide(presentation.slide_layouts[5])
        slide.shapes.title.text = SENTENCE
        group = slide.shapes.add_group_shape()
        group.shapes.add_textbox(0, 0, 9, 9).text_frame.text = "in a group"
        slide.shapes.add_table(1, 1, 0, 0, 9, 9).table.cell(0, 0).text = "in a table"
        slide.shapes.add_connector(1, 0, 0, 9, 9)
        slide.notes_slide.notes_text_frame.text = "in the notes"
    presentation.slides.add_slide(presentation.slide_layouts[6])  # blank, without notes
    return _saved(presentation.save)


def zip_bomb() -> bytes:
    """An archive of 64 MB of zeros in 64 kB."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("word/document.xml", b"\0" * 67_108_864)
    return buffer.getvalue()


def _saved(save: object) -> bytes:
    assert callable(save)
    buffer = io.BytesIO()
    save(buffer)
    return buffer.getvalue()
