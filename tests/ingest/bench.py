"""Runs over a whole Mithril in front of a Cognee in memory."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any

from mithril_proxy.client import InProcess, MemoryClient
from mithril_proxy.ingest.journal import opened_journal
from mithril_proxy.ingest.records import Reading
from mithril_proxy.ingest.run import Run
from mithril_proxy.ingest.sources import OperatorIdentifier, Per, SourceChoice
from mithril_proxy.ingest.tally import Tally
from tests.whole import Setup


def as_operator(setup: Setup, base: str) -> MemoryClient:
    """A client that may name any source, as `mithril ingest` in the process of an operator."""
    plane = setup.application.data_plane
    services = plane.services
    identifier = OperatorIdentifier(services.policy, setup.application.store, base, services.service_key)
    plane.services = replace(services, identifier=identifier)
    return MemoryClient(InProcess(plane), [])


def choice(setup: Setup, base: str, per: Per = "", **tables: dict[str, str]) -> SourceChoice:
    rules = setup.application.data_plane.services.policy.ingest
    return SourceChoice(base, per, rules.model_copy(update=tables))


async def ingested(
    setup: Setup, readings: Iterable[Reading], journal: Path, *, base: str = "security-policy", **options: Any
) -> Tally:
    """The tally of one whole run."""
    sources = options.pop("sources", None) or choice(setup, base)
    with opened_journal(journal) as opened:
        run = Run(as_operator(setup, base), sources, "main", (), opened, **options)
        return await run.send(readings)
