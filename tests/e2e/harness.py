"""One Cognee with Mithril in front, and what a test may ask of both."""

from __future__ import annotations

import contextlib
import json
import sqlite3
import subprocess
import uuid
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx2

from mithril_proxy.demo.children import foreign_module
from mithril_proxy.demo.cognee_server import Cognee, client_environment
from mithril_proxy.demo.mithril_server import Mithril
from mithril_proxy.demo.outcome import files_that_hold

LETTERS = str.maketrans("0123456789", "ghijklmnop")
HISTORY = "cognee_db"  # Cognee's relational store: users, datasets, runs, and the history of questions
TIMEOUT_S = 180.0  # a first write to a new dataset took 6 s on an idle machine; CI's is not idle


def codename() -> str:
    """A word that no other test uses: it makes sources, datasets and subjects a test's own.

    Letters only: digits inside it would be amounts to the judge, and two words would contradict each other by chance.
    """
    return "q" + uuid.uuid4().hex[:10].translate(LETTERS)


@dataclass(frozen=True, slots=True)
class Stack:
    """A real Cognee, Mithril in front of it, and the interpreter that has Cognee's SDK."""

    cognee: Cognee
    mithril: Mithril
    python: Path
    http: httpx2.Client
    dataset: str = field(default_factory=codename)

    def register(self, prior: float, name: str | None = None) -> Writer:
        """A registered source with a key of its own."""
        source = name or codename()
        return Writer(self, source, {"X-Api-Key": self.mithril.add_source(source, prior)})

    def unknown(self) -> Writer:
        """A client that Mithril does not know: it has what it had before Mithril came."""
        return Writer(self, "unknown-agent", self.cognee.headers)

    def reputation(self, source: str) -> float:
        """The reputation of `source` as an operator sees it."""
        shown: dict[str, Any] = json.loads(self.mithril.command("sources", "show", source, "--json"))
        return float(shown["reputation"])

    def held(self) -> list[dict[str, Any]]:
        """Every pending entry of the quarantine, newest first."""
        lines = self.mithril.command("quarantine", "list", "--limit", "1000", "--json").splitlines()
        return [json.loads(line) for line in lines]

    def held_text(self, text: str) -> dict[str, Any]:
        """The one pending entry that holds `text`."""
        (entry,) = [entry for entry in self.held() if text in entry["text"]]
        return entry

    def is_upstream(self, text: str) -> bool:
        """True when Cognee itself has `text`: in its memory, its documents, or any store below its folder.

        Its history of questions does not count: Mithril's own probe asks about the text and stands there.
        """
        return bool(
            any(text in found for found in recalled(self.http, self.cognee.url, self.cognee.headers, about(text)))
            or any(text in document for document in self.documents())
            or any(HISTORY not in path.name for path in files_that_hold(self.cognee.folder, text.encode()))
            or self._tables_that_hold(text) - {"queries"}
        )

    def _tables_that_hold(self, text: str) -> set[str]:
        """The tables of Cognee's relational store with `text` in some column."""
        path = self.cognee.folder / "system" / "databases" / HISTORY
        with contextlib.closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True)) as database:
            tables = [name for (name,) in database.execute("select name from sqlite_master where type = 'table'")]
            return {
                name for name in tables if any(text in str(row) for row in database.execute(f'select * from "{name}"'))
            }

    def documents(self) -> list[str]:
        """The raw text of every document in this test's dataset, read past Mithril."""
        datasets = self._get("/api/v1/datasets")
        named = [row["id"] for row in datasets if row["name"] == self.dataset]
        rows = [(each, row["id"]) for each in named for row in self._get(f"/api/v1/datasets/{each}/data")]
        return [self._fetch(f"/api/v1/datasets/{each}/data/{row}/raw").text for each, row in rows]

    def _get(self, path: str) -> Any:
        return self._fetch(path).json()

    def _fetch(self, path: str) -> httpx2.Response:
        response = self.http.get(self.cognee.url + path, headers=self.cognee.headers)
        assert response.status_code == 200, response.text
        return response

    def cognee_command(self, program: str, *arguments: str, home: Path) -> subprocess.CompletedProcess[str]:
        """One run of a program of Cognee's environment, as a user would run it."""
        return subprocess.run(
            (str(self.python.parent / program), *arguments),
            cwd=home,
            env=client_environment(self.python, home),
            capture_output=True,
            text=True,
            timeout=TIMEOUT_S,
            check=False,
        )

    def sdk(self, steps: list[dict[str, str]], home: Path) -> list[dict[str, Any]]:
        """What Cognee's own SDK returned for each step (see `mithril_proxy.demo.client`)."""
        done = subprocess.run(
            foreign_module(self.python, "mithril_proxy.demo.client", ()),
            cwd=home,
            env=client_environment(self.python, home),
            input=json.dumps(steps),
            capture_output=True,
            text=True,
            timeout=TIMEOUT_S,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        return [json.loads(line) for line in done.stdout.splitlines() if line.startswith('{"step"')]


@dataclass(frozen=True, slots=True)
class Writer:
    """One client of the proxy: a source and the credential that it sends."""

    stack: Stack
    source: str
    headers: Mapping[str, str]

    def remember(self, text: str, **fields: str | list[str]) -> httpx2.Response:
        """The answer to a write of `text` through the proxy."""
        return self.stack.http.post(
            f"{self.stack.mithril.url}/api/v1/remember",
            headers=dict(self.headers),
            data={"datasetName": self.stack.dataset, **fields},
            files={"data": (f"{codename()}.txt", text.encode(), "text/plain")},
        )

    def recalls(self, text: str, **fields: Any) -> bool:
        """True when a recall through the proxy brings `text` back."""
        found = recalled(self.stack.http, self.stack.mithril.url, self.headers, about(text), **fields)
        return any(text in each for each in found)


def recalled(http: httpx2.Client, url: str, headers: Mapping[str, str], query: str, **fields: Any) -> list[str]:
    """The texts that a recall at `url` returns: chunks, unless the test asks for something else."""
    body = {"query": query, "search_type": "CHUNKS", "session_id": codename(), "top_k": 50, **fields}
    response = http.post(f"{url}/api/v1/recall", headers=dict(headers), json=body)
    if response.status_code in (404, 409, 422):  # Cognee's ways to say that there is nothing yet
        return []
    assert response.status_code == 200, response.text
    return [str(found["text"]) for found in response.json()]


def about(text: str) -> str:
    """A question about `text` that does not hold it: Cognee keeps the words of every question on disk."""
    return " ".join(text.split()[:3])


def decided(response: httpx2.Response) -> str:
    """The status that Mithril gave a write, read from its header."""
    return response.headers["X-Mithril-Status"]
