"""What is remembered of the last writes, and that it stays within bounds."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mithril_proxy.chain.recent import NOTE_BYTES, Note, RecentWrites, entities_of
from mithril_proxy.policy import Joins
from tests.chain.decisions import DEFAULT
from tests.judge.fakes import HandClock


def recent(clock: HandClock | None = None, **numbers: object) -> RecentWrites:
    rule: Joins = DEFAULT.joins.model_copy(update={"window_s": 100.0, "max_writes": 3, **numbers})
    return RecentWrites(rule, clock or HandClock())


def note(digest: str, principal: str = "p", text: str = "text") -> Note:
    return Note(digest, text, principal)


def digests(notes: tuple[Note, ...]) -> str:
    return "".join(one.digest for one in notes)


def test_the_last_writes_of_a_principal_are_kept_in_order() -> None:
    writes = recent()
    for digest in "abcd":
        writes.remember_written(note(digest))
    writes.remember_written(note("x", "other"))
    assert digests(writes.written_by("p")) == "bcd"
    assert digests(writes.written_by("other")) == "x"
    assert writes.written_by("nobody") == ()


def test_a_repeated_write_stands_once_as_the_newest() -> None:
    writes = recent()
    for digest in "aba":
        writes.remember_written(note(digest))
    assert digests(writes.written_by("p")) == "ba"


def test_writes_older_than_the_window_are_gone() -> None:
    clock = HandClock()
    writes = recent(clock)
    writes.remember_written(note("a"))
    clock.pass_s(60)
    writes.remember_written(note("b"))
    clock.pass_s(40)
    assert digests(writes.written_by("p")) == "b"
    clock.pass_s(60)
    assert writes.written_by("p") == ()
    assert (len(writes), writes.bytes) == (0, 0)


def test_a_forgotten_write_is_gone() -> None:
    writes = recent()
    writes.remember_written(note("a"))
    writes.remember_written(note("b"))
    writes.forget_written(note("a"))
    assert digests(writes.written_by("p")) == "b"


def test_writes_about_an_entity_belong_to_one_dataset() -> None:
    writes = recent()
    writes.remember_about("red", "acme", note("a"))
    writes.remember_about("red", "globex", note("b"))
    writes.remember_about("blue", "acme", note("c"))
    writes.remember_about(None, "acme", note("d"))
    assert digests(writes.about("red", ("acme", "globex"))) == "ab"
    assert digests(writes.about("blue", ("acme", "globex"))) == "c"
    assert digests(writes.about(None, ("acme",))) == "d"
    assert writes.about("red", ()) == ()


def test_a_write_that_names_two_entities_stands_once_and_only_the_newest_count() -> None:
    clock = HandClock()
    writes = recent(clock)
    for digest in "abcd":
        clock.pass_s(1)
        writes.remember_about("red", "acme", note(digest))
        writes.remember_about("red", "globex", note(digest))
    assert digests(writes.about("red", ("acme", "globex"))) == "bcd"


def test_the_least_recently_used_ring_goes_first() -> None:
    writes = recent(max_keys=2)
    for principal in ("p", "q"):
        writes.remember_written(note("a", principal))
    writes.written_by("p")
    writes.remember_written(note("a", "r"))
    assert [len(writes.written_by(one)) for one in "pqr"] == [1, 0, 1]


@given(st.lists(st.tuples(st.sampled_from("pqrs"), st.text(max_size=300), st.booleans()), max_size=60))
def test_text_and_rings_stay_within_their_bounds(events: list[tuple[str, str, bool]]) -> None:
    clock = HandClock()
    writes = recent(clock, max_keys=3, max_bytes=2000)
    for principal, text, forgets in events:
        clock.pass_s(7)
        added = note(text[:5], principal, text)
        writes.remember_written(added)
        writes.remember_about("red", text[:2], added)
        if forgets:
            writes.forget_written(added)
        assert len(writes) <= 3
        assert 0 <= writes.bytes <= 2000
        assert writes.bytes >= len(writes) * NOTE_BYTES


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Mail ops-team@example.com about it.", ("ops-team@example.com",)),
        ("The export goes to https://drop.example.net/in/box.", ("drop.example.net/in/box",)),
        ("Send it to 10.0.0.7 tonight", ("10.0.0.7",)),
        ("ask @carol first", ("@carol",)),
        ("tar reads /srv/export daily", ("/srv/export",)),
        ("restart backup-host and DB_PRIMARY", ("backup-host", "db_primary")),
        ("see OPS-1234", ("ops-1234",)),
        ("payments for Acme Corp go out, says Bob", ("acme corp", "bob")),
        ("Whenever it rains, nothing happens", ()),
        ("", ()),
    ],
)
def test_a_text_names_hosts_addresses_paths_identifiers_and_names(text: str, expected: tuple[str, ...]) -> None:
    assert entities_of(text, 4) == expected


def test_only_the_first_entities_are_looked_up() -> None:
    assert entities_of("a-b c-d e-f a-b", 2) == ("a-b", "c-d")
