"""CPU time of the margin learners at 1,000 classes: 2,000 rows x 64 features, 4 candidates in each row, one thread.

`python -m benchmarks.many_classes 5000` shows so many rows and writes nothing. F beside the times: what is quicker must
reach the same objective.
"""

from __future__ import annotations

import sys
import time

import numpy as np
from threadpoolctl import threadpool_limits

from benchmarks import report
from benchmarks.margin_data import z_scored
from plcore import PLSVC, CLPLClassifier, LMPlaneClassifier, M3PLClassifier
from plcore.evaluation import contaminate

ROWS, FEATURES, CLASSES, CANDIDATES = 2_000, 64, 1_000, 4
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


def main() -> None:
    n = next((int(size) for size in sys.argv[1:] if size.isdigit()), ROWS)
    lines = []
    with threadpool_limits(1):
        rng = np.random.default_rng(0)
        y = rng.permutation(np.arange(n) % CLASSES)  # every class occurs
        X = z_scored(rng.normal(size=(CLASSES, FEATURES))[y] + 0.375 * rng.normal(size=(n, FEATURES)))
        candidates = contaminate(y, "size", r=CANDIDATES - 1, random_state=0)
        for name, model in LEARNERS.items():
            model.fit(X[:50], candidates[:50])  # the loops are compiled
            begun = time.process_time()
            model.fit(X, candidates)
            seconds = time.process_time() - begun
            right = float((model.transduction_ == y).mean())
            was, objective = BEFORE.get(name, ("", ""))
            lines.append(
                f"| {name} | {was} | {seconds:.1f} | {objective} | {model.objective_.min():.4f} | {model.n_iter_} | "
                f"{model.converged_} | {right:.3f} |"
            )
            print(lines[-1], flush=True)
    if n != ROWS:
        return
    report.write(
        "many_classes",
        "Margin learners at 1,000 classes",
        f"""
{ROWS:,} rows x {FEATURES} features (z-scored), {CLASSES:,} Gaussian classes, each in two rows, {CANDIDATES} candidates
in every row, CPU seconds of one thread with the learners' defaults. Before: revision dba77df, the same data and
machine. Target for PL-SVM and LM-PLANE as they come: 2 s. Every plane of "cp" takes a product of all rows with all
classes, and one with all planes before it, of which four in five go on having weight; M3PL solves 30 SVMs by some 370
evaluations.

| learner | CPU s before | CPU s | F before | F | rounds | converged | training labels right |
|---|---|---|---|---|---|---|---|
{chr(10).join(lines)}
""",
        ("numpy", "scipy", "scikit-learn", "numba"),
    )


if __name__ == "__main__":
    main()
