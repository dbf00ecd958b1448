"""`mithril demo`: a real Cognee with Mithril in front, and a table of what it decides."""

from __future__ import annotations

from pathlib import Path

import click

from mithril_proxy.demo.play import DemoOptions, run_demo


@click.command()
@click.option("--once", is_flag=True, help="Stop after the tables instead of staying up until Ctrl-C.")
@click.option("--compare", is_flag=True, help="Send the same writes to a bare Cognee too, and show both recalls.")
@click.option(
    "--folder",
    type=click.Path(path_type=Path, file_okay=False),
    default=Path(".demo"),
    show_default=True,
    help="Everything the demo makes lies below it.",
)
@click.option(
    "--cognee-python",
    type=click.Path(path_type=Path, exists=True, dir_okay=False),
    help="A Python that has cognee 1.6.5 (default: one is installed below the folder).",
)
def demo(once: bool, compare: bool, folder: Path, cognee_python: Path | None) -> None:
    """Start a real Cognee with Mithril in front, and watch it judge honest and hostile memories.

    A stock Cognee client writes through the proxy from sources of different reputation and recalls; a table shows each
    decision with its signals. With LLM_API_KEY or OPENAI_API_KEY set that model is used, else a small deterministic one
    of ours. In a checkout, scripts/demo installs everything first.

    Exit codes: 0 every decision was the expected one, 1 one was not or a server did not start, 130 interrupted.
    """
    python = cognee_python.absolute() if cognee_python else None
    try:
        run_demo(DemoOptions(folder, python, once=once, compare=compare))
    except KeyboardInterrupt:
        raise click.Abort from None
