"""The pages that are made from the code say what the code says; `scripts/docs` writes them anew."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import click
import pytest
from prometheus_client import generate_latest

from mithril_proxy.cli import mithril
from mithril_proxy.policy import Policy
from mithril_proxy.settings import Settings
from mithril_proxy.telemetry import Metrics
from scripts.pages import PAGES
from scripts.pages.__main__ import DOCS, main
from scripts.pages.errors import Coded, find_codes
from scripts.pages.policy import policy_page, read_sections

HAND_WRITTEN = sorted(path.name for path in DOCS.glob("*.md") if path.name not in PAGES)
LINK = re.compile(r"\]\(([^)#\s]+)(#[^)\s]*)?\)")


@pytest.mark.parametrize("name", PAGES)
def test_a_page_is_as_the_code_makes_it(name: str) -> None:
    assert (DOCS / name).read_text(encoding="utf-8") == PAGES[name](), "run scripts/docs"


def test_writing_the_pages_anew_changes_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    main()
    assert capsys.readouterr().out == ""


@pytest.mark.parametrize("name", [*PAGES, *HAND_WRITTEN, "../README.md", "../SECURITY.md", "../CONTRIBUTING.md"])
def test_links_between_pages_lead_somewhere(name: str) -> None:
    text = (DOCS / name).read_text(encoding="utf-8")
    targets = {target for target, _ in LINK.findall(text) if "://" not in target and "benchmark/" not in target}
    missing = {target for target in targets if not ((DOCS / name).parent / target).exists()}
    assert missing == set()  # results of benchmarks are written by their runs, so they may come later


def test_every_setting_is_on_its_page() -> None:
    page = PAGES["settings.md"]()
    assert {name for name in Settings.model_fields if f"`MITHRIL_{name.upper()}`" not in page} == set()


def test_every_key_of_a_policy_is_on_its_page() -> None:
    page = policy_page()
    sections = dict(re.findall(r"^## `?(.+?)`?\n(.*?)(?=^## |\Z)", page, re.MULTILINE | re.DOTALL))
    for name, field in Policy.model_fields.items():
        if field.exclude:
            continue
        titles = {f"[{name}]", f"[[{name}]]"} & sections.keys()
        assert titles or f"| `{name}` |" in sections["Top level"], name
        keys = getattr(field.annotation, "model_fields", {})
        text = "".join(sections[title] for title in titles)
        missing = {key for key in keys if f"| `{key}` |" not in text and f"[{name}.{key}]" not in page}
        assert missing == set(), name


def test_values_and_reasons_of_a_policy_are_told_apart() -> None:
    lines = ["# a remark", 'name = "a # b"   # why it is so', "bare = 1", "[part]  # what it is", 'list = ["#"]']
    top, part = read_sections(lines)
    assert top.keys == [("name", '"a # b"', "why it is so"), ("bare", "1", "")]
    assert (part.name, part.note, part.keys) == ("part", "what it is", [("list", '["#"]', "")])


def test_every_metric_is_on_its_page() -> None:
    scraped = generate_latest(Metrics().registry).decode()
    names = {line.split()[2] for line in scraped.splitlines() if line.startswith("# HELP mithril_")}
    page = PAGES["metrics.md"]()
    assert names
    assert {name for name in names if f"`{name}`" not in page and not name.endswith("_created")} == set()


def test_every_command_is_on_its_page() -> None:
    page = PAGES["commands.md"]()
    assert {path for path in command_paths(mithril, "mithril") if f"## {path}\n" not in page} == set()


def command_paths(command: click.Command, path: str) -> list[str]:
    if not isinstance(command, click.Group):
        return [path]
    context = click.Context(command)
    below = ((name, command.get_command(context, name)) for name in command.list_commands(context))
    return [path, *(found for name, each in below if each for found in command_paths(each, f"{path} {name}"))]


SOURCE = """
class Shut(RequestError):
    status = 409
    code = "is_shut"
raise Refused("why", code="not_open")
raise MalformedBody("why", code="is_odd")
await send_error(send, 503, "is_down", "why")
PAIRS = ((NotFound, 404, "not_here"),)
JSONResponse({"error": "who_are_you", "detail": "why"}, status_code=401)
answer({"error": "a sentence", "other": 1}, 401)
f(code=name, other="not_a_code")
"""


def test_codes_are_found_wherever_they_may_stand(tmp_path: Path) -> None:
    for folder in ("proxy", "admin", "demo"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "source.py").write_text(SOURCE)
    ast.parse(SOURCE)
    found = set(find_codes(tmp_path))
    expected = {
        ("is_shut", 409),
        ("not_open", 403),
        ("is_odd", 400),
        ("is_down", 503),
        ("not_here", 404),
        ("who_are_you", 401),
    }
    assert found == {Coded(plane, *each) for each in expected for plane in ("Data plane", "Admin plane")}
