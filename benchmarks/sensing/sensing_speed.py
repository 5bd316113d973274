"""CPU seconds of BML-CS: training beside one-vs-all LinearSVC, the E-step, recovery, one answer. One thread."""

from __future__ import annotations

import numpy as np
from sklearn.svm import LinearSVC

from benchmarks.data import hidden, label_vectors
from benchmarks.harness import Table, cpu, page, sized
from plcore import BMLCSClassifier, SensingLearner, precision_at
from plcore.sensing.projection import Projection

TITLE = "Speed of BML-CS"
PACKAGES = ("numpy", "scipy", "scikit-learn", "numba")
ROWS = sized(None, tiny=60)
# K, and t2, tau2 as the search finds them, so that training needs no search.
SETS = sized(
    {"corel5k": (187, 0.0158, 0.00151, 0.1, 0.1), "rcv1_subset1": (50, 0.007, 0.025, 0.8, 0.8)},
    tiny={"rcv1_subset1": (10, 0.007, 0.025, 0.8, 0.8)},
)


TRAINING = (
    "training | CPU s, noise given | target | with noise search | one-vs-all LinearSVC | ratio | target | "
    "p@1, fast"
)


def training() -> list[str]:
    lines = []
    for name, (K, noise, prior, most, ratio) in SETS.items():
        split = label_vectors(name, 300, ROWS)
        model = BMLCSClassifier(K, noise=noise, prior_variance=prior, threshold=0.5)
        ours = cpu(lambda model=model, split=split: model.fit(split.X, split.Y))
        search = BMLCSClassifier(K, threshold=0.5)
        searched = cpu(lambda model=search, split=split: model.fit(split.X, split.Y), 1)
        present = np.flatnonzero(split.Y.any(axis=0) & ~split.Y.all(axis=0))

        def svm(split=split, present=present) -> None:
            for label in present:
                LinearSVC(C=1.0).fit(split.X, split.Y[:, label])

        theirs = cpu(svm, 2)
        found = precision_at(split.Y_test, model.set_params(mode="fast").decision_function(split.X_test), 1)
        lines.append(
            f"| {name}, {split.X.shape[0]} x {split.X.shape[1]}, {split.Y.shape[1]} labels, K = {K} | {ours:.3f} | "
            f"{most} | {searched:.2f} | {theirs:.2f} | {ours / theirs:.2f} | {ratio} | {found:.3f} |"
        )
    return lines


def expectation() -> str:
    """One E-step over 5,000 rows, all precisions different."""
    rng = np.random.default_rng(0)
    K, L, n = sized((187, 374, 5000), tiny=(10, 20, 50))
    projection = Projection(rng.normal(size=(K, L)) / np.sqrt(K))
    gamma, residual = rng.gamma(1.0, size=(n, L)), rng.normal(size=(n, K))
    taken = cpu(lambda: projection.posterior(gamma, residual, 0.01), 2)
    flops = n * (2 * K * K * L + K**3)
    speed = f"{flops / taken / 1e9:.0f} GFLOP/s of 2K²L + K³ a row"
    return f"| E-step, {n} rows, {L} labels, K = {K}, float64 | {taken:.2f} | 6 | {speed} |"


def recovery() -> list[str]:
    lines = []
    for name, (K, noise, prior, *_) in SETS.items():
        split = label_vectors(name, 300, ROWS)
        model = BMLCSClassifier(K, noise=noise, prior_variance=prior, threshold=0.5).fit(split.X, split.Y)
        for mode, iterations in (("paper", 10), ("paper", 1), ("fast", 1)):
            model.set_params(mode=mode, max_iter=iterations)
            taken = cpu(lambda model=model, split=split: model.decision_function(split.X_test), 2)
            found = precision_at(split.Y_test, model.decision_function(split.X_test), 1)
            target = "0.15" if (name, mode) == ("corel5k", "fast") else ""
            words = mode + (f", {iterations} iterations" if mode == "paper" else "")
            lines.append(
                f"| recovery of 300 rows, {name}, {words} | {taken:.3f} | {target} | p@1 {found:.3f} |"
            )
    return lines


def answers() -> list[str]:
    """400 rows of RCV1, half of the cells missing, K = 50: one answer at a time, beside the full refit."""
    split = label_vectors("rcv1_subset1", 300, ROWS)
    X, Y = split.X[:400], split.Y[:400]
    cells = hidden(Y, 0.5, 0)
    learner = SensingLearner(BMLCSClassifier(50, noise=0.007, prior_variance=0.025, threshold=0.5)).fit(
        X, cells
    )
    open_ = np.random.default_rng(1).permutation(np.argwhere(cells == -1))[:100]
    learner.scores("pair")
    times = [cpu(lambda i=i, j=j: learner.answer(int(i), int(j), int(Y[i, j])), 1) for i, j in open_]
    asking = cpu(lambda: learner.next("pair", 1))
    refresh = cpu(learner.refresh)
    return [
        "| one answer, 400 rows, 101 labels, K = 50: median, largest of 100 | "
        f"{np.median(times):.4f}, {max(times):.4f} | 0.005 | |",
        f"| the next (row, label) by information, {learner.cells_.size} cells | {asking:.4f} | | |",
        f"| refresh, 10 iterations | {refresh:.2f} | | |",
    ]


def measure() -> str:
    warm = BMLCSClassifier(mode="fast").fit(np.eye(2), np.eye(2, dtype=bool))
    warm.predict(np.eye(2))
    table, steps = Table(TRAINING), Table("step | CPU s | target | ")
    for lines, into in ((training(), table), ([expectation(), *recovery(), *answers()], steps)):
        for line in lines:
            into.add(*line.strip("| ").split(" | "))
    return page(
        """CPU seconds of one thread, the least of two or three. LinearSVC: C = 1, one fit for each label with both
answers.""",
        table,
        steps,
    )
