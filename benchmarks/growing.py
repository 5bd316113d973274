"""What an answer costs a learner by the size of its table: taken in, and with the next question.

`BEFORE=<tree> python -m benchmarks growing` measures another tree beside this one, in alternating runs.
"""

from __future__ import annotations

import json
import os
import resource
import sys
import time
from pathlib import Path

import numpy as np

RUNS = 3
ROWS = (10_000, 100_000, 1_000_000)
CLASSES = 10
K = 10
ENTRIES, QUESTIONS = 1_000, 100
WHAT = ("to build, s", "an entry, ms", "an entry and the next question, ms", "the same beside 4 people, ms")


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


def run(n: int) -> None:
    """One run, in a process of its own: prints CPU seconds or milliseconds of each of WHAT, and peak MB resident."""
    from plcore import ActiveLearner, Entry, LearnerSettings
    from plcore.loop.one_label.pool import OneLabelPool
    from plcore.neighbors.graph import Graph

    table: object = Rows(n)
    settings = LearnerSettings(n_neighbors=K, test_share=0.2)
    pool = OneLabelPool(table, settings)  # type: ignore[type-var]
    rng = np.random.default_rng(1)

    def near(size: int, *, own: bool) -> np.ndarray:  # type: ignore[type-arg]
        steps = np.cumsum(rng.integers(1, 7, (size, K)), axis=1)
        found = (np.arange(size)[:, None] + steps) % len(pool.train)
        found[:, :1] = np.arange(size)[:, None] if own else found[:, :1]
        return found.astype(np.int32)

    def weights(size: int) -> np.ndarray:  # type: ignore[type-arg]
        return rng.integers(2**22, 2**24, (size, K))

    n_train, n_held = len(pool.train), len(pool.held)
    graph = Graph(
        near(n_train, own=True), weights(n_train), near(n_held, own=False), weights(n_held), "exact", 1.0
    )
    begun = time.process_time()
    learner = ActiveLearner(table, settings, graph)  # type: ignore[type-var]
    found = [time.process_time() - begun]
    right = table.right  # type: ignore[attr-defined]
    ambiguous = pool.train[pool.sizes[pool.train] >= 2]
    rows = iter(rng.permutation(ambiguous)[: 4 + ENTRIES + 2 * QUESTIONS].tolist())
    shown = {next(rows) for _ in range(4)}
    learner.next_question("ann")  # the order is made once

    def answer() -> None:
        row = next(rows)
        learner.apply(Entry(learner.seq + 1, "is", row, "ann", (learner.classes[right[row]],)))

    for times, others in ((ENTRIES, None), (QUESTIONS, frozenset()), (QUESTIONS, frozenset(shown))):
        begun = time.process_time()
        for _ in range(times):
            answer()
            if others is not None:
                learner.next_question("ann", others)
        found.append((time.process_time() - begun) / times * 1e3)
    print(json.dumps([*found, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e3]))


def main() -> None:
    from benchmarks import report
    from benchmarks.press import NOW, in_tree

    trees = [Path(os.environ["BEFORE"]), NOW] if os.environ.get("BEFORE") else [NOW]
    lines = []
    for n in ROWS:
        runs: dict[Path, list[list[float]]] = {tree: [] for tree in trees}
        for _ in range(RUNS):
            for tree in trees:
                runs[tree].append(in_tree(tree, "growing.py", str(n)))
        least = {tree: np.min(found, axis=0) for tree, found in runs.items()}
        for place, what in enumerate((*WHAT, "peak resident, MB")):
            first, last = least[trees[0]][place], least[trees[-1]][place]
            before = f" {first:,.2f} | {first / last:.1f} |" if len(trees) > 1 else ""
            lines.append(f"| {n:,} | {what} | {last:,.2f} |{before}")
            print(lines[-1], flush=True)
    more, ruler = (" before | times less |", "--:|--:|") if len(trees) > 1 else ("", "")
    report.write(
        "growing",
        "An answer, by the size of the table",
        f"""
CPU time of the process, of the learner alone: without database and page. PL-KNN with {K} neighbours, which are given;
{CLASSES} classes, three candidates a row, a fifth of the rows with a truth held out. {ENTRIES:,} entries, then
{QUESTIONS} with the next question each. Least of {RUNS} runs.

| rows | what | now |{more}
|--:|---|--:|{ruler}
"""
        + "\n".join(lines)
        + "\n",
        ("numpy", "numba"),
    )


if __name__ == "__main__":
    run(int(sys.argv[1]))
