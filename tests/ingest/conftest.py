"""A whole Mithril in front of a Cognee in memory."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest_asyncio

from tests.whole import Setup, whole


@pytest_asyncio.fixture
async def setup(tmp_path: Path) -> AsyncIterator[Setup]:
    async with whole(tmp_path) as made:
        yield made
