"""Projects of many classes: what a table of 5 candidates a row takes in memory, and what its first question costs.

`BEFORE=<tree> python -m benchmarks wide_sets` measures the table of 1,000 classes in another tree too.
"""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

ROWS, SMALL, CANDIDATES, K, FEATURES, ANSWERS = 100_000, 1_000, 5, 10, 4, 200
CLASSES = (1_000, 10_000, 100_000)
WHAT = (
    "CPU s to import",
    "peak MB, import",
    "MB with nothing opened",
    "CPU s to open",
    "CPU s to the first question",
    "CPU ms an answer and the next question",
    "peak MB",
    "MB after",
)


def resident() -> float:
    pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1])
    return pages * resource.getpagesize() / 1e6


def make(path: str, n: int, m: int) -> None:
    """Import a table of lists of labels, as the shell does, and store it."""
    import pandas as pd

    from plcore import LabelTable
    from plcore.tables import Roles

    rng = np.random.default_rng(0)
    numbers = rng.integers(m, size=(n, CANDIDATES))
    cells = {f"x{place}": rng.random(n).round(4).astype(str) for place in range(FEATURES)}
    cells["labels"] = ["|".join(f"class {number:05d}" for number in row) for row in numbers.tolist()]
    frame = pd.DataFrame(cells, dtype="str")
    begun = time.process_time()
    table = LabelTable.from_cells(
        frame,
        Roles(numbers=tuple(f"x{place}" for place in range(FEATURES)), candidates="labels", separator="|"),
    )
    table.write(path)
    print(
        json.dumps(
            [time.process_time() - begun, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 / 1e6]
        )
    )


def ask(path: str) -> None:
    """Open the stored table and answer; its neighbours are given, as they are stored beside a project's table."""
    from plcore import ActiveLearner, Entry, LabelTable, LearnerSettings
    from plcore.loop.one_label.pool import OneLabelPool
    from plcore.neighbors.graph import Graph

    empty = resident()
    Path("/proc/self/clear_refs").write_text("5", encoding="ascii")
    begun = time.process_time()
    table = LabelTable.read(path)
    settings = LearnerSettings(n_neighbors=K, control_share=0.1)
    pool = OneLabelPool(table, settings)
    n_train, n_held = len(pool.train), len(pool.held)
    del pool
    rng = np.random.default_rng(1)

    def near(size: int, *, own: bool) -> np.ndarray:  # type: ignore[type-arg]
        found = (np.arange(size)[:, None] + np.cumsum(rng.integers(1, 7, (size, K)), axis=1)) % n_train
        found[:, :1] = np.arange(size)[:, None] if own else found[:, :1]
        return found.astype(np.int32)

    graph = Graph(
        near(n_train, own=True),
        rng.integers(2**22, 2**24, (n_train, K)),
        near(n_held, own=False),
        rng.integers(2**22, 2**24, (n_held, K)),
        "exact",
        1.0,
    )
    learner = ActiveLearner(table, settings, graph)
    opened = time.process_time()
    question = learner.next_question("ann")
    asked = time.process_time()
    for _ in range(ANSWERS):
        assert question is not None
        learner.apply(Entry(learner.seq + 1, "is", question.row, "ann", question.choices[:1]))
        question = learner.next_question("ann")
    answered = time.process_time()
    peak = next(
        int(line.split()[1]) * 1024 / 1e6
        for line in Path("/proc/self/status").read_text(encoding="ascii").splitlines()
        if line.startswith("VmHWM")
    )
    print(
        json.dumps(
            [empty, opened - begun, asked - begun, (answered - asked) / ANSWERS * 1e3, peak, resident()]
        )
    )


def in_tree(tree: Path, *arguments: str) -> list[float]:
    environment = {**os.environ, "PYTHONPATH": str(tree)}
    run = subprocess.run(
        [sys.executable, str(Path(__file__).resolve()), *arguments],
        check=True, capture_output=True, text=True, env=environment, cwd=tree,
    )  # fmt: skip
    return [float(number) for number in json.loads(run.stdout.splitlines()[-1])]


def main() -> None:
    from benchmarks import report

    here = Path(__file__).resolve().parent.parent
    trees = [Path(os.environ["BEFORE"]), here] if os.environ.get("BEFORE") else [here]
    lines: list[str] = []
    runs = [(SMALL, CLASSES[0]), *((ROWS, m) for m in CLASSES)]
    with tempfile.TemporaryDirectory() as folder:
        path = str(Path(folder) / "table.parquet")
        for tree in trees:  # what is compiled is compiled before
            in_tree(tree, "make", path, str(SMALL), str(CLASSES[0]))
            in_tree(tree, "ask", path)
        for n, m in runs:
            for tree in trees if m == CLASSES[0] else [here]:
                found = in_tree(tree, "make", path, str(n), str(m)) + in_tree(tree, "ask", path)
                name = "now" if tree == here else "before"
                figures = " | ".join(f"{number:,.1f}" for number in found)
                lines.append(f"| {n:,} | {m:,} | {name} | {figures} |")
                print(lines[-1], flush=True)
    report.write(
        "wide_sets",
        "Candidates among many classes",
        f"""
{CANDIDATES} candidates in each row, {FEATURES} numbers, PL-KNN with {K} neighbours, which are given, a tenth of the
rows as blind checks. Import: from cells to the stored table. Then, in another process: the table is read, the learner
built, a question asked, and {ANSWERS} answers follow, each with the next question. Memory is resident, of the whole
process, modules and machine code included: what {SMALL:,} rows take is the program. No database and no page. Targets at
{ROWS:,} rows: with 1,000 classes at most 400 MB, with 10,000 at most 1,000 MB and 5 CPU s to the first question.

| rows | classes | | {" | ".join(WHAT)} |
|--:|--:|---|{"--:|" * len(WHAT)}
"""
        + "\n".join(lines)
        + "\n",
        ("numpy", "numba", "pyarrow"),
    )


if __name__ == "__main__":
    match sys.argv[1:]:
        case ["make", path, n, m]:
            make(path, int(n), int(m))
        case ["ask", path]:
            ask(path)
        case _:
            main()
