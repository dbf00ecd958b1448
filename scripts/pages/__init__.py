"""The pages of docs/ that are made from the code: `scripts/docs` writes them, tests/docs compares them."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from mithril_proxy.cognee.document import routes_page
from mithril_proxy.policy import load_policy
from scripts.pages.commands import commands_page
from scripts.pages.errors import errors_page
from scripts.pages.metrics import metrics_page
from scripts.pages.policy import policy_page
from scripts.pages.settings import settings_page

PAGES: Mapping[str, Callable[[], str]] = {
    "commands.md": commands_page,
    "errors.md": errors_page,
    "metrics.md": metrics_page,
    "policy.md": policy_page,
    "routes.md": lambda: routes_page(load_policy().routes),
    "settings.md": settings_page,
}
