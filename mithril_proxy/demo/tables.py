"""The demo's tables."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import Console
from rich.table import Table
from rich.text import Text

from mithril_proxy.demo.memories import MemoryToWrite
from mithril_proxy.demo.outcome import Decided
from mithril_proxy.types import Status

_COLOURS = {
    Status.ACCEPT: "bold green",
    Status.WARN: "green",
    Status.REVIEW: "yellow",
    Status.QUARANTINE: "red",
    Status.REJECT: "bold red",
}
_WIDTH_OF_A_FILE = 160  # where the output is not a terminal


def console() -> Console:
    """Where the demo prints: as wide as the terminal, or wide enough for the table in a file."""
    screen = Console(highlight=False, markup=False)
    return screen if screen.is_terminal else Console(highlight=False, markup=False, width=_WIDTH_OF_A_FILE)


def decision_table(written: Sequence[tuple[MemoryToWrite, Decided]], key: str) -> Table:
    """One line a write: the decision and every signal behind it."""
    table = Table(title="What Mithril decided", title_justify="left", show_lines=True)
    for column in ("source", "memory", "decision"):
        table.add_column(column, overflow="fold", no_wrap=column == "decision")
    for column in ("score", "reputation", "corrob.", "fresh", "contrad.", "danger"):
        table.add_column(column, justify="right", no_wrap=True)
    table.add_column("reasons", overflow="fold")
    for memory, decided in written:
        table.add_row(*_cells(memory, decided, key))
    return table


def recall_table(questions: Sequence[str], sides: Sequence[tuple[str, Sequence[Sequence[str]]]], key: str) -> Table:
    """One line a question: what an agent recalls on each side."""
    table = Table(title="What an agent recalls", title_justify="left", show_lines=True)
    table.add_column("question", overflow="fold", ratio=2)
    for name, _ in sides:
        table.add_column(name, overflow="fold", ratio=4)
    for number, question in enumerate(questions):
        table.add_row(question, *(_recalled(answers[number], key) for _, answers in sides))
    return table


def _cells(memory: MemoryToWrite, decided: Decided, key: str) -> tuple[Text, ...]:
    after = decided.reputation_after
    moved = "" if after is None else f" → {after:.2f}"
    expected = decided.status in memory.expected
    status = Text(decided.status.value + ("" if expected else "  NOT EXPECTED"), _COLOURS[decided.status])
    numbers = (decided.corroboration, decided.freshness, decided.contradiction, decided.content_danger)
    return (
        Text(memory.source),
        Text.assemble((f"{memory.kind}: ", "italic"), _without(memory.text, key)),
        status,
        Text(f"{decided.score:.3f}"),
        Text(f"{decided.source_reputation:.2f}{moved}"),
        *(Text(f"{number:.2f}", "" if number else "dim") for number in numbers),
        Text("\n".join(decided.reasons)),
    )


def _recalled(texts: Sequence[str], key: str) -> Text:
    return Text("\n".join(f"• {_without(text.strip(), key)}" for text in texts) or "(nothing)")


def _without(text: str, key: str) -> str:
    """`text` with the planted key cut short: even a fake one is not printed whole."""
    return text.replace(key, key[:8] + "… (the planted key)")
