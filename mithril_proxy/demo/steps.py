"""What the demo's client does: writes and questions, taken in one run of Cognee's own SDK."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from mithril_proxy.demo.children import foreign_module
from mithril_proxy.demo.cognee_server import client_environment
from mithril_proxy.demo.memories import DATASET, MemoryToWrite
from mithril_proxy.errors import DemoFailed

Step = dict[str, str]

_QUOTED_LINES = 15


def write(url: str, key: str, memory: MemoryToWrite) -> Step:
    """The step that remembers `memory` at `url`, as the owner of `key`."""
    return {"url": url, "key": key, "dataset": DATASET, "remember": memory.text}


def question(url: str, key: str, text: str) -> Step:
    """The step that asks `text` at `url`, as the owner of `key`."""
    return {"url": url, "key": key, "dataset": DATASET, "recall": text}


def take(steps: Sequence[Step], *, python: Path, home: Path) -> list[list[str]]:
    """The texts that Cognee's SDK, run with `python`, returned for each step; an error counts as one text.

    Raises DemoFailed when the client itself fails.
    """
    environment = client_environment(python, home)
    done = subprocess.run(  # noqa: S603 - our own client
        foreign_module(python, "mithril_proxy.demo.client", ()),
        cwd=home,
        env=environment,
        input=json.dumps(steps),
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        raise DemoFailed("the Cognee client failed:\n" + "\n".join(done.stderr.splitlines()[-_QUOTED_LINES:]))
    answers: list[dict[str, Any]] = [json.loads(line) for line in done.stdout.splitlines() if line[:7] == '{"step"']
    return [[answer["error"]] if "error" in answer else answer["texts"] for answer in answers]
