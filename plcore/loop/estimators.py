"""The models a project can learn with, by name, and how each is kept up to date."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils.extmath import row_norms

from plcore.margin import PLSVC, CLPLClassifier, LMPlaneClassifier, M3PLClassifier
from plcore.online import PLPegasos, PLPerceptron

TRAINED = {
    "plsvc": PLSVC,
    "lmplane": LMPlaneClassifier,
    "m3pl": M3PLClassifier,
    "clpl": CLPLClassifier,
}
"""Trained as a whole, in the background: every answer would take too long."""

LIVE: dict[str, dict[str, Any]] = {
    "plsvc": {"tol": 1e-2},
    "lmplane": {"solver": "mm", "tol": 1e-2},
    "m3pl": {"tol": 5e-2},
    "clpl": {},
}
"""How they are fitted between two answers: nearly the same objective as by default, in about half of the time."""

ONLINE = {
    "perceptron-average": (PLPerceptron, "average"),
    "perceptron-max": (PLPerceptron, "max"),
    "pegasos-average": (PLPegasos, "average"),
    "pegasos-max": (PLPegasos, "max"),
}
"""Take one answer at a time, at once."""

MODELS = ("plknn", *TRAINED, *ONLINE)
"""Every model by name; "plknn" follows each answer at once, too."""


def make_estimator(model: str, C: float | None) -> Any:
    """An unfitted estimator of `TRAINED`, set as `LIVE` says; C: its default where None (of "m3pl" it is C_max)."""
    given = {} if C is None else {"C_max" if model == "m3pl" else "C": float(C)}
    return TRAINED[model](**LIVE[model], **given)


def make_online(model: str, C: float | None, X: Any, seed: int) -> Any:
    """An unfitted estimator of `ONLINE` for rows like X (n, d); it predicts with the mean of its iterates.

    C : of Pegasos, alpha = 1 / C; None: alpha = mean |x|^2 / 1000. Perceptrons step by eta0 = 1 / mean |x|^2.
    Both are what `docs/online-learners.md` measured as good.
    """
    estimator, loss = ONLINE[model]
    length = float(np.mean(row_norms(X, squared=True))) if X.shape[0] else 0.0
    length = length or 1.0  # nothing to learn from
    if estimator is PLPerceptron:
        return PLPerceptron(loss=loss, eta0=1.0 / length, average=True, random_state=seed)
    alpha = 1.0 / float(C) if C else length / 1000
    return PLPegasos(loss=loss, alpha=alpha, average=True, random_state=seed)
