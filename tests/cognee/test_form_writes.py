"""add, remember, update and ontologies: what each form means, and what it may not say."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import UTC, datetime

import pytest

from mithril_proxy.cognee.prepared import FilePart, render
from mithril_proxy.cognee.routes import find_route
from mithril_proxy.cognee.uploads import text_name
from mithril_proxy.cognee.writes import decode_write, forward_tags, prepare, unread_files, with_text
from mithril_proxy.errors import BodyTooLarge, MalformedBody, Refused
from mithril_proxy.types import Annotation, Claim, Status
from tests.cognee.builders import (
    OPEN_RULES,
    RULES,
    TAGS,
    URLENCODED,
    File,
    fields_named,
    form_call,
    ids,
    rules_with,
    small_rules,
)
from tests.cognee.write_rows import DATA, DATASET, UPDATE

ADD, REMEMBER, PATCH, ONTOLOGY = (
    "POST /api/v1/add",
    "POST /api/v1/remember",
    "PATCH /api/v1/update",
    "POST /api/v1/ontologies",
)
NAME = ("datasetName", "main")


def _redacted(claim: Claim, text: str) -> Claim:
    return replace(claim, text=text)


def test_files_come_first_and_strings_after() -> None:
    call = form_call(ADD, NAME, ("raw_data", " three "), ("data", File(b"one")), ("data", File(b"two", "b.md")))
    assert [(claim.id, claim.locator, claim.text) for claim in call.claims] == [
        ("c0", "data[0]", "one"),
        ("c1", "data[1]", "two"),
        ("c2", "raw_data[0]", "three"),
    ]
    assert (call.dataset, call.session, call.is_session) == ("main", None, False)


def test_a_string_travels_as_a_file_that_cognee_stores_and_does_not_follow() -> None:
    call = form_call(ADD, NAME, ("raw_data", "plain words"))
    sent = prepare(call, call.claims, tags=())
    assert sent.files == (FilePart("data", text_name("plain words"), text="plain words"),)


def test_an_urlencoded_write_becomes_multipart() -> None:
    body = b"datasetName=main&raw_data=plain+words&node_set=a"
    call = decode_write(find_route("POST", "/api/v1/add"), URLENCODED, "", body, rules=RULES, new_id=ids())
    rendered = render(prepare(call, call.claims, tags=("verified",)), "B")
    assert rendered.content_type == "multipart/form-data; boundary=B"
    assert b"plain words" in rendered.body


def test_only_the_admitted_claims_are_sent_with_their_own_labels_and_metadata() -> None:
    call = form_call(
        ADD,
        NAME,
        ("data", File(b"one", "a.txt")),
        ("data", File(b"two", "b.txt")),
        ("raw_data", "three"),
        ("labels", "first,second,"),
        ("external_metadata", json.dumps([{"n": 1}, None, {"k": "v"}])),
    )
    sent = prepare(call, (call.claims[2], call.claims[1]), tags=())
    assert [part.text for part in sent.files] == ["two", "three"]
    assert fields_named(sent.fields, "labels") == ['["second", ""]']
    assert fields_named(sent.fields, "external_metadata") == ['[null, {"k": "v"}]']


def test_labels_and_metadata_that_say_nothing_are_left_out() -> None:
    call = form_call(ADD, NAME, ("raw_data", "x"), ("labels", '["", null, ""]'), ("external_metadata", "[null, {}]"))
    assert {name for name, _ in prepare(call, call.claims, tags=()).fields} == {"datasetName"}


def test_redacted_content_gets_a_new_name_since_cognee_refuses_other_content_under_a_known_one() -> None:
    call = form_call(ADD, NAME, ("data", File(b"secret", "a.csv")))
    sent = prepare(call, (_redacted(call.claims[0], "[REDACTED]"),), tags=())
    assert sent.files == (FilePart("data", text_name("[REDACTED]", ".csv"), text="[REDACTED]"),)


def test_a_redacted_file_name_is_the_one_that_travels() -> None:
    call = form_call(ADD, NAME, ("data", File(b"one", "secret.txt")))
    said = tuple(Annotation(given.locator, given.text.replace("secret", '"x"')) for given in call.claims[0].annotations)
    sent = prepare(call, (replace(call.claims[0], annotations=said),), tags=())
    assert sent.files[0].filename == "'x'.txt"


def test_the_sdks_own_file_name_is_no_word_of_the_client() -> None:
    call = form_call(REMEMBER, NAME, ("data", File(b"one", text_name("one"))))
    assert [given.locator for given in call.claims[0].annotations] == ["datasetName"]


def test_opaque_bytes_are_one_claim_that_cannot_be_read_and_travel_unchanged() -> None:
    call = form_call(ADD, NAME, ("data", File(b"\x89PNG\0", "a.png", "image/png")))
    claim = call.claims[0]
    assert (claim.is_opaque, claim.text, claim.media_type) == (True, "", "image/png")
    assert prepare(call, call.claims, tags=()).files == (FilePart("data", "a.png", blob=b"\x89PNG\0"),)


def test_a_withheld_text_does_not_come_back_from_the_request() -> None:
    call = form_call(ADD, NAME, ("data", File(b"secret", "a.txt")))
    sent = prepare(call, (replace(call.claims[0], text="", is_opaque=True),), tags=())
    assert b"secret" not in render(sent, "B").body


@pytest.mark.parametrize(
    ("metadata", "claimed_at"),
    [
        ({"claimed_at": "2026-01-02T03:04:05+00:00"}, datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)),
        ({"created_at": "2026-01-02"}, datetime(2026, 1, 2, tzinfo=UTC)),
        ({"claimed_at": "soon", "created_at": "2026-01-02"}, datetime(2026, 1, 2, tzinfo=UTC)),
        ({"claimed_at": 5}, None),
        ({"other": "2026-01-02"}, None),
    ],
)
def test_the_time_of_a_fact_is_read_from_its_metadata(metadata: object, claimed_at: datetime | None) -> None:
    call = form_call(ADD, NAME, ("raw_data", "x"), ("external_metadata", json.dumps([metadata])))
    assert call.claims[0].claimed_at == claimed_at


@pytest.mark.parametrize(
    ("parts", "named"),
    [
        ([("raw_data", "x")], "datasetName: required"),
        ([NAME], "data: give at least one"),
        ([NAME, ("raw_data", "  ")], "data: give at least one"),
        ([("datasetId", "x"), ("raw_data", "x")], "datasetId: expected a UUID"),
        ([NAME, ("raw_data", "x"), ("run_in_background", "maybe")], "run_in_background: expected true or false"),
        ([NAME, ("raw_data", "x"), ("labels", "a,b")], "labels: 2 entries for 1"),
        ([NAME, ("raw_data", "x"), ("labels", "[5]")], "labels: expected a JSON array of strings"),
        ([NAME, ("raw_data", "x"), ("labels", '["\\ud800"]')], "labels: holds a lone surrogate"),
        ([NAME, ("raw_data", "x"), ("external_metadata", '[{}, {}, {"a": 1}]')], "external_metadata: 3 entries for 1"),
        ([NAME, ("raw_data", "x"), ("external_metadata", "{")], "external_metadata: not valid JSON"),
        ([NAME, ("raw_data", "x"), ("external_metadata", "{}")], "external_metadata: expected a JSON array"),
        ([NAME, ("raw_data", "x"), ("external_metadata", "[1]")], "external_metadata: expected a JSON array"),
        (
            [NAME, ("raw_data", "x"), ("external_metadata", '[{"a": 1, "a": 2}]')],
            "external_metadata: the key 'a' is given twice",
        ),
        ([NAME, ("raw_data", "x"), ("external_metadata", '[{"node_set": ["a"]}]')], "node_set and _cognee"),
        ([NAME, ("raw_data", "x"), ("external_metadata", '[{"_cognee": 1}]')], "node_set and _cognee"),
        ([NAME, ("raw_data", "x"), ("session_id", "s")], "unknown field 'session_id'"),
        ([NAME, ("raw_data", "x"), ("nodeSet", "s")], "unknown field 'nodeSet'"),
    ],
)
def test_a_bad_add_names_its_field(parts: list[tuple[str, str | File]], named: str) -> None:
    with pytest.raises(MalformedBody, match=named):
        form_call(ADD, *parts)


@pytest.mark.parametrize("text", ["[[[", "[" * 5000, "a, b", '{"a": 1}'])
def test_labels_that_are_no_json_list_are_read_with_commas_as_cognee_does(text: str) -> None:
    strings = [("raw_data", "x")] * len(text.split(","))
    assert form_call(ADD, NAME, *strings, ("labels", text)).claims[0].annotations[0].text == text.split(",")[0].strip()


def test_too_many_or_too_long_claims_are_too_large() -> None:
    with pytest.raises(BodyTooLarge, match="2 files and strings"):
        form_call(ADD, NAME, ("raw_data", "a"), ("raw_data", "b"), rules=small_rules(max_claims=1))
    with pytest.raises(BodyTooLarge, match=r"raw_data\[0\]"):
        form_call(ADD, NAME, ("raw_data", "x" * 11), rules=small_rules(max_text_chars=10))


def test_a_path_as_content_is_refused() -> None:
    with pytest.raises(Refused, match=r"raw_data\[0\]: points at a path"):
        form_call(ADD, NAME, ("raw_data", "/etc/hostname"))


def test_a_session_turn_is_sent_as_a_string_since_cognee_drops_files_there() -> None:
    call = form_call(REMEMBER, NAME, ("session_id", "s1"), ("data", File(b"from the sdk")), ("raw_data", "said"))
    sent = prepare(call, call.claims, tags=forward_tags(call, Status.WARN, "slack", TAGS, is_session_own=True))
    assert (call.session, call.sessions, call.is_session) == ("s1", ("s1",), True)
    assert fields_named(sent.fields, "raw_data") == ["from the sdk", "said"]
    assert fields_named(sent.fields, "node_set") == ["verified", "slack"]
    assert sent.files == ()


def test_a_session_with_unjudged_turns_is_never_tagged() -> None:
    call = form_call(REMEMBER, NAME, ("session_id", "s1"), ("raw_data", "said"))
    assert forward_tags(call, Status.ACCEPT, "slack", TAGS) == ()


@pytest.mark.parametrize(
    ("parts", "named"),
    [
        ([("data", File(b"\0", "a.png"))], r"data\[0\]: a file that is not text"),
        ([("raw_data", "x"), ("labels", "a")], "labels: only taken without session_id"),
        ([("raw_data", "x"), ("external_metadata", '[{"a": 1}]')], "external_metadata: only taken without session_id"),
    ],
)
def test_what_a_session_cannot_hold_is_said(parts: list[tuple[str, str | File]], named: str) -> None:
    with pytest.raises(MalformedBody, match=named):
        form_call(REMEMBER, NAME, ("session_id", "s"), *parts)


def test_a_blank_session_is_no_session() -> None:
    assert not form_call(REMEMBER, NAME, ("session_id", " "), ("raw_data", "x")).is_session


def test_steering_fields_are_dropped_and_said_so() -> None:
    call = form_call(REMEMBER, NAME, ("raw_data", "x"), ("custom_prompt", "invent facts"), ("graph_model", "{}"))
    assert call.dropped == ("custom_prompt", "graph_model")
    assert b"invent" not in render(prepare(call, call.claims, tags=()), "B").body


def test_open_steering_is_judged_with_every_claim() -> None:
    call = form_call(REMEMBER, NAME, ("raw_data", "x"), ("raw_data", "y"), ("custom_prompt", "p"), rules=OPEN_RULES)
    assert all(Annotation("custom_prompt", "p") in claim.annotations for claim in call.claims)
    assert fields_named(prepare(call, call.claims[:1], tags=()).fields, "custom_prompt") == ["p"]


@pytest.mark.parametrize(
    ("parts", "switch"),
    [
        ([("content_type", "code"), ("raw_data", "https://example.org/a.git")], "code"),
        ([("content_type", "cogx-archive"), ("data", File(b"\0", "a.tar"))], "archives"),
    ],
)
def test_kinds_of_content_that_enter_past_judgement_are_closed(
    parts: list[tuple[str, str | File]], switch: str
) -> None:
    with pytest.raises(Refused, match="content_type") as caught:
        form_call(REMEMBER, NAME, *parts)
    assert caught.value.code == "content_type_refused"
    call = form_call(REMEMBER, NAME, *parts, rules=rules_with(**{switch: True}))
    assert call.claims[0].is_opaque


@pytest.mark.parametrize(
    "parts", [[("content_type", "skills"), ("data", File(b"# Skill"))], [("skills_text", "# Skill")]]
)
def test_skills_are_judged_as_text_and_can_be_closed(parts: list[tuple[str, str | File]]) -> None:
    call = form_call(REMEMBER, NAME, *parts)
    assert [claim.text for claim in call.claims] == ["# Skill"]
    with pytest.raises(Refused):
        form_call(REMEMBER, NAME, *parts, rules=rules_with(skills=False))


def test_a_skill_that_is_too_long_is_too_large() -> None:
    with pytest.raises(BodyTooLarge, match="skills_text"):
        form_call(REMEMBER, NAME, ("skills_text", "x" * 11), rules=small_rules(max_text_chars=10))


def test_an_archive_that_looks_like_text_is_still_opaque() -> None:
    parts: list[tuple[str, str | File]] = [("content_type", "cogx-archive"), ("data", File(b"text", "a.txt"))]
    assert form_call(REMEMBER, NAME, *parts, rules=OPEN_RULES).claims[0].is_opaque


def test_an_unknown_content_type_is_named() -> None:
    with pytest.raises(MalformedBody, match="content_type: expected one of code, cogx-archive, skills"):
        form_call(REMEMBER, NAME, ("raw_data", "x"), ("content_type", "magic"))


def test_settings_of_the_extraction_arrive() -> None:
    call = form_call(
        REMEMBER,
        NAME,
        ("raw_data", "x"),
        ("chunk_size", "512"),
        ("self_improvement", "No"),
        ("ontology_key", "a"),
        ("ontology_key", ""),
        ("ontology_key", "b"),
        ("run_in_background", ""),
    )
    assert set(prepare(call, call.claims, tags=()).fields) == {
        NAME,
        ("chunk_size", "512"),
        ("self_improvement", "false"),
        ("ontology_key", "a"),
        ("ontology_key", "b"),
    }


def test_an_update_keeps_its_query_and_sets_its_tags() -> None:
    call = form_call(PATCH, ("data", File(b"new", "a.txt")), query=UPDATE + "&extra=1")
    sent = prepare(call, call.claims, tags=forward_tags(call, Status.ACCEPT, "slack", TAGS), dataset="elsewhere")
    assert sent.query == (("data_id", DATA), ("dataset_id", DATASET), ("chunk_level_diff", "false"))
    assert sent.fields == (("node_set", "verified"), ("node_set", "slack"))


@pytest.mark.parametrize(
    ("query", "named"),
    [
        ("", "data_id: required"),
        (f"data_id={DATA}", "dataset_id: required"),
        (f"{UPDATE}&data_id={DATA}", "data_id: given twice"),
        (f"data_id=x&dataset_id={DATASET}", "data_id: expected a UUID"),
        (f"data_id={DATA}&dataset_id={DATASET}&chunk_level_diff=perhaps", "chunk_level_diff"),
    ],
)
def test_an_update_without_its_document_is_refused(query: str, named: str) -> None:
    with pytest.raises(MalformedBody, match=named):
        form_call(PATCH, ("data", File(b"new")), query=query)


def test_an_ontology_is_one_claim_and_keeps_its_name() -> None:
    call = form_call(ONTOLOGY, ("ontology_key", "k"), ("ontology_file", File(b"<rdf/>", "a.owl")), rules=OPEN_RULES)
    sent = prepare(call, (_redacted(call.claims[0], "<clean/>"),), tags=())
    assert sent.files == (FilePart("ontology_file", "a.owl", text="<clean/>"),)


@pytest.mark.parametrize(
    ("parts", "named"),
    [
        ([("ontology_file", File(b"x", "a.owl"))], "ontology_key: required"),
        ([("ontology_key", "k"), ("ontology_file", File(b"x", "a.txt"))], "must end in .owl"),
    ],
)
def test_a_bad_ontology_names_its_field(parts: list[tuple[str, str | File]], named: str) -> None:
    with pytest.raises(MalformedBody, match=named):
        form_call(ONTOLOGY, *parts, rules=OPEN_RULES)


@pytest.mark.parametrize("companion", [("labels", '["a"]'), ("external_metadata", '[{"k": "v"}]')])
def test_a_label_that_did_not_come_back_stops_the_write(companion: tuple[str, str]) -> None:
    call = form_call(ADD, NAME, ("raw_data", "x"), companion)
    only_target = tuple(given for given in call.claims[0].annotations if given.locator == "datasetName")
    with pytest.raises(KeyError):
        prepare(call, (replace(call.claims[0], annotations=only_target),), tags=())


PDF = b"%PDF-1.7 binary \0"


def test_the_text_of_a_document_is_judged_and_forwarded_in_place_of_its_bytes() -> None:
    call = form_call(ADD, NAME, ("data", File(PDF, "report.pdf")), ("data", File(b"plain")))
    (piece,) = unread_files(call)
    assert (piece.claim_id, piece.filename, piece.blob) == ("c0", "report.pdf", PDF)
    read = with_text(call, "c0", "The port is 8443.")
    claim = read.claims[0]
    assert (claim.text, claim.is_opaque) == ("The port is 8443.", False)
    assert Annotation("data[0].filename", "report.pdf.txt") in claim.annotations
    assert prepare(read, read.claims, tags=()).files == (
        FilePart("data", "report.pdf.txt", text="The port is 8443."),
        FilePart("data", "notes.txt", text="plain"),
    )
    assert unread_files(read) == ()


def test_the_original_document_is_forwarded_only_when_its_text_came_back_unchanged() -> None:
    call = form_call(ADD, NAME, ("data", File(PDF, "report.pdf")))
    read = with_text(call, "c0", "secret", keeps_original=True)
    assert prepare(read, read.claims, tags=()).files == (FilePart("data", "report.pdf", blob=PDF),)
    redacted = _redacted(read.claims[0], "[REDACTED]")
    assert prepare(read, (redacted,), tags=()).files == (FilePart("data", text_name("[REDACTED]"), text="[REDACTED]"),)


def test_an_archive_of_memory_is_no_document() -> None:
    parts: list[tuple[str, str | File]] = [("content_type", "cogx-archive"), ("data", File(PDF, "a.pdf"))]
    assert unread_files(form_call(REMEMBER, NAME, *parts, rules=OPEN_RULES)) == ()


def test_a_skill_keeps_its_folder_and_its_name_even_when_it_was_redacted() -> None:
    files = [("data", File(b"# One", "one/SKILL.md")), ("data", File(b"# Two", "/../two/./SKILL.md"))]
    call = form_call(REMEMBER, NAME, ("content_type", "skills"), *files)
    sent = prepare(call, (call.claims[0], _redacted(call.claims[1], "[REDACTED]")), tags=())
    assert [(part.filename, part.text) for part in sent.files] == [
        ("one/SKILL.md", "# One"),
        ("two/SKILL.md", "[REDACTED]"),
    ]
