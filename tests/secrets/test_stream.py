import pytest

from mithril_proxy.secrets import ByteScrubber, SecretGuard, StreamScrubber
from mithril_proxy.secrets.stream import MAX_HELD_CHARS, OVERSIZED
from tests.secrets import fakes as f

CASES = {
    **f.BY_KIND,
    "anthropic": f.ANTHROPIC,
    "app token": f.GITHUB_APP,
    "jwe": f.JWE,
    "escaped key": f.PEM.replace("\n", "\\n"),
    "quoted key": "> " + f.PEM.replace("\n", "\n> "),
    "endless key": f.PEM.removesuffix(f.PEM_TAIL),
    "base64": f.b64("note: " + f.GITHUB),
    "folded": f.folded(f.b64(f.PEM)),
    "two words": 'password = "two words, 9 cats"',
    "block": "\npassword:\n  x9Kq2LpV7m\n",
    "sibling": '{"name": "DB_PASSWORD",\n "value": "x9Kq2LpV7m"}',
    "compared": 'if ("' + f.PASSWORD + '" == password) {',
    "pair": f"{f.AWS}\n{f.AWS_SECRET}",
    "zero width": "\u200b".join(f.GITHUB),
    "percent": "postgres%3A%2F%2Fu%3A" + "p4ssw0rd" + "%40host%2Fdb",
    "told": f"the root password is {f.PASSWORD} now",
    "header": "Authorization: Bas" + "ic " + f.b64(f"admin:{f.PASSWORD}"),
    "cyrillic": "\u043f\u0430\u0440\u043e\u043b\u044c: " + f.PASSWORD,
}


def framed(text: str) -> str:
    return f"Note for caf\u00e9 \U0001f389: {text}\nAnd the rest follows here.\n"


def in_pieces(guard: SecretGuard, *pieces: str) -> str:
    scrubber = StreamScrubber(guard)
    return "".join((*map(scrubber.feed, pieces), scrubber.close()))


def fragments(guard: SecretGuard, text: str) -> list[str]:
    """Every eight characters in a row of a credential in `text` that its redacted form does not show."""
    redacted = guard.redact(text)
    values = [text[hit.start : hit.end] for hit in redacted.hits]
    parts = [value[at : at + 8] for value in values for at in range(max(1, len(value) - 7))]
    return [part for part in parts if part not in redacted.text]


@pytest.mark.parametrize("name", CASES)
def test_a_credential_cut_at_any_offset_never_leaves(guard: SecretGuard, name: str) -> None:
    text = framed(CASES[name])
    parts = fragments(guard, text)
    assert parts
    for at in range(0, len(text) + 1, 1 if len(text) < 200 else 3):
        seen = in_pieces(guard, text[:at], text[at:])
        assert not [part for part in parts if part in seen], at


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("size", [1, 3, 16, 64])
def test_small_pieces_give_the_answer_of_the_whole_text(guard: SecretGuard, name: str, size: int) -> None:
    text = framed(CASES[name])
    seen = in_pieces(guard, *(text[start : start + size] for start in range(0, len(text), size)))
    assert seen == guard.redact(text).text


def test_plain_words_leave_as_they_come(guard: SecretGuard) -> None:
    scrubber = StreamScrubber(guard)
    assert scrubber.feed("The release went well. ") == "The release went well. "
    assert scrubber.feed("Nobody compl") == "Nobody "
    assert scrubber.feed("ained. ") == "complained. "
    assert scrubber.close() == ""


def test_a_value_may_follow_its_word_on_the_same_line_only(guard: SecretGuard) -> None:
    scrubber = StreamScrubber(guard)
    assert scrubber.feed("the password ") == "the "
    assert scrubber.feed("policy\nis new\nand\ngood\n") == "password policy\nis new\nand\ngood\n"


def test_an_over_long_run_is_suppressed_until_it_ends(guard: SecretGuard) -> None:
    scrubber = StreamScrubber(guard)
    assert scrubber.feed("blob " + "Ab1" * MAX_HELD_CHARS) == "blob " + OVERSIZED
    assert scrubber.feed("Ab1" * 9) == ""
    assert scrubber.feed("Ab1 then words ") == " then words "
    assert scrubber.close() == ""


def test_an_over_long_key_is_suppressed_until_its_end_line(guard: SecretGuard) -> None:
    scrubber = StreamScrubber(guard)
    body = (f.BODY + "\n") * (MAX_HELD_CHARS // len(f.BODY) + 2)
    assert scrubber.feed(f"{f.PEM_HEAD}\n{body}") == OVERSIZED
    assert scrubber.feed(f.BODY + "\n-----EN") == ""
    assert scrubber.feed("D " + "PRIVATE KEY-----\nover\n") == "\nover\n"


@pytest.mark.parametrize("text", ["Ab1" * MAX_HELD_CHARS, f"{f.PEM_HEAD}\n" + f"{f.BODY}\n" * 2000])
def test_what_is_suppressed_at_the_end_stays_so(guard: SecretGuard, text: str) -> None:
    scrubber = StreamScrubber(guard)
    assert scrubber.feed(text) + scrubber.feed("Ab1") + scrubber.close() == OVERSIZED


def test_an_open_key_is_held_and_redacted_at_the_end(guard: SecretGuard) -> None:
    scrubber = StreamScrubber(guard)
    assert scrubber.feed(f"{f.PEM_HEAD}\n{f.BODY}\n") == ""
    assert scrubber.feed(f"{f.BODY[::-1]}\n") == ""
    assert scrubber.close().strip() == "[REDACTED:private_key]"


def test_long_prose_keeps_a_bounded_context(guard: SecretGuard) -> None:
    text = "A sentence of quite ordinary words. " * 200
    assert in_pieces(guard, *(text[at : at + 50] for at in range(0, len(text), 50))) == text
    unbroken = "\u65e5\u672c\u8a9e\u3002" * 800
    assert in_pieces(guard, unbroken[:1500], unbroken[1500:]) == unbroken


def test_bytes_may_be_cut_inside_a_character(guard: SecretGuard) -> None:
    text = framed(f.GITHUB)
    scrubber = ByteScrubber(guard)
    seen = b"".join(scrubber.feed(bytes([one])) for one in text.encode()) + scrubber.close()
    assert seen.decode() == guard.redact(text).text


def test_bytes_that_are_no_utf8_pass_unchanged(guard: SecretGuard) -> None:
    scrubber = ByteScrubber(guard)
    assert scrubber.feed(b"\xff\xfe ok ") + scrubber.feed(b"\xc3") + scrubber.close() == b"\xff\xfe ok \xc3"
