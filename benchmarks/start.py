"""The command's help; from the command to the first question, on an empty home and on one that is there; a large file.

Beside the help: Python started for nothing. Beside the reading: pandas, which parses the same bytes and checks nothing
of them.
"""

from __future__ import annotations

import io
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
from playwright.sync_api import Browser, sync_playwright

from benchmarks import report
from plcore import LabelTable, compile_kernels
from tests.browser import room
from tests.browser.conftest import ARGUMENTS
from tests.browser.obtain import obtain
from tests.browser.server import Server
from tests.conftest import ROOT

TIMES = 5
ROWS, FEATURES = 100_000, 64
TARGET = 15  # s
HELP_TARGET = 0.3  # CPU s


def main() -> None:
    report.write(
        "start",
        "Start, and reading a large file",
        f"{help_of_the_command()}\n\n{starts()}\n\n{reading()}",
        ("streamlit", "numpy", "pandas", "playwright"),
    )


def help_of_the_command() -> str:
    """CPU time of whole processes, the least of several: what a command costs before it does anything."""
    figures = {
        "`python -c pass`": processor_seconds("-c", "pass"),
        "`python -c 'import click'`": processor_seconds("-c", "import click"),
        "`winnow --help`": processor_seconds("-m", "winnow", "--help"),
        "`winnow simulate --help`": processor_seconds("-m", "winnow", "simulate", "--help"),
        "`winnow exprot`, which there is not": processor_seconds("-m", "winnow", "exprot"),
    }
    base = figures["`python -c pass`"]
    return "\n".join(
        [
            "## Help of the command",
            "",
            f"CPU time in s of a process from its start to its end, the least of {TIMES}. Target: {HELP_TARGET} s.",
            "",
            "| what | CPU s | ratio to Python alone |",
            "|---|---|---|",
            *(f"| {name} | {spent:.3f} | {spent / base:.1f} |" for name, spent in figures.items()),
        ]
    )


def processor_seconds(*words: str) -> float:
    """CPU seconds, user and system, of Python with these words, the least of several runs."""
    spent = []
    for _ in range(TIMES):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run([sys.executable, *words], cwd=ROOT, capture_output=True, check=False)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        spent.append(after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime)
    return min(spent)


def starts() -> str:
    """Wall time, the kernels compiled before, as `make run` does while it makes the environment."""
    compile_kernels()
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=obtain(), args=ARGUMENTS)
        homes = [Path(folder) / str(number) for number in range(TIMES)]
        empty = [start(browser, home) for home in homes]
        there = [start(browser, home) for home in homes]
        browser.close()
    lines = [
        "## From the command to the first question",
        "",
        f"Wall time in s over {TIMES} starts; on an empty home the demo is made on the way. The kernels are compiled, "
        f"as `make run` does once while it makes the environment. Target: {TARGET} s.",
        "",
        "| home | link printed, median | largest | first question on screen, median | largest |",
        "|---|---|---|---|---|",
    ]
    for name, found in (("empty", empty), ("there", there)):
        link, question = np.array(found).T
        lines.append(
            f"| {name} | {np.median(link):.1f} | {link.max():.1f} | {np.median(question):.1f} | {question.max():.1f} |"
        )
    return "\n".join(lines)


def start(browser: Browser, home: Path) -> tuple[float, float]:
    """Seconds until the link is printed, and until the first question of the demo is on the screen."""
    begun = time.perf_counter()
    server = Server(home).start()
    try:
        printed = time.perf_counter() - begun
        context = browser.new_context(viewport={"width": 1280, "height": 800})
        page = context.new_page()
        page.goto(server.link)
        page.get_by_role("heading", name="Projects").wait_for()
        page.goto(f"{server.base}/annotate")
        page.locator(room.CARD).locator(".choice").first.wait_for()
        shown = time.perf_counter() - begun
        context.close()
        return printed, shown
    finally:
        server.stop()


def reading() -> str:
    """CPU time, the least of three."""
    random = np.random.default_rng(0)
    frame = pd.DataFrame(random.normal(size=(ROWS, FEATURES)).round(6)).add_prefix("x")
    frame["candidates"] = random.choice(["a|b", "b|c", "a|b|c"], size=ROWS)
    data = frame.to_csv(index=False).encode()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "table.parquet"
        table = LabelTable.read_csv(data)
        table.write(path)
        figures = {
            "`pandas.read_csv`": seconds(lambda: pd.read_csv(io.BytesIO(data))),
            "`LabelTable.read_csv`: every cell checked, its text kept": seconds(
                lambda: LabelTable.read_csv(data)
            ),
            "`LabelTable.write`": seconds(lambda: table.write(path)),
            "`LabelTable.read`, at each start": seconds(lambda: LabelTable.read(path)),
        }
    base = figures["`pandas.read_csv`"]
    return "\n".join(
        [
            f"## A CSV of {ROWS:,} rows and {FEATURES} numbers, {len(data) / 1e6:.0f} MB",
            "",
            "| what | CPU s | ratio to pandas |",
            "|---|---|---|",
            *(f"| {name} | {spent:.2f} | {spent / base:.2f} |" for name, spent in figures.items()),
        ]
    )


def seconds(call: Callable[[], object]) -> float:
    spent = []
    for _ in range(3):
        begun = time.process_time()
        call()
        spent.append(time.process_time() - begun)
    return min(spent)


if __name__ == "__main__":
    main()
