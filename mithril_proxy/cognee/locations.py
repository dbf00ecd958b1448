"""Strings that Cognee would not store but follow: paths, addresses and databases given as `raw_data`."""

from __future__ import annotations

import re

from mithril_proxy.errors import Refused

_LOCATIONS = (
    (re.compile(r"(?i)file:"), "a file of the server; upload the file itself under `data`"),
    (re.compile(r"(?i)s3:"), "an S3 object; download it and upload it under `data`"),
    (re.compile(r"(?i)(git@|ssh:|git:|git\+\w+:)"), "a git repository; upload its files under `data`"),
    (re.compile(r"(?i)https?://\S+\.git/?\s*\Z"), "a git repository; upload its files under `data`"),
    (re.compile(r"(?i)https?:"), "an address; download the page and upload its text under `data`"),
    (
        re.compile(r"(?i)(postgres|postgresql|mysql|mariadb|sqlite|mssql|oracle|mongodb|redis|duckdb|snowflake)(\+\w+)*:"),
        "a database; export what should be remembered and upload it under `data`",
    ),
    (re.compile(r"(~?/|\.\.?/|[A-Za-z]:[\\/]|\\\\)\S*\Z"), "a path on the server; upload the file itself under `data`"),
)  # fmt: skip


def refuse_location(text: str, place: str) -> None:
    """Return when `text` is words. Raises Refused (`location_refused`) when Cognee would fetch what it points at."""
    words = text.strip()
    for pattern, meaning in _LOCATIONS:
        if pattern.match(words) and not re.search(r"\s", words):
            raise Refused(f"{place}: points at {meaning}", code="location_refused")
