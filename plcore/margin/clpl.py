"""CLPL: convex learning from partial labels; the mean score of the candidates, and every other score below 0."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import _fit_context

from plcore.arrays.threads import one_thread
from plcore.arrays.types import FloatArray, LabelsLike, MatrixLike, RoundProgress
from plcore.margin.base import COMMON_CONSTRAINTS, MarginClassifier
from plcore.margin.majorise import Metric, Solution, descend_from
from plcore.margin.problem import HingeProblem


@dataclass(eq=False, repr=False)
class CLPLClassifier(MarginClassifier):
    """Convex loss for partial labels (Cour, Sapp and Taskar, JMLR 2011), linear.

        F(W) = 1/2 |W|^2 + C * (sum s_i loss_i / sum s_i)
        loss_i = psi(mean over Y_i of s) + sum outside of Y_i of psi(-s),   psi(u) = max(0, 1 - u)^2

    F is convex and smooth: L-BFGS finds its one minimum in at most `max_iter` steps; `tol` bounds |gradient|^2 / 2,
    which bounds F minus its minimum, relative to F. Other parameters and attributes: see `MarginClassifier`.
    """

    _parameter_constraints: ClassVar[dict[str, list[object]]] = COMMON_CONSTRAINTS
    _turns = False

    C: float = 10.0
    fit_intercept: bool = True
    max_iter: int = 500
    tol: float = 1e-3
    warm_start: bool = False
    probability: bool = False

    @_fit_context(prefer_skip_nested_validation=True)  # type: ignore[untyped-decorator]
    def fit(
        self,
        X: MatrixLike,
        y: LabelsLike,
        sample_weight: ArrayLike | None = None,
        *,
        progress: RoundProgress | None = None,
    ) -> CLPLClassifier:
        """Fit on X (n, d), dense or CSR, and y: label vector (n,) or candidate matrix (n, m); see `PLSVC.fit`."""
        training = self._prepare(X, y, sample_weight)
        temperature = self._find_temperature(training, progress)
        problem = training.problem(self.C / training.weights.sum(), all_others=False)
        with one_thread():
            start = training.ridge() if training.start is None else training.start
            solution = minimise(problem, start, self.tol, self.max_iter, progress)
        self._finish(training, solution, temperature)
        return self


def convex_objective(problem: HingeProblem, W: FloatArray) -> tuple[float, FloatArray]:
    """F of CLPL and its gradient (m, d)."""
    WT = np.ascontiguousarray(W.T)
    value, gradient = 0.5 * float(np.vdot(W, W)), W.copy()
    for rows, X in problem.blocks():
        scores = np.asarray(X @ WT)
        inside = problem.candidates[rows]
        share = inside / inside.sum(axis=1, keepdims=True)
        costs = problem.costs[rows]
        short = np.maximum(0.0, 1.0 - (share * scores).sum(axis=1))
        over = np.where(inside, 0.0, np.maximum(0.0, 1.0 + scores))
        value += float(costs @ (short**2 + (over**2).sum(axis=1)))
        slope = 2.0 * costs[:, None] * (over - short[:, None] * share)
        gradient += (X.T @ slope).T
    return value, gradient


def minimise(
    problem: HingeProblem, W: FloatArray, tol: float, max_iter: int, progress: RoundProgress | None = None
) -> Solution:
    """L-BFGS from W until |gradient|^2 / 2 <= tol * F: F is strongly convex with modulus 1."""
    metric = Metric(problem, 0.1)
    objective = [convex_objective(problem, W)[0]]
    enough = [False]

    def evaluate(V: FloatArray) -> tuple[float, FloatArray]:
        value, gradient = convex_objective(problem, metric.outward(V))
        enough[0] = 0.5 * float(np.vdot(gradient, gradient)) <= tol * problem.floor(value)
        return value, metric.gradient(gradient)

    def look(value: float) -> bool:
        objective.append(value)
        if progress is not None:
            progress(len(objective) - 1, value)
        return enough[0]

    found = descend_from(evaluate, metric.inward(W), max_iter, 0.0, look)
    best = metric.outward(found.point)
    return Solution(best, objective, max(1, found.steps), found.settled)
