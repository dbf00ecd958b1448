from __future__ import annotations

import io

from rich.console import Console

from mithril_proxy.demo.memories import ADMITTED, MemoryToWrite, memories, planted_key
from mithril_proxy.demo.outcome import Decided
from mithril_proxy.demo.tables import console, decision_table, recall_table
from mithril_proxy.types import Status

KEY = planted_key()
MEMORY = MemoryToWrite("honest", "docs", f"The [b]key[/b] is {KEY}.", ADMITTED)


def shown(table: object) -> str:
    screen = Console(file=io.StringIO(), width=200, markup=False)
    screen.print(table)
    assert isinstance(screen.file, io.StringIO)
    return screen.file.getvalue()


def decided(status: Status, after: float | None = 0.9) -> Decided:
    return Decided("d", "docs", status, 0.743, 0.85, after, 0.1, 1.0, 0.0, 0.0, ("redact.aws-access-key",))


def test_a_decision_is_shown_with_its_signals_and_reasons() -> None:
    text = shown(decision_table([(MEMORY, decided(Status.WARN))], KEY))
    for part in ("docs", "honest: ", "warn", "0.743", "0.85 → 0.90", "0.10", "redact.aws-access-key", "[b]key[/b]"):
        assert part in text
    assert "NOT EXPECTED" not in text


def test_a_decision_that_was_not_expected_is_marked() -> None:
    text = shown(decision_table([(MEMORY, decided(Status.REJECT, after=None))], KEY))
    assert "reject  NOT EXPECTED" in text
    assert "→" not in text


def test_the_planted_key_is_never_printed_whole() -> None:
    assert KEY not in shown(decision_table([(MEMORY, decided(Status.WARN))], KEY))
    table = shown(recall_table(["which key?"], [("bare", [[MEMORY.text]]), ("guarded", [[]])], KEY))
    assert KEY not in table
    assert "(the planted key)" in table
    assert "(nothing)" in table


def test_output_that_is_no_terminal_is_wide_enough_for_the_table() -> None:
    assert console().width >= 100


def test_every_run_plants_another_key_and_only_one_memory_holds_it() -> None:
    assert planted_key() != planted_key()
    assert sum(KEY in memory.text for memory in memories(KEY)) == 1
