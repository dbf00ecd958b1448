"""Documents become text in a process of their own; whatever they are, they are bounded and nothing else breaks."""

from __future__ import annotations

import asyncio
import io
import json
import sys
from dataclasses import replace

import pytest

from mithril_proxy.extract import worker
from mithril_proxy.extract.kinds import Kind, document_kind
from mithril_proxy.extract.process import Extractor, NoText
from mithril_proxy.extract.process import _text as text_of_answer
from mithril_proxy.extract.worker import Bounds, answer
from tests.extract.documents import SENTENCE, docx_file, pdf, pptx_file, xlsx, zip_bomb

BOUNDS = Bounds()


@pytest.mark.parametrize(
    ("name", "content", "kind"),
    [
        ("a.pdf", b"%PDF-1.7", Kind.PDF),
        ("A.PDF", b"\n\n%PDF-1.4", Kind.PDF),
        ("a.docx", b"PK\x03\x04", Kind.DOCX),
        ("a.xlsx", b"PK\x03\x04", Kind.XLSX),
        ("a.pptx", b"PK\x03\x04", Kind.PPTX),
        ("a.pdf", b"PK\x03\x04", None),
        ("a.docx", b"%PDF-1.7", None),
        ("a.zip", b"PK\x03\x04", None),
        ("pdf", b"%PDF-1.7", None),
        ("a.pdf", b"", None),
    ],
)
def test_a_document_is_known_by_name_and_bytes_together(name: str, content: bytes, kind: Kind | None) -> None:
    assert document_kind(name, content) is kind


@pytest.mark.parametrize(
    ("kind", "content", "words"),
    [
        (Kind.PDF, pdf(SENTENCE, "second page"), [SENTENCE, "second page"]),
        (Kind.DOCX, docx_file(), [SENTENCE, "left cell\tright cell", "the footer"]),
        (Kind.XLSX, xlsx("Ports"), ["Ports", f"{SENTENCE}\t\t5"]),
        (Kind.PPTX, pptx_file(), [SENTENCE, "in a group", "in a table", "in the notes"]),
    ],
)
def test_the_text_of_a_document_is_read_in_order(kind: Kind, content: bytes, words: list[str]) -> None:
    text = answer(kind, content, BOUNDS)["text"]
    places = [text.index(word) for word in words]
    assert places == sorted(places)


@pytest.mark.parametrize(
    ("kind", "content", "bounds", "reason"),
    [
        (Kind.PDF, pdf(SENTENCE, password="x"), BOUNDS, "encrypted"),
        (Kind.PDF, pdf("a", "b"), replace(BOUNDS, max_pages=1), "too_many_pages"),
        (Kind.PDF, pdf(SENTENCE), replace(BOUNDS, max_chars=5), "too_long"),
        (Kind.PDF, pdf(""), BOUNDS, "no_text"),
        (Kind.XLSX, xlsx("a", "b"), replace(BOUNDS, max_pages=1), "too_many_pages"),
        (Kind.PPTX, pptx_file(2), replace(BOUNDS, max_pages=1), "too_many_pages"),
        (Kind.DOCX, zip_bomb(), replace(BOUNDS, max_unpacked_bytes=1_000_000), "too_large"),
    ],
)
def test_a_document_over_a_bound_says_which(kind: Kind, content: bytes, bounds: Bounds, reason: str) -> None:
    assert answer(kind, content, bounds) == {"reason": reason}


def test_broken_characters_of_a_font_are_left_out() -> None:
    assert worker._whole("a\0b\ud800") == "ab?"


@pytest.mark.parametrize(("code", "output"), [(0, b"not json"), (0, b"{}"), (1, b'{"text": "half"}'), (None, b"")])
def test_an_answer_that_is_none_is_no_text(code: int | None, output: bytes) -> None:
    with pytest.raises(NoText, match="unreadable"):
        text_of_answer(code, output)


async def test_a_document_is_read_in_a_process_of_its_own() -> None:
    assert SENTENCE in await Extractor(BOUNDS).text(Kind.DOCX, docx_file())


@pytest.mark.parametrize(
    ("kind", "content", "bounds", "reason"),
    [
        (Kind.PDF, b"%PDF-1.7 broken", BOUNDS, "unreadable"),
        (Kind.DOCX, b"PK\x03\x04broken", BOUNDS, "unreadable"),
        (Kind.DOCX, zip_bomb(), replace(BOUNDS, memory_bytes=200_000_000), "unreadable"),
        (Kind.PDF, pdf(SENTENCE, password="x"), BOUNDS, "encrypted"),
        (Kind.PDF, pdf(SENTENCE), replace(BOUNDS, timeout_s=0.001), "timeout"),
    ],
)
async def test_a_document_that_cannot_be_read_says_why(kind: Kind, content: bytes, bounds: Bounds, reason: str) -> None:
    with pytest.raises(NoText) as caught:
        await Extractor(bounds).text(kind, content)
    assert caught.value.reason == reason


async def test_a_caller_that_gives_up_leaves_no_process_behind() -> None:
    reading = asyncio.create_task(Extractor(BOUNDS).text(Kind.PDF, pdf(SENTENCE)))
    await asyncio.sleep(0)
    reading.cancel()
    with pytest.raises(asyncio.CancelledError):
        await reading


def test_the_worker_speaks_json(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    limits: list[tuple[int, tuple[int, int]]] = []
    monkeypatch.setattr("resource.setrlimit", lambda limit, value: limits.append((limit, value)))
    monkeypatch.setattr(sys, "argv", ["worker", "pdf", BOUNDS.to_json()])
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(pdf(SENTENCE))))
    worker.main()
    assert SENTENCE in json.loads(capsys.readouterr().out)["text"]
    assert len(limits) == 5
