"""What the person at the terminal is told while the kernels are made ready: of compiling, and of nothing else."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

from tests.conftest import ROOT


def test_only_the_first_start_speaks_of_compiling(tmp_path: Path) -> None:
    for room in ("plcore", "workflow", "db"):
        shutil.copytree(ROOT / room, tmp_path / room, ignore=shutil.ignore_patterns("__pycache__"))
    kept = tmp_path / "kept"

    def start() -> list[str]:
        done = subprocess.run(
            [sys.executable, "-m", "workflow.warming"],
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
