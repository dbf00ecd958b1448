"""The demo: a real Cognee, Mithril in front, a stock client that writes honest and hostile memories, and a table."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import signal
import subprocess
import threading
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import FrameType
from typing import Any

from rich.console import Console

from mithril_proxy.demo.children import end_leftovers, foreign_module
from mithril_proxy.demo.cognee_server import Cognee, CogneeSetup, client_environment, running_cognee, running_model
from mithril_proxy.demo.memories import DATASET, PRIORS, QUESTIONS, MemoryToWrite, memories, planted_key
from mithril_proxy.demo.mithril_server import Mithril, MithrilSetup, running_mithril
from mithril_proxy.demo.model_choice import choose_model
from mithril_proxy.demo.outcome import Decided, decisions, files_that_hold
from mithril_proxy.demo.tables import console, decision_table, recall_table
from mithril_proxy.demo.venvs import cognee_environment, prepare
from mithril_proxy.errors import DemoFailed

PROXY_PORT, ADMIN_PORT = 8080, 8081  # Mithril's own defaults, when they are free


@dataclass(frozen=True, slots=True)
class DemoOptions:
    """What the user asked for. `folder` holds everything; `cognee_python` None makes an environment in it."""

    folder: Path
    cognee_python: Path | None = None
    once: bool = False
    compare: bool = False


@dataclass(frozen=True, slots=True)
class Stage:
    """Everything that runs: Mithril before its Cognee, and a bare Cognee when the two are compared."""

    python: Path
    folder: Path
    cognee: Cognee
    mithril: Mithril
    bare: Cognee | None


def run_demo(options: DemoOptions) -> None:
    """Runs the demo. Raises DemoFailed when a server does not start or a decision is not the expected one."""
    screen = console()
    folder = options.folder.resolve()
    screen.print(f"Everything this demo makes is below {folder}")
    python = options.cognee_python or _own_cognee(folder)
    with _ended_by_sigterm(), _set_up(python, folder / "run", options.compare, screen) as stage:
        failures = _play(stage, screen)
        _say_where(stage, screen)
        if failures:
            raise DemoFailed("These decisions were not the expected ones: " + "; ".join(failures))
        if not options.once:
            screen.print("Everything stays up until Ctrl-C.")
            with contextlib.suppress(KeyboardInterrupt):
                threading.Event().wait()
            screen.print("Stopping.")


def _own_cognee(folder: Path) -> Path:
    environment = cognee_environment(folder / "venvs")
    prepare([environment])
    return environment.python


@contextlib.contextmanager
def _set_up(python: Path, folder: Path, compare: bool, screen: Console) -> Iterator[Stage]:
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
        guard = MithrilSetup(folder / "mithril", cognee, model.mithril, PROXY_PORT, ADMIN_PORT)
        mithril = stack.enter_context(running_mithril(guard, progress=progress))
        yield Stage(python, folder, cognee, mithril, bare)


def _play(stage: Stage, screen: Console) -> list[str]:
    """Writes, recalls and shows the tables; the decisions that were not expected."""
    key = planted_key()
    writes = memories(key)
    keys = {source: stage.mithril.add_source(source, prior) for source, prior in PRIORS.items()}
    service_key = stage.cognee.api_key or ""
    screen.print(f"\nThe Cognee SDK writes {len(writes)} memories through {stage.mithril.url} …")
    guarded = _client(
        stage,
        [_write(stage.mithril.url, keys.get(memory.source, service_key), memory) for memory in writes]
        + [_question(stage.mithril.url, keys["security-policy"], question) for question in QUESTIONS],
    )
    written = _with_decisions(writes, decisions(stage.mithril.database))
    screen.print(decision_table(written, key))
    sides = [("through Mithril", guarded[len(writes) :])]
    if stage.bare is not None:
        screen.print("\nThe same writes go to the bare Cognee …")
        sides.insert(0, ("from the bare Cognee", _ask_bare(stage, stage.bare, writes)))
    screen.print(recall_table(QUESTIONS, sides, key))
    return _unexpected(written) + _traces(stage, key, screen)


def _ask_bare(stage: Stage, bare: Cognee, writes: Sequence[MemoryToWrite]) -> list[list[str]]:
    """What the bare Cognee answers after the same writes."""
    key = bare.api_key or ""
    steps = [_write(bare.url, key, memory) for memory in writes]
    answers = _client(stage, steps + [_question(bare.url, key, question) for question in QUESTIONS])
    return answers[len(writes) :]


def _write(url: str, key: str, memory: MemoryToWrite) -> dict[str, str]:
    return {"url": url, "key": key, "dataset": DATASET, "remember": memory.text}


def _question(url: str, key: str, question: str) -> dict[str, str]:
    return {"url": url, "key": key, "dataset": DATASET, "recall": question}


def _client(stage: Stage, steps: Sequence[dict[str, str]]) -> list[list[str]]:
    """The texts that Cognee's SDK returned for each step; an error counts as one text."""
    home = stage.folder / "client"
    environment = client_environment(stage.python, home)
    done = subprocess.run(  # noqa: S603 - our own client
        foreign_module(stage.python, "mithril_proxy.demo.client", ()),
        cwd=home,
        env=environment,
        input=json.dumps(steps),
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        raise DemoFailed("the Cognee client failed:\n" + "\n".join(done.stderr.splitlines()[-15:]))
    answers: list[dict[str, Any]] = [json.loads(line) for line in done.stdout.splitlines() if line[:7] == '{"step"']
    return [answer.get("texts") or [answer["error"]] if "error" in answer else answer["texts"] for answer in answers]


def _with_decisions(writes: Sequence[MemoryToWrite], decided: Sequence[Decided]) -> list[tuple[MemoryToWrite, Decided]]:
    if len(writes) != len(decided):
        raise DemoFailed(f"{len(writes)} memories were written, but {len(decided)} decisions were recorded")
    return list(zip(writes, decided, strict=True))


def _unexpected(written: Sequence[tuple[MemoryToWrite, Decided]]) -> list[str]:
    return [
        f"{memory.kind} ({memory.source}): {decided.status}, not {' or '.join(sorted(memory.expected))}"
        for memory, decided in written
        if decided.status not in memory.expected
    ]


def _traces(stage: Stage, key: str, screen: Console) -> list[str]:
    """Looks for the planted key in every byte on disk; where it must not be and is."""
    needle = key.encode()
    found = files_that_hold(stage.cognee.folder, needle) + files_that_hold(stage.mithril.folder, needle)
    screen.print(f"\nFiles of Mithril and its Cognee that hold the planted key: {len(found)}")
    if stage.bare is not None:
        screen.print(f"Files of the bare Cognee that hold it: {len(files_that_hold(stage.bare.folder, needle))}")
    return [f"the planted key is in {path}" for path in found]


def _say_where(stage: Stage, screen: Console) -> None:
    screen.print(f"\n  proxy      {stage.mithril.url}")
    screen.print(f"  admin API  {stage.mithril.admin_url}")
    screen.print(f"  database   {stage.mithril.database}")
    screen.print(f"  Cognee     {stage.cognee.url} (behind Mithril; its clients use the proxy)")
    query = "'select * from incidents'"
    screen.print("  try       ", "sqlite3", stage.mithril.database, query, "\n", soft_wrap=True)


@contextlib.contextmanager
def _ended_by_sigterm() -> Iterator[None]:
    """Makes SIGTERM unwind like Ctrl-C, so that every server is ended."""

    def unwind(_number: int, _frame: FrameType | None) -> None:
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGTERM, unwind)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)
