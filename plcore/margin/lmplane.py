"""LM-PLANE: the best candidate must beat every other class by a margin of 1."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import _fit_context
from sklearn.utils._param_validation import StrOptions

from plcore.arrays.threads import one_thread
from plcore.arrays.types import FloatArray, LabelsLike, MatrixLike, RoundProgress
from plcore.kernels.margin import simplex_quadratic
from plcore.margin.base import COMMON_CONSTRAINTS, KERNEL_CONSTRAINTS, MarginClassifier
from plcore.margin.majorise import Solution, majorise
from plcore.margin.problem import HingeProblem

# The cutting-plane solver of LM-PLANE (TNNLS 2020): Algorithms 1 and 2, one slack, solved in the dual.
#
#     (9)  min 1/2 |w|^2 + C gamma   s.t.  w.g_t >= v_t - gamma for every plane t
#     (10) max v'a - 1/2 a'Ha,  a >= 0,  sum a <= C;   (11) H_st = g_s.g_t;   (12) w = sum_t a_t g_t
#
# The inequality on sum a is the plane g = 0, v = 0, which is among those of (9): with an equality gamma could become
# negative in the first rounds. Planes are not bounds of F, which is not convex: F falls unsteadily, and the best
# iterate is kept.

EPSILON = 1e-4  # the paper's
QP_SHARE = 0.01  # the small problem is solved to this fraction of epsilon
QP_STEPS = 200_000


class PlaneProgram:
    """The dual (10) over the planes so far, warm from one plane to the next. a_0 is the slack up to C."""

    def __init__(self, C: float, size: int, capacity: int) -> None:
        self._C = C
        self._count = 1
        self._planes = np.zeros((capacity + 1, size))
        self._hessian = np.zeros((capacity + 1, capacity + 1))
        self._linear = np.zeros(capacity + 1)
        self._point = np.zeros(capacity + 1)
        self._point[0] = C
        self.value = 0.0
        self.gamma = 0.0

    def add(self, plane: FloatArray, violation: float, tol: float) -> FloatArray:
        """Add (g, v), solve, set `value` (10) and `gamma`, return w (size,).

        The value never falls: the ascent starts where the one before ended.
        """
        t = self._count
        if t == len(self._linear):
            self._grow()
        self._planes[t] = plane
        self._linear[t] = violation
        self._hessian[t, : t + 1] = self._planes[: t + 1] @ plane
        self._hessian[: t + 1, t] = self._hessian[t, : t + 1]
        self._count = t + 1
        hessian = np.ascontiguousarray(self._hessian[: t + 1, : t + 1])
        point, linear = self._point[: t + 1], self._linear[: t + 1]
        slack = linear - hessian @ point
        simplex_quadratic(hessian, linear, point, slack, tol, QP_STEPS)
        point *= self._C / point.sum()
        image = hessian @ point
        self.value = float(linear @ point - 0.5 * point @ image)
        self.gamma = max(0.0, float((linear - image).max()))
        return np.asarray(point @ self._planes[: t + 1])

    def _grow(self) -> None:
        size = 2 * len(self._linear)
        for name in ("_planes", "_hessian", "_linear", "_point"):
            old = getattr(self, name)
            new = np.zeros((size, size) if name == "_hessian" else (size, *old.shape[1:]))
            new[tuple(slice(0, length) for length in old.shape)] = old
            setattr(self, name, new)


@dataclass(frozen=True)
class PlaneSolution(Solution):
    """A solution with the history of the QP's value, one for each plane."""

    program_values: list[float]


def most_violated(problem: HingeProblem, W: FloatArray) -> tuple[float, FloatArray, float]:
    """Algorithm 2: F(W), and the plane (g, v) of W (m, d), of many classes as precise as `problem.tol` asks for.

    y_i = arg max over S_i of s, q_i = arg max of the others; ybar_i = q_i where s_y - s_q < 1, else y_i. Then
    v - w.g is the mean loss exactly, so that the stop of Algorithm 1 certifies F <= QP value + C * epsilon.
    """
    value, gradient, weight = problem.hard(W, single=True)
    return value, -gradient / problem.total, weight / problem.total


def cutting_planes(
    problem: HingeProblem, W: FloatArray, tol: float, max_iter: int, progress: RoundProgress | None = None
) -> PlaneSolution:
    """Algorithm 1 from W (m, d), where the first plane is taken; tol is its epsilon, max_iter most planes.

    Stops when the plane of the current w is violated by no more than gamma + tol.
    """
    C = problem.total
    program = PlaneProgram(C, W.size, min(max_iter, 64))
    objective: list[float] = []
    values: list[float] = []
    best, lowest = W, np.inf
    converged = False
    for n_iter in range(max_iter + 1):
        value, plane, violation = most_violated(problem, W)
        objective.append(value)
        if value < lowest:
            best, lowest = W, value
        if progress is not None:
            progress(n_iter, lowest)
        # 1) Stop? At the start there is no gamma yet that w belongs to.
        if n_iter and float(np.vdot(W, plane)) >= violation - program.gamma - tol:
            converged = True
            break
        if n_iter == max_iter:
            break
        # 2) Add the plane, solve (10), w by (12).
        W = program.add(plane.ravel(), violation, QP_SHARE * tol).reshape(W.shape)
        values.append(program.value)
    return PlaneSolution(best, objective, max(1, len(values)), converged, values)


PLANES_TO = 100
"""Classes up to which "auto" is the paper's solver: a plane takes products of all rows with all classes, and at 1,000
classes some 250 planes are needed (`benchmarks many_classes`)."""


@dataclass(eq=False, repr=False)
class LMPlaneClassifier(MarginClassifier):
    """Large-margin partial-label learning by cutting planes (TNNLS 2020), linear or with a kernel.

        F(W) = 1/2 |W|^2 + C * (sum s_i loss_i / sum s_i)
        loss_i = [1 - s_y + max over j != y of s]_+,   y the best candidate of row i (see `candidate_weights` of `fit`)

    F is not convex. Unlike in PL-SVM a row that lists all classes has a loss.

    Parameters
    ----------
    C, kernel, degree, gamma, coef0, fit_intercept, warm_start, probability : see `MarginClassifier`.
    solver : "cp", the paper's cutting planes; "mm", majorise-minimise as in `PLSVC`, for many rows; "auto", "cp" up to
        100 classes and "mm" beyond.
    init : where the first plane is taken, or "mm" starts: "ridge", the ridge regression on the candidates, or
        "zero", w = 0 (the paper, as we read it: every first label is then the first candidate, and that plane
        stays in force; on the data set Lost this costs 15 points of accuracy).
    max_iter : most planes; most relabelling rounds of "mm".
    tol : the stopping test; None: epsilon = 1e-4 of Algorithm 1 for "cp", 1e-3 of F for "mm".

    Attributes: see `MarginClassifier`; `solver_` is the one taken. With "cp" `objective_` is F of each iterate,
    `coef_` belongs to the least, and `program_values_` holds the QP's value after each plane, which never falls.
    """

    _parameter_constraints: ClassVar[dict[str, list[object]]] = {
        **COMMON_CONSTRAINTS,
        **KERNEL_CONSTRAINTS,
        "solver": [StrOptions({"auto", "cp", "mm"})],
        "init": [StrOptions({"ridge", "zero"})],
        "tol": [*COMMON_CONSTRAINTS["tol"], None],
    }

    C: float = 10.0
    kernel: str = "linear"
    degree: int = 3
    gamma: float | None = None
    coef0: float = 0.0
    solver: str = "auto"
    init: str = "ridge"
    fit_intercept: bool = True
    max_iter: int = 500
    tol: float | None = None
    warm_start: bool = False
    probability: bool = False

    @_fit_context(prefer_skip_nested_validation=True)  # type: ignore[untyped-decorator]
    def fit(
        self,
        X: MatrixLike,
        y: LabelsLike,
        sample_weight: ArrayLike | None = None,
        *,
        candidate_weights: MatrixLike | None = None,
        progress: RoundProgress | None = None,
    ) -> LMPlaneClassifier:
        """Fit on X (n, d), dense or CSR, and y: label vector (n,) or candidate matrix (n, m); see `PLSVC.fit`.

        candidate_weights : (n, m) prior weights of the candidates, a shortlist's scores or vote counts; rows are scaled
            to 1, None for even ones: q. The ridge regression starts from them, and the label of a row, in every round
            and in `transduction_`, is y = arg max over the candidates of s_y + log q_y, as if exp(s) were odds: a
            candidate ten times less likely must score 2.3 margins more. Weight 0 rules a candidate out.
        Raises CandidateError for weights that are none.
        """
        training = self._prepare(X, y, sample_weight, candidate_weights)
        temperature = self._find_temperature(training, progress)
        self.solver_ = self.solver
        if self.solver == "auto":
            self.solver_ = "cp" if len(training.classes) <= PLANES_TO else "mm"
        tol = self.tol
        if tol is None:
            tol = EPSILON if self.solver_ == "cp" else 1e-3
        problem = training.problem(self.C / training.weights.sum(), all_others=True, tol=tol)
        with one_thread():
            if training.start is not None:
                start = training.start
            else:
                start = training.ridge() if self.init == "ridge" else np.zeros(problem.shape)
            solution: Solution
            if self.solver_ == "cp":
                solution = cutting_planes(problem, start, tol, self.max_iter, progress)
            else:
                warm = training.start is not None
                solution = majorise(problem, start, tol, self.max_iter, progress, warm)
            values = solution.program_values if isinstance(solution, PlaneSolution) else None
        self._finish(training, solution, temperature)
        self.__dict__.pop("program_values_", None)
        if values is not None:
            self.program_values_ = np.array(values)
        return self
