"""The cutting-plane solver of LM-PLANE (TNNLS 2020): Algorithms 1 and 2, one slack, solved in the dual.

    (9)  min 1/2 |w|^2 + C gamma   s.t.  w.g_t >= v_t - gamma for every plane t
    (10) max v'a - 1/2 a'Ha,  a >= 0,  sum a <= C;   (11) H_st = g_s.g_t;   (12) w = sum_t a_t g_t

The inequality on sum a is the plane g = 0, v = 0, which is among those of (9): with an equality gamma could become
negative in the first rounds. Planes are not bounds of F, which is not convex: F falls unsteadily, and the best
iterate is kept.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from plcore.common.types import FloatArray, RoundProgress
from plcore.kernels.margin import simplex_quadratic
from plcore.margin.majorise import Solution
from plcore.margin.problem import HingeProblem

EPSILON = 1e-4  # the paper's
QP_SHARE = 0.01  # the small problem is solved to this share of epsilon
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
    problem: HingeProblem,
    W: FloatArray,
    tol: float,
    max_iter: int,
    progress: RoundProgress | None = None,
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
