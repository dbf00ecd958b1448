"""Bad bodies: each gets its own error, which names the field."""

from __future__ import annotations

import json
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mithril_proxy.cognee.fields import Field, Kind, Schema, checked
from mithril_proxy.cognee.forms import FormShape, decode_form
from mithril_proxy.cognee.json_body import canonical, decode_json, decode_object
from mithril_proxy.errors import BodyTooLarge, MalformedBody, RequestError
from tests.cognee.builders import BOUNDARY, JSON, MULTIPART, POLICY, URLENCODED, File, multipart

LIMITS = POLICY.limits
SHAPE = FormShape(frozenset({"datasetName"}), frozenset({"node_set"}), frozenset({"data"}))


def _decoded(body: bytes, content_type: str | None = JSON) -> object:
    return decode_json(content_type, body, LIMITS)


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-16-be", "utf-32", "utf-32-le"])
def test_json_is_read_in_every_encoding_that_cognee_reads(encoding: str) -> None:
    assert _decoded('{"query": "café"}'.encode(encoding)) == {"query": "café"}


@pytest.mark.parametrize("content_type", [JSON, "Application/JSON; charset=utf-8", "application/vnd.api+json"])
def test_json_content_types_are_taken(content_type: str) -> None:
    assert _decoded(b"{}", content_type) == {}


@pytest.mark.parametrize("content_type", [None, "", "text/plain", URLENCODED, MULTIPART, "text/json+json"])
def test_another_content_type_is_no_json(content_type: str | None) -> None:
    with pytest.raises(MalformedBody, match="Content-Type"):
        _decoded(b"{}", content_type)


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        (b"", "not valid JSON"),
        (b"{", "not valid JSON"),
        (b"{} {}", "not valid JSON"),
        (b"\xff\xfe\x00", "not valid Unicode"),
        (b'"\xff"', "not valid Unicode"),
        (b'{"a": 1, "a": 2}', "given twice"),
        (b'{"b": {"a": 1, "\\u0061": 2}}', "given twice"),
        (b"[NaN]", "not JSON"),
        (b"[-Infinity]", "not JSON"),
        (b"[1e400]", "out of range"),
        (b"[" + b"9" * 5000 + b"]", "not valid JSON"),
        (b'"\\ud800"', "lone surrogate"),
        (b'{"\\udc00": 1}', "lone surrogate"),
        (b"[" * 10_000 + b"]" * 10_000, "nested"),
        (b"[" * 66 + b"]" * 66, "nested deeper than 64"),
    ],
)
def test_json_that_two_readers_could_take_differently_is_refused(body: bytes, reason: str) -> None:
    with pytest.raises(MalformedBody, match=reason):
        _decoded(body)


def test_json_at_the_depth_limit_is_taken() -> None:
    assert _decoded(b"[" * 64 + b"]" * 64)


def test_a_body_over_the_limit_is_too_large() -> None:
    limits = LIMITS.model_copy(update={"max_body_bytes": 1024})
    assert decode_json(JSON, b'"' + b"x" * 1022 + b'"', limits)
    with pytest.raises(BodyTooLarge):
        decode_json(JSON, b'"' + b"x" * 1023 + b'"', limits)
    with pytest.raises(BodyTooLarge):
        decode_form(MULTIPART, b"x" * 1025, SHAPE, limits)


def test_only_an_object_can_hold_fields() -> None:
    with pytest.raises(MalformedBody, match="expected a JSON object"):
        decode_object(JSON, b"[]", LIMITS)


SCHEMA = Schema({"node_name": Field(Kind.TEXTS), "top_k": Field(Kind.INT)}, required=("top_k",))


@pytest.mark.parametrize("body", [{"node_name": ["a"], "top_k": 1}, {"nodeName": ["a"], "topK": 1}])
def test_both_spellings_are_one_field(body: dict[str, object]) -> None:
    assert canonical(body, SCHEMA) == {"node_name": ["a"], "top_k": 1}


@pytest.mark.parametrize(
    ("body", "named"),
    [
        ({"node_name": ["a"], "nodeName": ["b"], "top_k": 1}, "node_name: given in both spellings"),
        ({"top_k": 1, "surprise\n": 1}, "unknown field 'surprise"),
        ({"node_name": ["a"]}, "top_k: required"),
        ({"top_k": None}, "top_k: required"),
        ({"top_k": 1, "node_name": [1]}, "node_name: expected a list of strings"),
    ],
)
def test_a_wrong_field_is_named(body: dict[str, object], named: str) -> None:
    with pytest.raises(MalformedBody, match=named):
        canonical(body, SCHEMA)


def test_reads_drop_unknown_fields_and_strict_names_have_one_spelling() -> None:
    assert canonical({"x": 1}, Schema({}, drops_unknown=True)) == {}
    with pytest.raises(MalformedBody, match="unknown field"):
        canonical({"nodeName": []}, Schema({"node_name": Field(Kind.TEXTS)}, aliases=False))


DATASET = "6f1a2f0e-6a0e-4a9e-9f61-0d3f0c5d8b11"


@pytest.mark.parametrize(
    ("kind", "value", "expected"),
    [
        (Kind.TEXT, "x", "x"),
        (Kind.TEXT, 1, None),
        (Kind.TEXTS, ["a"], ["a"]),
        (Kind.TEXTS, "a", None),
        (Kind.OBJECT, {}, {}),
        (Kind.OBJECT, [], None),
        (Kind.TREE, [1], [1]),
        (Kind.UUID, DATASET.upper(), DATASET),
        (Kind.UUID, "{" + DATASET + "}", DATASET),
        (Kind.UUID, "x", None),
        (Kind.UUID, 5, None),
        (Kind.UUIDS, [DATASET], [DATASET]),
        (Kind.UUIDS, [DATASET, "x"], None),
        (Kind.UUIDS, 1, None),
        (Kind.BOOL, True, True),
        (Kind.BOOL, "Yes", True),
        (Kind.BOOL, 0, False),
        (Kind.BOOL, "off", False),
        (Kind.BOOL, "maybe", None),
        (Kind.BOOL, [], None),
        (Kind.INT, 5, 5),
        (Kind.INT, "5", 5),
        (Kind.INT, 5.0, 5),
        (Kind.INT, True, None),
        (Kind.INT, 5.5, None),
        (Kind.INT, "9" * 40, None),
        (Kind.NUMBER, 0.5, 0.5),
        (Kind.NUMBER, 1, 1),
        (Kind.NUMBER, "1", None),
        (Kind.NUMBER, True, None),
        (Kind.NUMBER, 10**400, None),
    ],
)
def test_a_value_is_reduced_to_its_kind(kind: Kind, value: object, expected: object) -> None:
    if expected is None:
        with pytest.raises(MalformedBody, match="f: expected"):
            checked("f", Field(kind), value)
    else:
        assert checked("f", Field(kind), value) == expected


def test_a_choice_names_its_words() -> None:
    rule = Field(Kind.CHOICE, frozenset({"qa", "agent"}))
    assert checked("f", rule, "qa") == "qa"
    with pytest.raises(MalformedBody, match="one of agent, qa"):
        checked("f", rule, "other")


def test_a_multipart_form_is_read_as_cognee_reads_it() -> None:
    body = multipart(("datasetName", "main"), ("node_set", "a"), ("data", File(b"x", "é.txt")), ("node_set", "b"))
    form = decode_form(MULTIPART, body, SHAPE, LIMITS)
    assert form.single == {"datasetName": "main"}
    assert form.repeated == {"node_set": ("a", "b")}
    assert [upload.filename for upload in form.files["data"]] == ["é.txt"]


def test_an_urlencoded_form_is_read_too() -> None:
    form = decode_form(URLENCODED, b"datasetName=a+b%C3%A9&node_set=x&node_set=&data=", SHAPE, LIMITS)
    assert form.single == {"datasetName": "a bé"}
    assert form.repeated == {"node_set": ("x", "")}
    assert form.files == {}


def test_a_blank_file_part_is_no_file() -> None:
    assert decode_form(MULTIPART, multipart(("data", File(b"", ""))), SHAPE, LIMITS).files == {}


def _part(head: str, content: bytes = b"x") -> bytes:
    return f"--{BOUNDARY}\r\n{head}\r\n\r\n".encode("latin-1") + content + f"\r\n--{BOUNDARY}--\r\n".encode()


@pytest.mark.parametrize(
    ("content_type", "body", "named"),
    [
        (MULTIPART, multipart(("surprise", "x")), "unknown field 'surprise'"),
        (MULTIPART, multipart(("dataset_name", "x")), "unknown field 'dataset_name'"),
        (MULTIPART, multipart(("datasetName", "a"), ("datasetName", "b")), "datasetName: given twice"),
        (MULTIPART, multipart(("data", "text")), "data: takes file parts"),
        (MULTIPART, multipart(("datasetName", File(b"x"))), "datasetName: takes text"),
        (MULTIPART, multipart(("other", File(b"x"))), "unknown field 'other'"),
        (MULTIPART, b"no boundary", "not valid multipart"),
        (MULTIPART, multipart(("datasetName", "a"))[:-6], "ends before its last boundary"),
        (MULTIPART, b"", "ends before its last boundary"),
        ("multipart/form-data", b"", "without a boundary"),
        ("multipart/form-data; boundary=" + "b" * 300, b"", "not valid multipart"),
        (MULTIPART + "; charset=utf-16", b"", "charset"),
        (MULTIPART + "; charset=klingon", b"", "charset"),
        (MULTIPART, _part("Content-Disposition: form-data"), "no form-data name"),
        (MULTIPART, _part("X: y"), "no form-data name"),
        (MULTIPART, _part('Content-Disposition: attachment; name="datasetName"'), "no form-data name"),
        (
            MULTIPART,
            _part("Content-Disposition: form-data; name=data; filename*=UTF-8''x.txt"),
            "data: takes file parts",
        ),
        (MULTIPART, _part("Content-Disposition: form-data; name=datasetName", b"\xff"), "not valid UTF-8"),
        (MULTIPART, _part("Content-Disposition: form-data; name=\xff"), "not valid UTF-8"),
        (
            MULTIPART,
            _part("Content-Disposition: form-data; name=a\r\nContent-Disposition: form-data; name=b"),
            "header twice",
        ),
        (URLENCODED, b"datasetName=a&datasetName=b", "datasetName: given twice"),
        (URLENCODED, b"data=text", "data: takes file parts"),
        (URLENCODED, "datasetName=é".encode(), "percent-encoded"),
        (URLENCODED, b"datasetName=%ff", "not valid UTF-8"),
        (JSON, b"{}", "Content-Type"),
        (None, b"", "Content-Type"),
    ],
)
def test_a_bad_form_names_what_is_wrong(content_type: str | None, body: bytes, named: str) -> None:
    with pytest.raises(MalformedBody, match=named.replace("*", r"\*")):
        decode_form(content_type, body, SHAPE, LIMITS)


@pytest.mark.parametrize("content_type", [MULTIPART, URLENCODED])
def test_a_form_of_too_many_parts_is_refused(content_type: str) -> None:
    limits = LIMITS.model_copy(update={"max_claims": 1})
    parts = [("node_set", "x")] * 102
    body = multipart(*parts) if content_type == MULTIPART else b"&".join([b"node_set=x"] * 102)
    with pytest.raises(MalformedBody, match="more than 101"):
        decode_form(content_type, body, SHAPE, limits)


@given(st.binary(max_size=200), st.sampled_from([JSON, MULTIPART, URLENCODED, "", "x; boundary"]))
def test_no_bytes_make_a_decoder_raise_anything_but_its_own_error(body: bytes, content_type: str) -> None:
    with suppress(RequestError):
        decode_json(content_type, body, LIMITS)
    with suppress(RequestError):
        decode_form(content_type, body, SHAPE, LIMITS)


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=20,
)


@given(json_values)
def test_json_comes_back_as_it_was(value: object) -> None:
    assert _decoded(json.dumps(value).encode()) == value
