"""What a press costs: CPU of the answer, the next question and the standing, without Streamlit and without a browser.

`BEFORE=<tree> python -m benchmarks press` measures another tree beside this one, in alternating runs. Names of cases
after it (`python -m benchmarks.press long`) show these alone and write nothing.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np

from benchmarks import report
from benchmarks.press_run import DATA, LOG, ROWS
from tests.postgres import Server, running
from tests.postgres_programs import find

NOW = Path(__file__).parents[1]
RUNS, PRESSES = 2, 100
CASES = {
    "birdsong": "one label: BirdSong, PL-KNN",
    "all": "one label, cheapest form, shortlists, coverage, blind checks",
    "long": f"one label, {ROWS:,} rows, a log of {LOG:,} entries",
    "vectors": "label vectors: scene, 294 features, 6 labels",
}
TARGETS = {"SQLite": 10, "PostgreSQL": 15}  # CPU ms


def measured(tree: Path, case: str, url: str) -> list[float]:
    """What one run of `benchmarks.press_run` gives, of this tree's code."""
    return in_tree(tree, "press_run.py", case, str(PRESSES), url)


def in_tree(tree: Path, script: str, *words: str) -> list[float]:
    """What a script beside this one prints, which measures the code of a tree."""
    environment = {**os.environ, "PYTHONPATH": str(tree), "OMP_NUM_THREADS": "1", "WINNOW_DATA": str(DATA)}
    run = [sys.executable, str(NOW / "benchmarks" / script), *words]
    done = subprocess.run(run, cwd=tree, env=environment, capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(f"{script} {words} in {tree} failed:\n{done.stderr}")
    figures: list[float] = json.loads(done.stdout.splitlines()[-1])
    return figures


def lines_of(case: str, database: str, server: Server | None, trees: list[Path]) -> list[str]:
    """A line for each tree: the least of the medians of its runs."""
    found: dict[Path, list[list[float]]] = {tree: [] for tree in trees}
    for _ in range(RUNS):
        for tree in trees:
            if server is None:
                found[tree].append(measured(tree, case, ""))
                continue
            with server.empty_database() as url:
                found[tree].append(measured(tree, case, url))
    least = {tree: np.min(runs, axis=0) for tree, runs in found.items()}
    lines = []
    for tree in trees:
        press, page, wall = least[tree]
        ratio = least[trees[0]][0] / press if len(trees) > 1 else float("nan")
        what = "now" if tree == trees[-1] else "before"
        against = f"{ratio:.1f} times less" if len(trees) > 1 and tree == trees[-1] else ""
        lines.append(
            f"| {CASES[case]} | {database} | {what} | {press:.1f} | {page:.1f} | {wall:.1f} | {against} |"
        )
        print(lines[-1], flush=True)
    return lines


def main() -> None:
    chosen = [name for name in sys.argv[1:] if name in CASES]
    trees = [Path(os.environ["BEFORE"]), NOW] if os.environ.get("BEFORE") else [NOW]
    lines = [line for case in chosen or CASES for line in lines_of(case, "SQLite", None, trees)]
    if (programs := find()) is None:
        lines.append("\nNot run on PostgreSQL: there is none.")
    else:
        with running(programs, ["fsync=on"]) as server:
            for case in chosen or CASES:
                lines += lines_of(case, "PostgreSQL", server, trees)
    if chosen:
        return
    report.write(
        "press",
        "What a press costs",
        f"""
CPU ms of the thread that answers, on the server's side alone and without Streamlit: *press* is the answer, the next
question and the standing beside the card; *page* what the Annotate page asks besides (who may start, the day's goal,
getting ready for the next question); *wall* is the press with its waiting for the disk or the database server. Median
of {PRESSES} presses after a history of more than a hundred answers; least of {RUNS} runs, before and now in turns.
Processes that wanted a core meanwhile, on average of 15 minutes: {os.getloadavg()[2]:.1f}.
Target: {" and ".join(f"{most} CPU ms on {name}" for name, most in TARGETS.items())} for press and page together.

| case | database | tree | press | page | wall | press against before |
|---|---|---|---|---|---|---|
"""
        + "\n".join(lines)
        + "\n",
        ("SQLAlchemy", "psycopg", "numpy"),
    )


if __name__ == "__main__":
    main()
