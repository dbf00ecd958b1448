"""What scripts/demo and scripts/test do before anything is installed. Standard library only."""

from __future__ import annotations

import argparse
import contextlib
import os
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Iterator, Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from mithril_proxy.demo.venvs import cognee_environment, mithril_environment, prepare  # noqa: E402
from mithril_proxy.errors import DemoFailed  # noqa: E402
from tests import postgres  # noqa: E402

CHECKS = (
    ("ruff", "check", "."),
    ("ruff", "format", "--check", "."),
    ("mypy",),
    ("lint-imports",),
)


def demo(arguments: Sequence[str]) -> None:
    """Makes both environments below the demo's folder, then becomes `mithril demo`."""
    parser = argparse.ArgumentParser(add_help=False)
    parser.add_argument("--folder", type=Path, default=ROOT / ".demo")
    parser.add_argument("--cognee-python", type=Path)
    options, others = parser.parse_known_args(arguments)
    venvs = options.folder.resolve() / "venvs"
    mithril, cognee = mithril_environment(venvs, ROOT), cognee_environment(venvs)
    prepare([mithril] if options.cognee_python else [mithril, cognee])
    command = [str(mithril.folder / "bin" / "mithril"), "demo", "--folder", str(options.folder.resolve())]
    command += ["--cognee-python", str(options.cognee_python or cognee.python), *others]
    os.execv(command[0], command)


def test(arguments: Sequence[str]) -> int:
    """Makes both environments below .test/, then runs the checks and the whole suite; pytest has the last word."""
    venvs = ROOT / ".test" / "venvs"
    mithril = mithril_environment(venvs, ROOT, _development_requirements())
    cognee = cognee_environment(venvs)
    named = os.environ.get("MITHRIL_TEST_COGNEE_PYTHON")
    prepare([mithril] if named else [mithril, cognee])
    lacking = _lacking_layers()
    if lacking and os.environ.get("CI") == "true":
        raise DemoFailed("CI must run every layer, and this machine lacks: " + "; ".join(lacking.values()))
    tools = mithril.folder / "bin"
    for check in CHECKS:
        print(f"--- {' '.join(check)}", flush=True)
        if status := subprocess.run([tools / check[0], *check[1:]], cwd=ROOT, check=False).returncode:
            print(f"\n{check[0]} failed: the tests were not run", flush=True)
            return status
    with _services(lacking) as environment:
        environment.setdefault("MITHRIL_TEST_COGNEE_PYTHON", str(cognee.python))
        return _run_pytest(mithril.python, arguments, lacking, environment)


def _run_pytest(python: Path, arguments: Sequence[str], lacking: dict[str, str], environment: dict[str, str]) -> int:
    for layer, what in lacking.items():
        print(f"\n*** NOT TESTED HERE: the {layer} layer, because this machine lacks {what} ***", flush=True)
    for what in _lacking_tools():
        print(f"\n*** NOT CHECKED HERE: {what} ***", flush=True)
    markers = ["-m", " and ".join(f"not {layer}" for layer in lacking)] if lacking else []
    coverage = [] if arguments else ["--cov", "--cov-report=term"]  # a part of the suite covers a part of the code
    command = [str(python), "-m", "pytest", *coverage, *markers, *arguments]
    print(f"--- pytest {' '.join(command[3:])}", flush=True)
    return subprocess.run(command, cwd=ROOT, env=environment, check=False).returncode


@contextlib.contextmanager
def _services(lacking: dict[str, str]) -> Iterator[dict[str, str]]:
    """The environment of the tests, with the servers that they need running."""
    if "postgres" in lacking or postgres.URL_VARIABLE in os.environ:
        yield dict(os.environ)
        return
    with postgres.cluster() as url:
        yield {**os.environ, postgres.URL_VARIABLE: url}


def _lacking_layers() -> dict[str, str]:
    """Marker of each layer that this machine cannot run, and the Debian packages that would bring it."""
    lacking = {}
    if not (shutil.which("chromium") and shutil.which("chromedriver")):
        lacking["browser"] = "Chromium (Debian: chromium chromium-driver)"
    if not (_has_postgres() or postgres.URL_VARIABLE in os.environ):
        lacking["postgres"] = "PostgreSQL (Debian: postgresql)"
    return lacking


def _lacking_tools() -> list[str]:
    """Checks of the deploy files that need a program of this machine; the schemas are checked in any case."""
    lacking = []
    compose = shutil.which("docker") and subprocess.run(
        ["docker", "compose", "version"], capture_output=True, check=False
    )
    if not compose or compose.returncode:
        lacking.append("`docker compose config`, because this machine lacks docker's compose client")
    if not shutil.which("systemd-analyze"):
        lacking.append("the systemd unit by systemd itself, because this machine lacks systemd-analyze")
    return lacking


def _has_postgres() -> bool:
    with contextlib.suppress(SystemExit):
        return bool(postgres.binaries())
    return False


def _development_requirements() -> list[str]:
    """The `dev` group of pyproject.toml; read here because the pip of Python 3.11 does not know groups."""
    groups: dict[str, list[str]] = tomllib.loads((ROOT / "pyproject.toml").read_text())["dependency-groups"]
    return groups["dev"]


def main() -> None:
    """Runs the command that the script names."""
    name, *arguments = sys.argv[1:]
    try:
        sys.exit({"demo": demo, "test": test}[name](arguments))
    except DemoFailed as error:
        sys.exit(f"\n{error}")
    except KeyboardInterrupt:
        sys.exit(130)


if __name__ == "__main__":
    main()
