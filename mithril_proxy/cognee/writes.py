"""Writes: decode a client's request into claims, and build the upstream call from any of them.

`prepare` takes every string from the judged claims, none from the request: what did not come back from judgement cannot
travel on.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from types import MappingProxyType

from mithril_proxy.cognee.calls import NewId, Piece, WriteCall, respoken, unread_files, with_text
from mithril_proxy.cognee.form_writes import FIELDS, Rules, decode_form_write
from mithril_proxy.cognee.json_writes import ENTRY, decode_json_write, fields_of
from mithril_proxy.cognee.prepared import FilePart, PreparedWrite
from mithril_proxy.cognee.receipts import RECEIPT
from mithril_proxy.cognee.routes import Match
from mithril_proxy.cognee.table import Codec
from mithril_proxy.cognee.tags import Tags
from mithril_proxy.cognee.tree import texts_of, with_strings
from mithril_proxy.cognee.uploads import header_safe, is_own_name, renamed
from mithril_proxy.types import Annotation, Claim, Status

__all__ = ["Rules", "WriteCall", "decode_write", "forward_tags", "prepare", "unread_files", "with_text"]

NO_RECEIPTS: Mapping[str, str] = MappingProxyType({})
SKILL_SET = "skills"  # the node set that Cognee's own skill routing reads; never verified memory

_NAMED = {Codec.ADD: "datasetName", Codec.REMEMBER: "datasetName", Codec.COGNIFY: "datasets"}
_FIXED = frozenset({Codec.UPDATE, Codec.ONTOLOGY, Codec.SCHEMA, Codec.DATASET})


def decode_write(
    match: Match, content_type: str | None, query: str, body: bytes, *, rules: Rules, new_id: NewId
) -> WriteCall:
    """The claims of a write, whatever its codec.

    `content_type` is the request's header, `query` its query string, `body` the whole body, not encoded. Raises
    MalformedBody (400), BodyTooLarge (413) or Refused (403), each naming the field.
    """
    if match.codec in FIELDS:
        return decode_form_write(match, content_type, query, body, rules=rules, new_id=new_id)
    return decode_json_write(match, content_type, body, rules=rules, new_id=new_id)


def forward_tags(
    call: WriteCall, status: Status, source: str, tags: Tags, *, is_session_own: bool = False
) -> tuple[str, ...]:
    """The tags of this call's claims when they are admitted with `status`: claims with equal tags can go together.

    `is_session_own` is true for a session whose turns were all judged here. On any other one nothing may be pinned: an
    improve would bring its unjudged turns into the graph as verified too (seen on 1.6.5).
    """
    if _carries_no_tags(call) or (call.is_session and not is_session_own):
        return ()
    return tags.for_forward(status, source, call.client_tags, is_session=call.is_session)


def prepare(
    call: WriteCall,
    claims: tuple[Claim, ...],
    *,
    tags: tuple[str, ...],
    dataset: str | None = None,
    annotations: tuple[Annotation, ...] | None = None,
    receipts: Mapping[str, str] = NO_RECEIPTS,
) -> PreparedWrite:
    """The upstream call that carries these claims of `call`, as they came back from judgement, and nothing else.

    `dataset` replaces the client's target when it is not empty. `annotations` are the redacted strings of a call
    without claims. `receipts` maps claim id to decision id: Cognee gives it back with every chunk of the memory.
    Raises KeyError when a string of the call is in neither.
    """
    texts = texts_of(claims[0].annotations if claims else annotations or ())
    if call.match.codec in FIELDS:
        return _prepare_form(call, claims, tags, dataset, texts, receipts if _takes_receipts(call) else NO_RECEIPTS)
    return _prepare_json(call, claims, tags, dataset, texts)


def _carries_no_tags(call: WriteCall) -> bool:
    return call.match.codec in (Codec.SKILLS, Codec.ONTOLOGY, Codec.SCHEMA, Codec.COGNIFY, Codec.DATASET) or (
        call.match.codec in (Codec.IMPROVE, Codec.MEMIFY) or _is_skill(call)
    )


def _is_skill(call: WriteCall) -> bool:
    content_type = call.values.get("content_type")
    return content_type in ("skills", "cogx-archive") or call.values.get("entry.type") in ("skill_run", "feedback")


def _takes_receipts(call: WriteCall) -> bool:
    """True where Cognee takes external_metadata: plain documents; not turns, not updates, not other content types."""
    return call.match.codec in (Codec.ADD, Codec.REMEMBER) and not call.is_session and "content_type" not in call.values


def _prepare_form(
    call: WriteCall,
    claims: tuple[Claim, ...],
    tags: tuple[str, ...],
    dataset: str | None,
    texts: Mapping[str, str],
    receipts: Mapping[str, str],
) -> PreparedWrite:
    values = _targeted(call, respoken(call.values, FIELDS[call.match.codec], texts), dataset)
    judged = {claim.id: claim for claim in claims}
    chosen = [(piece, judged[piece.claim_id]) for piece in call.pieces if piece.claim_id in judged]
    fields = [(name, _form_value(value)) for name, listed in values.items() for value in _each(listed)]
    fields += [("node_set", tag) for tag in tags if not _carries_no_tags(call)]
    fields += [(_string_field(piece), claim.text) for piece, claim in chosen if _is_string(call, piece)]
    fields += _companions(chosen, receipts)
    files = tuple(_file(piece, claim) for piece, claim in chosen if not _is_string(call, piece))
    return PreparedWrite(call.match.method, call.match.path, call.query, tuple(fields), files)


def _is_string(call: WriteCall, piece: Piece) -> bool:
    """True for what must be a form value: session turns (Cognee drops files there), repositories and skill texts."""
    return call.is_session or piece.field in ("raw_data", "skills_text")


def _string_field(piece: Piece) -> str:
    return "skills_text" if piece.field == "skills_text" else "raw_data"


def _file(piece: Piece, claim: Claim) -> FilePart:
    name = _filename(piece, claim)
    is_as_judged = piece.text is None or claim.text == piece.text
    if piece.blob is not None and is_as_judged:
        return FilePart(piece.field, name, blob=piece.blob)
    keeps_name = claim.text == piece.text or piece.keeps_name
    return FilePart(piece.field, name if keeps_name else renamed(name, claim.text), text=claim.text)


def _filename(piece: Piece, claim: Claim) -> str:
    """The judged name; only a name that was made from the text itself needs no judgement."""
    if piece.text is not None and is_own_name(piece.filename, piece.text):
        return piece.filename
    return header_safe(texts_of(claim.annotations)[f"{piece.place}.filename"], keeps_folders=piece.keeps_name)


def _companions(chosen: list[tuple[Piece, Claim]], receipts: Mapping[str, str]) -> list[tuple[str, str]]:
    """Labels and metadata of the chosen pieces, paired anew by position."""
    labels = [_label(piece, claim) for piece, claim in chosen]
    metadata = [_receipted(_metadata(piece, claim), receipts.get(claim.id)) for piece, claim in chosen]
    given = (("labels", labels), ("external_metadata", metadata))
    return [(name, json.dumps(entries, ensure_ascii=False)) for name, entries in given if any(entries)]


def _place(claim: Claim, prefix: str) -> str:
    """`labels[3]` among the claim's annotations: the position that it had in the client's request."""
    for said in claim.annotations:
        if said.locator.startswith(f"{prefix}["):
            return said.locator[: said.locator.index("]") + 1]
    raise KeyError(prefix)


def _label(piece: Piece, claim: Claim) -> str:
    return texts_of(claim.annotations)[_place(claim, "labels")] if piece.label is not None else ""


def _receipted(metadata: object, decision_id: str | None) -> object:
    """The client's metadata with Mithril's receipt in it; a client's own value under that key is left out."""
    own = {key: value for key, value in metadata.items() if key != RECEIPT} if isinstance(metadata, dict) else {}
    return {**own, RECEIPT: {"decision": decision_id}} if decision_id is not None else (own or None)


def _metadata(piece: Piece, claim: Claim) -> object:
    if piece.metadata is None:
        return None
    return with_strings(piece.metadata, _place(claim, "external_metadata"), texts_of(claim.annotations))


def _prepare_json(
    call: WriteCall, claims: tuple[Claim, ...], tags: tuple[str, ...], dataset: str | None, texts: Mapping[str, str]
) -> PreparedWrite:
    codec = call.match.codec
    judged = dict(texts) | ({call.text_place: claims[0].text} if claims and call.text_place else {})
    values = _targeted(call, respoken(call.values, fields_of(codec, call.values), judged), dataset)
    document: dict[str, object] = {name: value for name, value in values.items() if not name.startswith(ENTRY)}
    entry = {name.removeprefix(ENTRY): value for name, value in values.items() if name.startswith(ENTRY)}
    if entry:
        document["entry"] = entry | _entry_tags(str(entry["type"]), tags)
    return PreparedWrite(call.match.method, call.match.path, document=document)


def _entry_tags(kind: str, tags: tuple[str, ...]) -> dict[str, object]:
    if kind == "skill_run":
        return {"node_set": SKILL_SET}
    return {"node_set": list(tags)} if kind in ("qa", "trace") and tags else {}


def _targeted(call: WriteCall, values: dict[str, object], dataset: str | None) -> dict[str, object]:
    """`values` aimed at `dataset`, when the policy names one and the call has a target to choose."""
    codec = call.match.codec
    if not dataset or codec in _FIXED:
        return values
    others = {name: value for name, value in values.items() if name not in ("datasetId", "dataset_id", "dataset_ids")}
    name = _NAMED.get(codec, "dataset_name")
    return others | {name: [dataset] if name == "datasets" else dataset}


def _each(value: object) -> Iterable[object]:
    return value if isinstance(value, list) else (value,)


def _form_value(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)
