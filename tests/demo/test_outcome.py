from __future__ import annotations

import json
import sqlite3
from pathlib import Path

from mithril_proxy.demo.outcome import Decided, decisions, files_that_hold
from mithril_proxy.types import Status

COLUMNS = (
    "id text, at text, source text, status text, score real, source_reputation real, corroboration real,"
    " freshness real, contradiction real, content_danger real, reasons text"
)


def database(folder: Path) -> Path:
    path = folder / "m.db"
    with sqlite3.connect(path) as connection:
        connection.execute(f"create table decisions ({COLUMNS})")
        connection.execute("create table reputation_events (decision_id text, after real)")
        rows = [
            ("d2", "2026-01-02", "slack", "review", 0.55, 0.6, 0.0, 1.0, 0.0, 0.0, json.dumps([])),
            ("d1", "2026-01-01", "docs", "reject", 0.0, 0.8, 0.0, 1.0, 0.9, 0.0, json.dumps(["contradiction.number"])),
        ]
        connection.executemany("insert into decisions values (?,?,?,?,?,?,?,?,?,?,?)", rows)
        connection.execute("insert into reputation_events values ('d1', 0.624)")
    connection.close()
    return path


def test_decisions_come_oldest_first_with_what_they_did_to_the_reputation(tmp_path: Path) -> None:
    first, second = decisions(database(tmp_path))
    assert first == Decided("d1", "docs", Status.REJECT, 0.0, 0.8, 0.624, 0.0, 1.0, 0.9, 0.0, ("contradiction.number",))
    assert (second.id, second.reputation_after) == ("d2", None)


def test_files_are_searched_byte_for_byte_in_every_folder(tmp_path: Path) -> None:
    (tmp_path / "deep").mkdir()
    (tmp_path / "deep" / "found.bin").write_bytes(b"\x00\xffneedle\x00")
    (tmp_path / "other.txt").write_text("nee dle")
    (tmp_path / "dangling").symlink_to(tmp_path / "nowhere")
    assert files_that_hold(tmp_path, b"needle") == [tmp_path / "deep" / "found.bin"]
