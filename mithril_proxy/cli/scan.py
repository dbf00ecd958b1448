"""`mithril scan`: the credential guard as a command, for pipes, hooks and CI.

1. Standard input: redacted text on stdout, findings as JSON on stderr. `--jsonl`: one JSON object a line, both ways.
2. Files and folders are only read; findings go to stdout as text, JSON or SARIF.
3. Exit 0 clean, 10 found, 2 usage; with `--jsonl` 0 unless a line is no JSON object. No output holds a credential.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

import click

from mithril_proxy import __version__
from mithril_proxy.errors import ConfigurationError
from mithril_proxy.policy import load_policy
from mithril_proxy.secrets import Hit, SecretGuard, StreamScrubber, load_guard

FOUND = 10
_SKIPPED_FOLDERS = frozenset({".git", ".hg", ".svn", "node_modules", "__pycache__", ".venv", ".tox", ".mypy_cache"})
_BINARY_PROBE_BYTES = 8192
_SARIF_SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"


@dataclass(frozen=True, slots=True)
class Located:
    """One finding in a file; `line` and `column` count from 1."""

    path: str
    line: int
    column: int
    hit: Hit


@click.command()
@click.argument("paths", nargs=-1, type=click.Path(exists=True, path_type=Path))
@click.option("--jsonl", is_flag=True, help='Lines {"id", "text"} in; {"id", "text", "findings"} out.')
@click.option(
    "--stream", type=click.IntRange(min=1), metavar="N", help="Feed N characters at a time, as a stream would."
)
@click.option(
    "--format", "form", type=click.Choice(["text", "json", "sarif"]), default="text", help="For files and folders."
)
@click.option("--json", "as_json", is_flag=True, help="The same as --format json.")
@click.option("--policy", default="default.toml", metavar="FILE", help="Take the rule packs from this policy.")
@click.option(
    "--pack",
    "packs",
    multiple=True,
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="Rule file to use in place of the policy's; may be repeated.",
)
@click.pass_context
def scan(
    context: click.Context,
    paths: tuple[Path, ...],
    *,
    jsonl: bool,
    stream: int | None,
    form: str,
    as_json: bool,
    policy: str,
    packs: tuple[Path, ...],
) -> None:
    """Find credentials in text, files and folders, and redact them.

    \b
    echo "key AKIA..." | mithril scan        redacted text on stdout, findings on stderr
    mithril scan notes/ config.yml           where credentials stand; nothing is changed
    mithril scan --format sarif . > out.sarif
    mithril scan --jsonl < texts.jsonl       one JSON object a line, both ways

    Exit status: 0 clean, 10 found, 2 wrong usage.
    """
    if paths and (jsonl or stream):
        raise click.UsageError("--jsonl and --stream read standard input; leave the paths out")
    guard = _guard(policy, packs)
    if jsonl:
        _scan_lines(guard, stream)
    elif paths:
        context.exit(_scan_paths(guard, paths, "json" if as_json else form))
    else:
        context.exit(_scan_stdin(guard, stream))


def _guard(policy: str, packs: tuple[Path, ...]) -> SecretGuard:
    try:
        if packs:
            return load_guard(packs)
        chosen = load_policy(policy)
        return load_guard([chosen.resolve(name) for name in chosen.secrets.packs])
    except ConfigurationError as error:
        raise click.UsageError(str(error)) from None


def scrub(guard: SecretGuard, text: str, size: int) -> str:
    """`text` as a client would see it when it came in pieces of `size` characters."""
    scrubber = StreamScrubber(guard)
    pieces = [scrubber.feed(text[start : start + size]) for start in range(0, len(text), size)]
    return "".join((*pieces, scrubber.close()))


def _scan_stdin(guard: SecretGuard, stream: int | None) -> int:
    text = sys.stdin.buffer.read().decode("utf-8", "surrogateescape")
    redacted = guard.redact(text)
    shown = scrub(guard, text, stream) if stream else redacted.text
    sys.stdout.buffer.write(shown.encode("utf-8", "surrogateescape"))
    sys.stdout.flush()
    click.echo(json.dumps([_finding(hit) for hit in redacted.hits]), err=True)
    return FOUND if redacted.hits or shown != text else 0


def _finding(hit: Hit) -> dict[str, object]:
    return {"kind": hit.kind, "rule": hit.rule, "start": hit.start, "end": hit.end}


def _scan_lines(guard: SecretGuard, stream: int | None) -> None:
    for number, line in enumerate(sys.stdin.buffer, 1):
        if not line.strip():
            continue
        name, text = _parse_line(number, line)
        redacted = guard.redact(text)
        shown = scrub(guard, text, stream) if stream else redacted.text
        findings = [{"kind": hit.kind, "start": hit.start, "end": hit.end} for hit in redacted.hits]
        click.echo(json.dumps({"id": name, "text": shown, "findings": findings}))


def _parse_line(number: int, line: bytes) -> tuple[object, str]:
    try:
        row = json.loads(line)
    except ValueError:
        raise click.UsageError(f"line {number}: not JSON") from None
    if not isinstance(row, dict) or not isinstance(row.get("text"), str):
        raise click.UsageError(f'line {number}: wants an object with "id" and a string "text"')
    return row.get("id"), row["text"]


def _scan_paths(guard: SecretGuard, paths: Iterable[Path], form: str) -> int:
    found = [located for path in _files(paths) for located in _scan_file(guard, path)]
    if form == "sarif":
        click.echo(json.dumps(_sarif(found), indent=2))
    elif form == "json":
        click.echo(json.dumps([_row(located) for located in found], indent=2))
    else:
        for located in found:
            click.echo(f"{located.path}:{located.line}:{located.column}: {located.hit.kind} ({located.hit.rule})")
    return FOUND if found else 0


def _files(paths: Iterable[Path]) -> Iterator[Path]:
    for path in paths:
        if path.is_dir():
            inside = (one for one in sorted(path.rglob("*")) if one.is_file() and not one.is_symlink())
            yield from (one for one in inside if _SKIPPED_FOLDERS.isdisjoint(one.relative_to(path).parts))
        else:
            yield path


def _scan_file(guard: SecretGuard, path: Path) -> Iterator[Located]:
    try:
        content = path.read_bytes()
    except OSError as error:
        raise click.UsageError(f"{path}: cannot be read ({error.strerror})") from None
    if b"\0" in content[:_BINARY_PROBE_BYTES]:
        return
    text = content.decode("utf-8", "surrogateescape")
    for hit in guard.scan(text):
        line_start = text.rfind("\n", 0, hit.start) + 1
        yield Located(path.as_posix(), text.count("\n", 0, hit.start) + 1, hit.start - line_start + 1, hit)


def _row(located: Located) -> dict[str, object]:
    return {"path": located.path, "line": located.line, "column": located.column, **_finding(located.hit)}


def _sarif(found: list[Located]) -> dict[str, object]:
    """SARIF 2.1.0, one run. The message names the kind, never the credential."""
    rules = [{"id": rule} for rule in sorted({located.hit.rule for located in found})]
    driver = {"name": "mithril", "version": __version__, "rules": rules}
    return {
        "$schema": _SARIF_SCHEMA,
        "version": "2.1.0",
        "runs": [{"tool": {"driver": driver}, "results": [_sarif_result(located) for located in found]}],
    }


def _sarif_result(located: Located) -> dict[str, object]:
    hit = located.hit
    region = {"startLine": located.line, "startColumn": located.column, "charLength": hit.end - hit.start}
    place = {"artifactLocation": {"uri": located.path}, "region": region}
    return {
        "ruleId": hit.rule,
        "level": "error",
        "message": {"text": f"A credential of kind {hit.kind}."},
        "locations": [{"physicalLocation": place}],
    }
