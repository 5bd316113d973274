"""The online learners in plain NumPy, as the paper prints them: the twins of the compiled loops."""

from __future__ import annotations

import numpy as np


def losses(scores, row, loss):
    """L_APH or L_MPH of one row (Eqs. 2 and 3), tau, and whether arg max over all classes is not a candidate."""
    tau = np.zeros(len(scores))
    if row.all():
        return 0.0, tau, False
    inside, rival = np.where(row, scores, -np.inf), np.where(row, -np.inf, scores).argmax()
    tau[row if loss == "average" else inside.argmax()] = 1 / row.sum() if loss == "average" else 1
    tau[rival] = -1
    value = scores[row].mean() if loss == "average" else inside.max()
    return max(0.0, 1 - (value - scores[rival])), tau, not row[scores.argmax()]


def learn(X, candidates, loss, eta0=1.0, alpha=None, decay_always=False, weights=None):
    """W after each round (n + 1, m, d), loss of each round, mistakes of each round; alpha None: Perceptron.

    weights : (n,) of the losses, and so of the steps
    """
    W = np.zeros((candidates.shape[1], X.shape[1]))
    path, met, mistakes = [W], [], []
    weights = np.ones(len(X)) if weights is None else weights
    for t, (x, row, weight) in enumerate(zip(X, candidates, weights, strict=True), start=1):
        scores = (W * x).sum(axis=1)  # BLAS may round W @ x differently for equal rows of W, and so decide ties
        found, tau, mistaken = losses(scores, row, loss)
        met.append(found)
        mistakes.append(mistaken)
        if alpha is None:
            W = W + weight * eta0 * np.outer(tau, x) if found > 0 else W
        elif found > 0 or decay_always:
            W = (1 - 1 / t) * W + weight * (found > 0) / (alpha * t) * np.outer(tau, x)
            W = W * min(1, 1 / np.sqrt(alpha) / max(np.linalg.norm(W), 1e-300))
        path.append(W)
    return np.array(path), np.array(met), np.array(mistakes)
