"""The bytes of a rebuilt write, read back by the very parser that Cognee uses."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncGenerator

import pytest
from hypothesis import given
from hypothesis import strategies as st
from starlette.datastructures import Headers, UploadFile
from starlette.formparsers import MultiPartParser

from mithril_proxy.cognee.prepared import FilePart, PreparedWrite, Rendered, render
from mithril_proxy.cognee.writes import prepare
from mithril_proxy.errors import RequestError
from tests.cognee.builders import File, form_call, json_call


async def _parse(rendered: Rendered) -> list[tuple[str, str | tuple[str | None, bytes]]]:
    async def stream() -> AsyncGenerator[bytes, None]:
        yield rendered.body

    headers = Headers({"content-type": rendered.content_type})
    form = await MultiPartParser(headers, stream(), max_part_size=1 << 24).parse()
    parsed: list[tuple[str, str | tuple[str | None, bytes]]] = []
    for name, value in form.multi_items():
        parsed.append((name, (value.filename, await value.read()) if isinstance(value, UploadFile) else value))
    await form.close()
    return parsed


def _read_back(prepared: PreparedWrite) -> list[tuple[str, str | tuple[str | None, bytes]]]:
    return asyncio.run(_parse(render(prepared, "a-random-boundary")))


def test_a_multipart_write_is_read_back_as_it_was_meant() -> None:
    prepared = PreparedWrite(
        "POST",
        "/api/v1/add",
        fields=(("datasetName", "a\r\nb é"), ("node_set", "verified")),
        files=(FilePart("data", "é; name=x.txt", text="tekst ✓"), FilePart("data", "a.png", blob=b"\x89\r\n--\0")),
    )
    assert _read_back(prepared) == [
        ("datasetName", "a\r\nb é"),
        ("node_set", "verified"),
        ("data", ("é; name=x.txt", "tekst ✓".encode())),
        ("data", ("a.png", b"\x89\r\n--\0")),
    ]


def test_a_json_write_is_canonical() -> None:
    rendered = render(PreparedWrite("POST", "/p", (("a", "b c"),), document={"x": "é", "n": None}), "B")
    assert (rendered.content_type, rendered.query) == ("application/json", "a=b+c")
    assert rendered.body == '{"x":"é","n":null}'.encode()


def test_an_empty_file_part_has_no_content() -> None:
    assert FilePart("data", "a").content == b""


@pytest.mark.parametrize("broken", [{}, {"method": "POST"}, {"method": "POST", "path": "/", "query": 5}])
def test_a_damaged_quarantine_entry_is_not_a_write(broken: dict[str, object]) -> None:
    with pytest.raises((KeyError, TypeError)):
        PreparedWrite.from_json(broken)


words = st.text(st.characters(exclude_categories=["Cs"]), max_size=40)
blobs = st.binary(max_size=60)


@given(words, words, blobs, st.lists(words, max_size=3))
def test_every_field_that_was_not_changed_arrives_equal(
    dataset: str, name: str, content: bytes, texts: list[str]
) -> None:
    parts: list[tuple[str, str | File]] = [
        ("datasetName", dataset),
        ("data", File(content, name.replace('"', "").replace("\\", ""))),
    ]
    try:
        call = form_call("POST /api/v1/add", *parts, *(("raw_data", text) for text in texts))
    except RequestError:
        return
    parsed = _read_back(prepare(call, call.claims, tags=()))
    assert parsed[0] == ("datasetName", dataset)
    sent = [value for _, value in parsed[1:] if isinstance(value, tuple)]
    assert [value for _, value in sent] == [
        piece.blob if piece.blob is not None else (piece.text or "").encode() for piece in call.pieces
    ]
    assert [filename for filename, _ in sent] == [piece.filename for piece in call.pieces]
    kept = [text.strip() for text in texts if text.strip()]
    assert [value.decode() for _, value in sent[len(sent) - len(kept) :]] == kept


trees = st.recursive(
    st.none() | st.booleans() | st.integers() | words,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(words, inner, max_size=3),
    max_leaves=8,
)


@given(words, words, st.dictionaries(words, trees, max_size=3), trees)
def test_an_entry_that_was_not_changed_arrives_equal(
    question: str, answer: str, elements: object, value: object
) -> None:
    qa = {"type": "qa", "question": question, "answer": answer, "used_graph_element_ids": elements}
    trace = {"type": "trace", "origin_function": "f", "method_return_value": value}
    for entry in (qa, trace):
        call = json_call("POST /api/v1/remember/entry", {"entry": entry})
        document = json.loads(render(prepare(call, call.claims, tags=()), "B").body)
        assert document == {"entry": {name: given for name, given in entry.items() if given is not None}}


@given(st.dictionaries(st.sampled_from(["entry", "dataset_name", "session_id", "x"]), trees, max_size=4))
def test_no_entry_raises_anything_but_a_request_error(body: dict[str, object]) -> None:
    try:
        json_call("POST /api/v1/remember/entry", body)
    except RequestError:
        return
