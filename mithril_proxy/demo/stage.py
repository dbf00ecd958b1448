"""The demo's servers: a model, a real Cognee, Mithril in front of it, and a bare Cognee when the two are compared."""

from __future__ import annotations

import contextlib
import os
import secrets
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from rich.console import Console

from mithril_proxy.demo.children import end_leftovers
from mithril_proxy.demo.cognee_server import Cognee, CogneeSetup, running_cognee, running_model
from mithril_proxy.demo.mithril_server import Mithril, MithrilSetup, running_mithril
from mithril_proxy.demo.model_choice import choose_model

PROXY_PORT, ADMIN_PORT = 8080, 8081  # Mithril's own defaults, when they are free
ADMIN_TOKEN = "MITHRIL_ADMIN_TOKEN"  # noqa: S105 - the name of the setting


@dataclass(frozen=True, slots=True)
class Stage:
    """Everything that runs: Mithril before its Cognee, and a bare Cognee when the two are compared."""

    python: Path
    folder: Path
    cognee: Cognee
    mithril: Mithril
    bare: Cognee | None


@contextlib.contextmanager
def set_up(python: Path, folder: Path, compare: bool, screen: Console) -> Iterator[Stage]:
    """Every server of the demo, on empty stores: what an earlier run left is ended and removed first."""
    if folder.exists():
        end_leftovers(folder)
        shutil.rmtree(folder)

    def progress(line: str) -> None:
        screen.print(f"  {line}")

    with contextlib.ExitStack() as stack:
        model_url = stack.enter_context(running_model(python, folder / "model", progress=progress))
        model = choose_model(os.environ, model_url)
        screen.print(f"  {model.description}")
        setup = CogneeSetup(python, folder / "cognee", model.cognee, access_control=True)
        cognee = stack.enter_context(running_cognee(setup, progress=progress))
        bare = None
        if compare:
            screen.print("  and a second, bare Cognee to compare with")
            alone = CogneeSetup(python, folder / "bare-cognee", model.cognee, access_control=True)
            bare = stack.enter_context(running_cognee(alone, progress=progress))
        settings = {**model.mithril, ADMIN_TOKEN: secrets.token_urlsafe(24)}
        guard = MithrilSetup(folder / "mithril", cognee, settings, PROXY_PORT, ADMIN_PORT)
        mithril = stack.enter_context(running_mithril(guard, progress=progress))
        yield Stage(python, folder, cognee, mithril, bare)
