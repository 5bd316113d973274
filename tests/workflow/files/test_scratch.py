"""Unpacked files are removed with their process, killed or not; those of a running one stay."""

from __future__ import annotations

import gc
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.conftest import ROOT
from workflow.files import scratch
from workflow.files.scratch import PREFIX, Scratch, clear

PROGRAM = """
import sys, tempfile
sys.path[0], tempfile.tempdir = sys.argv[1:]
from workflow.files.scratch import Scratch
scratch = Scratch()
(scratch.path / "inner").mkdir()
(scratch.path / "inner" / "cells").write_bytes(b"x")
print(scratch.path, flush=True)
sys.stdin.read()
"""


@pytest.fixture(autouse=True)
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    return tmp_path


@contextmanager
def another(place: Path) -> Iterator[tuple[subprocess.Popen[str], Path]]:
    """A process with a folder, until its input ends."""
    command = [sys.executable, "-c", PROGRAM, str(ROOT), str(place)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        yield process, Path(process.stdout.readline().strip())


def test_folder_is_removed_with_its_process() -> None:
    kept, closed = Scratch(), Scratch()
    (closed.path / "cells").touch()
    assert kept.path != closed.path
    closed.close()
    closed.close()
    assert not closed.path.exists()
    path = kept.path
    del kept
    gc.collect()
    assert not path.exists()


def test_ended_process_leaves_no_scratch_folder(place: Path) -> None:
    with another(place) as (_, path):
        assert path.is_dir()
    assert not path.exists()


def test_leftovers_of_killed_process_are_removed_but_not_of_running_ones(place: Path) -> None:
    mine, other = Scratch(), place / "winnow-pg-1"
    other.mkdir()
    with another(place) as (killed, left), another(place) as (_, neighbours):
        clear()
        assert left.is_dir()
        killed.kill()
        killed.wait()
        assert (left / "inner" / "cells").exists(), "it is left, or there is nothing to remove"
        clear()
        assert sorted(place.iterdir()) == sorted([mine.path, neighbours, other])
        assert (neighbours / "inner" / "cells").read_bytes() == b"x"
    clear()
    assert sorted(place.iterdir()) == sorted([mine.path, other])


def test_subprocess_does_not_hold_scratch_lock(place: Path) -> None:
    starts = "import subprocess; subprocess.Popen([sys.executable, '-c', 'import sys; sys.stdin.read()'])\nprint("
    program = PROGRAM.replace("print(", starts)
    command = [sys.executable, "-c", program, str(ROOT), str(place)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        path = Path(process.stdout.readline().strip())
        process.kill()
        process.wait()
        clear()  # while its child process still runs, because this process has not closed its input
        assert not path.exists()


def test_foreign_links_and_folders_are_left_alone(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    target = place / "mine"
    target.mkdir()
    (place / f"{PREFIX}link").symlink_to(target)
    (place / f"{PREFIX}file").touch()
    theirs = place / f"{PREFIX}theirs"
    theirs.mkdir()
    with monkeypatch.context() as other:
        other.setattr(os, "geteuid", lambda: os.getuid() + 1)
        clear()
    assert theirs.is_dir()
    clear()
    assert {path.name for path in place.iterdir()} == {"mine", f"{PREFIX}link", f"{PREFIX}file"}


def test_scratch_folder_removed_before_lock_is_recreated(monkeypatch: pytest.MonkeyPatch) -> None:
    held, moments = scratch._held, []

    def late(path: Path) -> int | None:
        moments.append(path)
        if len(moments) == 1:
            path.rmdir()
        if len(moments) == 2:  # it is opened before its removal, and locked afterwards
            found = held(path)
            path.rmdir()
            return found
        if len(moments) == 3:
            return None  # the neighbour is about to remove it
        return held(path)

    monkeypatch.setattr(scratch, "_held", late)
    made = Scratch()
    assert made.path == moments[3]
    assert made.path.is_dir()


def test_scratch_folder_that_cannot_be_created_raises(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(place / "none"))
    with pytest.raises(FileNotFoundError):
        Scratch()
    clear()
