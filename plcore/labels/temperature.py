"""Temperature scaling: probabilities softmax(s / T), T fitted by the likelihood of candidate sets.

    T = argmax of  sum_i s_i (t log q_i + (1 - t) log(1 - q_i)),    q_i = sum over k in Y_i of softmax(scores_i / T)_k

of rows that the learner has not seen: the scores of training rows are too large, and would make every prediction sure.
t is 1, the plain likelihood, or (N + 1) / (N + 2), N the weight of the rows, as in Platt (1999): where all sets are hit
T does not go to 0. One number cannot change which class is the likeliest. It is calibrated on the sets: of predictions
with a share of 0.7, about 70% are inside their sets. If distractors follow the label closely, the shares of single
classes may be wrong, and only labels could show it. Temperature scaling: Guo et al., ICML 2017.
"""

from __future__ import annotations

import numpy as np
from scipy.optimize import minimize_scalar

from plcore.arrays.types import BoolArray, FloatArray

RANGE = np.log(1e3)  # T is sought from a thousandth of the scores' spread to a thousand times it


def fit_temperature(
    scores: FloatArray, candidates: BoolArray, weights: FloatArray | None = None, *, smoothed: bool = False
) -> float:
    """Fit T on held-out rows with scores (n, m), -inf for impossible classes, candidates (n, m) and weights
    (n,).

    weights : None for even ones      smoothed : Platt's t in place of 1
    A row whose set holds all possible classes, or none, is not informative. Returns 1 if no row is
    informative.
    """
    inside, outside = np.where(candidates, scores, -np.inf), np.where(candidates, -np.inf, scores)
    telling = (inside.max(axis=1) > -np.inf) & (outside.max(axis=1) > -np.inf)
    inside, outside, finite = inside[telling], outside[telling], np.isfinite(scores[telling])
    spread = float(np.std(scores[telling][finite])) if telling.any() else 0.0
    if spread == 0.0:
        return 1.0
    shares = np.ones(len(inside)) if weights is None else weights[telling]
    target = (shares.sum() + 1.0) / (shares.sum() + 2.0) if smoothed else 1.0
    best_inside, best_outside = inside.max(axis=1), outside.max(axis=1)
    own = candidates[telling]
    below = np.where(own, inside - best_inside[:, None], outside - best_outside[:, None])
    halves = own.astype(float), (~own).astype(float)

    def loss(log_temperature: float) -> float:
        scale = spread * np.exp(log_temperature)
        parts = np.exp(below / scale)
        within, beyond = (
            best / scale + np.log(np.einsum("ik,ik->i", parts, half))
            for best, half in zip((best_inside, best_outside), halves, strict=True)
        )
        return float(shares @ (np.logaddexp(within, beyond) - target * within - (1.0 - target) * beyond))

    steps = np.linspace(-RANGE, RANGE, 29)  # not convex in T: near the best of these
    near = int(np.argmin([loss(step) for step in steps]))
    bounds = steps[max(near - 1, 0)], steps[min(near + 1, len(steps) - 1)]
    return spread * float(np.exp(minimize_scalar(loss, bounds=bounds, method="bounded").x))


def log_shares(shares: FloatArray, candidates: BoolArray, doubt: float) -> FloatArray:
    """(n, m) scores of a model that says shares (n, m) of candidates (n, m), -inf outside these.

    doubt : in (0, 1), of every row, shared out evenly: where a share of 0 is wrong no temperature makes up for it
    """
    even = doubt / np.maximum(candidates.sum(axis=1, keepdims=True), 1)
    return np.where(candidates, np.log(np.where(candidates, (1.0 - doubt) * shares + even, 1.0)), -np.inf)


def tempered(shares: FloatArray, candidates: BoolArray, doubt: float, temperature: float) -> FloatArray:
    """(n, m) the shares as softmax(log_shares / T) inside the candidates: T that `fit_temperature` found of such."""
    scores = log_shares(shares, candidates, doubt) / temperature
    parts = np.exp(scores - scores.max(axis=1, keepdims=True))
    return np.asarray(parts / parts.sum(axis=1, keepdims=True))
