"""Label vectors in projects: predictions with missing labels, the choice of Automatic, and CPU seconds of
BML-CS."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse
from sklearn.svm import LinearSVC

from benchmarks.data import Split, hidden, label_vectors
from benchmarks.harness import Table, benchmark, clocked, cpu, page, sized
from plcore import BMLCSClassifier, MLCSClassifier, OneVsAllSVC, SensingLearner, f1_scores, precision_at
from plcore.loop.label_vectors import LabelVectorSettings
from plcore.loop.label_vectors.model import LabelVectorModel
from plcore.sensing.metrics import EVEN
from plcore.sensing.projection import Projection

SETS, SEEDS = sized((("emotions", "scene", "cal500", "corel5k"), 3), tiny=(("emotions",), 2))
FEW = sized(None, tiny=60)  # training rows

# Predictions

KNOWN = (0.1, 0.3, 1.0)
MOST = sized(800, tiny=60)  # training rows of Corel5k, drawn for each seed; and test rows of each set
COMPONENTS = 64  # at most, as in projects of the app
LEARNERS = {
    "BML-CS, 10 iterations": lambda K, seed: BMLCSClassifier(K, random_state=seed),
    "BML-CS, 1 iteration": lambda K, seed: BMLCSClassifier(K, max_iter=1, random_state=seed),
    "ML-CS": lambda K, seed: MLCSClassifier(K, random_state=seed),
    "one-vs-all, known cells": lambda K, seed: OneVsAllSVC(),
    "one-vs-all, holes as no": lambda K, seed: OneVsAllSVC(missing="zero"),
}


def measured(model: Any, split: Split, cells: np.ndarray) -> list[float]:
    """Micro F1 at 0.5 and at the fitted threshold on the test rows; then on the hidden cells of the training rows."""
    model.fit(split.X, cells)
    fitted, found = model.threshold_, []
    for threshold in (EVEN, fitted):
        model.threshold_ = threshold  # a fit with threshold=.5 differs only in this
        found.append(f1_scores(split.Y_test, model.predict(split.X_test))[1])
    left = np.where(cells == -1, split.Y, -1)
    return [*found, f1_scores(left, model.predict(split.X))[1] if (left != -1).any() else np.nan]


def add_set(table: Table, name: str) -> None:
    """Add the lines of one set."""
    whole = label_vectors(name, MOST, FEW)
    for known in KNOWN:
        found: dict[str, list[list[float]]] = {learner: [] for learner in LEARNERS}
        for seed in range(SEEDS):
            rows = np.random.default_rng(seed).permutation(len(whole.Y))[:MOST] if name == "corel5k" else ...
            split = whole._replace(X=whole.X[rows], Y=whole.Y[rows])
            cells = hidden(split.Y, 1 - known, seed)
            K = min(max(split.Y.shape[1] // 2, min(split.Y.shape[1], 8)), COMPONENTS)
            for learner, make in LEARNERS.items():
                found[learner].append(measured(make(K, seed), split, cells))
        for learner, runs in found.items():
            (even, fitted, left), deviation = np.mean(runs, axis=0), np.std(runs, axis=0, ddof=1)
            table.add(name, f"{known:.0%}", learner, even, f"{fitted:.3f} (±{deviation[1]:.3f})", left)


@benchmark("What is predicted of label vectors with holes")
def sensing_predict() -> str:
    table = Table("set | cells known | learner | test rows, at .5 | test rows, fitted | hidden cells, fitted")
    seconds = sum(clocked(lambda name=name: add_set(table, name))[1] for name in SETS)  # type: ignore[misc]
    return page(
        f"""Micro F1, mean of {SEEDS} seeds (of the holes, of Phi, of the rows of Corel5k), in brackets the deviation
between seeds. Cells are hidden uniformly. Rows of length 1, dense sets z-scored before; at most {MOST} test rows, and
{MOST} training rows of Corel5k. K: half of the labels, at least 8 (or all), at most {COMPONENTS}, as in projects;
one-vs-all: C = 1. "At .5" is the decision of the papers, and for SVMs the side of the margin. "Fitted" is
`threshold="auto"`: the cut with the highest F1 on the known training cells, by scores their row had no part in; "hidden
cells" the same cut on cells of the training rows that were hidden. {seconds:.0f} CPU s in all.""",
        table,
    )


# The model that Automatic takes

CHOICE_KNOWN, CHOICE_ROWS = sized(((0.1, 0.3), 600), tiny=((0.3,), 90))  # training rows, drawn; and test rows
FIXED = ("bmlcs", "onevsall")


def add_choice(table: Table, name: str, known: float) -> None:
    """Add one line."""
    split = label_vectors(name, CHOICE_ROWS)
    rows = np.random.default_rng(0).permutation(len(split.Y))[:CHOICE_ROWS]
    Y = split.Y[rows]
    stack = sparse.vstack if sparse.issparse(split.X) else np.vstack
    X = stack([split.X[rows], split.X_test])
    cells = np.vstack([hidden(Y, 1 - known, 0), np.full(split.Y_test.shape, -1, dtype=np.int8)])
    found, halves, seconds = {}, {}, {}
    for chosen in (*FIXED, "automatic"):
        settings = LabelVectorSettings(model=chosen)
        model, seconds[chosen] = clocked(lambda how=settings: LabelVectorModel(X, cells, how))  # type: ignore[misc]
        shares = model.proba()[len(Y) :]
        found[chosen], halves[chosen] = (
            f1_scores(split.Y_test, (shares > cut).astype(int))[1] for cut in (model.threshold, 0.5)
        )
    told = model.comparison
    assert told is not None
    taken = "one-vs-all" if model.predictor == "onevsall" else "BML-CS"
    ahead, pairs = (f"{told.lead:+.3f} (±{told.error:.3f})", (f"{halves[one]:.3f} / {found[one]:.3f}" for one in FIXED))
    spent = f"{seconds['bmlcs']:.1f} / {seconds['automatic']:.1f}"
    table.add(name, f"{known:.0%}", told.bmlcs, told.onevsall, ahead, taken, *pairs, found["automatic"], spent)


@benchmark("Automatic: what predicts in projects of label vectors")
def sensing_choice() -> str:
    table = Table(
        "set | known | hidden: BML-CS | one-vs-all | ahead by | taken | test: BML-CS | one-vs-all | Automatic | CPU s"
    )
    for name in SETS:
        for known in CHOICE_KNOWN:
            add_choice(table, name, known)
    return page(
        f"""Micro F1. At most {CHOICE_ROWS} training rows, of whose cells a share is known, and as many test rows of
which nothing is; both are rows of one table, as in a project, with the app's settings (one iteration, K at most 64).
"Hidden cells": of the known ones, those that the models of three trials were not shown; the difference with its
standard error, paired by row, decides. Test rows: calibrated probabilities cut at one half / at the fitted threshold.
CPU seconds of a fit: with BML-CS alone / Automatic.""",
        table,
    )


# Speed

# K, and t2, tau2 as found by the search, so that training needs no search; targets: seconds, and relative to
# LinearSVC.
SPEED_SETS = sized(
    {"corel5k": (187, 0.0158, 0.00151, 0.1, 0.1), "rcv1_subset1": (50, 0.007, 0.025, 0.8, 0.8)},
    tiny={"rcv1_subset1": (10, 0.007, 0.025, 0.8, 0.8)},
)


def add_training(table: Table, name: str) -> None:
    K, noise, prior, most, ratio = SPEED_SETS[name]
    split = label_vectors(name, 300, FEW)
    model = BMLCSClassifier(K, noise=noise, prior_variance=prior, threshold=0.5)
    ours = cpu(lambda: model.fit(split.X, split.Y))
    search = BMLCSClassifier(K, threshold=0.5)
    searched = cpu(lambda: search.fit(split.X, split.Y), 1)
    usual = cpu(lambda: BMLCSClassifier(random_state=0).fit(split.X, split.Y), 2)
    present = np.flatnonzero(split.Y.any(axis=0) & ~split.Y.all(axis=0))

    def svm() -> None:
        for label in present:
            LinearSVC(C=1.0).fit(split.X, split.Y[:, label])

    theirs = cpu(svm, 2)
    found = precision_at(split.Y_test, model.set_params(mode="fast").decision_function(split.X_test), 1)
    size = f"{name}, {split.X.shape[0]} x {split.X.shape[1]}, {split.Y.shape[1]} labels, K = {K}"
    table.add(size, ours, f"{most}", searched, usual, theirs, ours / theirs, f"{ratio}", found)


def add_expectation(table: Table) -> None:
    """Measure one E-step over 5,000 rows, all with different precisions."""
    rng = np.random.default_rng(0)
    K, L, n = sized((187, 374, 5000), tiny=(10, 20, 50))
    projection = Projection(rng.normal(size=(K, L)) / np.sqrt(K))
    gamma, residual = rng.gamma(1.0, size=(n, L)), rng.normal(size=(n, K))
    taken = cpu(lambda: projection.posterior(gamma, residual, 0.01), 2)
    speed = f"{n * (2 * K * K * L + K**3) / taken / 1e9:.0f} GFLOP/s of 2K²L + K³ a row"
    table.add(f"E-step, {n} rows, {L} labels, K = {K}, float64", taken, 6, speed)


def add_recovery(table: Table, name: str) -> None:
    K, noise, prior, *_ = SPEED_SETS[name]
    split = label_vectors(name, 300, FEW)
    model = BMLCSClassifier(K, noise=noise, prior_variance=prior, threshold=0.5).fit(split.X, split.Y)
    for mode, iterations in (("paper", 10), ("paper", 1), ("fast", 1)):
        model.set_params(mode=mode, max_iter=iterations)
        taken = cpu(lambda: model.decision_function(split.X_test), 2)
        found = precision_at(split.Y_test, model.decision_function(split.X_test), 1)
        target = "0.15" if (name, mode) == ("corel5k", "fast") else ""
        words = mode + (f", {iterations} iterations" if mode == "paper" else "")
        table.add(f"recovery of 300 rows, {name}, {words}", taken, target, f"p@1 {found:.3f}")


def add_answers(table: Table) -> None:
    """Measure 400 rows of RCV1, half of the cells missing, K = 50: one answer at a time, against the full
    refit."""
    split = label_vectors("rcv1_subset1", 300, FEW)
    X, Y = split.X[:400], split.Y[:400]
    cells = hidden(Y, 0.5, 0)
    model = BMLCSClassifier(50, noise=0.007, prior_variance=0.025, threshold=0.5)
    learner = SensingLearner(model).fit(X, cells)
    open_ = np.random.default_rng(1).permutation(np.argwhere(cells == -1))[:100]
    learner.scores("pair")
    times = [cpu(lambda i=i, j=j: learner.answer(int(i), int(j), int(Y[i, j])), 1) for i, j in open_]  # type: ignore[misc]
    both = f"{np.median(times):.4f}, {max(times):.4f}"
    table.add("one answer, 400 rows, 101 labels, K = 50: median, largest of 100", both, "0.005")
    asking = f"{cpu(lambda: learner.next('pair', 1)):.4f}"
    table.add(f"the next (row, label) by information, {learner.cells_.size} cells", asking)
    table.add("refresh, 10 iterations", cpu(learner.refresh))


@benchmark("Speed of BML-CS")
def sensing_speed() -> str:
    BMLCSClassifier(mode="fast").fit(np.eye(2), np.eye(2, dtype=bool)).predict(np.eye(2))  # compiled
    costs = "CPU s, noise given | target | with noise search | as it comes | one-vs-all LinearSVC"
    table, steps = (Table(f"training | {costs} | ratio | target | p@1, fast"), Table("step | CPU s | target | "))
    for name in SPEED_SETS:
        add_training(table, name)
    add_expectation(steps)
    for name in SPEED_SETS:
        add_recovery(steps, name)
    add_answers(steps)
    return page(
        """CPU seconds of one thread, the least of two or three. As it comes: all settings left as
they are, so that noise and threshold are found too. LinearSVC: C = 1, one fit for each label with both answers.""",
        table,
        steps,
    )
