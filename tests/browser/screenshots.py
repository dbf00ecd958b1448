"""Takes the pictures of the review desk that the docs show. Run by scripts/screenshots."""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

from selenium.webdriver.chrome.webdriver import WebDriver

from mithril_proxy.store.interface import Page, QuarantineFilter
from tests.browser.driver import chromium, sign_in
from tests.browser.story import POISONED, Memory, furnish
from tests.live import Live, live_mithril

FOLDER = Path(__file__).resolve().parents[2] / "docs" / "images"
MAX_BYTES = 200_000
TOKEN = "token-of-the-screenshots"


def _pages(live: Live) -> dict[str, str]:
    entries = live.run(live.bench.store.quarantine(Page(), QuarantineFilter(contains=POISONED)))
    return {
        "overview": "/",
        "queue": "/queue",
        "entry": f"/queue/{entries[0].id}",
        "decision": f"/decisions/{entries[0].decision_id}",
        "source": "/sources/documentation",
        "policy": "/policy?thresholds.warn=0.5",
    }


def _shoot(driver: WebDriver, live: Live, name: str, path: str) -> None:
    driver.get(live.admin_url + path)
    picture = driver.get_screenshot_as_png()
    if len(picture) > MAX_BYTES:
        sys.exit(f"{name}.png would have {len(picture)} bytes, more than {MAX_BYTES}")
    (FOLDER / f"desk-{name}.png").write_bytes(picture)
    print(f"desk-{name}.png {len(picture)} bytes")


def _look(driver: WebDriver, *, scheme: str, width: int, height: int) -> None:
    """Light or dark, and the size of the window."""
    features = [{"name": "prefers-color-scheme", "value": scheme}]
    driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": features})
    metrics = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 600}
    driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", metrics)


def main() -> None:
    """One picture a page, the entry also dark and on a phone."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        with live_mithril(folder, token=TOKEN, upstream=Memory()) as live, chromium(folder / "profile") as driver:
            live.run(furnish(live))
            sign_in(driver, live.admin_url, TOKEN)
            _look(driver, scheme="light", width=1180, height=860)
            pages = _pages(live)
            for name, path in pages.items():
                _shoot(driver, live, name, path)
            _look(driver, scheme="dark", width=1180, height=860)
            _shoot(driver, live, "entry-dark", pages["entry"])
            _look(driver, scheme="dark", width=390, height=844)
            _shoot(driver, live, "queue-phone", pages["queue"])


if __name__ == "__main__":
    main()
