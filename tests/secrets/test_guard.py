import asyncio
import json
import threading

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mithril_proxy.policy import policies_folder
from mithril_proxy.secrets import SecretGuard, StreamScrubber, load_guard
from mithril_proxy.secrets.engine import MAX_VALIDATED, WINDOW_BYTES
from tests.secrets import fakes as f

GUARD = load_guard([policies_folder() / "secrets.toml"])
MARKS = ("=", '"', "'", "\\", "\n", " ", "{", "}", "%41", "\u200b", "\uff21", "@", "://u:", "\ud800", "é", "&x=")
WORDS = ("password", "password: ", "token", "-----BEGIN ", "x9Kq2LpV7m", "[REDACTED:jwt]", "eyJ")
PIECES = st.sampled_from([*f.BY_KIND.values(), *MARKS, *WORDS, f.b64(f.GITHUB + " is it")])
TEXTS = st.lists(st.one_of(PIECES, st.text(max_size=8)), max_size=12).map("".join)
VALUES = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), TEXTS),
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(TEXTS, inner, max_size=3)),
    max_leaves=6,
)


@settings(max_examples=60, deadline=None)
@given(TEXTS)
def test_redaction_is_idempotent_and_leaves_no_hit(text: str) -> None:
    once = GUARD.redact(text)
    assert GUARD.redact(once.text).text == once.text
    assert GUARD.scan(once.text) == ()


@settings(max_examples=60, deadline=None)
@given(TEXTS)
def test_what_stands_between_hits_is_kept_and_hits_are_in_order(text: str) -> None:
    redacted = GUARD.redact(text)
    done, expected = 0, ""
    for hit in redacted.hits:
        assert done <= hit.start < hit.end <= len(text)
        expected += text[done : hit.start] + hit.label
        done = hit.end
    assert redacted.text == expected + text[done:]


@settings(max_examples=50, deadline=None)
@given(VALUES)
def test_a_value_keeps_its_shape_and_is_clean_after_one_walk(value: object) -> None:
    once = GUARD.redact_value(value).value
    assert GUARD.redact_value(once).value is once
    assert shape(once) == shape(value)


def shape(value: object) -> object:
    if isinstance(value, dict):
        return sorted(json.dumps(shape(one)) for one in value.values())
    return [shape(one) for one in value] if isinstance(value, list) else type(value).__name__


@settings(max_examples=50, deadline=None)
@given(TEXTS, st.integers(1, 40))
def test_a_stream_without_credentials_is_passed_on_unchanged(text: str, size: int) -> None:
    scrubber = StreamScrubber(GUARD)
    seen = "".join(scrubber.feed(text[at : at + size]) for at in range(0, len(text), size)) + scrubber.close()
    if not GUARD.scan(text):
        assert seen == text


def test_a_hit_says_kind_rule_and_place_but_never_the_value(guard: SecretGuard) -> None:
    (hit,) = guard.scan(f"é key {f.AWS} end")
    assert (hit.kind, hit.rule, hit.start, hit.end, hit.tag) == ("aws_access_key", "redact.aws-access-key", 6, 26, "")
    assert f.AWS not in repr(hit)


def test_a_tag_tells_two_secrets_apart_and_needs_the_key() -> None:
    pack = [policies_folder() / "secrets.toml"]
    one, other = (load_guard(pack, tag_key=key) for key in (b"one", b"other"))
    text = f"{f.GITHUB} {f.GITHUB} {f.GITHUB_FINE}"
    first, second, third = one.scan(text)
    assert first.tag == second.tag != third.tag
    assert one.redact(text).text != other.redact(text).text
    assert one.redact(one.redact(text).text).text == one.redact(text).text
    assert f"[REDACTED:github_token:{first.tag}]" in one.redact(text).text


def test_a_specific_rule_names_what_an_assignment_holds(guard: SecretGuard) -> None:
    assert guard.redact(f'token = "{f.GITHUB}"').text == 'token = "[REDACTED:github_token]"'


@pytest.mark.parametrize("size", [10, 200_000])
async def test_long_text_is_read_in_a_thread(guard: SecretGuard, size: int) -> None:
    text = "word " * (size // 5) + f.GITHUB
    redacted, value = await asyncio.gather(
        guard.redact_async(text), guard.redact_value_async({"a": [text, 1], "b": {"c": "x"}})
    )
    assert redacted.text.endswith("[REDACTED:github_token]")
    assert [found.path for found in value.hits] == ["a[0]"]
    assert threading.active_count() >= 1


@pytest.mark.parametrize("offset", [WINDOW_BYTES - 20, WINDOW_BYTES - 1, WINDOW_BYTES, 3 * WINDOW_BYTES + 5])
def test_a_credential_on_the_edge_of_a_window_is_found(guard: SecretGuard, offset: int) -> None:
    lead = f"{f.AWS} " + "wörd " * (offset // 5)
    text = f"{lead[:offset]} {f.GITHUB} and {'tail ' * 9000}"
    assert [hit.kind for hit in guard.scan(text)] == ["aws_access_key", "github_token"]


def test_a_value_longer_than_a_window_is_one_hit(guard: SecretGuard) -> None:
    text = "password=" + "aB3" * 20_000 + " next"
    assert guard.redact(text).text == "password=[REDACTED:assignment] next"


def test_beyond_the_limit_whole_windows_are_redacted(guard: SecretGuard) -> None:
    text = "token: é\n" * (MAX_VALIDATED + 5000) + f.GITHUB + " " + "plain words " * 5000
    redacted = guard.redact(text)
    assert f.GITHUB not in redacted.text
    assert redacted.text.startswith("token: é\n")
    assert redacted.text.endswith("plain words ")
    assert guard.redact(redacted.text).text == redacted.text


def test_base64_behind_a_path_is_read(guard: SecretGuard) -> None:
    for lead in ("/files/", "x_", "a/b-", "Q"):
        text = lead + f.b64url(f"the key is {f.GITHUB} for you") + "A"
        assert guard.redact(text).text == "[REDACTED:github_token]", lead


@pytest.mark.parametrize("encoding", ["utf-16-le", "latin-1"])
def test_blobs_of_other_charsets_are_read(guard: SecretGuard, encoding: str) -> None:
    import base64

    blob = base64.b64encode(f"key {f.GITHUB} for you".encode(encoding)).decode()
    assert guard.redact(f"x {blob} y").text == "x [REDACTED:github_token] y"


@pytest.mark.parametrize(
    "text",
    [
        "\\u0067" + f.GITHUB[1:],
        "\\x67" + f.GITHUB[1:],
        "".join(f"\\u{ord(letter):04x}" for letter in f.GITHUB),
        "=67".join(["", f.GITHUB[1:]]),
        f.GITHUB[:10] + "=\n" + f.GITHUB[10:],
        f.GITHUB[:10] + "\\\n   " + f.GITHUB[10:],
        "password&#61;&quot;" + "x9Kq2LpV7m" + "&quot;",
    ],
)
def test_escapes_are_read_and_redacted_as_they_stand(guard: SecretGuard, text: str) -> None:
    redacted = guard.redact(f"see {text} ok")
    assert len(redacted.hits) == 1
    assert redacted.text.startswith("see ")
    assert redacted.text.endswith(" ok")


@pytest.mark.parametrize(
    "text", ["\\ud800\\udfff \\xff %ff =FF", "A" * 21, "ab" * 30, "00" * 30, "é%20\u200b\uff21 \u0410B"]
)
def test_odd_encodings_stay_as_they_are(guard: SecretGuard, text: str) -> None:
    assert guard.redact(text).text == text
