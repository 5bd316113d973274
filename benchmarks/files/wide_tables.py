"""Tables of many classes, in memory and up to the first question; and of many columns, compared with long
ones."""

from __future__ import annotations

import statistics
import time
from pathlib import Path

import numpy as np
import pandas as pd

from benchmarks.harness import ROOT, Table, benchmark, clocked, folder, in_process, page, sized, trees
from benchmarks.homes import drawn_graph
from benchmarks.processes import forget_peak, peak, resident
from plcore import ActiveLearner, Entry, LabelTable, LearnerSettings
from plcore.loop.one_label.pool import OneLabelPool
from plcore.tables import Roles, find_doubts, lacks_rows, read_stored, read_table, store_reading

CANDIDATES, K, FEATURES = 5, 10, 4
ROWS, SMALL, ANSWERS = sized((100_000, 1_000, 200), tiny=(300, 100, 5))
CLASSES = sized((1_000, 10_000, 100_000), tiny=(30, 60))
WHAT = (
    "CPU s to import", "peak MB, import", "MB with nothing opened", "CPU s to open", "CPU s to the first question",
    "CPU ms an answer and the next question", "peak MB", "MB after",
)  # fmt: skip


def make(path: str, n: int, m: int) -> list[float]:
    """Import a table of lists of labels as the shell does, and store it, in a separate process."""
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
    """Open the stored table and answer, with given neighbours, in a separate process."""
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


@benchmark("Candidates among many classes")
def wide_sets() -> str:
    table = Table(["rows", "classes", "", *WHAT], ",.1f")
    with folder() as place:
        path = str(place / "table.parquet")
        in_process(make, path, SMALL, CLASSES[0])
        for tree in trees().values():  # compile everything first
            in_process(ask, path, tree=tree)
        for n, m in ((SMALL, CLASSES[0]), *((ROWS, m) for m in CLASSES)):
            for name, tree in (trees() if m == CLASSES[0] else {"now": ROOT}).items():
                found = in_process(make, path, n, m, tree=tree) + in_process(ask, path, tree=tree)
                table.add(n, m, name, *map(float, found))
    return page(
        f"""{CANDIDATES} candidates in each row, {FEATURES} numbers, PL-KNN with {K} neighbours, which are given, a
tenth of the rows as blind checks. Import: from cells to the stored table. Then, in another process: the table is
read, the learner built, a question asked, and {ANSWERS} answers follow, each with the next question. Memory is
resident, of the whole process, modules and machine code included: what {SMALL:,} rows take is the program. No
database and no page. Targets at {ROWS:,} rows: with 1,000 classes at most 400 MB, with 10,000 at most 1,000 MB and 5
CPU s to the first question.""",
        table,
    )


# Many columns

WIDE = sized(((3, 4_000), (3, 10_000), (100, 4_000), (1_000, 1_000)), tiny=((3, 40),))
COLUMNS, RUNS = 4, sized(3, tiny=1)  # of the long table


def csv(rows: int, columns: int) -> bytes:
    """Return a table of numbers with ids and candidates."""
    numbers = np.random.default_rng(0).normal(size=(rows, columns)).round(4).tolist()
    head = ",".join(["id", "labels", *(f"e{place}" for place in range(columns))])
    lines = (f"r{row},{'ab'[row % 2]}|c,{','.join(map(str, one))}" for row, one in enumerate(numbers))
    return "\n".join([head, *lines, ""]).encode()


def all_the_way(data: bytes, place: Path) -> None:
    """Import the bytes as a stored table and load it again, roles guessed and every cell checked."""
    reading = read_table(data, "t.csv")
    store_reading(reading, place)
    roles = reading.suggest_roles()
    lacks_rows(reading, roles)
    table = LabelTable.from_cells(read_stored(place).cells, roles)
    find_doubts(table)
    table.write(place / "table.parquet")
    LabelTable.read(place / "table.parquet")


def taken(data: bytes) -> float:
    with folder() as place:
        return clocked(lambda: all_the_way(data, place))[1]


@benchmark("Tables of many columns")
def wide_tables() -> str:
    taken(csv(10, COLUMNS))  # the first file loads modules
    head = "rows x columns of numbers | CPU s | ms a column | CPU s of as many cells in four columns | ratio"
    table = Table(head, ".2f")
    for rows, columns in WIDE:
        wide, long = csv(rows, columns), csv(rows * columns // COLUMNS, COLUMNS)
        pairs = [(taken(wide), taken(long)) for _ in range(RUNS)]
        seconds, others = (statistics.median(side) for side in zip(*pairs, strict=True))
        ratio = f"{seconds / others:.1f}"
        table.add(f"{rows:,} x {columns:,}", seconds, 1000 * seconds / columns, others, ratio)
    return page(table, "The target is 2 s for 4,000 columns, as the embeddings of a large model have; it took 12 s.")
