"""CPU time of the margin learners at 1,000 classes, one thread; F beside the times: what is quicker must reach it
too."""

from __future__ import annotations

import numpy as np

from benchmarks.data import z_scored
from benchmarks.harness import Table, clocked, page, sized
from plcore import PLSVC, CLPLClassifier, LMPlaneClassifier, M3PLClassifier
from plcore.evaluation import contaminate

TITLE = "Margin learners at 1,000 classes"
PACKAGES = ("numpy", "scipy", "scikit-learn", "numba")
ROWS, FEATURES, CLASSES, CANDIDATES = sized((2_000, 64, 1_000, 4), tiny=(80, 8, 20, 4))
LEARNERS = {
    "PLSVC": PLSVC(),
    "LM-PLANE, as it comes (mm from 101 classes on)": LMPlaneClassifier(),
    "LM-PLANE, cp": LMPlaneClassifier(solver="cp"),
    "CLPL": CLPLClassifier(),
    "M3PL": M3PLClassifier(),
}
# CPU seconds and F at revision dba77df, by this file, on the machine of the committed table and at about the same time.
BEFORE = {
    "PLSVC": ("6.4", "8.6375"),
    "LM-PLANE, as it comes (mm from 101 classes on)": ("3.8", "8.7677"),
    "LM-PLANE, cp": ("8.8", "8.7610"),
    "CLPL": ("0.3", "513.7344"),
    "M3PL": ("more than 25, stopped", ""),
}


def measure() -> str:
    table = Table(
        "learner | CPU s before | CPU s | F before | F | rounds | converged | training labels right"
    )
    rng = np.random.default_rng(0)
    y = rng.permutation(np.arange(ROWS) % CLASSES)  # every class occurs
    X = z_scored(rng.normal(size=(CLASSES, FEATURES))[y] + 0.375 * rng.normal(size=(ROWS, FEATURES)))
    candidates = contaminate(y, "size", r=CANDIDATES - 1, random_state=0)
    for name, model in LEARNERS.items():
        model.fit(X[:50], candidates[:50])  # the loops are compiled
        _, seconds = clocked(lambda model=model: model.fit(X, candidates))  # type: ignore[misc]
        was, objective = BEFORE.get(name, ("", ""))
        right = f"{(model.transduction_ == y).mean():.3f}"
        figures = (
            f"{seconds:.1f}",
            objective,
            f"{model.objective_.min():.4f}",
            model.n_iter_,
            model.converged_,
        )
        table.add(name, was, *figures, right)
    return page(
        f"""{ROWS:,} rows x {FEATURES} features (z-scored), {CLASSES:,} Gaussian classes, each in two rows, {CANDIDATES}
candidates in every row, CPU seconds of one thread with the learners' defaults. Before: revision dba77df, the same data
and machine. Target for PL-SVM and LM-PLANE as they come: 2 s. Every plane of "cp" takes a product of all rows with all
classes, and one with all planes before it, of which four in five go on having weight; M3PL solves 30 SVMs by some 370
evaluations.""",
        table,
    )
