"""What files give: whole texts, lines and mails; what cannot be read is named by its line."""

from __future__ import annotations

import os
from datetime import UTC, datetime
from pathlib import Path

import pytest

from mithril_proxy.errors import ConfigurationError
from mithril_proxy.ingest import files
from mithril_proxy.ingest.files import file_readings, find_files
from mithril_proxy.ingest.records import BadLine, Reading, Record, Skipped
from tests.ingest.exports import lines

AT = datetime(2026, 11, 2, 8, 0, tzinfo=UTC)


def read(folder: Path, name: str, content: bytes) -> list[Reading]:
    path = folder / name
    path.write_bytes(content)
    os.utime(path, (AT.timestamp(), AT.timestamp()))
    return list(file_readings(find_files([path])))


def records(readings: list[Reading]) -> list[tuple[str, int]]:
    return [(reading.text, reading.line) for reading in readings if isinstance(reading, Record)]


def bad(readings: list[Reading]) -> list[tuple[int, str]]:
    return [(reading.line, reading.reason) for reading in readings if isinstance(reading, BadLine)]


@pytest.mark.parametrize("name", ["a.txt", "a.MD"])
def test_a_text_is_one_record_as_old_as_its_file(tmp_path: Path, name: str) -> None:
    (reading,) = read(tmp_path, name, "Grüße\n".encode())
    assert isinstance(reading, Record)
    assert (reading.text, reading.claimed_at, reading.filename) == ("Grüße\n", AT, name)


def test_an_empty_text_says_nothing_and_bytes_are_a_bad_line(tmp_path: Path) -> None:
    assert read(tmp_path, "a.txt", b" \n") == [Skipped("a.txt", 1)]
    assert bad(read(tmp_path, "b.txt", bytes(range(256)))) == [(0, "is not text")]


def test_jsonl_takes_strings_and_objects_and_names_bad_lines(tmp_path: Path) -> None:
    readings = read(
        tmp_path,
        "facts.jsonl",
        lines(
            {"text": "one", "created_at": "2026-11-02T08:00:00Z"},
            "two",
            b"{broken",
            b"",
            {"content": "five", "timestamp": 1793606400},
            ["no", "object"],
            {"title": "no text"},
            {"text": "  "},
            {"body": "nine", "date": "whenever"},
        ),
    )
    assert records(readings) == [("one", 1), ("two", 2), ("five", 5), ("nine", 9)]
    assert [line for line, _ in bad(readings)] == [3, 6, 7]
    assert [reading.claimed_at and reading.claimed_at.year for reading in readings if isinstance(reading, Record)] == [
        2026, None, 2026, None,
    ]  # fmt: skip


def test_csv_takes_its_column_of_text_or_the_whole_row(tmp_path: Path) -> None:
    with_text = read(tmp_path, "a.csv", b'id,Text,created_at\n1,"one,\ntwo",2026-11-02\n2,three,\n3,,\n')
    assert [text for text, _ in records(with_text)] == ["one,\ntwo", "three", "id: 3"]
    rows = read(tmp_path, "b.csv", b"city,opens\nLisbon,9\nPorto,10,extra\n")
    assert records(rows) == [("city: Lisbon\nopens: 9", 2)]
    assert bad(rows) == [(3, "has more cells than the header")]
    assert bad(read(tmp_path, "c.csv", b'a,b\n"x"y,z\n'))[0][0] == 2


def test_mails_are_records_with_subject_body_and_date(tmp_path: Path) -> None:
    box = (
        b"From ada@example.org Mon Nov  2 08:00:00 2026\n"
        b"From: Ada <ada@example.org>\nSubject: =?utf-8?q?Gr=C3=BC=C3=9Fe?=\nDate: Mon, 02 Nov 2026 08:00:00 +0000\n\n"
        b"The office moved.\n\n"
        b"From bob@example.org Mon Nov  2 09:00:00 2026\n"
        b"From: bob@example.org\nContent-Type: text/html\nDate: never\n\n"
        b"<html><head><title>t</title></head><style>p{}</style><p>One &amp; <b>two</b></p>"
        b"<script>x()</script></html>\n\n"
        b"From c@example.org Mon Nov  2 09:00:00 2026\nSubject:\n\n\n"
    )
    readings = read(tmp_path, "team.mbox", box)
    assert records(readings) == [("Grüße\n\nThe office moved.", 1), ("One &\ntwo", 2)]
    first, second, third = readings
    assert isinstance(first, Record)
    assert isinstance(second, Record)
    assert (first.claimed_at, second.claimed_at) == (AT, None)
    assert (first.author_id, first.metadata["from"]) == ("", "ada@example.org")
    assert third == Skipped("team.mbox", 3)


def test_a_mail_in_an_unknown_charset_is_a_bad_line(tmp_path: Path) -> None:
    box = b"From a Mon Nov  2 08:00:00 2026\nContent-Type: text/plain; charset=no-such\n\nx\n"
    ((line, reason),) = bad(read(tmp_path, "a.mbox", box))
    assert line == 1
    assert "no mail that can be read" in reason


def test_a_folder_gives_its_known_files_and_each_a_name_of_its_own(tmp_path: Path) -> None:
    for name in ("a/note.txt", "b/note.txt", "b/image.png", "c.md"):
        path = tmp_path / "docs" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(name)
    readings = list(file_readings(find_files([tmp_path / "docs"])))
    assert [reading.filename for reading in readings if isinstance(reading, Record)] == [
        "docs__a__note.txt", "docs__b__note.txt", "docs__c.md",
    ]  # fmt: skip


def test_unknown_kinds_are_said_before_anything_is_read(tmp_path: Path) -> None:
    (tmp_path / "a.pdf").write_bytes(b"%PDF")
    with pytest.raises(ConfigurationError, match="unknown kind"):
        find_files([tmp_path / "a.pdf"])
    with pytest.raises(ConfigurationError, match="no file of a known kind"):
        find_files([tmp_path])


def test_files_that_cannot_be_read_or_are_too_long_are_bad_lines(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "a.txt"
    path.write_text("long text")
    places = find_files([path])
    monkeypatch.setattr(files, "MAX_MEMBER_BYTES", 4)
    assert bad(list(file_readings(places))) == [(0, "is longer than 4 bytes; split it")]
    path.unlink()
    assert bad(list(file_readings(places)))[0][1].startswith("cannot be read")
    assert bad(list(file_readings([files.Place(tmp_path / "no.mbox", "no.mbox")])))[0][1].startswith("cannot be read")
