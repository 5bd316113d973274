"""The command's help; from the command to the first question, on an empty home and on one that is there; a large
file."""

from __future__ import annotations

import io
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from benchmarks import homes
from benchmarks.harness import ROOT, Table, cpu, cpu_of_children, folder, page, sized
from plcore import LabelTable, compile_kernels
from tests.browser import room

TITLE = "Start, and reading a large file"
PACKAGES = ("streamlit", "numpy", "pandas", "playwright")
TIMES = sized(5, tiny=1)
ROWS, FEATURES = sized((100_000, 64), tiny=(100, 4))


def command_help() -> Table:
    """CPU time of whole processes, the least of several: what a command costs before it does anything."""
    table = Table("what | CPU s | ratio to Python alone")
    commands = {
        "`python -c pass`": ("-c", "pass"),
        "`python -c 'import click'`": ("-c", "import click"),
        "`winnow --help`": ("-m", "winnow_labels", "--help"),
        "`winnow simulate --help`": ("-m", "winnow_labels", "simulate", "--help"),
        "`winnow exprot`, which there is not": ("-m", "winnow_labels", "exprot"),
    }
    base = 0.0
    for name, words in commands.items():
        spent = min(processor_seconds(*words) for _ in range(TIMES))
        base = base or spent
        table.add(name, f"{spent:.3f}", f"{spent / base:.1f}")
    return table


def processor_seconds(*words: str) -> float:
    """Return the CPU seconds, user and system, of Python with these words."""
    before = cpu_of_children()
    subprocess.run([sys.executable, *words], cwd=ROOT, capture_output=True, check=False)
    return cpu_of_children() - before


def starts() -> Table:
    """Wall time, the kernels compiled before, as `make run` does while it makes the environment."""
    compile_kernels()
    table = Table("home | link printed, median | largest | first question on screen, median | largest")
    with folder() as place, homes.browser() as chromium:
        for name in ("empty", "there"):
            found = np.array([start(chromium, place / str(number)) for number in range(TIMES)])
            table.add(name, *(f"{figure(times):.1f}" for times in found.T for figure in (np.median, np.max)))
    return table


def start(chromium: Any, home: Path) -> tuple[float, float]:
    """Return seconds until the link is printed, and until the first question of the demo is on the screen."""
    begun = time.perf_counter()
    with homes.serving(home) as server:
        printed = time.perf_counter() - begun
        context = chromium.new_context(viewport={"width": 1280, "height": 800})
        view = context.new_page()
        view.goto(server.link)
        view.get_by_role("heading", name="Projects").wait_for()
        view.goto(f"{server.base}/annotate")
        view.locator(room.CARD).locator(".choice").first.wait_for()
        shown = time.perf_counter() - begun
        context.close()
        return printed, shown


def reading() -> tuple[int, Table]:
    """Return the bytes of a file, and the CPU time of reading it beside pandas, which checks nothing of it."""
    random = np.random.default_rng(0)
    frame = pd.DataFrame(random.normal(size=(ROWS, FEATURES)).round(6)).add_prefix("x")
    frame["candidates"] = random.choice(["a|b", "b|c", "a|b|c"], size=ROWS)
    data = frame.to_csv(index=False).encode()
    table, base = Table("what | CPU s | ratio to pandas"), 0.0
    with folder() as place:
        path = place / "table.parquet"
        read = LabelTable.read_csv(data)
        calls = {
            "`pandas.read_csv`": lambda: pd.read_csv(io.BytesIO(data)),
            "`LabelTable.read_csv`: every cell checked, its text kept": lambda: LabelTable.read_csv(data),
            "`LabelTable.write`": lambda: read.write(path),
            "`LabelTable.read`, at each start": lambda: LabelTable.read(path),
        }
        for name, call in calls.items():
            spent = cpu(call)
            base = base or spent
            table.add(name, f"{spent:.2f}", f"{spent / base:.2f}")
    return len(data), table


def measure() -> str:
    size, read = reading()
    return page(
        "## Help of the command",
        f"CPU time in s of a process from its start to its end, the least of {TIMES}. Target: 0.3 s.",
        command_help(),
        "## From the command to the first question",
        f"""Wall time in s over {TIMES} starts; on an empty home the demo is made on the way. The kernels are
compiled, as `make run` does once while it makes the environment. Target: 15 s.""",
        starts(),
        f"## A CSV of {ROWS:,} rows and {FEATURES} numbers, {size / 1e6:.0f} MB",
        read,
    )
