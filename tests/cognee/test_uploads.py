"""Text that can be judged, and bytes that cannot."""

from __future__ import annotations

import hashlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mithril_proxy.cognee.forms import Upload
from mithril_proxy.cognee.locations import refuse_location
from mithril_proxy.cognee.uploads import NAMED_TEXT, decode_text, read_upload, renamed, text_name
from mithril_proxy.errors import BodyTooLarge, MalformedBody, Refused, RequestError

POLISH = "Zażółć gęślą jaźń, a potem napisz jeszcze kilka zdań, żeby było z czego zgadywać kodowanie."
FRENCH = "Le café où l’été a commencé, déjà vu à Paris."
RUSSIAN = "Сервер Атлас слушает порт 8443, а очередь хранит сообщения четырнадцать дней подряд."


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-32"])
def test_marked_unicode_is_read_exactly(encoding: str) -> None:
    assert decode_text(POLISH.encode(encoding)) == POLISH


@pytest.mark.parametrize(("text", "encoding"), [(RUSSIAN, "cp1251"), (POLISH, "cp1250"), (FRENCH, "cp1252")])
def test_an_older_charset_is_detected(text: str, encoding: str) -> None:
    assert decode_text(text.encode(encoding)) == text


@pytest.mark.parametrize(
    "content",
    [
        b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR",
        b"PK\x03\x04\x14\0",
        b"a\0b",
        b"\x7fELF\x02\x01",
        b"\xff\xd8\xff\xe0\0\x10JFIF",
        b"\xff\xfe\x00",
    ],
)
def test_binary_content_is_opaque(content: bytes) -> None:
    assert decode_text(content) is None


def _read(filename: str, content: bytes = b"Plain words.", media_type: str = "text/plain") -> tuple[str, str | None]:
    reading = read_upload(Upload(filename, media_type, content), "data[0]", 1000)
    return reading.filename, reading.text


@pytest.mark.parametrize(
    "name", ["a.txt", "a.md", "a.csv", "a.json", "a.html", "a.py", "notes", "a.log", "A.YAML", "é.txt"]
)
def test_a_text_file_keeps_its_name(name: str) -> None:
    assert _read(name) == (name, "Plain words.")


@pytest.mark.parametrize("name", ["a.pdf", "a.DOCX", "a.png", "a.tar.gz", "a.mp3", "a.rtf"])
def test_a_file_that_cognee_would_not_open_as_text_is_opaque_whatever_it_holds(name: str) -> None:
    assert _read(name) == (name, None)


@pytest.mark.parametrize("beginning", ["%PDF-1.7", "BMW builds cars", "GIF89a", "MM", "{\\rtf1", "PK and more"])
def test_text_that_cognee_would_take_for_something_else_is_sent_under_a_text_name(beginning: str) -> None:
    assert _read("notes", beginning.encode()) == ("notes.txt", beginning)
    assert _read("notes.html", beginning.encode()) == ("notes.html.txt", beginning)
    assert _read("notes.md", beginning.encode()) == ("notes.md", beginning)


@pytest.mark.parametrize(
    ("given_name", "name"),
    [
        ("../../etc/passwd", "passwd"),
        ("C:\\docs\\a.txt", "a.txt"),
        ('a"b.txt', "a'b.txt"),
        ("..", text_name("Plain words.")),
    ],
)
def test_a_name_is_reduced_to_its_last_component(given_name: str, name: str) -> None:
    assert _read(given_name)[0] == name


def test_a_file_without_a_name_is_named_after_its_content() -> None:
    assert _read("")[0] == "text_" + hashlib.md5(b"Plain words.").hexdigest() + ".txt"
    assert _read("", b"\0")[0] == "file_" + hashlib.md5(b"\0").hexdigest() + ".bin"


@pytest.mark.parametrize("name", ["a\nb", "a\rb", "a\0b", "a\x7fb", "x" * 256])
def test_a_name_that_no_header_can_hold_is_refused(name: str) -> None:
    with pytest.raises(MalformedBody, match=r"data\[0\]: its filename"):
        _read(name)


def test_more_text_than_is_judged_is_too_large() -> None:
    assert _read("a.txt", b"x" * 1000)[1] is not None
    with pytest.raises(BodyTooLarge, match=r"data\[0\]"):
        _read("a.txt", b"x" * 1001)


@pytest.mark.parametrize(
    ("declared", "kept"),
    [
        ("text/Markdown; charset=x", "text/markdown"),
        ("", "text/plain"),
        ("nonsense", "text/plain"),
        ("a/b\r\nX: y", "text/plain"),
    ],
)
def test_a_media_type_is_kept_only_when_it_is_one(declared: str, kept: str) -> None:
    assert read_upload(Upload("a", declared, b""), "data[0]", 1000).media_type == kept


def test_changed_content_gets_a_name_that_no_other_content_has() -> None:
    assert renamed("a.csv", "one") == text_name("one", ".csv") != renamed("a.csv", "two")
    assert renamed("a.py", "one") == text_name("one")


@given(st.text(max_size=40), st.binary(max_size=60))
def test_no_upload_raises_anything_but_a_request_error(name: str, content: bytes) -> None:
    try:
        reading = read_upload(Upload(name, "", content), "data[0]", 1000)
    except RequestError:
        return
    assert reading.filename
    assert '"' not in reading.filename
    assert "/" not in reading.filename


@given(st.text(max_size=60))
def test_utf_8_is_never_guessed(text: str) -> None:
    decoded = decode_text(text.encode())
    assert decoded is None or decoded == text.removeprefix("\ufeff")


def test_names_that_mean_text_are_lower_case_suffixes() -> None:
    assert all(suffix.startswith(".") and suffix.islower() for suffix in NAMED_TEXT)


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("/etc/hostname", "a path on the server"),
        ("~/notes.txt", "a path"),
        ("./a.txt", "a path"),
        ("../a", "a path"),
        ("C:\\data\\a.txt", "a path"),
        ("\\\\host\\share", "a path"),
        (" /etc/passwd\n", "a path"),
        ("file:///etc/passwd", "a file"),
        ("FILE:/x", "a file"),
        ("s3://bucket/key", "an S3 object"),
        ("https://example.org/page", "an address"),
        ("HTTP://10.0.0.1/", "an address"),
        ("https://example.org/owner/repo.git", "a git repository"),
        ("git@example.org:a/b.git", "a git repository"),
        ("ssh://example.org/a", "a git repository"),
        ("git+https://example.org/a", "a git repository"),
        ("postgresql://u@h/db", "a database"),
        ("mysql+pymysql://u@h/db", "a database"),
        ("sqlite:///a.db", "a database"),
        ("mongodb://h", "a database"),
    ],
)
def test_a_string_that_cognee_would_follow_is_refused_with_the_way_out(text: str, named: str) -> None:
    with pytest.raises(Refused, match=rf"raw_data\[0\]: points at {named}.*under `data`") as caught:
        refuse_location(text, "raw_data[0]")
    assert caught.value.code == "location_refused"


@pytest.mark.parametrize(
    "text",
    [
        "/remember to call Bob",
        "The config is in /etc/hostname.",
        "https://example.org/page is down",
        "file: see the cabinet",
        "notes.txt",
        "and/or",
        "1/2",
        "",
        "Read s3://bucket/key first",
        "http",
        "C: is the drive",
    ],
)
def test_words_about_a_place_are_words(text: str) -> None:
    refuse_location(text, "raw_data[0]")
