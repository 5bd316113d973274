"""What an answer costs a learner by the size of its table: taken in, and with the next question."""

from __future__ import annotations

import time

import numpy as np

from benchmarks.harness import Table, in_process, page, sized, trees
from benchmarks.homes import drawn_graph
from benchmarks.processes import peak
from plcore import ActiveLearner, Entry, LearnerSettings
from plcore.loop.one_label.pool import OneLabelPool

TITLE = "An answer, by the size of the table"
PACKAGES = ("numpy", "numba")
RUNS, ROWS = sized((3, (10_000, 100_000, 1_000_000)), tiny=(1, (2_000,)))
CLASSES, K = 10, 10
ENTRIES, QUESTIONS = sized((1_000, 100), tiny=(20, 5))
WHAT = (
    "to build, s", "an entry, ms", "an entry and the next question, ms", "the same beside 4 people, ms",
    "peak resident, MB",
)  # fmt: skip


class Rows:
    """A table of candidates alone: the neighbours are given. Three candidates a row, three in ten with a truth."""

    candidate_weights = None

    def __init__(self, n: int) -> None:
        rng = np.random.default_rng(0)
        self.right = rng.integers(CLASSES, size=n)
        self.candidates = np.zeros((n, CLASSES), dtype=bool)
        for labels in (self.right, *rng.integers(CLASSES, size=(2, n))):
            self.candidates[np.arange(n), labels] = True
        self.classes = tuple(f"class {number}" for number in range(CLASSES))
        self.truth = np.where(rng.random(n) < 0.3, self.right, -1)


def one_run(n: int) -> list[float]:
    """In a process of its own: the figures of WHAT."""
    table = Rows(n)
    settings = LearnerSettings(n_neighbors=K, test_share=0.2)
    pool = OneLabelPool(table, settings)  # type: ignore[type-var]
    graph = drawn_graph(len(pool.train), len(pool.held), K)
    begun = time.process_time()
    learner = ActiveLearner(table, settings, graph)  # type: ignore[type-var]
    found = [time.process_time() - begun]
    ambiguous = pool.train[pool.sizes[pool.train] >= 2]
    rows = iter(np.random.default_rng(1).permutation(ambiguous)[: 4 + ENTRIES + 2 * QUESTIONS].tolist())
    shown = frozenset(next(rows) for _ in range(4))
    learner.next_question("ann")  # the order is made once
    for times, others in ((ENTRIES, None), (QUESTIONS, frozenset()), (QUESTIONS, shown)):
        begun = time.process_time()
        for _ in range(times):
            row = next(rows)
            learner.apply(Entry(learner.seq + 1, "is", row, "ann", (learner.classes[table.right[row]],)))
            if others is not None:
                learner.next_question("ann", others)
        found.append((time.process_time() - begun) / times * 1e3)
    return [*found, peak()]


def add_paired(
    table: Table, what: tuple[str, ...], first: str, call: object, *arguments: object, digits: int
) -> None:
    """Add a line for each figure of a run: the least of RUNS; of two trees, in turns, also before and its ratio."""
    found: dict[str, list[list[float]]] = {name: [] for name in trees()}
    for name, tree in list(trees().items()) * RUNS:
        found[name].append(in_process(call, *arguments, tree=tree))  # type: ignore[arg-type]
    least = {name: np.min(runs, axis=0) for name, runs in found.items()}
    for place, one in enumerate(what):
        now, before = least["now"][place], least.get("before", least["now"])[place]
        beside = (f"{before:,.{digits}f}", f"{before / now:.1f}") if len(least) > 1 else ()
        table.add(first, one, f"{now:,.{digits}f}", *beside)


def measure() -> str:
    table = Table("rows | what | now" + " | before | times less" * (len(trees()) > 1))
    for n in ROWS:
        add_paired(table, WHAT, f"{n:,}", one_run, n, digits=2)
    return page(
        f"""CPU time of the process, of the learner alone: without database and page. PL-KNN with {K} neighbours,
which are given; {CLASSES} classes, three candidates a row, a fifth of the rows with a truth held out. {ENTRIES:,}
entries, then {QUESTIONS} with the next question each. Least of {RUNS} runs.""",
        table,
    )
