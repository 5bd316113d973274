"""Projects of many classes: what a table of 5 candidates a row takes in memory, and what its first question costs."""

from __future__ import annotations

import time

import numpy as np
import pandas as pd

from benchmarks.harness import ROOT, Table, clocked, folder, in_process, page, sized, trees
from benchmarks.homes import drawn_graph
from benchmarks.processes import forget_peak, peak, resident
from plcore import ActiveLearner, Entry, LabelTable, LearnerSettings
from plcore.loop.one_label.pool import OneLabelPool
from plcore.tables import Roles

TITLE = "Candidates among many classes"
PACKAGES = ("numpy", "numba", "pyarrow")
CANDIDATES, K, FEATURES = 5, 10, 4
ROWS, SMALL, ANSWERS = sized((100_000, 1_000, 200), tiny=(300, 100, 5))
CLASSES = sized((1_000, 10_000, 100_000), tiny=(30, 60))
WHAT = (
    "CPU s to import", "peak MB, import", "MB with nothing opened", "CPU s to open", "CPU s to the first question",
    "CPU ms an answer and the next question", "peak MB", "MB after",
)  # fmt: skip


def make(path: str, n: int, m: int) -> list[float]:
    """In a process of its own: import a table of lists of labels, as the shell does, and store it."""
    rng = np.random.default_rng(0)
    numbers = rng.integers(m, size=(n, CANDIDATES))
    cells = {f"x{place}": rng.random(n).round(4).astype(str) for place in range(FEATURES)}
    columns = tuple(cells)
    cells["labels"] = ["|".join(f"class {number:05d}" for number in row) for row in numbers.tolist()]
    frame = pd.DataFrame(cells, dtype="str")
    roles = Roles(numbers=columns, candidates="labels", separator="|")
    _, spent = clocked(lambda: LabelTable.from_cells(frame, roles).write(path))
    return [spent, peak()]


def ask(path: str) -> list[float]:
    """In a process of its own: open the stored table and answer; its neighbours are given, as beside a table."""
    empty = resident()
    forget_peak()
    begun = time.process_time()
    table = LabelTable.read(path)
    settings = LearnerSettings(n_neighbors=K, control_share=0.1)
    pool = OneLabelPool(table, settings)
    learner = ActiveLearner(table, settings, drawn_graph(len(pool.train), len(pool.held), K))
    del pool
    opened = time.process_time()
    question = learner.next_question("ann")
    asked = time.process_time()
    for _ in range(ANSWERS):
        assert question is not None
        learner.apply(Entry(learner.seq + 1, "is", question.row, "ann", question.choices[:1]))
        question = learner.next_question("ann")
    an_answer = (time.process_time() - asked) / ANSWERS * 1e3
    return [empty, opened - begun, asked - begun, an_answer, peak(), resident()]


def measure() -> str:
    table = Table(["rows", "classes", "", *WHAT])
    with folder() as place:
        path = str(place / "table.parquet")
        in_process(make, path, SMALL, CLASSES[0])
        for tree in trees().values():  # what is compiled is compiled before
            in_process(ask, path, tree=tree)
        for n, m in ((SMALL, CLASSES[0]), *((ROWS, m) for m in CLASSES)):
            for name, tree in (trees() if m == CLASSES[0] else {"now": ROOT}).items():
                found = in_process(make, path, n, m, tree=tree) + in_process(ask, path, tree=tree)
                table.add(f"{n:,}", f"{m:,}", name, *(f"{number:,.1f}" for number in found))
    return page(
        f"""{CANDIDATES} candidates in each row, {FEATURES} numbers, PL-KNN with {K} neighbours, which are given, a
tenth of the rows as blind checks. Import: from cells to the stored table. Then, in another process: the table is
read, the learner built, a question asked, and {ANSWERS} answers follow, each with the next question. Memory is
resident, of the whole process, modules and machine code included: what {SMALL:,} rows take is the program. No
database and no page. Targets at {ROWS:,} rows: with 1,000 classes at most 400 MB, with 10,000 at most 1,000 MB and 5
CPU s to the first question.""",
        table,
    )
