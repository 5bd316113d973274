"""Every benchmark still runs, at a tiny size that writes nothing, so that none breaks between releases."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from benchmarks.harness import listed
from tests.conftest import ROOT

ALONE = {
    "first_start": "makes an environment, with the network",
    "meaning_others": "needs two sets that are not in the data folder; it says which",
    "faults": "needs cc",
    "peers": "installs other labelling tools, with the network",
    "power_cuts": "needs gcc",
    "two_servers": "needs PostgreSQL; `tests/browser/test_two_servers.py` is the same",
}
"""Benchmarks that need more than some machines have: run them by hand, `python -m benchmarks --try NAME`."""
RESULTS = ROOT / "benchmarks" / "results"


@pytest.mark.proof
@pytest.mark.public_data
@pytest.mark.parametrize("name", [name for name in listed() if name not in ALONE])
def test_benchmark_runs_at_tiny_size_and_writes_nothing(name: str) -> None:
    before = {path: path.read_bytes() for path in RESULTS.iterdir()}
    command = [sys.executable, "-m", "benchmarks", "--try", name]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False, env=dict(os.environ))
    assert done.returncode == 0, done.stderr[-3000:]
    assert f"Command: `python -m benchmarks {name}`" in done.stdout
    assert {path: path.read_bytes() for path in RESULTS.iterdir()} == before


def test_benchmarks_and_results_correspond() -> None:
    results = {path.stem.removesuffix("_full") for path in RESULTS.glob("*.md")}
    assert results == set(listed())
