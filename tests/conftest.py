"""What every test starts from."""

from __future__ import annotations

import pytest
import structlog


@pytest.fixture(autouse=True)
def _default_logging() -> None:
    """Logging as it is at the start: a command that a test before called may have raised the level."""
    structlog.reset_defaults()
