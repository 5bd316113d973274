"""How a benchmark writes down what it measured: the command, the machine, then the tables."""

from __future__ import annotations

import os
import platform
import time
from importlib.metadata import version
from pathlib import Path

import numpy as np

RESULTS = Path(__file__).with_name("results")


def matrix_product_speed() -> float:
    """This machine's dgemm speed on one core, GFLOP/s: what absolute seconds are to be read against."""
    from threadpoolctl import threadpool_limits

    n = 1500
    a = np.random.default_rng(0).normal(size=(n, n))
    with threadpool_limits(1):
        a @ a
        best = min(_seconds(lambda: a @ a) for _ in range(5))
    return 2 * n**3 / best / 1e9


def _seconds(call: object) -> float:
    begun = time.perf_counter()
    call()  # type: ignore[operator]
    return time.perf_counter() - begun


def write(name: str, title: str, body: str, packages: tuple[str, ...]) -> None:
    """Write benchmarks/results/NAME.md and print it."""
    versions = ", ".join(f"{package} {version(package)}" for package in packages)
    text = (
        f"# {title}\n\n"
        f"Command: `python -m benchmarks {name}`. {os.cpu_count()} cores, "
        f"dgemm {matrix_product_speed():.0f} GFLOP/s per core, Python {platform.python_version()}, {versions}.\n\n"
        f"{body.strip()}\n"
    )
    RESULTS.mkdir(exist_ok=True)
    (RESULTS / f"{name}.md").write_text(text)
    print(text)
