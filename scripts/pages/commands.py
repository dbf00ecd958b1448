"""docs/commands.md, from the help of every command."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click

from mithril_proxy.cli import mithril

ROOT = Path(__file__).resolve().parents[2]
SHAPE: dict[str, Any] = {  # the same wherever the page is made
    "terminal_width": 100,
    "max_content_width": 100,
    "help_option_names": ["-h", "--help"],
}

HEAD = """\
# Commands

Made by `scripts/docs` from the commands' own help (`mithril COMMAND --help`). Exit codes: 0 done · 1 it could not be done,
the reason is on stderr · 2 wrong usage, setting or policy · 10 `scan` found a credential. Where a default is a setting, see
[settings.md](settings.md).
"""


def commands_page() -> str:
    """Markdown with the help of every command, made in a process of its own.

    click keeps a command's help option as the first caller saw it, so a page made after other calls would differ.
    """
    command = (sys.executable, "-m", "scripts.pages.commands")
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout


def write_page() -> None:
    """Print the page."""
    print(help_of_every_command(), end="")


def help_of_every_command() -> str:
    """Markdown with the help of every command, in the order of `mithril --help`."""
    top = click.Context(mithril, info_name="mithril", **SHAPE)
    sections = [f"## {context.command_path}\n\n```\n{context.get_help()}\n```\n" for context in _contexts(top)]
    return "\n".join([HEAD, *sections])


def _contexts(context: click.Context) -> Iterator[click.Context]:
    """The context of a command and of all commands below it."""
    yield context
    group = context.command
    if not isinstance(group, click.Group):
        return
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        assert command is not None
        yield from _contexts(click.Context(command, parent=context, info_name=name, **SHAPE))


if __name__ == "__main__":
    write_page()
