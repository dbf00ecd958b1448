"""`mithril policy`: read and check what is allowed."""

from __future__ import annotations

import click

from mithril_proxy.app import rule_problems
from mithril_proxy.cli.output import json_option, print_json
from mithril_proxy.errors import ConfigurationError
from mithril_proxy.policy import find_policy, load_policy
from mithril_proxy.settings import load_settings

file_argument = click.argument("file", required=False)


@click.group()
def policy() -> None:
    """Read and check the policy: every number of the decision, and the rules it loads.

    FILE is a path or the name of a shipped policy; without it, the one that MITHRIL_POLICY names.
    """


@policy.command()
@file_argument
@json_option
def check(file: str | None, as_json: bool) -> None:
    """Validate a policy with its rule files, and run every rule's examples.

    Exit code 0 when it can be used, 2 when it cannot: file, key and reason are printed.
    """
    settings = load_settings(policy=file)
    loaded = load_policy(settings.policy)
    problems = rule_problems(loaded, settings)
    path = find_policy(settings.policy)
    if as_json:
        print_json({"policy": str(path), "digest": loaded.digest, "problems": problems})
    for problem in () if as_json else problems:
        click.echo(f"{path}: {problem}", err=True)
    if problems:
        raise ConfigurationError(f"{path}: {len(problems)} rule examples fail")
    if not as_json:
        click.echo(f"{path}: ok, mode {loaded.mode.value}, digest {loaded.digest[:12]}")


@policy.command()
@file_argument
@json_option
def show(file: str | None, as_json: bool) -> None:
    """Print the policy as it is in force, defaults and all."""
    loaded = load_policy(load_settings(policy=file).policy)
    values = loaded.model_dump(mode="json")
    if as_json:
        print_json({**values, "digest": loaded.digest})
        return
    for key, value in values.items():
        if not isinstance(value, dict):
            click.echo(f"{key} = {value!r}")
            continue
        click.echo(f"[{key}]")
        for name, inner in value.items():
            click.echo(f"  {name} = {inner!r}")
