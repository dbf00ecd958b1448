"""A decoded write: its claims, and what is left of the request to build the upstream call from."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace

from mithril_proxy.cognee.fields import SPOKEN, Field
from mithril_proxy.cognee.routes import Match
from mithril_proxy.cognee.tree import strings, with_strings
from mithril_proxy.types import Annotation, Claim

NewId = Callable[[], str]


@dataclass(frozen=True, slots=True)
class Piece:
    """One part of a form that carries content. `text` is what was decoded, None for opaque `blob`.

    `keeps_name` is true where Cognee reads a file by its name (skills, ontologies): it is not renamed with its content.
    """

    claim_id: str
    field: str
    place: str
    filename: str = ""
    text: str | None = None
    blob: bytes | None = None
    label: str | None = None
    metadata: Mapping[str, object] | None = None
    keeps_name: bool = False


@dataclass(frozen=True, slots=True)
class WriteCall:
    """A write as it was decoded.

    `claims` are what is judged, one decision each; a call without claims (a plain improve, a new dataset) still has
    `annotations`, which must be redacted. `sessions` are the session ids that the call stores in or bridges from.
    `values` are checked values by canonical name; `pieces` the content of a form; `text_place` the locator that a JSON
    call's claim text came from.
    """

    match: Match
    claims: tuple[Claim, ...] = ()
    annotations: tuple[Annotation, ...] = ()
    dataset: str | None = None
    sessions: tuple[str, ...] = ()
    client_tags: tuple[str, ...] = ()
    forged_tags: tuple[str, ...] = ()
    dropped: tuple[str, ...] = ()
    is_session: bool = False
    values: Mapping[str, object] = field(default_factory=dict)
    pieces: tuple[Piece, ...] = ()
    text_place: str = ""
    query: tuple[tuple[str, str], ...] = ()

    @property
    def session(self) -> str | None:
        """The one session that the call stores in, if any."""
        return self.sessions[0] if self.is_session and self.sessions else None

    @property
    def dataset_ids(self) -> tuple[str, ...]:
        """The dataset that the call names by id, when it does."""
        given = (*(self.values.get(name) for name in ("datasetId", "dataset_id")), dict(self.query).get("dataset_id"))
        return tuple(str(dataset_id) for dataset_id in given if dataset_id)[:1]


def unread_files(call: WriteCall) -> tuple[Piece, ...]:
    """The opaque files of a call whose text somebody else may be able to read; archives of memory are none."""
    if call.values.get("content_type") == "cogx-archive":
        return ()
    return tuple(piece for piece in call.pieces if piece.blob is not None)


def with_text(call: WriteCall, claim_id: str, text: str, *, keeps_original: bool = False) -> WriteCall:
    """`call` with the text of one opaque file, which is judged and forwarded in place of its bytes.

    With `keeps_original` the bytes themselves are forwarded after all, unless the text comes back changed.
    """
    pieces = tuple(
        _read_piece(piece, text, keeps_original) if piece.claim_id == claim_id else piece for piece in call.pieces
    )
    names = {f"{piece.place}.filename": piece.filename for piece in pieces}
    claims = tuple(_read_claim(claim, text, names) if claim.id == claim_id else claim for claim in call.claims)
    return replace(call, pieces=pieces, claims=claims)


def _read_piece(piece: Piece, text: str, keeps_original: bool) -> Piece:
    if keeps_original:
        return replace(piece, text=text)
    return replace(piece, text=text, blob=None, filename=f"{piece.filename}.txt")


def _read_claim(claim: Claim, text: str, names: Mapping[str, str]) -> Claim:
    annotations = tuple(replace(said, text=names.get(said.locator, said.text)) for said in claim.annotations)
    return replace(claim, text=text, is_opaque=False, annotations=annotations)


def spoken(values: Mapping[str, object], fields: Mapping[str, Field]) -> tuple[Annotation, ...]:
    """Every string of a client in `values`, with its locator."""
    return tuple(
        annotation
        for name, value in values.items()
        if fields[name].kind in SPOKEN
        for annotation in strings(value, name)
    )


def respoken(values: Mapping[str, object], fields: Mapping[str, Field], texts: Mapping[str, str]) -> dict[str, object]:
    """`values` with every string taken from `texts`. Raises KeyError when one came back from no judgement."""
    return {
        name: with_strings(value, name, texts) if fields[name].kind in SPOKEN else value
        for name, value in values.items()
    }


def with_annotations(claims: tuple[Claim, ...], annotations: tuple[Annotation, ...]) -> tuple[Claim, ...]:
    """The claims, each carrying the call's own strings too: whichever is admitted brings them along judged."""
    return tuple(replace(claim, annotations=claim.annotations + annotations) for claim in claims)
