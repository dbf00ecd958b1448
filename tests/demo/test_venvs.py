"""Real environments with a small wheel that is made here: nothing is fetched."""

from __future__ import annotations

import io
import zipfile
from pathlib import Path

import pytest

from mithril_proxy.demo import venvs
from mithril_proxy.demo.venvs import Environment, cognee_environment, mithril_environment, prepare
from mithril_proxy.errors import DemoFailed


@pytest.fixture
def wheel(tmp_path: Path) -> str:
    path = tmp_path / "seven-1.0-py3-none-any.whl"
    about = "seven-1.0.dist-info"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("seven.py", "SEVEN = 7\n")
        archive.writestr(f"{about}/METADATA", "Metadata-Version: 2.1\nName: seven\nVersion: 1.0\n")
        archive.writestr(
            f"{about}/WHEEL", "Wheel-Version: 1.0\nGenerator: t\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
        )
        archive.writestr(f"{about}/RECORD", "")
    return str(path)


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_an_environment_is_made_once(tmp_path: Path, wheel: str) -> None:
    environment = Environment("seven", tmp_path / "venvs" / "seven", ("--no-index", wheel))
    out = io.StringIO()
    prepare([environment], out=out)
    assert environment.is_ready
    assert (environment.folder / "bin" / "python").exists()
    assert "Installing seven in " in out.getvalue()
    assert "seven: ready" in out.getvalue()
    again = io.StringIO()
    prepare([environment], out=again)
    assert again.getvalue() == ""


def test_an_environment_whose_optional_part_fails_is_ready_and_says_so(tmp_path: Path, wheel: str) -> None:
    missing = (str(tmp_path / "missing.whl"),)
    environment = Environment("seven", tmp_path / "seven", ("--no-index", wheel), optional=missing)
    out = Terminal()
    prepare([environment], out=out)
    assert environment.is_ready
    assert f"ready, without {missing[0]}" in out.getvalue()


def test_what_pip_cannot_install_is_a_failure_that_quotes_its_log(tmp_path: Path) -> None:
    environment = Environment("none", tmp_path / "none", ("--no-index", "no-such-package-of-ours"))
    with pytest.raises(DemoFailed, match=r"pip could not install none(?s:.*)no-such-package-of-ours"):
        prepare([environment], out=io.StringIO())
    assert not environment.is_ready


def test_another_request_is_another_environment(tmp_path: Path) -> None:
    environment = Environment("x", tmp_path, ("a",))
    environment.mark_ready()
    assert environment.is_ready
    assert not Environment("x", tmp_path, ("b",)).is_ready
    assert not Environment("x", tmp_path, ("a",), stamp=b"changed").is_ready


def test_a_changed_pyproject_makes_mithril_anew(tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text("one")
    before = mithril_environment(tmp_path, tmp_path, ["pytest"])
    (tmp_path / "pyproject.toml").write_text("two")
    after = mithril_environment(tmp_path, tmp_path, ["pytest"])
    assert before.requirements == ("-e", str(tmp_path), "pytest")
    assert before.digest != after.digest


def test_cognee_is_the_version_that_was_measured(tmp_path: Path) -> None:
    assert cognee_environment(tmp_path).requirements == ("cognee==1.6.5",)


def test_fetched_packages_are_counted(tmp_path: Path) -> None:
    installation = venvs.Installation(Environment("x", tmp_path, ()))
    installation.follow("  Downloading lancedb-1.0-py3-none-any.whl (30 MB)\n")
    installation.follow("Using cached six-1.0-py3-none-any.whl\n")
    installation.follow("nothing of note\n")
    assert str(installation) == "x: fetching six, 2 packages"
    installation.follow("Installing collected packages: six, lancedb\n")
    assert str(installation) == "x: installing, 2 packages"


def test_where_lines_cannot_be_rewritten_they_come_now_and_then(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = iter([0.0, 1.0, 11.0, 11.0, 12.0])
    monkeypatch.setattr("time.monotonic", lambda: next(clock))
    due = venvs._due()
    assert [next(due) for _ in range(3)] == [False, True, False]
