"""PL-SVM: the best candidate must beat every class outside of the candidates by a margin of 1."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import _fit_context
from sklearn.utils._param_validation import StrOptions

from plcore.arrays.threads import one_thread
from plcore.arrays.types import FloatArray, LabelsLike, MatrixLike, RoundProgress
from plcore.margin.base import COMMON_CONSTRAINTS, KERNEL_CONSTRAINTS, MarginClassifier
from plcore.margin.majorise import Solution, majorise
from plcore.margin.problem import HingeProblem

# PL-Pegasos as printed: batch subgradient steps and a projection (Nguyen and Caruana, KDD 2008, Algorithm 1).


def pegasos(problem: HingeProblem, W: FloatArray, max_iter: int, progress: RoundProgress | None = None) -> Solution:
    """`max_iter` steps from W (m, d) on 1/C times F, lambda = 1/C.

    W <- (1 - 1/t) W + 1/(lambda t) * (mean subgradient of the losses), then into the ball of radius
    1/sqrt(lambda). The last iterate is returned. objective : F before each step, then F of the returned iterate.
    There is no stopping test: the error falls like 1/(lambda T), and `converged` says that T steps were made.
    """
    C = problem.total
    radius = float(np.sqrt(C))
    objective = []
    for t in range(1, max_iter + 1):
        value, gradient, _ = problem.hard(W)
        objective.append(value)
        if progress is not None:
            progress(t, value)
        # The losses carry c_i, which sum to C: gradient = C * mean subgradient, and eta_t = C / t.
        W = (1 - 1 / t) * W - gradient / t
        length = float(np.linalg.norm(W))
        if length > radius:
            W = W * (radius / length)
    objective.append(problem.objective(W))
    return Solution(W, objective, max_iter, True)


@dataclass(eq=False, repr=False)
class PLSVC(MarginClassifier):
    """Partial-label SVM (Nguyen and Caruana, KDD 2008), linear or with a kernel.

        F(W) = 1/2 |W|^2 + C * (sum s_i loss_i / sum s_i)
        loss_i = [1 - max over Y_i of s + max outside of Y_i of s]_+

    The paper's lambda is 1/C. F is not convex. Rows that list all classes have no loss.

    Parameters
    ----------
    C, kernel, degree, gamma, coef0, fit_intercept, warm_start, probability : see `MarginClassifier`.
    solver : "mm", from a ridge regression through smoothed losses to majorise-minimise steps; "pegasos", the
        paper's batch subgradient method from W = 0, `max_iter` steps exactly, useless where C > `max_iter`. It has no
        stopping test: `converged_` says that the steps were made.
    max_iter : most relabelling rounds of "mm"; steps of "pegasos".
    tol : "mm" solves each convex problem to this relative duality gap, and stops when F gains less.

    Attributes: see `MarginClassifier`; with "mm" `objective_` never rises.
    """

    _parameter_constraints: ClassVar[dict[str, list[object]]] = {
        **COMMON_CONSTRAINTS,
        **KERNEL_CONSTRAINTS,
        "solver": [StrOptions({"mm", "pegasos"})],
    }

    C: float = 10.0
    kernel: str = "linear"
    degree: int = 3
    gamma: float | None = None
    coef0: float = 0.0
    solver: str = "mm"
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
    ) -> PLSVC:
        """Fit on X (n, d), dense or CSR, and y: label vector (n,) or candidate matrix (n, m).

        sample_weight : (n,) s_i >= 0; progress : called with (iteration, F); what it raises ends the fit.
        Raises CandidateError for candidates that break the convention, ValueError for wrong features, weights
        or parameters, or where a kernel matrix would be too large.
        """
        training = self._prepare(X, y, sample_weight)
        temperature = self._find_temperature(training, progress)
        problem = training.problem(self.C / training.weights.sum(), all_others=False, tol=self.tol)
        with one_thread():
            if self.solver == "pegasos":
                start = np.zeros(problem.shape) if training.start is None else training.start
                solution = pegasos(problem, start, self.max_iter, progress)
            else:
                start = training.ridge() if training.start is None else training.start
                warm = training.start is not None
                solution = majorise(problem, start, self.tol, self.max_iter, progress, warm)
        self._finish(training, solution, temperature)
        return self
