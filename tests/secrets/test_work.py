"""Hostile text costs work in proportion to its length: what is counted is characters read and runs cut, not time."""

from __future__ import annotations

from dataclasses import dataclass, field

import pytest

from mithril_proxy.policy import policies_folder
from mithril_proxy.secrets import SecretGuard
from mithril_proxy.secrets.blobs import unpacked
from mithril_proxy.secrets.engine import MAX_VALIDATED, Engine
from mithril_proxy.secrets.escapes import escapes, percent
from mithril_proxy.secrets.guard import MAX_ROUNDS, load_guard
from mithril_proxy.secrets.hits import Span
from mithril_proxy.secrets.letters import letters

HOSTILE = {
    "a": "a",
    "token head": "eyJ",
    "dots": "abc.",
    "uri": "://a:",
    "assignment": "password=",
    "spaced assignment": "password=a ",
    "key header": "-----BEGIN " + "PRIVATE KEY-----\n",
    "dash": "sk-",
    "percent": "%41",
    "zero width": "a\u200b",
    "percent runs": "%41a ",
    "unicode runs": "\\u0041b ",
    "entities": "&amp;x",
    "packed runs": "aGVsbG8gdGhlcmUgeW91IA ",
    "random runs": "q80Zf3kP9vQ2mZt7LwR4sN ",
    "all": "a\u200b%41\\u0041&amp;aGVsbG8gdGhlcmUgeW91IA ",
}
MAX_VIEWS = 21  # the text, four views of it, four of each of those


@dataclass(frozen=True)
class CountingEngine(Engine):
    """Notes the length of every text it is asked about."""

    lengths: list[int] = field(default_factory=list)

    def find(self, text: str) -> list[Span]:
        self.lengths.append(len(text))
        return super().find(text)


@pytest.fixture(scope="module")
def counting() -> SecretGuard:
    return SecretGuard(CountingEngine(load_guard([policies_folder() / "secrets.toml"]).rules))


def work(guard: SecretGuard, text: str) -> tuple[int, int]:
    """How many texts were read for one scan of `text`, and how many characters."""
    assert isinstance(guard.engine, CountingEngine)
    guard.engine.lengths.clear()
    guard.scan(text)
    return len(guard.engine.lengths), sum(guard.engine.lengths)


@pytest.mark.parametrize("name", HOSTILE)
def test_eight_times_the_text_is_at_most_eight_times_the_work(counting: SecretGuard, name: str) -> None:
    seed = HOSTILE[name]
    small = seed * (20_000 // len(seed))
    readings, characters = work(counting, small)
    more_readings, more_characters = work(counting, small * 8)
    assert more_readings <= max(readings, MAX_VIEWS * 2)
    assert more_characters <= 9 * max(characters, 2 * len(small))  # the larger may be cut, and read once more
    assert readings <= MAX_VIEWS * MAX_ROUNDS


@pytest.mark.parametrize("name", [name for name in HOSTILE if name not in ("all", "spaced assignment")])
def test_hostile_text_is_read_a_few_times_only(counting: SecretGuard, name: str) -> None:
    seed = HOSTILE[name]
    text = seed * (50_000 // len(seed))
    assert work(counting, text)[1] <= 6 * len(text)


def test_many_packed_runs_are_read_in_one_go(counting: SecretGuard) -> None:
    readings, _ = work(counting, "aGVsbG8gdGhlcmUgeW91IA " * 3000)
    assert readings <= 3


def test_a_view_has_one_piece_a_run() -> None:
    for view in (percent("%41a " * 1000), escapes("\\u0041b " * 1000)):
        assert view is not None
        assert len(view.ends) == len(view.origin_ends) == 2 * len(view.widths) + 1 == 2001
    held = unpacked("aGVsbG8gdGhlcmUgeW91IA " * 1000)
    assert held is not None
    assert len(held.runs) == len(held.starts) == 1000


def test_invisible_characters_are_left_out_with_the_way_back() -> None:
    view = letters("a\u200b\u0410\u200d\u200db \uff21")
    assert view is not None
    assert view.text == "aAb A"
    assert [view.start_of(at) for at in range(5)] == [0, 2, 5, 6, 7]
    assert [view.end_of(at + 1) for at in range(5)] == [1, 3, 6, 7, 8]


def test_a_view_leads_back_from_every_offset() -> None:
    text = "ab%41%42c%C3%A9 d"
    view = percent(text)
    assert view is not None
    assert view.text == "abABcé d"
    starts = [view.start_of(at) for at in range(len(view.text))]
    ends = [view.end_of(at + 1) for at in range(len(view.text))]
    assert starts == [0, 1, 2, 5, 8, 9, 15, 16]
    assert ends == [1, 2, 5, 8, 9, 15, 16, 17]


def test_what_is_hidden_behind_a_flood_of_escapes_is_found(counting: SecretGuard) -> None:
    key = "ghp" + "_" + "Zq8LmX2vRt5NwK7pYc3HdBf9GsJ4TaUe6VoQ"
    for flood in ("%41a ", "&amp;x ", "a\u200b ", "aGVsbG8gdGhlcmUgeW91IA "):
        text = f"{flood * 3000}%67{key[1:]} {flood * 3000}"
        redacted = counting.redact(text)
        assert redacted.text == f"{flood * 3000}[REDACTED:github_token] {flood * 3000}"


def test_a_document_is_asked_about_a_bounded_number_of_matches(counting: SecretGuard) -> None:
    hits = counting.scan("token: é\n" * (MAX_VALIDATED * 3))
    assert 0 < len(hits) <= MAX_VALIDATED
