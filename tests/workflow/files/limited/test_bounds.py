"""A file may cost what its size allows, and no process more than it is told."""

from __future__ import annotations

import json
import resource
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import ROOT
from workflow.files.limited.bounds import Bounds


def in_a_process(program: str, *given: Any) -> str:
    """What a program says that has `Bounds`, without all that its package loads."""
    file = str(ROOT / "workflow" / "files" / "limited" / "bounds.py")
    code = f"import runpy, sys; Bounds = runpy.run_path({file!r}, run_name='bounds')['Bounds']\n{program}"
    done = subprocess.run(
        [sys.executable, "-c", code, *map(str, given)], capture_output=True, text=True, check=False
    )
    return done.stdout or f"ended by {-done.returncode}"


def test_a_small_file_may_cost_little_and_a_large_one_more() -> None:
    small, large, huge = (Bounds.of_file(size) for size in (1_000, 10_000_000, 10**12))
    assert (small.memory_mb, small.cpu) == (200, 18)
    assert small.memory_mb < large.memory_mb < huge.memory_mb <= 6_000
    assert small.cpu < large.cpu < huge.cpu <= 7_200
    assert all(one.wall >= 10 * one.cpu for one in (small, large, huge))
    assert Bounds.of_file(1_000, 500) == Bounds(500, 18, 180, 4_000)


def test_what_a_large_file_unpacks_to_may_be_as_large_as_its_cells_need() -> None:
    assert [Bounds.of_file(mb * 10**6).file_mb for mb in (1, 600, 5_000)] == [4_000, 4_000, 30_000]


@pytest.mark.parametrize(("mb", "said"), [(2, "left"), (3, "File too large")])
def test_a_file_beyond_the_limit_is_not_left(tmp_path: Path, mb: int, said: str) -> None:
    program = (
        "import signal; signal.signal(signal.SIGXFSZ, signal.SIG_IGN)\n"
        "Bounds(200, 60, 3600, 2).set()\ntry:\n    with open(sys.argv[1], 'wb', 0) as file:\n"
        "        for _ in range(int(sys.argv[2])): file.write(b'x' * 10**6)\n    print('left')\n"
        "except OSError as error:\n    print(error.strerror)"
    )
    assert in_a_process(program, tmp_path / "out", mb).strip() == said


def test_the_limits_are_those_of_the_system() -> None:
    said = in_a_process(
        "import resource, json, time; time.process_time = lambda: 1.5; Bounds(50, 7, 3600).set()\n"
        "print(json.dumps([resource.getrlimit(one) for one in "
        "(resource.RLIMIT_CPU, resource.RLIMIT_NOFILE, resource.RLIMIT_CORE)]))"
    )
    most = min(128, resource.getrlimit(resource.RLIMIT_NOFILE)[1])
    assert json.loads(said) == [[2 + 7, 2 + 8], [most, most], [0, 0]]


@pytest.mark.parametrize(("mb", "said"), [(100, "had it"), (300, "none left")])
def test_memory_beyond_the_limit_is_not_given(mb: int, said: str) -> None:
    program = (
        "Bounds(200, 60, 3600).set()\ntry:\n    b'x' * (int(sys.argv[1]) * 10**6); print('had it')\n"
        "except MemoryError:\n    print('none left')"
    )
    assert in_a_process(program, mb).strip() == said


def test_what_computes_or_waits_too_long_is_ended() -> None:
    assert in_a_process("Bounds(200, 1, 3600).set()\nwhile True: pass") == "ended by 24"
    assert in_a_process("import os\nBounds(200, 20, 1).set()\nos.read(os.pipe()[0], 1)") == "ended by 14"
