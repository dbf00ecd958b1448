"""What is tracked belongs to the project alone: nothing of the machine, the people or the work that made it."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
MOST_BYTES = 600_000

FORBIDDEN = {  # written so that this file does not hold what it looks for
    "a folder of somebody's machine": re.compile(r"(?<![\w.])/(work|root|Users|home/[a-z]\w*)" + r"/\w"),
    "a folder beside the checkout": re.compile(r"\.\./" + "shared"),
    "the place of work": re.compile(r"\bwork" + r"(place|tree)s?\b|\bthe " + "brief" + r"\b", re.I),
    "a registry": re.compile(r"https?://[\w.-]*(py" + r"pi|npm" + r"js|crates)\.\w+"),
    "a letter that waits": re.compile(r"#\s*(TO" + r"DO|FIX" + r"ME|XX" + r"X)\b"),
}
ALLOWED = {
    ".ci/run": {"a folder beside the checkout"},  # data that some machines have there; it is read at run time only
}


def tracked() -> list[str]:
    """Every tracked file; nothing outside a checkout, where there is no list of them."""
    if shutil.which("git") is None or not (ROOT / ".git").exists():
        return []
    done = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=False)
    names = done.stdout.split("\0") if done.returncode == 0 else []
    return [name for name in names if name and (ROOT / name).is_file()]


def text_of(name: str) -> str | None:
    try:
        return (ROOT / name).read_text(encoding="utf-8")
    except UnicodeDecodeError:
        return None


def found_in(text: str) -> set[str]:
    return {what for what, pattern in FORBIDDEN.items() if pattern.search(text)}


if FILES := tracked():
    TEXTS = {name: text for name in FILES if (text := text_of(name)) is not None}

    def test_no_file_names_the_machine_or_the_work_that_made_it() -> None:
        found = {name: found_in(text) - ALLOWED.get(name, set()) for name, text in TEXTS.items()}
        assert {name: what for name, what in found.items() if what} == {}

    def test_every_exception_is_still_needed() -> None:
        assert {name: found_in(TEXTS[name]) for name in ALLOWED} == ALLOWED

    def test_files_end_with_a_line_feed_and_have_no_carriage_returns() -> None:
        odd = {name for name, text in TEXTS.items() if text and (not text.endswith("\n") or "\r\n" in text)}
        assert odd == set()

    def test_no_file_is_large() -> None:
        assert {name for name in FILES if (ROOT / name).stat().st_size > MOST_BYTES} == set()

    def test_what_can_be_run_says_by_what() -> None:
        runnable = {name for name in TEXTS if (ROOT / name).stat().st_mode & 0o111}
        assert {name for name in runnable if not TEXTS[name].startswith("#!")} == set()


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("see /ro" + "ot/notes", "a folder of somebody's machine"),
        ("see /home" + "/someone/notes", "a folder of somebody's machine"),
        ("cp .." + "/shared/x .", "a folder beside the checkout"),
        ("as it was in the work" + "place", "the place of work"),
        ("# TO" + "DO: later", "a letter that waits"),
    ],
)
def test_what_does_not_belong_is_found(text: str, what: str) -> None:
    assert found_in(text) == {what}


@pytest.mark.parametrize("text", ["http://host/work/x", "a/root/x", "/homepage", "/workflow/x", "sessions of Cognee"])
def test_what_only_looks_like_it_is_not_found(text: str) -> None:
    assert found_in(text) == set()
