from __future__ import annotations

import base64
import codecs

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mithril_proxy.judge.canonical import MAX_SENTENCE_CHARS, Canonical, plain_text, sentences, windows
from mithril_proxy.judge.encoded import MAX_DECODED_CHARS, MAX_DEPTH, decoded_texts
from mithril_proxy.judge.invisible import hidden_text, shown_text, strip_invisible
from mithril_proxy.judge.lookalikes import fold_lookalikes, undo_leet, unmix_scripts

PLAIN = "please water the garden tomorrow morning"
WORDS = frozenset(["please", "all", "water", "will", "garden", "pile"])


def _views(text: str) -> dict[str, str]:
    return {view.kind: view.text for view in Canonical(WORDS.__contains__).views(text)}


@pytest.mark.parametrize(
    ("kind", "encoded"),
    [
        ("base64", base64.b64encode(PLAIN.encode()).decode()),
        ("base64", base64.urlsafe_b64encode(PLAIN.encode()).decode().rstrip("=")),
        ("base32", base64.b32encode(PLAIN.encode()).decode()),
        ("hex", PLAIN.encode().hex()),
        ("hex", PLAIN.encode().hex(" ")),
        ("hex-escape", "".join(f"\\x{byte:02x}" for byte in PLAIN.encode())),
        ("percent", "".join(f"%{byte:02x}" for byte in PLAIN.encode())),
        ("binary", " ".join(f"{byte:08b}" for byte in PLAIN.encode())),
        ("unicode-escape", "".join(f"\\u{ord(character):04x}" for character in PLAIN)),
        ("html", "".join(f"&#{ord(character)};" for character in PLAIN)),
        ("rot13", codecs.encode(PLAIN, "rot13")),
        ("reversed", "the garden and all you water"[::-1]),
    ],
)
def test_an_encoded_text_is_judged_as_it_was_meant_to_read(kind: str, encoded: str) -> None:
    expected = PLAIN if kind != "reversed" else "the garden and all you water"
    assert _views(encoded)[kind] == expected


def test_morse_is_read() -> None:
    assert _views(".-- .- - . .-. / - .... . / -.-- .- .-. -.. / -. --- .--")["morse"] == "water the yard now"


def test_an_encoding_inside_another_is_read_and_no_deeper_than_the_limit() -> None:
    encoded = PLAIN.encode()
    for _ in range(MAX_DEPTH):
        encoded = base64.b64encode(encoded)
        assert PLAIN in [text for _, text in decoded_texts(encoded.decode())]
    assert PLAIN not in [text for _, text in decoded_texts(base64.b64encode(encoded).decode())]


def test_a_long_word_before_an_encoded_text_does_not_hide_it() -> None:
    encoded = base64.b64encode(PLAIN.encode()).decode()
    assert PLAIN in _views(f"incomprehensibilities {encoded}").get("base64", "")


@pytest.mark.parametrize(
    ("text", "unmixed"),
    [
        ("wаter the gаrden", "water the garden"),
        ("the сору of the garden", "the copy of the garden"),
        ("Вoдa и сад", "Вода и сад"),
        ("сор и роса", "сор и роса"),
        ("trước đó", "trước đó"),
    ],
)
def test_words_that_mix_alphabets_are_written_in_one_and_foreign_prose_is_left_alone(text: str, unmixed: str) -> None:
    assert unmix_scripts(text) == unmixed


def test_letters_without_a_tag_character_stay_in_the_hidden_text() -> None:
    assert shown_text("".join(chr(0xE0000 + ord(c)) if c.isascii() else c for c in "señor")) == "señor"
    assert shown_text("señor") == ""


@pytest.mark.parametrize(
    "text",
    [
        "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
        "3f2b8c1d-77aa-4b1e-9a53-0c8f1e2d3a4b",
        "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk",
        "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA",
        "Δv is 3.2 km/s, the pitch 5 μm",
    ],
)
def test_hashes_ids_images_and_units_decode_to_nothing(text: str) -> None:
    assert all(set(kind.split("+")) == {"rot13"} for kind, _ in decoded_texts(text))


def test_decoded_text_is_bounded() -> None:
    huge = base64.b64encode(b"word " * MAX_DECODED_CHARS).decode()
    assert sum(len(text) for _, text in decoded_texts(huge)) <= MAX_DECODED_CHARS


def test_a_lone_surrogate_escape_is_read_as_a_space() -> None:
    assert dict(decoded_texts("\\ud800 and more"))["unicode-escape"] == "  and more"


def test_zero_width_and_bidirectional_controls_are_left_out() -> None:
    assert strip_invisible("\u200bwa\u202eter\u2069\ufeff") == "water"


def test_tag_characters_are_read() -> None:
    assert hidden_text("Note." + "".join(chr(0xE0000 + ord(character)) for character in "water")) == "water"


def test_bytes_in_variation_selectors_are_read() -> None:
    carried = "".join(chr(0xE0100 + byte - 16) for byte in b"water")
    assert hidden_text("a" + carried) == "water"


SCOTTISH_FLAG = "🏴" + "".join(chr(0xE0000 + ord(character)) for character in "gbsct") + chr(0xE007F)


@pytest.mark.parametrize("text", ["👨‍👩‍👧‍👦 picnic", SCOTTISH_FLAG, "❤️", "مرحبا", "plain"])
def test_emoji_and_right_to_left_prose_hide_nothing(text: str) -> None:
    assert hidden_text(text) == ""


@pytest.mark.parametrize(
    ("text", "folded"),
    [("wаter", "water"), ("ｗａｔｅｒ", "water"), ("wäter", "water"), ("ᴡᴀᴛᴇʀ", "water"), ("water", "water")],
)
def test_lookalike_letters_fold_to_ascii(text: str, folded: str) -> None:
    assert fold_lookalikes(plain_text(text)) == folded


@pytest.mark.parametrize(
    ("text", "read"),
    [
        ("pl3as3 wat3r a11 garden", "please water all garden"),
        ("w1ll p1le!", "will pile!"),
        ("2nd place at 5pm in 2024", "2nd place at 5pm in 2024"),
        ("w4t3r", "water"),
    ],
)
def test_leet_is_read_by_the_words_it_makes(text: str, read: str) -> None:
    assert undo_leet(text, WORDS.__contains__) == read


def test_one_leet_word_in_a_long_text_is_a_name() -> None:
    text = "the model r2d2x " + "stands in the hall " * 10
    assert undo_leet(text, WORDS.__contains__) == text


def test_letters_spelled_apart_are_put_together() -> None:
    assert _views("w a t e r i n g")["apart"] == "watering"


def test_white_space_is_one_space() -> None:
    assert plain_text(" water\n\n the\tgarden ") == "water the garden"


def test_windows_overlap_so_that_neighbours_are_never_parted() -> None:
    assert windows("One. Two. Three.") == ("One. Two.", "Two. Three.")
    assert windows("One.") == ("One.",)
    assert windows("") == ("",)


def test_a_text_without_punctuation_is_cut() -> None:
    pieces = sentences("word " * 400)
    assert all(0 < len(piece) <= MAX_SENTENCE_CHARS for piece in pieces)
    assert sentences("x" * (MAX_SENTENCE_CHARS + 1)) == ("x" * MAX_SENTENCE_CHARS, "x")


@given(st.text(max_size=300))
def test_any_text_has_a_plain_view_first(text: str) -> None:
    views = Canonical(WORDS.__contains__).views(text)
    assert views[0].kind == "plain"


@given(st.text(alphabet="%\\xu0123456789abcdefABCDEF=+/-_&#;. \U000e0041\ufe0f", max_size=200))
def test_no_broken_encoding_raises(text: str) -> None:
    Canonical(WORDS.__contains__).views(text)
