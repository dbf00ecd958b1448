"""The content of a form, one claim a file or string, with the names, labels and metadata that travel with it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime

from mithril_proxy.cognee.calls import NewId, Piece
from mithril_proxy.cognee.forms import Form, Upload
from mithril_proxy.cognee.json_body import check_tree, parse_json
from mithril_proxy.cognee.locations import refuse_location
from mithril_proxy.cognee.tree import strings
from mithril_proxy.cognee.uploads import is_own_name, read_upload, text_name
from mithril_proxy.errors import BodyTooLarge, MalformedBody
from mithril_proxy.policy import Limits
from mithril_proxy.types import Annotation, Claim

CLAIMED_AT_KEYS = ("claimed_at", "created_at")


@dataclass(frozen=True, slots=True)
class Intake:
    """A checked form and what bounds it."""

    form: Form
    values: Mapping[str, object]
    limits: Limits

    @property
    def is_session(self) -> bool:
        """True when the content becomes turns of a session."""
        return "session_id" in self.values

    @property
    def content_type(self) -> object:
        """The declared kind of content, None for normal content."""
        return self.values.get("content_type")


def read_pieces(intake: Intake, new_id: NewId) -> tuple[tuple[Claim, ...], tuple[Piece, ...]]:
    """(claims, pieces) of a form, files first and strings after, as Cognee pairs them with labels and metadata."""
    form = intake.form
    pairs = [_from_upload(intake, field, place, upload, new_id()) for field, place, upload in _uploads(form)]
    pairs += [_from_string(intake, place, text, new_id()) for place, text in _texts(form)]
    pairs = _with_companions(intake, pairs)
    skill = form.single.get("skills_text", "")
    if skill.strip():
        pairs.append(_from_skill(intake, skill, new_id()))
    _check_number(intake, len(pairs))
    return tuple(claim for claim, _ in pairs), tuple(piece for _, piece in pairs)


def _uploads(form: Form) -> list[tuple[str, str, Upload]]:
    return [
        (field, f"{field}[{position}]", upload)
        for field, uploads in form.files.items()
        for position, upload in enumerate(uploads)
    ]


def _texts(form: Form) -> list[tuple[str, str]]:
    given = form.repeated.get("raw_data", ())
    return [(f"raw_data[{position}]", text.strip()) for position, text in enumerate(given) if text.strip()]


def _from_upload(intake: Intake, field: str, place: str, upload: Upload, claim_id: str) -> tuple[Claim, Piece]:
    is_skill = intake.content_type == "skills"
    reading = read_upload(upload, place, intake.limits.max_text_chars, keeps_folders=is_skill)
    text = None if intake.content_type == "cogx-archive" else reading.text
    if text is None and intake.is_session:
        raise MalformedBody(f"{place}: a file that is not text cannot be stored in a session; leave session_id out")
    if field == "ontology_file" and not reading.filename.lower().endswith(".owl"):
        raise MalformedBody(f"{place}: its filename must end in .owl")
    blob = upload.content if text is None else None
    keeps_name = is_skill or field == "ontology_file"
    piece = Piece(claim_id, field, place, reading.filename, text, blob, keeps_name=keeps_name)
    says_nothing = text is not None and is_own_name(reading.filename, text)
    named = () if says_nothing else (Annotation(f"{place}.filename", reading.filename),)
    return Claim(claim_id, text or "", place, reading.media_type, text is None, annotations=named), piece


def _from_string(intake: Intake, place: str, text: str, claim_id: str) -> tuple[Claim, Piece]:
    """A string becomes a text file, so that Cognee stores it and never follows it. Repositories stay strings."""
    _check_length(intake, place, text)
    is_repository = intake.content_type == "code"
    if not is_repository:
        refuse_location(text, place)
    piece = Piece(claim_id, "raw_data" if is_repository else "data", place, text_name(text), text)
    return Claim(claim_id, text, place, is_opaque=is_repository), piece


def _from_skill(intake: Intake, text: str, claim_id: str) -> tuple[Claim, Piece]:
    _check_length(intake, "skills_text", text)
    piece = Piece(claim_id, "skills_text", "skills_text", text=text)
    return Claim(claim_id, text, "skills_text", "text/markdown"), piece


def _check_length(intake: Intake, place: str, text: str) -> None:
    if len(text) > intake.limits.max_text_chars:
        raise BodyTooLarge(f"{place}: {len(text)} characters, at most {intake.limits.max_text_chars} are judged")


def _check_number(intake: Intake, number: int) -> None:
    if number == 0:
        raise MalformedBody("data: give at least one file in `data` or one string in `raw_data`")
    if number > intake.limits.max_claims:
        raise BodyTooLarge(f"data: {number} files and strings, at most {intake.limits.max_claims} are taken at once")


def _with_companions(intake: Intake, pairs: list[tuple[Claim, Piece]]) -> list[tuple[Claim, Piece]]:
    """Each claim with its label and metadata, paired by position."""
    labels = _labels(intake.form.single.get("labels", ""), intake.limits)
    metadata = _metadata(intake.form.single.get("external_metadata", ""), intake.limits)
    for name, given in (("labels", labels), ("external_metadata", metadata)):
        if any(given) and (intake.is_session or intake.content_type):
            raise MalformedBody(f"{name}: only taken without session_id and content_type")
        if any(given) and len(given) != len(pairs):
            raise MalformedBody(f"{name}: {len(given)} entries for {len(pairs)} files and strings")
    return [
        _accompanied(claim, piece, position, _at(labels, position), _at(metadata, position))
        for position, (claim, piece) in enumerate(pairs)
    ]


def _at(given: list[object], position: int) -> object:
    return given[position] if position < len(given) else None


def _accompanied(claim: Claim, piece: Piece, position: int, label: object, metadata: object) -> tuple[Claim, Piece]:
    own = replace(
        piece,
        label=label if isinstance(label, str) and label else None,
        metadata=metadata if isinstance(metadata, dict) and metadata else None,
    )
    said = [] if own.label is None else [Annotation(f"labels[{position}]", own.label)]
    if own.metadata is not None:
        said += strings(own.metadata, f"external_metadata[{position}]")
    return replace(claim, claimed_at=_claimed_at(own.metadata), annotations=(*claim.annotations, *said)), own


def _labels(text: str, limits: Limits) -> list[object]:
    """One label a piece: a JSON array of strings, or a list with commas, as Cognee's own parser has it."""
    if not text.strip():
        return []
    try:
        parsed = json.loads(text)
    except (ValueError, RecursionError):
        return [segment.strip() for segment in text.split(",")]
    if not isinstance(parsed, list):
        return [segment.strip() for segment in text.split(",")]
    if not all(entry is None or isinstance(entry, str) for entry in parsed):
        raise MalformedBody("labels: expected a JSON array of strings")
    check_tree(parsed, "labels", limits.max_json_depth)
    return parsed


def _metadata(text: str, limits: Limits) -> list[object]:
    """One object a piece: a JSON array of objects and nulls. `node_set` in one would set tags past Mithril."""
    if not text.strip():
        return []
    parsed = parse_json(text, "external_metadata")
    if not isinstance(parsed, list) or not all(entry is None or isinstance(entry, dict) for entry in parsed):
        raise MalformedBody("external_metadata: expected a JSON array of objects")
    check_tree(parsed, "external_metadata", limits.max_json_depth)
    if any(entry and any(key.strip().lower() in ("node_set", "_cognee") for key in entry) for entry in parsed):
        raise MalformedBody("external_metadata: node_set and _cognee are not taken inside it")
    return parsed


def _claimed_at(metadata: Mapping[str, object] | None) -> datetime | None:
    """The time that the client gives for the fact, aware; None when it gives none that can be read."""
    for key in CLAIMED_AT_KEYS:
        value = (metadata or {}).get(key)
        try:
            moment = datetime.fromisoformat(value) if isinstance(value, str) else None
        except ValueError:
            moment = None
        if moment is not None:
            return moment if moment.tzinfo else moment.replace(tzinfo=UTC)
    return None
