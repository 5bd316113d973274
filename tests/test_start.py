"""Any program started on a home that cannot be opened prints a single line, and exits with 2."""

from __future__ import annotations

import json
import os
import socket
import sqlite3
import subprocess
import sys
from collections.abc import Callable
from contextlib import AbstractContextManager, closing
from pathlib import Path

import pytest

from tests.browser.loaded import Forked
from tests.conftest import ROOT
from tests.disks import filled, read_only, small_disk
from tests.migrated import lay_database
from workflow.backups import staging
from workflow.server import running

pytestmark = pytest.mark.slow

COMMANDS = {
    "server": ("app.py",),
    "worker": ("worker.py",),
    "shell": ("cli.py", "projects"),
    "serve": ("cli.py", "serve"),
}


def environment(home: Path, more: dict[str, str]) -> dict[str, str]:
    kept = {key: value for key, value in os.environ.items() if not key.startswith("WINNOW_")}
    return {**kept, "WINNOW_HOME": str(home), **more}


def start(home: Path, *command: str, **more: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, *command],
        cwd=ROOT,
        env=environment(home, more),
        capture_output=True,
        text=True,
        check=False,
        timeout=600,  # a worker gets only idle CPU time
    )


def forked(home: Path, *command: str, only_errors: bool = False, **more: str) -> tuple[int, str]:
    """Exit status and output of a program that is forked after its imports, which take seconds.

    only_errors : without the standard output
    """
    # A worker keeps its priority: on a busy machine it would wait a minute for its line.
    begin = "import os, runpy, sys; del os.nice, os.getsid; "
    quiet = "os.dup2(os.open(os.devnull, os.O_WRONLY), 1); " if only_errors else ""
    run = f"sys.argv = {[*command]!r}; runpy.run_path({command[0]!r}, run_name='__main__')"
    process = Forked(environment(home, more), begin + quiet + run)
    assert process.stdout is not None
    with process.stdout:
        said = process.stdout.read()
    return process.wait(600), said


def refused(home: Path, *command: str) -> str:
    """The single line that it prints to standard error."""
    status, said = forked(home, *command, only_errors=True)
    assert status == 2, said
    (line,) = said.splitlines()
    assert "Fix: " in line
    return line


def without_tables(path: Path) -> None:
    path.parent.mkdir()
    (path.parent / "tables").mkdir()
    (path.parent / "tables" / f"{'0' * 64}.parquet").touch()


def damaged(path: Path) -> None:
    lay_database(path.parent).write_bytes(b"x" * 8192)


def damaged_inside(path: Path) -> None:
    content = bytearray(lay_database(path.parent).read_bytes())
    content[100:8192] = b"x" * (8192 - 100)
    path.write_bytes(content)


def newer(path: Path) -> None:
    with closing(sqlite3.connect(lay_database(path.parent))) as made:
        made.execute("UPDATE alembic_version SET version_num = '9999'")
        made.commit()


FOUND: dict[str, tuple[Callable[[Path], object], str]] = {
    "missing": (without_tables, "There is no database at "),
    "damaged": (damaged, "is damaged, or no database of Winnow's"),
    "damaged inside": (damaged_inside, "is damaged, or no database of Winnow's"),
    "newer": (newer, "was written by a newer Winnow"),
}


@pytest.mark.parametrize(
    ("command", "found"),
    [
        ("server", "damaged"),
        ("shell", "missing"),
        ("worker", "newer"),
        ("serve", "damaged inside"),
        *(pytest.param("shell", found, marks=pytest.mark.proof) for found in FOUND if found != "missing"),
        pytest.param("server", "missing", marks=pytest.mark.proof),
        pytest.param("worker", "damaged inside", marks=pytest.mark.proof),
        pytest.param("serve", "newer", marks=pytest.mark.proof),
    ],
)
def test_unusable_home_is_reported_in_one_line(tmp_path: Path, command: str, found: str) -> None:
    make, words = FOUND[found]
    path = tmp_path / "home" / "winnow.sqlite3"
    make(path)
    before = sorted(path.parent.iterdir())
    line = refused(path.parent, *COMMANDS[command])
    assert words in line
    assert str(path) in line
    assert {*before, path.parent / "tables", path.parent / "in-use"} >= set(path.parent.iterdir()), "nothing was made"


@pytest.mark.parametrize(
    ("command", "what"),
    [
        ("server", read_only),
        ("worker", filled),
        pytest.param("server", filled, marks=pytest.mark.proof),
        pytest.param("worker", read_only, marks=pytest.mark.proof),
        pytest.param("shell", read_only, marks=pytest.mark.proof),
        pytest.param("shell", filled, marks=pytest.mark.proof),
    ],
)
def test_unwritable_disk_is_reported_in_one_line(
    tmp_path: Path, command: str, what: Callable[[Path], AbstractContextManager[None]]
) -> None:
    with small_disk(tmp_path / "home") as home:
        with what(home):
            line = refused(home, *COMMANDS[command])
        assert str(home) in line
        assert {one.name for one in home.iterdir()} <= {"tables", "in-use"}


@pytest.mark.parametrize("command", ["server", pytest.param("serve", marks=pytest.mark.proof)])
def test_start_that_cannot_write_its_note_exits_with_two(tmp_path: Path, command: str) -> None:
    """After a crash the database opens on a full disk; the next write is the server's note."""
    lay_database(tmp_path)
    (tmp_path / "servers").touch()  # no folder can be made there, not even by root
    line = refused(tmp_path, *COMMANDS[command])
    assert line.startswith("Winnow cannot start. A file could not be written (File exists). Fix: make room")


def test_start_during_restore_opens_nothing(tmp_path: Path) -> None:
    staging.stage(tmp_path, "a.zip")
    with running.only_restore(tmp_path):
        assert "A backup is being restored to" in refused(tmp_path, *COMMANDS["server"])
    assert {one.name for one in tmp_path.iterdir()} == {staging.WANTED, running.RESTORING}


def test_accept_store_lets_winnow_start(tmp_path: Path) -> None:
    path = tmp_path / "home" / "winnow.sqlite3"
    damaged(path)
    refused(path.parent, *COMMANDS["shell"])
    status, said = forked(path.parent, "cli.py", "accept-store")
    assert status == 0, said
    kept, accepted = said.splitlines()
    assert Path(kept.removeprefix("Kept as ").removesuffix(".")).read_bytes() == b"x" * 8192
    assert accepted == f"Accepted: {path}."
    assert forked(path.parent, *COMMANDS["shell"])[0] == 0


def test_first_start_prints_no_error(tmp_path: Path) -> None:
    done = start(tmp_path / "home", *COMMANDS["shell"])
    assert (done.returncode, done.stderr) == (0, "There is no project yet. To create one: winnow import FILE\n")


@pytest.mark.proof
def test_server_prints_its_error_to_standard_error(tmp_path: Path) -> None:
    """In a new Python process, which has not loaded anything."""
    damaged(tmp_path / "home" / "winnow.sqlite3")
    done = start(tmp_path / "home", *COMMANDS["server"])
    assert (done.returncode, done.stdout) == (2, "")
    assert len(done.stderr.splitlines()) == 1


@pytest.mark.parametrize(
    "words", [pytest.param((), marks=pytest.mark.proof, id="words"), pytest.param(("--json",), id="document")]
)
def test_used_port_is_refused(tmp_path: Path, words: tuple[str, ...]) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        status, printed = forked(tmp_path / "home", "cli.py", "serve", *words, WINNOW_PORT=str(port))
    said = f"cannot listen at port {port} of 127.0.0.1"
    assert status == 2
    error, brace, document = printed.partition("{")
    assert said in error.splitlines()[-1]
    assert "Fix: " in error.splitlines()[-1]
    assert bool(brace) == bool(words)
    if words:
        problem = json.loads(brace + document)
        assert said in problem["detail"]
        assert problem["exit_status"] == 2
