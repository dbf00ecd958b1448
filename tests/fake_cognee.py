"""A small Cognee in memory: remember, recall by shared words, list and delete. An ASGI application, no model."""

from __future__ import annotations

import json
import re
import uuid
from dataclasses import dataclass, field
from pathlib import PurePosixPath
from typing import Any

from starlette.applications import Starlette
from starlette.datastructures import UploadFile
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

NAMESPACE = uuid.UUID("6ba7b810-9dad-11d1-80b4-00c04fd430c8")


def identifier(*words: str) -> str:
    """The same id for the same words, as Cognee makes data ids of file names."""
    return str(uuid.uuid5(NAMESPACE, "/".join(words)))


@dataclass(frozen=True)
class Stored:
    """One document."""

    dataset: str
    filename: str
    text: str
    node_sets: tuple[str, ...]
    metadata: dict[str, Any] | None

    @property
    def data_id(self) -> str:
        return identifier(self.dataset, self.filename)


@dataclass
class FakeCognee:
    """What it was told, and the application that was told it. `refuses` answers writes with this status.

    Without `searches` a recall finds nothing: looking through ten thousand documents ten thousand times takes minutes.
    """

    documents: list[Stored] = field(default_factory=list)
    api_keys: list[str | None] = field(default_factory=list)
    writes: int = 0
    refuses: int | None = None
    searches: bool = True
    _known: set[str] = field(default_factory=set)

    @property
    def app(self) -> Starlette:
        api = "/api/v1"
        return Starlette(
            routes=[
                Route("/health", self.health),
                Route(f"{api}/remember", self.remember, methods=["POST"]),
                Route(f"{api}/add", self.add, methods=["POST"]),
                Route(f"{api}/recall", self.recall, methods=["POST"]),
                Route(f"{api}/datasets", self.datasets),
                Route(f"{api}/datasets/{{dataset_id}}/data", self.listing),
                Route(f"{api}/datasets/{{dataset_id}}/data/{{data_id}}", self.delete, methods=["DELETE"]),
                Route(f"{api}/datasets/{{dataset_id}}/data/{{data_id}}/raw", self.raw),
            ]
        )

    @property
    def texts(self) -> list[str]:
        return [document.text for document in self.documents]

    async def health(self, request: Request) -> Response:
        return JSONResponse({"status": "ready", "health": "healthy", "version": "1.6.5"})

    async def remember(self, request: Request) -> Response:
        if self.refuses is not None:
            return JSONResponse({"error": "no"}, self.refuses)
        dataset, _ = await self._store(request)
        return JSONResponse({"status": "completed", "dataset_name": dataset, "dataset_id": identifier(dataset)})

    async def add(self, request: Request) -> Response:
        dataset, stored = await self._store(request)
        info = [{"run_info": {}, "data_id": document.data_id} for document in stored]
        return JSONResponse({"dataset_name": dataset, "dataset_id": identifier(dataset), "data_ingestion_info": info})

    async def _store(self, request: Request) -> tuple[str, list[Stored]]:
        self.writes += 1
        self.api_keys.append(request.headers.get("x-api-key"))
        async with request.form(max_files=10_000, max_fields=10_000) as form:
            dataset = str(form["datasetName"])
            tags = tuple(str(tag) for tag in form.getlist("node_set"))
            metadata = json.loads(str(form.get("external_metadata") or "[]"))
            uploads = [part for part in form.getlist("data") if isinstance(part, UploadFile)]
            stored = [
                Stored(
                    dataset,
                    upload.filename or "",
                    (await upload.read()).decode(),
                    tags,
                    metadata[place] if place < len(metadata) else None,
                )
                for place, upload in enumerate(uploads)
            ]
        self.documents += [document for document in stored if document.data_id not in self._known]
        self._known.update(document.data_id for document in stored)
        return dataset, stored

    async def recall(self, request: Request) -> Response:
        if not self.searches:
            return JSONResponse([])
        asked = await request.json()
        wanted = set(asked["node_name"])
        words = set(_words(asked["query"]))
        names = asked.get("datasets")
        found = [
            (len(words & set(_words(document.text))) / (len(words) or 1), document)
            for document in self.documents
            if wanted & set(document.node_sets) and (not names or document.dataset in names)
        ]
        near = sorted((pair for pair in found if pair[0] > 0), key=lambda pair: -pair[0])[: asked["top_k"]]
        return JSONResponse([_chunk(document, 1 - likeness) for likeness, document in near])

    async def datasets(self, request: Request) -> Response:
        names = sorted({document.dataset for document in self.documents})
        return JSONResponse([{"id": identifier(name), "name": name} for name in names])

    async def listing(self, request: Request) -> Response:
        wanted = request.path_params["dataset_id"]
        limit, offset = int(request.query_params.get("limit", 100)), int(request.query_params.get("offset", 0))
        rows = [_row(document) for document in self.documents if identifier(document.dataset) == wanted]
        return JSONResponse(rows[offset : offset + limit])

    async def delete(self, request: Request) -> Response:
        self.api_keys.append(request.headers.get("x-api-key"))
        kept = [document for document in self.documents if document.data_id != request.path_params["data_id"]]
        if len(kept) == len(self.documents):
            return JSONResponse({"message": "no such data"}, 404)
        self.documents = kept
        self._known.discard(request.path_params["data_id"])
        return Response(status_code=200)

    async def raw(self, request: Request) -> Response:
        for document in self.documents:
            if document.data_id == request.path_params["data_id"]:
                return Response(document.text, media_type="text/plain")
        return JSONResponse({"message": "no such data"}, 404)


def _words(text: str) -> list[str]:
    return re.findall(r"\w+", text.lower())


def _row(document: Stored) -> dict[str, Any]:
    return {
        "id": document.data_id,
        "name": PurePosixPath(document.filename).stem,
        "extension": PurePosixPath(document.filename).suffix.removeprefix("."),
        "datasetId": identifier(document.dataset),
        "externalMetadata": document.metadata,
    }


def _chunk(document: Stored, distance: float) -> dict[str, Any]:
    return {
        "kind": "chunk",
        "search_type": "CHUNKS",
        "text": document.text,
        "score": distance,
        "dataset_id": identifier(document.dataset),
        "dataset_name": document.dataset,
        "metadata": {
            "data_id": document.data_id,
            "chunk_id": identifier(document.data_id, "0"),
            "chunk_index": 0,
            "document_name": document.filename,
        },
        "raw": {"text": document.text, "belongs_to_set": list(document.node_sets)},
        "structured": None,
        "source": "graph",
    }
