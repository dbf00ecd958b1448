"""Where a forwarded write lies in Cognee: what its answer tells, and how it is found and deleted later (1.6.5).

- POST /add answers `data_ingestion_info: [{run_info, data_id}]`, one a file, in order; POST /remember names only the
  dataset, since its `items` list everything that the run covered.
- A data id is made of the file name, so a document is found again by it: GET /datasets gives `[{id, name}]`,
  GET /datasets/{id}/data?limit&offset `[{id, name, extension, …}]` with the name less its suffix.
- DELETE /datasets/{id}/data/{data_id} takes one document out of vector store, graph and files.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Any
from urllib.parse import quote

from mithril_proxy.cognee.prepared import PreparedWrite
from mithril_proxy.cognee.receipts import RECEIPT
from mithril_proxy.errors import UpstreamUnavailable

DATASETS_PATH = "/api/v1/datasets"
PAGE_ROWS = 1000


@dataclass(frozen=True, slots=True)
class Place:
    """Where one file of a write lies. `dataset` is the name or id that the write was aimed at."""

    filename: str
    dataset: str | None
    dataset_id: str | None
    data_id: str | None


@dataclass(frozen=True, slots=True)
class Listed:
    """One document of a dataset, as Cognee lists it; `decision_id` is the receipt that Mithril gave it."""

    data_id: str
    name: str
    decision_id: str | None = None

    def is_file(self, filename: str) -> bool:
        """True when it is the document of that file name."""
        return self.name in (filename, PurePosixPath(filename).stem)


@dataclass(frozen=True, slots=True)
class Shown:
    """A chunk that an answer showed."""

    data_id: str
    chunk_id: str | None


def places_of(prepared: PreparedWrite, body: bytes) -> tuple[Place, ...]:
    """One place a file of the write, in order; none for a write without files (turns of a session)."""
    answer = _object(body)
    fields, query = dict(prepared.fields), dict(prepared.query)
    told = answer.get("data_ingestion_info")
    ids = (
        [_word(one.get("data_id")) if isinstance(one, Mapping) else None for one in told]
        if isinstance(told, list)
        else []
    )
    if len(ids) != len(prepared.files):
        ids = [query.get("data_id")] * len(prepared.files)
    dataset_id = _word(answer.get("dataset_id")) or query.get("dataset_id") or fields.get("datasetId")
    dataset = fields.get("datasetName") or dataset_id
    return tuple(
        Place(part.filename, dataset, dataset_id, data_id) for part, data_id in zip(prepared.files, ids, strict=True)
    )


def shown_in(answer: object) -> tuple[Shown, ...]:
    """Every stored chunk that a recall's answer names, each once."""
    return tuple(dict.fromkeys(_shown(answer)))


def parse_datasets(body: bytes) -> dict[str, str]:
    """Ids of datasets by name. Raises UpstreamUnavailable."""
    return {str(row["name"]): str(row["id"]) for row in _rows(body) if "name" in row}


def parse_documents(body: bytes) -> list[Listed]:
    """The documents of one page. Raises UpstreamUnavailable."""
    return [Listed(str(row["id"]), str(row.get("name", "")), _receipt(row)) for row in _rows(body)]


def documents_target(dataset_id: str, offset: int) -> str:
    """Path and query of one page of a dataset's documents."""
    return f"{DATASETS_PATH}/{quote(dataset_id, safe='')}/data?limit={PAGE_ROWS}&offset={offset}"


def document_target(dataset_id: str, data_id: str) -> str:
    """Path of one document: DELETE takes it out; with `/raw` behind it, GET is its text."""
    return f"{DATASETS_PATH}/{quote(dataset_id, safe='')}/data/{quote(data_id, safe='')}"


def _receipt(row: Mapping[str, Any]) -> str | None:
    metadata = row.get("externalMetadata", row.get("external_metadata"))
    receipt = metadata.get(RECEIPT) if isinstance(metadata, Mapping) else None
    return _word(receipt.get("decision")) if isinstance(receipt, Mapping) else None


def _shown(value: object) -> Iterator[Shown]:
    if isinstance(value, Mapping):
        data_id = _word(value.get("data_id"))
        if data_id is not None:
            yield Shown(data_id, _word(value.get("chunk_id")))
        for inner in value.values():
            yield from _shown(inner)
    elif isinstance(value, (list, tuple)):
        for inner in value:
            yield from _shown(inner)


def _rows(body: bytes) -> list[Mapping[str, Any]]:
    try:
        rows = json.loads(body)
    except ValueError:
        raise UpstreamUnavailable("the list of documents is no JSON") from None
    if not isinstance(rows, list):
        raise UpstreamUnavailable("the list of documents is no list")
    return [row for row in rows if isinstance(row, Mapping) and "id" in row]


def _object(body: bytes) -> Mapping[str, Any]:
    try:
        value = json.loads(body)
    except ValueError:
        return {}
    return value if isinstance(value, Mapping) else {}


def _word(value: object) -> str | None:
    return value if isinstance(value, str) and value else None
