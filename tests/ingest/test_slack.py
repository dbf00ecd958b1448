"""What a Slack export gives: the messages, whoever said them, wherever they lie; and nothing outside it."""

from __future__ import annotations

import io
import zipfile
from datetime import timedelta
from pathlib import Path

import pytest

from mithril_proxy.errors import ConfigurationError
from mithril_proxy.ingest import archive
from mithril_proxy.ingest.archive import Folder, UnreadableMember, Zip, opened
from mithril_proxy.ingest.records import BadLine, Reading, Record, Skipped, moment_of
from mithril_proxy.ingest.slack import SlackExport, open_export
from mithril_proxy.ingest.slack_text import plain_text
from tests.ingest.exports import START, export_files, message, write_folder, write_zip

DAY = "general/2026-11-02.json"


def read(folder: Path, *messages: object, **files: object) -> list[Reading]:
    """The readings of one day of #general."""
    path = write_folder(folder, export_files({DAY: list(messages), **files}))
    with opened(path) as found:
        return list(open_export(found).readings())


def said(readings: list[Reading]) -> list[str]:
    return [reading.text for reading in readings if isinstance(reading, Record)]


def test_a_message_is_a_record_with_its_author_its_channel_and_its_time(tmp_path: Path) -> None:
    thread = f"{START.timestamp():.6f}"
    (reading,) = read(tmp_path, message(START + timedelta(minutes=5), "We moved.", "U02BOB", thread_ts=thread))
    assert isinstance(reading, Record)
    assert (reading.text, reading.origin, reading.line) == ("We moved.", "#general 2026-11-02.json", 1)
    assert (reading.channel, reading.author_id, reading.claimed_at) == (
        "general",
        "U02BOB",
        START + timedelta(minutes=5),
    )
    place = reading.metadata["slack"]
    assert place == {"channel": "general", "author": "Bob", "ts": f"{START.timestamp() + 300:.6f}", "thread": thread}
    assert reading.filename == f"slack_Cgen_{START.timestamp() + 300:.6f}.txt"


@pytest.mark.parametrize(
    ("markup", "plain"),
    [
        ("<@U01ADA> moved it", "@Ada moved it"),
        ("ask <@U99|mia> or <@U98>", "ask @mia or @U98"),
        ("see <#Cgen|old-name> and <#C0|other>", "see #general and #other"),
        ("<!here> lunch, <!subteam^S1|@kitchen>", "@here lunch, @kitchen"),
        ("<https://example.org/a?b=1&amp;c=2|the page>", "the page (https://example.org/a?b=1&c=2)"),
        ("<https://example.org> <mailto:a@example.org|a@example.org>", "https://example.org a@example.org"),
        ("1 &lt; 2 &amp; 3 &gt; 2", "1 < 2 & 3 > 2"),
    ],
)
def test_markup_reads_as_it_does_in_slack(markup: str, plain: str) -> None:
    assert plain_text(markup, {"U01ADA": "Ada"}, {"Cgen": "general"}) == plain


def test_attachments_and_files_are_part_of_what_is_said(tmp_path: Path) -> None:
    attached = [{"title": "Build 7", "text": "passed", "fallback": "x"}, {"fallback": "only this"}, "odd"]
    files = [{"title": "plan.pdf"}, {"name": "b.png"}, {"id": "F1"}, 7]
    readings = read(tmp_path, message(START, "Look:", attachments=attached, files=files))
    assert said(readings) == ["Look:\nBuild 7\npassed\nonly this\n[file: plan.pdf]\n[file: b.png]"]


def test_joins_leaves_and_empty_messages_say_nothing(tmp_path: Path) -> None:
    readings = read(
        tmp_path,
        message(START, "<@U01ADA> has joined", subtype="channel_join"),
        message(START, "", subtype="bot_message", username="ci"),
        {"type": "reaction", "ts": "1", "text": ""},
    )
    assert [type(reading) for reading in readings] == [Skipped] * 3


def test_bots_and_people_who_left_keep_their_names(tmp_path: Path) -> None:
    readings = read(
        tmp_path,
        message(START, "built", "", subtype="bot_message", bot_id="B1", username="ci"),
        message(START, "bye", "U77", user_profile={"real_name": "Zoe"}),
        message(START, "who", "U78"),
    )
    places = [reading.metadata["slack"] for reading in readings if isinstance(reading, Record)]
    assert [place["author"] for place in places if isinstance(place, dict)] == ["ci", "Zoe", "U78"]


def test_bad_messages_are_named_by_file_and_number_and_hide_no_good_one(tmp_path: Path) -> None:
    bad = ["text", {"ts": "1", "text": 7}, {"text": "no time"}, {"ts": "never", "text": "x"}, {"ts": "1"}]
    readings = read(tmp_path, *bad, message(START, "fine"), **{"random/2026-11-02.json": {"not": "a list"}})
    lines = [(line.origin, line.line, line.reason) for line in readings if isinstance(line, BadLine)]
    assert [(origin, number) for origin, number, _ in lines[:5]] == [
        ("#general 2026-11-02.json", n) for n in range(1, 6)
    ]
    assert lines[5] == ("#random 2026-11-02.json", 0, "is no list of messages")
    assert said(readings) == ["fine"]


def test_a_day_that_is_no_json_is_one_bad_line(tmp_path: Path) -> None:
    path = write_folder(tmp_path, export_files({DAY: b"[{", "releases/2026-11-02.json": [message(START, "fine")]}))
    with opened(path) as found:
        readings = list(open_export(found).readings())
    assert readings[0] == BadLine("#general 2026-11-02.json", 0, "is not valid JSON")
    assert said(readings) == ["fine"]


def test_a_zip_reads_as_the_folder_it_was_made_of_also_one_level_down(tmp_path: Path) -> None:
    files = export_files({DAY: [message(START, "one")], "random/2026-11-03.json": [message(START, "two")]})
    folder = write_folder(tmp_path / "folder", files)
    plain, nested = write_zip(tmp_path / "a.zip", files), write_zip(tmp_path / "b.zip", files, below="Team export/")
    answers = []
    for path in (folder, plain, nested):
        with opened(path) as found:
            answers.append(list(open_export(found).readings()))
    assert answers[0] == answers[1] == answers[2]
    assert said(answers[0]) == ["one", "two"]


def test_direct_messages_stay_out_unless_they_are_asked_for(tmp_path: Path) -> None:
    files = export_files({DAY: [message(START, "public")], "D1/2026-11-02.json": [message(START, "private")]})
    files |= {"dms.json": [{"id": "D1"}], "loose/2026-11-02.json": [message(START, "unlisted")]}
    with opened(write_folder(tmp_path, files)) as found:
        assert said(list(open_export(found).readings())) == ["public", "unlisted"]
        assert said(list(open_export(found, private=True).readings())) == ["private", "public", "unlisted"]
        assert said(list(open_export(found).readings(frozenset({"loose"})))) == ["unlisted"]


def test_what_is_no_export_is_said(tmp_path: Path) -> None:
    (tmp_path / "note.txt").write_text("x")
    with opened(tmp_path) as found, pytest.raises(ConfigurationError, match=r"no channels\.json"):
        open_export(found)
    with pytest.raises(ConfigurationError, match="neither a folder nor a zip"), opened(tmp_path / "note.txt"):
        pass
    with (
        opened(write_folder(tmp_path / "b", {"channels.json": b"{", DAY: []})) as found,
        pytest.raises(ConfigurationError, match="not valid JSON"),
    ):
        open_export(found)


@pytest.mark.parametrize("name", ["../outside.json", "/etc/passwd", "a/../../b.json", "..\\windows.json", "C:/x.json"])
def test_a_member_that_leads_out_of_the_zip_is_refused(tmp_path: Path, name: str) -> None:
    path = write_zip(tmp_path / "e.zip", {"channels.json": [], name: b"x"})
    with opened(path) as found, pytest.raises(ConfigurationError, match="leads out"):
        open_export(found)


def test_a_bomb_is_cut_off_by_what_comes_out_of_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = write_zip(tmp_path / "e.zip", {"channels.json": b"0" * 5_000_000})
    with zipfile.ZipFile(path) as file, pytest.raises(ConfigurationError, match="unpacks to more"):
        Zip(file, left_bytes=1000).read("channels.json")
    monkeypatch.setattr(archive, "MAX_MEMBER_BYTES", 1000)
    with opened(path) as found, pytest.raises(UnreadableMember, match="more than 1000 bytes"):
        found.read("channels.json")
    big = tmp_path / "big.json"
    big.write_bytes(b"0" * 2000)
    with pytest.raises(UnreadableMember, match="longer than 1000 bytes"):
        Folder(tmp_path).read("big.json")
    monkeypatch.setattr(archive, "MAX_MEMBERS", 0)
    with opened(path) as found, pytest.raises(ConfigurationError, match="1 files, at most 0"):
        found.names()


def test_damage_and_missing_files_are_reasons_and_no_crash(tmp_path: Path) -> None:
    whole = io.BytesIO()
    with zipfile.ZipFile(whole, "w", zipfile.ZIP_STORED) as file:
        file.writestr("channels.json", "[]" * 50)
    path = tmp_path / "e.zip"
    path.write_bytes(whole.getvalue().replace(b"[][]", b"[}[]"))
    with opened(path) as found, pytest.raises(UnreadableMember, match="damaged"):
        found.read("channels.json")
    with pytest.raises(UnreadableMember, match="cannot be read"):
        Folder(tmp_path).read("none.json")


def test_links_are_not_followed(tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    write_folder(outside, {"secret.json": []})
    folder = write_folder(tmp_path / "export", {"channels.json": []})
    (folder / "linked").symlink_to(outside)
    (folder / "link.json").symlink_to(outside / "secret.json")
    assert Folder(folder).names() == ("channels.json",)
    member = zipfile.ZipInfo("link.json")
    member.external_attr = 0o120777 << 16
    with zipfile.ZipFile(tmp_path / "e.zip", "w") as file:
        file.writestr(member, "/etc/passwd")
        file.writestr("channels.json", "[]")
    with opened(tmp_path / "e.zip") as found:
        assert found.names() == ("channels.json",)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ("1793606400.000100", "2026-11-02"),
        (1793606400, "2026-11-02"),
        ("2026-11-02", "2026-11-02"),
        ("2026-11-02T23:00:00+00:00", "2026-11-02"),
        ("soon", None),
        (True, None),
        (None, None),
        ("9" * 30, None),
    ],
)
def test_a_time_is_read_in_the_forms_that_exports_have(value: object, text: str | None) -> None:
    moment = moment_of(value)
    assert (moment and f"{moment:%Y-%m-%d}") == text
    assert moment is None or moment.tzinfo is not None


def test_the_readings_of_an_export_can_be_read_twice(tmp_path: Path) -> None:
    with opened(write_folder(tmp_path, export_files({DAY: [message(START, "x")]}))) as found:
        export: SlackExport = open_export(found)
        assert list(export.readings()) == list(export.readings())
