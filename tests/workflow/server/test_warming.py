"""What the person at the terminal is told while the kernels are made ready: of compiling, and of nothing else."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import numba
import pytest

from plcore import compiling
from tests.conftest import ROOT
from workflow.server import warming


def test_a_step_is_spoken_of_where_the_compiler_begins_in_it(monkeypatch: pytest.MonkeyPatch) -> None:
    @numba.njit
    def double(number: int) -> int:
        return 2 * number

    steps = (
        ("nothing", lambda: None),
        ("doubling", lambda: double(1)),
        ("doubling again", lambda: double(2)),
    )
    monkeypatch.setattr(compiling, "STEPS", steps)
    limited: list[str] = []  # the other tests are in this process
    monkeypatch.setattr(warming, "one_thread_for_good", lambda: limited.append("for good"))
    monkeypatch.setattr(warming, "cpu_count", lambda: 1)
    said: list[str] = []
    assert warming.warm_up(said.append) > 0
    assert limited == ["for good"]
    assert said == ["Compiling the numeric kernels (once, step 2 of 3: doubling) ..."]
    warming.warm_up(said.append)
    assert len(said) == 1


@pytest.mark.parametrize("ends", ["", "raise SystemExit(1)"])
def test_a_second_process_compiles_what_stands_apart_once_the_compiler_begins(
    monkeypatch: pytest.MonkeyPatch, ends: str
) -> None:
    """What it says is passed on, and whatever became of it, its steps are looked at here."""

    @numba.njit
    def halve(number: int) -> float:
        return number / 2

    @numba.njit
    def treble(number: int) -> int:
        return 3 * number

    began: list[object] = []

    def start() -> subprocess.Popen[str]:
        began.append("second")
        return subprocess.Popen(
            [sys.executable, "-c", f"print('Elsewhere.', flush=True)\n{ends}"],
            stdout=subprocess.PIPE,
            text=True,
        )

    steps = (("trebling", lambda: treble(1)), ("halving", lambda: halve(1)), ("nothing", lambda: None))
    monkeypatch.setattr(compiling, "STEPS", steps)
    monkeypatch.setattr(compiling, "APART", frozenset({"trebling"}))
    monkeypatch.setattr(warming, "one_thread_for_good", lambda: None)
    monkeypatch.setattr(warming, "_start", start)
    monkeypatch.setattr(warming, "cpu_count", lambda: 2)
    said: list[str] = []
    warming.warm_up(said.append)
    assert said == [
        "Compiling the numeric kernels (once, step 2 of 3: halving) ...",
        "Elsewhere.",
        "Compiling the numeric kernels (once, step 1 of 3: trebling) ...",
    ]
    warming.warm_up(said.append)
    assert (len(said), began) == (3, ["second"])


def test_what_stands_apart_are_steps() -> None:
    names = {name for name, _ in compiling.STEPS}
    assert names > compiling.APART > set()


@pytest.mark.proof
@pytest.mark.timeout(1200)  # all kernels are compiled, and the machine may be busy
def test_only_the_first_start_speaks_of_compiling(tmp_path: Path) -> None:
    for room in ("plcore", "workflow", "db"):
        shutil.copytree(ROOT / room, tmp_path / room, ignore=shutil.ignore_patterns("__pycache__"))
    kept = tmp_path / "kept"

    def start() -> list[str]:
        done = subprocess.run(
            [sys.executable, "-m", "workflow.server.warming"],
            cwd=tmp_path,
            env={**os.environ, "NUMBA_CACHE_DIR": str(kept)},
            capture_output=True,
            text=True,
            check=False,
        )
        assert (done.returncode, done.stderr) == (0, "")
        return done.stdout.splitlines()

    first = start()
    assert len(first) > 5
    for line in first:
        assert line.startswith("Compiling the numeric kernels (once, step ")
    assert len(set(first)) == len(first), "each step is said once"
    assert start() == []
    # One kernel's machine code is gone: it is compiled, and that is said.
    next(kept.rglob("*.scan_dense-*.nbi")).unlink()
    (again,) = start()
    assert again in first
    assert start() == []
