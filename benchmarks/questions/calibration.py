"""Do probabilities mean something? Confidence of the kernel ridge against how often it is right, on held-out rows."""

from __future__ import annotations

import numpy as np
from sklearn.calibration import calibration_curve
from sklearn.model_selection import KFold

from benchmarks.data import partial_set
from benchmarks.harness import Table, page, sized
from plcore import PLKernelRidge
from plcore.arrays import FloatArray
from plcore.kernels import softmax_rows

TITLE = "What probabilities mean"
PACKAGES = ("numpy", "scipy", "scikit-learn")
FOLDS = sized({"lost": 10, "msrcv2": 10, "birdsong": 4}, tiny={"lost": 2})
BINS = 15
SEED = 7


def expected_error(confidence: FloatArray, right: FloatArray) -> float:
    """ECE: how far confidence and the share that is right are apart, in 15 bins of equal width, by their rows."""
    shares, means = calibration_curve(right, confidence, n_bins=BINS)
    rows = np.bincount(np.minimum((confidence * BINS).astype(int), BINS - 1), minlength=BINS)
    return float(np.abs(shares - means) @ rows[rows > 0] / len(right))


def measure() -> str:
    table = Table(
        "set | right | mean confidence: of the rounds | fitted | ECE: of the rounds | fitted | temperatures fitted"
    )
    for name, count in FOLDS.items():
        X, sets, y = partial_set(name)
        confidence, right, temperatures = [], [], []
        for own, new in KFold(count, shuffle=True, random_state=SEED).split(X):
            model = PLKernelRidge().fit(X[own], sets[own])
            scores = model.decision_function(X[new])
            sharp = softmax_rows(scores / model.temperature, np.isfinite(scores))
            confidence.append([sharp.max(axis=1), model.predict_proba(X[new]).max(axis=1)])
            right.append(model.predict(X[new]) == y[new])
            temperatures.append(model.probability_temperature_)
        sure, hits = np.hstack(confidence), np.concatenate(right).astype(float)
        errors = (expected_error(one, hits) for one in sure)
        figures = f"{hits.mean():.3f}", *(f"{one:.3f}" for one in (*sure.mean(axis=1), *errors))
        table.add(name, *figures, f"{min(temperatures):.2f} to {max(temperatures):.2f}")
    return page(
        f"""Held-out rows of {" / ".join(str(one) for one in FOLDS.values())} folds. `PLKernelRidge` as it comes: its
softmax at the temperature of the rounds, .05, and `predict_proba`, whose temperature makes the candidate sets of the
training rows most probable by leave-one-out scores. ECE in {BINS} bins. Asked for: at most .05, .15 and .10.""",
        table,
    )
