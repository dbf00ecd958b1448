"""What holds for every write of the table, whatever its codec."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import replace

import pytest

from mithril_proxy.cognee.prepared import PreparedWrite, render
from mithril_proxy.cognee.routes import ROUTES, Operation
from mithril_proxy.cognee.table import Codec
from mithril_proxy.cognee.writes import forward_tags, prepare
from mithril_proxy.types import Annotation, Claim, Status
from tests.cognee.builders import TAGS
from tests.cognee.write_rows import DATASET, FORGED, Row, write_rows

ROWS = write_rows()
FORGING = write_rows(FORGED)
BOUNDARY = "rebuilt"


def _named(row: Row) -> str:
    return row.name


def _unchanged(text: str) -> str:
    return text


def _sent(row: Row, *, change: Callable[[str], str] = _unchanged, status: Status = Status.ACCEPT) -> PreparedWrite:
    """What goes upstream when every claim is admitted."""
    call = row.decode()
    claims = tuple(_judged(claim, change) for claim in call.claims)
    annotations = tuple(Annotation(said.locator, change(said.text)) for said in call.annotations)
    tags = forward_tags(call, status, "slack", TAGS, is_session_own=True)
    return prepare(call, claims, tags=tags, annotations=annotations)


def _judged(claim: Claim, change: Callable[[str], str]) -> Claim:
    annotations = tuple(Annotation(said.locator, change(said.text)) for said in claim.annotations)
    return replace(claim, text=change(claim.text), annotations=annotations)


def _bytes(prepared: PreparedWrite) -> bytes:
    rendered = render(prepared, BOUNDARY)
    return rendered.body + rendered.path.encode() + rendered.query.encode()


def test_there_is_a_row_for_every_write_codec() -> None:
    decoded = {row.decode().match.codec for row in ROWS}
    assert decoded == {route.codec for route in ROUTES if route.operation is Operation.WRITE}


@pytest.mark.parametrize("row", ROWS, ids=_named)
def test_every_word_of_a_client_is_judged(row: Row) -> None:
    call = row.decode()
    said = set(re.findall(rb"mark\d\d\d", row.body))
    judged = [(claim.text, *(given.text for given in claim.annotations)) for claim in call.claims]
    heard = judged[0] if len(judged) == 1 else [text for texts in judged for text in texts]
    heard = heard or [given.text for given in call.annotations]
    opaque = {
        b"mark" + number for piece in call.pieces if piece.blob for number in re.findall(rb"mark(\d\d\d)", piece.blob)
    }
    assert {number.encode() for text in heard for number in re.findall(r"mark\d\d\d", text)} == said - opaque


@pytest.mark.parametrize("row", ROWS, ids=_named)
def test_every_word_that_was_admitted_arrives(row: Row) -> None:
    """All of them, but for the file names of session turns, which Cognee has no place for."""
    sent = set(re.findall(rb"mark\d\d\d", _bytes(_sent(row))))
    assert set(re.findall(rb"mark\d\d\d(?! name\"\r\n)", row.body)) <= sent


@pytest.mark.parametrize("row", ROWS, ids=_named)
def test_no_word_reaches_the_upstream_that_did_not_come_back_from_judgement(row: Row) -> None:
    body = _bytes(_sent(row, change=lambda text: "judged"))
    opaque = b"".join(piece.blob or b"" for piece in row.decode().pieces)
    assert set(re.findall(rb"mark\d\d\d", body)) <= set(re.findall(rb"mark\d\d\d", opaque))


@pytest.mark.parametrize("row", ROWS, ids=_named)
def test_a_string_that_did_not_come_back_stops_the_write(row: Row) -> None:
    call = row.decode()
    stripped = tuple(replace(claim, annotations=()) for claim in call.claims)
    if not call.annotations and not any(claim.annotations for claim in call.claims):
        return
    with pytest.raises(KeyError):
        prepare(call, stripped, tags=())


@pytest.mark.parametrize("row", ROWS, ids=_named)
def test_a_write_that_is_sent_decodes_to_the_same_write(row: Row) -> None:
    sent = _sent(row)
    rendered = render(sent, BOUNDARY)
    again = replace(row, content_type=rendered.content_type, query=rendered.query, body=rendered.body)
    assert _bytes(_sent(again)) == _bytes(sent)


@pytest.mark.parametrize("row", ROWS, ids=_named)
def test_a_held_write_survives_the_quarantine(row: Row) -> None:
    sent = _sent(row)
    assert PreparedWrite.from_json(json.loads(json.dumps(sent.to_json()))) == sent


def _node_sets(prepared: PreparedWrite) -> list[str]:
    fields = [value for name, value in prepared.fields if name == "node_set"]
    entry = (prepared.document or {}).get("entry")
    given = entry.get("node_set", []) if isinstance(entry, dict) else []
    return [*fields, *([given] if isinstance(given, str) else given)]


@pytest.mark.parametrize("row", FORGING, ids=_named)
@pytest.mark.parametrize("status", [Status.ACCEPT, Status.WARN])
def test_a_client_cannot_forge_verified(row: Row, status: Status) -> None:
    call = row.decode()
    sent = _sent(row, status=status)
    carries_tags = b"VERIFIED" in row.body
    assert set(call.forged_tags) == (
        {"verified", "low_confidence", "slack"} if carries_tags and len(call.forged_tags) > 1 else set(call.forged_tags)
    )
    assert bool(call.forged_tags) == carries_tags
    allowed = {"verified", "slack", "skills", "kept_too", "verified::kept_too"}
    if status is Status.WARN:
        allowed.add("low_confidence")
    assert set(_node_sets(sent)) <= allowed
    assert "verified" in _node_sets(sent) or not row.tagged


@pytest.mark.parametrize("row", FORGING, ids=_named)
def test_no_tag_of_a_client_is_written_anywhere_but_in_the_node_sets(row: Row) -> None:
    sent = _sent(row)
    bare = replace(sent, fields=tuple(pair for pair in sent.fields if pair[0] != "node_set"))
    body = _bytes(bare)
    assert b"VERIFIED" not in body
    assert b"low confidence" not in body


@pytest.mark.parametrize("row", [row for row in ROWS if row.tagged], ids=_named)
def test_an_admitted_write_is_tagged_as_verified_and_with_its_source(row: Row) -> None:
    assert _node_sets(_sent(row))[:2] == ["verified", "slack"]


FIXED = {Codec.UPDATE, Codec.ONTOLOGY, Codec.SCHEMA, Codec.DATASET}


@pytest.mark.parametrize("row", ROWS, ids=_named)
def test_the_policys_dataset_replaces_the_clients(row: Row) -> None:
    call = row.decode()
    sent = prepare(call, call.claims, tags=(), dataset="verified_memories", annotations=call.annotations)
    values = dict(sent.fields) | dict(sent.document or {})
    if call.match.codec in FIXED:
        assert "verified_memories" not in values.values()
        return
    assert values.keys().isdisjoint({"datasetId", "dataset_id", "dataset_ids"})
    target = values.get("datasetName") or values.get("dataset_name") or values.get("datasets")
    assert target in ("verified_memories", ["verified_memories"])


@pytest.mark.parametrize("row", ROWS, ids=_named)
def test_raw_data_is_never_sent_but_for_session_turns_and_repositories(row: Row) -> None:
    call = row.decode()
    names = {name for name, _ in _sent(row).fields}
    assert ("raw_data" in names) == ((call.is_session and not row.body.startswith(b"{")) or "repository" in row.name)


def test_a_dataset_that_is_named_by_id_is_told_apart_from_one_by_name() -> None:
    by_id = {row.name: row.decode().dataset_ids for row in ROWS}
    assert by_id["remember"] == by_id["update"] == by_id["trace"] == (DATASET,)
    assert by_id["add"] == by_id["qa"] == ()
