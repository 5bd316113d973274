"""M3PL: the maximum-margin learner whose labels must keep the class capacities."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, replace
from numbers import Real
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import _fit_context
from sklearn.utils._param_validation import Interval

from plcore.arrays.threads import one_thread
from plcore.arrays.types import BoolArray, FloatArray, IntArray, LabelsLike, MatrixLike, RoundProgress, is_sparse
from plcore.kernels.transport import place_rows
from plcore.margin.base import COMMON_CONSTRAINTS, KERNEL_CONSTRAINTS, MarginClassifier, PreparedFit
from plcore.margin.majorise import ConvexStep, Solution

# The class capacities of M3PL, and the labels that keep them exactly at the least cost.


def class_capacities(candidates: BoolArray) -> IntArray:
    """n_p (m,), which sum to n: the expected class counts when each row draws one of its candidates evenly.

    The floors of sum_i [p in S_i] / |S_i|; the units left go to the largest fractional parts, ties to the first
    class (Yu and Zhang, ACML 2015, section 3).
    """
    expected = (candidates / candidates.sum(axis=1, keepdims=True)).sum(axis=0)
    # Sums such as 1/3 + 1/3 + 1/3 must not fall below the integer they stand for.
    floors: IntArray = np.floor(expected + 1e-9).astype(np.int64)
    left = len(candidates) - int(floors.sum())
    order = np.argsort(-np.round(expected - floors, 9), kind="stable")
    floors[order[:left]] += 1
    return floors


class Assignment:
    """The transportation problem of rows and their candidates, warm from one set of costs to the next."""

    def __init__(self, candidates: BoolArray, capacities: IntArray) -> None:
        """candidates : (n, m); if they are all of a row, no label is outside      capacities : (m,), sum to n"""
        n, m = candidates.shape
        self.members: IntArray = np.nonzero(candidates)[1].astype(np.int64)
        self._starts: IntArray = np.append(0, np.cumsum(candidates.sum(axis=1))).astype(np.int64)
        self._capacities = np.ascontiguousarray(capacities, dtype=np.int64)
        self._whole = len(self.members) == n * m
        self._prices = np.zeros(m + 1)
        self._at: IntArray = np.full(n, -1, dtype=np.int64)

    def solve(self, costs: FloatArray) -> IntArray:
        """(n,) labels with exactly capacities[p] rows of class p and the least sum of costs.

        costs : of each row with each of its candidates, concatenated over the rows. If the capacities
        cannot be kept inside the candidates, as few rows as possible get another label. The optimum of the
        transportation problem (Eq. 6 of the paper), whose linear program is integral.
        """
        # Costs more than all rows inside their sets together.
        outside = np.inf if self._whole else (1.0 + float(np.abs(costs).max(initial=0.0))) * (len(self._at) + 1.0)
        labels: IntArray = np.empty(len(self._at), dtype=np.int64)
        place_rows(
            self._starts,
            self.members,
            np.ascontiguousarray(costs),
            outside,
            self._capacities,
            self._prices,
            self._at,
            labels,
        )
        return labels


FIRST_SHARE, FACTOR = 1e-5, 1.5  # C goes from 1e-5 C_max to C_max by this factor
PASSING = 1e-2  # relative duality gap of the SVMs at C below C_max
FALL = 1e-4  # the alternation at one C ends when the objective falls by less
SECONDS = 1e-7  # lower bound of a fit's cost per n m d: measured by `benchmarks many_classes`
LONG = 600.0  # seconds from which a warning announces them


@dataclass(eq=False, repr=False)
class M3PLClassifier(MarginClassifier):
    """Maximum-margin partial-label learning (Yu and Zhang, ACML 2015), linear or with a kernel.

        min over W, y of 1/2 |W|^2 + C * sum_i w_i [1 - s_{y_i} + max over j != y_i of s]_+,
        y_i a candidate of row i, w_i its weight, and class p given to exactly n_p rows (`class_capacities`)

    In turns: a Crammer-Singer SVM for the labels at hand, then the labels of the transportation problem, solved
    exactly; C rises from 1e-5 `C_max` by factors of 1.5, every stage starting from the one before. If the rounded
    capacities cannot be met inside the candidates, as few rows as possible get another label.

    `sample_weight` multiplies the losses, in the SVMs and in the choice of the labels: 2 everywhere is C doubled. The
    capacities continue counting rows, each once if its weight is above 0: in units of weight a row would have to be
    split between labels. So a row of weight 2 is the row twice where its label is given (one candidate), and nearly so
    elsewhere, where two copies may differ in their labels.

    It takes 29 values of C, and so 30 to 90 SVMs, each of 3 to some 100 passes of 4 n m d operations over n rows of d
    features (of a kernel: at most n) and m classes: 1e-7 n m d seconds or more, about as much as 10 fits of `PLSVC`.
    Beyond ten minutes `fit` warns before it begins. `progress` is called for each SVM.

    Parameters
    ----------
    C_max : last C, of the *sum* of the losses (not divided by n).
    kernel, degree, gamma, coef0, fit_intercept : see `MarginClassifier`.
    max_iter : most turns at one C.      tol : relative duality gap of the SVMs at C_max.
    warm_start : start from the solution of the fit before and do only the last stage, C = C_max.

    Attributes: see `MarginClassifier`, and
    capacities_ (m,) : n_p
    assignment_ (n,) : the labels y of the last turn, which keep the capacities; `transduction_` holds the best
        candidates, which need not, and is what rows of weight 0 have here.
    objective_ : the objective after each turn at C = C_max.      n_iter_ : SVMs solved.
    """

    _parameter_constraints: ClassVar[dict[str, list[object]]] = {
        **{name: rule for name, rule in COMMON_CONSTRAINTS.items() if name != "C"},
        **KERNEL_CONSTRAINTS,
        "C_max": [Interval(Real, 0, None, closed="neither")],
    }

    C_max: float = 0.1
    kernel: str = "linear"
    degree: int = 3
    gamma: float | None = None
    coef0: float = 0.0
    fit_intercept: bool = True
    max_iter: int = 20
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
    ) -> M3PLClassifier:
        """Fit on X (n, d), dense or CSR, and y: label vector (n,) or candidate matrix (n, m).

        sample_weight : (n,) w_i >= 0; rows of weight 0 are as absent
        progress : called with (SVMs solved, objective at the C of the moment); what it raises ends the fit.
        Warns (UserWarning) of a fit that will take more than ten minutes. Raises as `PLSVC.fit`.
        """
        training = self._prepare(X, y, sample_weight)
        _warn_of_long(training)
        temperature = self._find_temperature(training, progress)
        present = training.weights > 0
        counted = replace(
            training, Z=training.Z[present], candidates=training.candidates[present], weights=training.weights[present]
        )
        capacities = class_capacities(counted.candidates)
        with one_thread():
            solution, labels = self._alternate(counted, capacities, progress)
        self._finish(training, solution, temperature)
        self.capacities_ = capacities
        self.assignment_ = self.transduction_.copy()
        self.assignment_[present] = self.classes_[labels]
        return self

    def _alternate(
        self, training: PreparedFit, capacities: IntArray, progress: RoundProgress | None
    ) -> tuple[Solution, IntArray]:
        problem = training.problem(self.C_max, all_others=True)
        assignment = Assignment(training.candidates, capacities)
        shares = np.repeat(training.weights, problem.sizes)
        if training.start is None:
            W = np.zeros(problem.shape)
            labels = assignment.solve(shares * np.repeat(1.0 / problem.sizes, problem.sizes))
            stages = self.C_max * stage_shares()  # the last is C_max itself
        else:
            W = training.start
            labels = assignment.solve(shares * problem.candidate_losses(W))
            stages = np.array([self.C_max])
        step = ConvexStep(problem, labels)
        solved, converged = 0, True
        objective: list[float] = []
        for C in stages:
            problem.rescale(float(C))
            tol = self.tol if self.C_max <= C else max(self.tol, PASSING)
            objective, converged = [], False
            for _ in range(self.max_iter):
                # 1) The SVM of these labels.
                W = step.solve(W, tol)
                solved += 1
                # 2) The labels of this SVM.
                labels = assignment.solve(shares * problem.candidate_losses(W))
                objective.append(problem.hard(W, labels)[0])
                if progress is not None:
                    progress(solved, objective[-1])
                moved = step.relabel(labels)
                fell = objective[-2] - objective[-1] if len(objective) > 1 else np.inf
                if moved == 0 or fell < FALL * objective[-1]:
                    converged = step.gap <= tol * problem.floor(objective[-1])
                    break
        return Solution(W, objective, solved, converged), labels


def _warn_of_long(training: PreparedFit) -> None:
    """Warn (UserWarning) the caller of `fit` where it will take long."""
    (n, d), m = training.Z.shape, training.candidates.shape[1]
    cells = training.Z.nnz if is_sparse(training.Z) else n * d
    seconds = SECONDS * cells * m
    if seconds > LONG:
        warnings.warn(
            f"M3PL solves 30 to 90 SVMs, here of {n:,} rows, {d:,} features and {m:,} classes: that takes about "
            f"{seconds / 60:,.0f} minutes or more. Fix: take LMPlaneClassifier(solver='mm') or PLSVC, or fewer rows.",
            UserWarning,
            stacklevel=4,
        )


def stage_shares() -> FloatArray:
    """The stages of C as shares of C_max: 1e-5, 1.5e-5, ..., 1."""
    steps = int(np.ceil(np.log(1 / FIRST_SHARE) / np.log(FACTOR)))
    return np.asarray(np.minimum(FIRST_SHARE * FACTOR ** np.arange(steps + 1), 1.0))
