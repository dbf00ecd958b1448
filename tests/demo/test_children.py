"""Real programs on the loopback interface: small HTTP servers of the standard library."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from mithril_proxy.demo import children
from mithril_proxy.demo.children import Program, end_leftovers, foreign_module, free_port, running, stop
from mithril_proxy.errors import DemoFailed

STUBBORN = "import signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN); print('up', flush=True); time.sleep(60)"


def file_server(folder: Path, port: int) -> Program:
    arguments = (sys.executable, "-m", "http.server", str(port), "--bind", "127.0.0.1")
    return Program("files", arguments, folder, dict(os.environ))


def test_a_program_is_ready_inside_and_gone_afterwards(tmp_path: Path) -> None:
    port, said = free_port(), list[str]()
    program = file_server(tmp_path, port)
    with running(program, f"http://127.0.0.1:{port}/", progress=said.append) as child:
        assert program.pid_file.read_text() == f"{child.pid}\n"
        assert child.poll() is None
    assert child.poll() is not None
    assert not program.pid_file.exists()
    assert said[-1].startswith("files is ready after")


def test_a_program_is_ended_when_the_work_in_front_of_it_fails(tmp_path: Path) -> None:
    port = free_port()
    with (
        pytest.raises(ZeroDivisionError),
        running(file_server(tmp_path, port), f"http://127.0.0.1:{port}/") as child,
    ):
        raise ZeroDivisionError
    assert child.poll() is not None


def test_a_program_that_exits_is_a_failure_that_quotes_its_log(tmp_path: Path) -> None:
    program = Program("broken", (sys.executable, "-c", "raise SystemExit('no such port')"), tmp_path, {})
    with (
        pytest.raises(DemoFailed, match=r"broken exited with 1(?s:.*)no such port"),
        running(program, "http://[::1]:1/"),
    ):
        pass


def test_a_program_that_is_never_ready_is_a_failure(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(children, "_REPORT_EVERY_S", 0.0)
    said = list[str]()
    program = Program("mute", (sys.executable, "-c", "import time; time.sleep(60)"), tmp_path, {})
    with (
        pytest.raises(DemoFailed, match="mute was not ready after 0 s"),
        running(program, f"http://127.0.0.1:{free_port()}/", deadline_s=0.4, progress=said.append),
    ):
        pass
    assert said[0].startswith("waiting for mute")


def test_a_child_that_ignores_sigterm_is_killed() -> None:
    child = subprocess.Popen((sys.executable, "-c", STUBBORN), stdout=subprocess.PIPE)
    with child:
        assert child.stdout is not None
        child.stdout.readline()
        stop(child, grace_s=0.1)
        stop(child)
    assert child.returncode == -9


def test_a_program_that_a_killed_run_left_behind_is_ended(tmp_path: Path) -> None:
    with subprocess.Popen((sys.executable, "-c", "import time; time.sleep(60)"), cwd=tmp_path) as left:
        (tmp_path / "left.pid").write_text(str(left.pid))
        _end_as_the_next_run(left, tmp_path)
    assert left.returncode == -15


def test_a_pid_that_now_belongs_to_something_else_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "stale.pid").write_text(str(os.getpid()))
    (tmp_path / "broken.pid").write_text("none")
    end_leftovers(tmp_path)


def test_a_taken_port_is_not_chosen() -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        assert free_port(taken.getsockname()[1]) != taken.getsockname()[1]


def test_a_free_port_that_is_preferred_is_chosen() -> None:
    port = free_port()
    assert free_port(port) == port


def test_our_module_runs_with_another_interpreter_and_its_packages_first(tmp_path: Path) -> None:
    (tmp_path / "uvicorn.py").write_text("raise SystemExit('theirs')")
    command = foreign_module(Path(sys.executable), "mithril_proxy.demo.model_server", ("--help",))
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.stderr.strip() == "theirs"
    done = subprocess.run(command, cwd=tmp_path.parent, capture_output=True, text=True, check=False)
    assert "--port" in done.stdout


def _end_as_the_next_run(left: subprocess.Popen[bytes], folder: Path) -> None:
    """Runs `end_leftovers` in a program of its own, as the next run would, while this one collects the child."""
    code = "import sys, pathlib as p, mithril_proxy.demo.children as c; c.end_leftovers(p.Path(sys.argv[1]))"
    root = str(Path(children.__file__).resolve().parents[2])
    ending = subprocess.Popen((sys.executable, "-c", code, str(folder)), env={**os.environ, "PYTHONPATH": root})
    left.wait(30)
    assert ending.wait(30) == 0
