"""After a restart with a long log: the first question, Progress, the answer log as a file, a press.

`BEFORE=<tree> python -m benchmarks restart` measures another tree beside this one, in alternating runs.
"""

from __future__ import annotations

import importlib
import io
import json
import os
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

RUNS = 2
LENGTHS = (20_000, 200_000)
PRESSES = 20
WHAT = (
    "first question", "Progress", "Progress once more", "Export: the answer log", "a press",
    "first question after another restart",
)  # fmt: skip


def run(length: int) -> None:
    """One run, in a process of its own: prints CPU seconds of each of WHAT."""
    press_run: Any = importlib.import_module("press_run")  # beside this script, whatever tree is measured

    from workflow import answering, exporting, progress
    from workflow.home import open_home
    from workflow.seat import Seat
    from workflow.settings import Settings

    with tempfile.TemporaryDirectory() as folder:
        settings = Settings.from_environment({"WINNOW_HOME": folder})
        home = open_home(settings)
        made = press_run.project(home, "long", length)
        home.close()
        home = open_home(settings)
        seat = Seat(home, made.person_id, made.project_id)
        choice = exporting.ExportChoice("log", exporting.ALL, exporting.ABOVE)
        steps: tuple[Callable[[], object], ...] = (
            lambda: answering.next_question(seat),
            lambda: progress.read_progress(seat),
            lambda: progress.read_progress(seat),
            lambda: exporting.take(seat, choice).write(io.BytesIO(), lambda _done: None),
        )
        found = []
        for step in steps:
            begun = time.process_time()
            step()
            found.append(time.process_time() - begun)
        found.append(float(np.median([sum(one[:2]) for one in press_run.presses(seat, PRESSES)])) / 1e3)
        home.close()
        begun = time.process_time()
        home = open_home(settings)
        answering.next_question(Seat(home, made.person_id, made.project_id))
        found.append(time.process_time() - begun)
        home.close()
    print(json.dumps(found))


def main() -> None:
    from benchmarks import report
    from benchmarks.press import NOW, in_tree
    from benchmarks.press_run import ROWS

    trees = [Path(os.environ["BEFORE"]), NOW] if os.environ.get("BEFORE") else [NOW]
    lines = []
    for length in LENGTHS:
        runs: dict[Path, list[list[float]]] = {tree: [] for tree in trees}
        for _ in range(RUNS):
            for tree in trees:
                runs[tree].append(in_tree(tree, "restart.py", str(length)))
        least = {tree: np.min(found, axis=0) for tree, found in runs.items()}
        for place, what in enumerate(WHAT):
            first, last = least[trees[0]][place], least[trees[-1]][place]
            before = f" {first:.3f} | {first / last:.1f} |" if len(trees) > 1 else ""
            lines.append(f"| {length:,} | {what} | {last:.3f} |{before}")
            print(lines[-1], flush=True)
    more, ruler = (" before | times less |", "--:|--:|") if len(trees) > 1 else ("", "")
    report.write(
        "restart",
        "After a restart with a long log",
        f"""
CPU seconds of the process; one label, PL-KNN, {ROWS:,} rows, three candidates each. Of 200,000 entries most
answer a row once more. Least of {RUNS} runs. *A press*: the median of {PRESSES}, with the next question and all that
the page asks beside. *Another restart*: the first has left a checkpoint.
Processes that wanted a core meanwhile, on average of 15 minutes: {os.getloadavg()[2]:.1f}.

| entries | what | CPU seconds |{more}
|---|---|--:|{ruler}
"""
        + "\n".join(lines)
        + "\n",
        ("SQLAlchemy", "numpy", "numba"),
    )


if __name__ == "__main__":
    run(int(sys.argv[1]))
