"""Documents through the data plane: their text is judged, and their text is what Cognee gets."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

import pytest

from mithril_proxy.policy import load_policy
from mithril_proxy.proxy.documents import DocumentReader
from mithril_proxy.store.interface import Page, QuarantineFilter
from tests.cognee.builders import File, form_call
from tests.extract.documents import SENTENCE, docx_file, pdf
from tests.harness import Bench, Reply, bench, multipart


@pytest.fixture
async def setup(tmp_path: Path) -> AsyncIterator[Bench]:
    async with bench(tmp_path) as ready:
        await ready.register("wiki", 0.98)
        yield ready


async def _upload(setup: Bench, name: str, content: bytes) -> Reply:
    body, content_type = multipart([("datasetName", "main")], [("data", name, content)])
    headers = [("content-type", content_type)]
    return await setup.call("POST", "/api/v1/remember", source="wiki", headers=headers, body=body)


async def test_the_text_of_a_document_is_forwarded_in_place_of_its_bytes(setup: Bench) -> None:
    reply = await _upload(setup, "ports.docx", docx_file())
    assert reply.status == 200
    [sent] = setup.upstream.sent
    assert SENTENCE.encode() in sent.body
    assert b'filename="ports.docx.txt"' in sent.body
    assert b"PK\x03\x04" not in sent.body


async def test_a_document_that_cannot_be_read_is_held_with_the_reason(setup: Bench) -> None:
    reply = await _upload(setup, "ports.pdf", pdf(SENTENCE, password="x"))
    assert reply.status == 202
    assert "extract.encrypted" in reply.json()["reasons"]
    [entry] = await setup.store.quarantine(Page(), QuarantineFilter())
    assert "extract.encrypted" in entry.reasons


async def test_documents_are_read_only_where_the_policy_says_so() -> None:
    policy = load_policy()
    call = form_call("POST /api/v1/add", ("datasetName", "main"), ("data", File(docx_file(), "a.docx")))
    reader = DocumentReader.of(policy)
    read, findings = await reader.read(call)
    assert (read.claims[0].is_opaque, findings) == (False, ())
    unread, findings = await replace(reader, is_on=False).read(call)
    assert (unread, findings) == (call, ())


async def test_an_opaque_file_that_is_no_document_is_left_alone() -> None:
    call = form_call("POST /api/v1/add", ("datasetName", "main"), ("data", File(b"\x89PNG\0", "a.png")))
    assert await DocumentReader.of(load_policy()).read(call) == (call, ())
