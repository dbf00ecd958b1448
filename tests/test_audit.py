from __future__ import annotations

import json
import math
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mithril_proxy.audit import (
    GENESIS,
    WRITER_KIND,
    ChainVerifier,
    Link,
    SealedRow,
    anchor_line,
    canonical,
    export_line,
    opening,
    read_anchor,
    seal,
)
from mithril_proxy.store.rows import audit_row_of

AT = "2026-12-01T12:00:00.000000Z"


def chains(*lengths: int) -> list[SealedRow]:
    """An intact audit of one chain a length, each opened when the one before it ended."""
    rows: list[SealedRow] = []
    predecessor = GENESIS
    for ordinal, length in enumerate(lengths, 1):
        link = Link(f"wri_{ordinal}")
        after = rows[-1].digest if rows else GENESIS
        kinds = [(WRITER_KIND, opening(ordinal, predecessor, after))]
        kinds += [("decision", canonical({"number": number})) for number in range(length)]
        for kind, payload in kinds:
            columns, link = seal(link, AT, kind, f"subject {len(rows)}", payload)
            rows.append(SealedRow(id=len(rows) + 1, **columns))
        predecessor = rows[-length - 1].digest
    return rows


def verified(rows: list[SealedRow], anchors: dict[str, str] | None = None) -> ChainVerifier:
    verifier = ChainVerifier(anchors or {})
    for row in rows:
        verifier.check(row)
    verifier.finish()
    return verifier


def rewritten(rows: list[SealedRow], changed: SealedRow) -> list[SealedRow]:
    """The audit after somebody changed one row and computed everything behind it anew."""
    link = Link(rows[0].writer)
    out = []
    for row in (changed if row.id == changed.id else row for row in rows):
        columns, link = seal(link, row.at, row.kind, row.subject, row.payload)
        out.append(SealedRow(id=row.id, **columns))
    return out


def test_an_untouched_audit_is_intact() -> None:
    report = verified(chains(3, 0, 2))
    assert report.broken is None
    assert report.rows == 8
    assert list(report.heads) == ["wri_1", "wri_2", "wri_3"]
    assert list(report.open_heads) == ["wri_3"]


def test_an_empty_audit_is_intact() -> None:
    assert verified([]).broken is None


@given(
    st.integers(0, 7),
    st.sampled_from(["at", "kind", "subject", "payload", "writer", "previous", "digest"]),
    st.text(max_size=8),
)
def test_an_edit_of_any_column_of_any_row_is_found(index: int, column: str, value: str) -> None:
    rows = chains(3, 0, 2)
    change: dict[str, Any] = {column: value}
    edited = replace(rows[index], **change)
    if edited == rows[index]:
        return
    rows[index] = edited
    assert verified(rows).broken is not None


@given(st.data(), st.lists(st.integers(0, 3), min_size=1, max_size=4))
def test_a_row_that_is_taken_out_before_the_end_is_found(data: st.DataObject, lengths: list[int]) -> None:
    rows = chains(*lengths, 1)
    del rows[data.draw(st.integers(0, len(rows) - 2))]
    assert verified(rows).broken is not None


@given(st.data())
def test_two_rows_in_another_order_are_found(data: st.DataObject) -> None:
    rows = chains(3, 0, 2)
    one = data.draw(st.integers(0, len(rows) - 1))
    two = data.draw(st.integers(0, len(rows) - 1).filter(lambda place: place != one))
    rows[one], rows[two] = rows[two], rows[one]
    assert verified(rows).broken is not None


def test_a_row_put_in_between_is_found() -> None:
    rows = chains(3)
    columns, _ = seal(Link("wri_1", 2, rows[1].digest), AT, "decision", "forged", "{}")
    assert "row 9 (writer wri_1, sequence 3)" not in str(verified(rows).broken)
    broken = verified([*rows[:2], SealedRow(id=9, **columns), *rows[2:]]).broken
    assert broken == "row 3 (writer wri_1, sequence 3): sequence 4 was due: rows are missing, doubled or out of order"


def test_a_whole_chain_that_is_taken_out_is_found() -> None:
    rows = [row for row in chains(2, 2, 2) if row.writer != "wri_2"]
    assert "a chain, or the end of one, is missing" in str(verified(rows).broken)


def test_the_end_of_a_chain_that_is_cut_off_is_missed_by_the_next_chain() -> None:
    rows = chains(3, 1)
    del rows[3]
    assert "a chain, or the end of one, is missing" in str(verified(rows).broken)


def test_a_cut_tail_is_found_by_an_anchor_and_by_nothing_else() -> None:
    rows = chains(4)
    anchors = verified(rows).open_heads
    assert verified(rows[:-1]).broken is None
    assert "anchored row" in str(verified(rows[:-1], anchors).broken)
    assert "anchored row" in str(verified([], anchors).broken)


def test_a_chain_written_anew_is_found_by_an_anchor_and_by_nothing_else() -> None:
    rows = chains(4)
    anchors = verified(rows).open_heads
    forged = rewritten(rows, replace(rows[2], payload=canonical({"number": 99})))
    assert verified(forged).broken is None
    assert "anchored row" in str(verified(forged, anchors).broken)


def test_an_anchor_holds_while_the_audit_grows() -> None:
    anchors = verified(chains(4)).open_heads
    assert verified(chains(4, 3), anchors).broken is None


def test_a_chain_begins_with_its_opening_row_and_has_only_one() -> None:
    columns, link = seal(Link("wri_1"), AT, "decision", "dec_1", "{}")
    assert "begins with" in str(verified([SealedRow(id=1, **columns)]).broken)
    rows = chains(1)
    columns, _ = seal(Link("wri_1", 2, rows[-1].digest), AT, WRITER_KIND, "wri_1", opening(2, GENESIS, GENESIS))
    assert "begins with" in str(verified([*rows, SealedRow(id=3, **columns)]).broken)
    assert link.sequence == 1


def test_only_the_first_broken_row_is_named() -> None:
    rows = chains(5)
    rows[2] = replace(rows[2], subject="forged")
    rows[4] = replace(rows[4], subject="forged")
    report = verified(rows, {"wri_1": rows[-1].digest})
    assert report.broken == "row 3 (writer wri_1, sequence 3): its digest does not match its content"
    assert report.rows == 6


@given(st.dictionaries(st.text(), st.one_of(st.text(), st.floats(allow_nan=False, allow_infinity=False), st.none())))
def test_a_payload_has_one_text_that_reads_back_as_it_was(payload: dict[str, Any]) -> None:
    text = canonical(payload)
    assert json.loads(text) == payload
    assert canonical(json.loads(text)) == text


def test_a_payload_with_half_a_character_is_escaped() -> None:
    assert canonical({"path": "/\udcff"}) == '{"path":"/\\udcff"}'


def test_a_payload_that_json_cannot_hold_is_refused() -> None:
    with pytest.raises(TypeError):
        canonical({"claim": object()})
    with pytest.raises(ValueError, match="Out of range"):
        canonical({"score": math.nan, "path": "\ud800"})


def test_an_anchor_is_one_line_that_reads_back() -> None:
    line = anchor_line(AT, 12, {"wri_1": "ab" * 32})
    assert "\n" not in line
    assert read_anchor(line) == {"wri_1": "ab" * 32}


@pytest.mark.parametrize("line", ["", "[]", "{}", '{"mithril_anchor":2,"heads":{}}', '{"mithril_anchor":1,"heads":[]}'])
def test_what_is_no_anchor_is_refused(line: str) -> None:
    with pytest.raises(ValueError, match=r"anchor|Expecting"):
        read_anchor(line)


def test_an_exported_row_has_the_names_of_ocsf_and_its_chain() -> None:
    row = chains(1)[1]
    exported = json.loads(export_line(audit_row_of(row)))
    assert exported["class_uid"] == 6003
    assert exported["time"] == 1_796_126_400_000
    assert exported["metadata"]["product"]["name"] == "Mithril"
    assert exported["metadata"]["uid"] == "wri_1:2"
    assert exported["activity_name"] == "decision"
    assert exported["severity_id"] == 1
    assert exported["unmapped"]["payload"] == {"number": 0}
    assert exported["unmapped"]["digest"] == row.digest


@pytest.mark.parametrize(
    ("kind", "payload", "severity_id"),
    [
        ("decision", {"status": "accept"}, 1),
        ("decision", {"status": "review"}, 2),
        ("decision", {"status": "quarantine"}, 3),
        ("decision", {"status": "reject"}, 4),
        ("refused", {}, 3),
        ("sign-in", {}, 1),
    ],
)
def test_an_exported_row_is_as_severe_as_what_it_tells(kind: str, payload: dict[str, Any], severity_id: int) -> None:
    columns, _ = seal(Link("wri_1"), AT, kind, "subject", canonical(payload))
    assert json.loads(export_line(audit_row_of(SealedRow(id=1, **columns))))["severity_id"] == severity_id
