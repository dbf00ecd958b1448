"""Where a forwarded write lies, and what an answer showed: read from Cognee's own shapes."""

from __future__ import annotations

import json
from typing import Any

import pytest

from mithril_proxy.cognee.prepared import FilePart, PreparedWrite
from mithril_proxy.cognee.stored import (
    Listed,
    Place,
    Shown,
    document_target,
    documents_target,
    parse_datasets,
    parse_documents,
    places_of,
    shown_in,
)
from mithril_proxy.errors import UpstreamUnavailable

FILES = (FilePart("data", "a.txt", text="a"), FilePart("data", "b.md", text="b"))


def write(*fields: tuple[str, str], query: tuple[tuple[str, str], ...] = ()) -> PreparedWrite:
    return PreparedWrite("POST", "/api/v1/add", query, fields, FILES)


@pytest.mark.parametrize(
    ("fields", "answer", "places"),
    [
        (
            [("datasetName", "main")],
            {"dataset_id": "d1", "data_ingestion_info": [{"data_id": "1"}, {"data_id": "2"}]},
            [Place("a.txt", "main", "d1", "1"), Place("b.md", "main", "d1", "2")],
        ),
        (
            [("datasetName", "main")],
            {"dataset_id": "d1", "items": [{"id": "9"}]},
            [Place("a.txt", "main", "d1", None), Place("b.md", "main", "d1", None)],
        ),
        (
            [("datasetId", "d2")],
            {"data_ingestion_info": [{"data_id": "1"}]},
            [Place("a.txt", "d2", "d2", None), Place("b.md", "d2", "d2", None)],
        ),
        ([("datasetName", "main")], ["odd"], [Place("a.txt", "main", None, None), Place("b.md", "main", None, None)]),
    ],
)
def test_each_file_of_a_write_has_a_place(fields: list[tuple[str, str]], answer: Any, places: list[Place]) -> None:
    assert list(places_of(write(*fields), json.dumps(answer).encode())) == places


def test_an_update_knows_its_document_and_an_answer_may_be_no_json() -> None:
    query = (("data_id", "7"), ("dataset_id", "d3"))
    one = PreparedWrite("PATCH", "/api/v1/update", query, (), FILES[:1])
    assert places_of(one, b"oops") == (Place("a.txt", "d3", "d3", "7"),)
    assert places_of(PreparedWrite("POST", "/x", document={}), b"{}") == ()


def test_an_answer_names_what_it_showed_wherever_it_stands_each_chunk_once() -> None:
    chunk = {"text": "x", "metadata": {"data_id": "1", "chunk_id": "1a"}}
    answer = [chunk, chunk, {"search_result": [{"data_id": "2"}]}, {"metadata": {"data_id": 7}}, "text", None]
    assert shown_in(answer) == (Shown("1", "1a"), Shown("2", None))
    assert shown_in(None) == ()


def test_listings_are_read_and_anything_else_is_unavailable() -> None:
    assert parse_datasets(b'[{"id": "d1", "name": "main"}, {"id": "d2"}, 7]') == {"main": "d1"}
    rows = [
        {"id": "1", "name": "notes"},
        {"id": "2", "externalMetadata": {"mithril": {"decision": "dec_1"}}},
        {"id": "3", "external_metadata": {"mithril": "odd"}},
    ]
    assert parse_documents(json.dumps(rows).encode()) == [
        Listed("1", "notes"),
        Listed("2", "", "dec_1"),
        Listed("3", ""),
    ]
    for body in (b"no", b"{}"):
        with pytest.raises(UpstreamUnavailable):
            parse_documents(body)


@pytest.mark.parametrize(("name", "is_file"), [("notes", True), ("notes.txt", True), ("note", False), ("", False)])
def test_a_document_is_found_by_its_file_name_with_or_without_suffix(name: str, is_file: bool) -> None:
    assert Listed("1", name).is_file("notes.txt") is is_file


def test_ids_cannot_leave_their_place_in_a_path() -> None:
    assert documents_target("a/../b", 5) == "/api/v1/datasets/a%2F..%2Fb/data?limit=1000&offset=5"
    assert document_target("d", "x?y") == "/api/v1/datasets/d/data/x%3Fy"
