"""The demo: a stock client writes honest and hostile memories through Mithril, and tables show what became of them."""

from __future__ import annotations

import contextlib
import signal
import threading
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import FrameType

from rich.console import Console

from mithril_proxy.demo.cognee_server import Cognee
from mithril_proxy.demo.memories import PRIORS, QUESTIONS, MemoryToWrite, memories, planted_key
from mithril_proxy.demo.outcome import Decided, decisions, files_that_hold
from mithril_proxy.demo.stage import ADMIN_TOKEN, Stage, set_up
from mithril_proxy.demo.steps import Step, question, take, write
from mithril_proxy.demo.tables import console, decision_table, recall_table
from mithril_proxy.demo.venvs import cognee_environment, prepare
from mithril_proxy.errors import DemoFailed


@dataclass(frozen=True, slots=True)
class DemoOptions:
    """What the user asked for. `folder` holds everything; `cognee_python` None makes an environment in it."""

    folder: Path
    cognee_python: Path | None = None
    once: bool = False
    compare: bool = False


def run_demo(options: DemoOptions) -> None:
    """Runs the demo. Raises DemoFailed when a server does not start or a decision is not the expected one."""
    screen = console()
    folder = options.folder.resolve()
    screen.print(f"Everything this demo makes is below {folder}")
    python = options.cognee_python or _own_cognee(folder)
    with _ended_by_sigterm(), set_up(python, folder / "run", options.compare, screen) as stage:
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


def _play(stage: Stage, screen: Console) -> list[str]:
    """Writes, recalls and shows the tables; the decisions that were not expected."""
    key = planted_key()
    writes = memories(key)
    keys = {source: stage.mithril.add_source(source, prior) for source, prior in PRIORS.items()}
    service_key = stage.cognee.api_key or ""
    screen.print(f"\nThe Cognee SDK writes {len(writes)} memories through {stage.mithril.url} …")
    guarded = _taken(
        stage,
        [write(stage.mithril.url, keys.get(memory.source, service_key), memory) for memory in writes]
        + [question(stage.mithril.url, keys["security-policy"], asked) for asked in QUESTIONS],
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
    steps = [write(bare.url, key, memory) for memory in writes]
    answers = _taken(stage, steps + [question(bare.url, key, asked) for asked in QUESTIONS])
    return answers[len(writes) :]


def _taken(stage: Stage, steps: Sequence[Step]) -> list[list[str]]:
    return take(steps, python=stage.python, home=stage.folder / "client")


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
    token = stage.mithril.environment[ADMIN_TOKEN]
    screen.print(f"  admin API  {stage.mithril.admin_url} (Authorization: Bearer {token})", soft_wrap=True)
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
