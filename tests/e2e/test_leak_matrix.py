"""Does text that was not admitted come back through the proxy? Every search type, both routes, JSON and event stream.

One fact goes through Mithril, one about the same subject goes around it, in both orders of writing. The table of what a
bare Cognee shows and what Mithril shows is `docs/leak-matrix.md`; with `MITHRIL_WRITE_DOCS=1` this test writes it.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import httpx2
import pytest

from tests.e2e.harness import TIMEOUT_S, Stack, codename

pytestmark = pytest.mark.e2e

PAGE = Path(__file__).resolve().parents[2] / "docs" / "leak-matrix.md"
SEARCH_TYPES = (
    "CHUNKS", "RAG_COMPLETION", "HYBRID_COMPLETION", "TEMPORAL", "GRAPH_COMPLETION", "GRAPH_COMPLETION_COT",
    "GRAPH_COMPLETION_CONTEXT_EXTENSION", "GRAPH_COMPLETION_DECOMPOSITION", "GRAPH_SUMMARY_COMPLETION",
    "TRIPLET_COMPLETION", "AGENTIC_COMPLETION", "SUMMARIES", "CHUNKS_LEXICAL", "GRAPH_REPORT", "BROAD", "CODING_RULES",
    "CODE", "SKILLS", "FEELING_LUCKY", "CYPHER", "NATURAL_LANGUAGE",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Seeds:
    """Two facts about one subject: `shown` was admitted, `hidden` stands in Cognee without Mithril's word."""

    subject: str
    shown: str
    hidden: str

    @property
    def question(self) -> str:
        """Asks about both and holds neither mark."""
        return f"What is known about the {self.subject} server?"


@dataclass(frozen=True, slots=True)
class Ask:
    """One way to ask: a route and whether events are wanted."""

    path: str
    stream: bool = False

    def send(
        self, stack: Stack, url: str, headers: Mapping[str, str], seeds: Seeds, search_type: str
    ) -> httpx2.Response:
        """The answer at `url`, asked for exactly as a careful client would: verified only, a session of its own."""
        body = {
            "query": seeds.question,
            "search_type": search_type,
            "node_name": ["verified"],
            "datasets": [stack.dataset],
            "session_id": codename(),
            "top_k": 50,
        }
        extra = {"stream": True} if self.stream else {}
        return stack.http.post(url + self.path, headers=dict(headers), json={**body, **extra}, timeout=TIMEOUT_S)


ASKS = (Ask("/api/v1/recall"), Ask("/api/v1/recall", stream=True), Ask("/api/v1/search"))


def seeded(stack: Stack, *, hidden_first: bool) -> Seeds:
    """Write both facts, in this order."""
    subject = codename()
    shown, hidden = codename(), codename()
    seeds = Seeds(subject, shown, hidden)
    writer = stack.register(0.98)

    def through() -> None:
        answer = writer.remember(f"The {subject} server is owned by {shown}.")
        assert answer.status_code == 200, answer.text

    def around() -> None:
        answer = stack.http.post(
            f"{stack.cognee.url}/api/v1/remember",
            headers=dict(stack.cognee.headers),
            data={"datasetName": stack.dataset},
            files={"data": (f"{codename()}.txt", f"The {subject} server is owned by {hidden}.".encode(), "text/plain")},
            timeout=TIMEOUT_S,
        )
        assert answer.status_code == 200, answer.text

    for write in (around, through) if hidden_first else (through, around):
        write()
    return seeds


@pytest.mark.parametrize("hidden_first", [True, False], ids=["unverified-first", "verified-first"])
def test_no_search_type_shows_what_was_not_admitted(stack: Stack, hidden_first: bool) -> None:
    seeds = seeded(stack, hidden_first=hidden_first)
    key = stack.register(0.98).headers
    bare: dict[str, str] = {}
    through: dict[str, str] = {}
    for search_type in SEARCH_TYPES:
        direct = ASKS[0].send(stack, stack.cognee.url, stack.cognee.headers, seeds, search_type)
        bare[search_type] = _cell(direct, seeds)
        answers = [ask.send(stack, stack.mithril.url, key, seeds, search_type) for ask in ASKS]
        for ask, answer in zip(ASKS, answers, strict=True):
            assert seeds.hidden not in answer.text, (search_type, ask, answer.text)
        through[search_type] = _cell(answers[0], seeds)
    assert "unverified" in bare.values(), "the search finds what is there"
    assert through["CHUNKS"] == "verified"
    if os.environ.get("MITHRIL_WRITE_DOCS"):
        _write_column(stack, hidden_first, bare, through)


def _cell(answer: httpx2.Response, seeds: Seeds) -> str:
    """What an answer showed, in one word."""
    if answer.status_code != 200:
        return str(answer.status_code)
    if seeds.hidden in answer.text:
        return "unverified"
    return "verified" if seeds.shown in answer.text else "neither"


def _write_column(stack: Stack, hidden_first: bool, bare: Mapping[str, str], through: Mapping[str, str]) -> None:
    """Add one run's table to the page."""
    mode = "on" if stack.cognee.headers else "off"
    order = "unverified first" if hidden_first else "verified first"
    rows = "\n".join(f"| {name} | {bare[name]} | {through[name]} |" for name in SEARCH_TYPES)
    with PAGE.open("a", encoding="utf-8") as page:
        page.write(f"\n## Access control {mode}, {order}\n\n| search type | bare Cognee | through Mithril |\n")
        page.write(f"| --- | --- | --- |\n{rows}\n")
