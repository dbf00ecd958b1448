"""What `mithril ingest` shows: a bar while it runs, a summary at the end, a table before."""

from __future__ import annotations

from collections.abc import Sequence
from types import TracebackType

import click
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from mithril_proxy.cli.output import print_json, print_table, shortened, visible
from mithril_proxy.ingest.preview import Preview
from mithril_proxy.ingest.records import BadLine
from mithril_proxy.ingest.tally import ORDER, HeldRecord, Tally
from mithril_proxy.types import Status

LISTED = 20  # of each list that is printed; --json gives all that were kept
ADVICE = (
    "Held records wait in the quarantine: `mithril quarantine list`. When all of a source is held, give it a better "
    "prior (`mithril sources add NAME --prior …`, or [sources] in the policy) before you ingest."
)


class Bar:
    """A progress bar on stderr; nothing when it is not a terminal, or for programs."""

    def __init__(self, total: int, *, quiet: bool) -> None:
        console = Console(stderr=True)
        columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
        self._progress = Progress(*columns, console=console, disable=quiet or not console.is_terminal)
        self._task = self._progress.add_task("reading", total=total)

    def __enter__(self) -> Bar:
        self._progress.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._progress.stop()

    def advance(self, count: int, tally: Tally) -> None:
        """Move on by `count` readings."""
        self._progress.update(self._task, advance=count, description=_brief(tally))

    def stop(self) -> None:
        """Leave the terminal to what is printed next."""
        self._progress.stop()


def _brief(tally: Tally) -> str:
    held = sum(tally.by_status[status] for status in ("review", "quarantined", "rejected"))
    return f"stored {tally.sent - held - tally.by_status['failed']}, held {held}"


def print_tally(tally: Tally, *, is_stopped: bool, as_json: bool) -> None:
    """The summary of a run."""
    if as_json:
        print_json(
            {
                "by_status": dict(tally.by_status),
                "repeated": tally.repeated,
                "skipped": tally.skipped,
                "bad": tally.bad,
                "stopped": is_stopped,
                "held": [_held(one) for one in tally.held],
                "failures": tally.failures,
                "bad_lines": tally.bad_lines,
            }
        )
        return
    counted = [(status, tally.by_status[status]) for status in ORDER if tally.by_status[status]]
    rest = (("sent before", tally.repeated), ("says nothing", tally.skipped), ("bad", tally.bad))
    print_table(("status", "records"), (*counted, *((name, count) for name, count in rest if count)))
    if tally.held:
        columns = ("where", "source", "status", "score", "reasons", "text")
        print_table(columns, [_held_cells(one) for one in tally.held[:LISTED]], title="Held")
        click.echo(ADVICE, err=True)
    _print_lines(tally.failures, "Failed")
    _print_lines(tally.bad_lines, "Bad lines")
    if is_stopped:
        click.echo("Stopped; call the same command again to go on.", err=True)


def _held(one: HeldRecord) -> dict[str, object]:
    decided = one.decided
    return {
        "origin": one.record.origin,
        "line": one.record.line,
        "source": one.source,
        "status": decided.status,
        "score": decided.score,
        "decision_id": decided.decision_id,
        "quarantine_id": decided.quarantine_id,
        "reasons": decided.reasons,
    }


def _held_cells(one: HeldRecord) -> Sequence[object]:
    where = f"{one.record.origin}:{one.record.line}"
    decided = one.decided
    reasons = ", ".join(decided.reasons[:3])
    return (where, one.source, decided.status, f"{decided.score:.3f}", reasons, shortened(one.record.text, 60))


def _print_lines(lines: Sequence[BadLine], title: str) -> None:
    for line in lines[:LISTED]:
        click.echo(visible(f"{title}: {line.origin}:{line.line}: {line.reason}").replace(r"\[", "["), err=True)
    if len(lines) > LISTED:
        click.echo(f"{title}: {len(lines) - LISTED} more", err=True)


def print_preview(shown: Preview, *, as_json: bool) -> None:
    """The table of a dry run."""
    lines = list(shown.lines.values())
    if as_json:
        print_json({"lines": lines, "skipped": shown.skipped, "bad_lines": shown.bad_lines})
        return
    columns = ("where", "source", "records", "characters", "first", "last", *(status.value for status in Status))
    days = [tuple("" if at is None else f"{at:%Y-%m-%d}" for at in (line.first, line.last)) for line in lines]
    print_table(
        columns,
        [
            (line.origin, line.source, line.records, line.chars, *day, *(line.statuses[status] for status in Status))
            for line, day in zip(lines, days, strict=True)
        ],
        title="Nothing was sent. Each text was judged by itself, against no memory.",
    )
    click.echo(
        f"{sum(line.records for line in lines)} records, {shown.skipped} say nothing, {len(shown.bad_lines)} bad"
    )
    _print_lines(shown.bad_lines, "Bad lines")
