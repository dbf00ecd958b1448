"""A running Mithril and a browser for each test of the desk."""

from __future__ import annotations

import secrets
from collections.abc import Iterator
from pathlib import Path

import pytest
from selenium.webdriver.chrome.webdriver import WebDriver

from tests.browser.driver import chromium, sign_in
from tests.browser.story import Memory
from tests.live import Live, live_mithril


@pytest.fixture
def upstream() -> Memory:
    return Memory()


@pytest.fixture
def token() -> str:
    return secrets.token_urlsafe(24)


@pytest.fixture
def live(tmp_path: Path, upstream: Memory, token: str) -> Iterator[Live]:
    with live_mithril(tmp_path, token=token, upstream=upstream) as running:
        yield running


@pytest.fixture
def browser(tmp_path: Path) -> Iterator[WebDriver]:
    with chromium(tmp_path / "profile") as driver:
        yield driver


@pytest.fixture
def desk(browser: WebDriver, live: Live, token: str) -> WebDriver:
    """A browser that is signed in."""
    sign_in(browser, live.admin_url, token)
    return browser
