"""PL-Pegasos as printed: batch subgradient steps and a projection (Nguyen and Caruana, KDD 2008, Algorithm 1)."""

from __future__ import annotations

import numpy as np

from plcore.common.types import FloatArray, RoundProgress
from plcore.margin.majorise import Solution
from plcore.margin.problem import HingeProblem


def pegasos(
    problem: HingeProblem,
    W: FloatArray,
    max_iter: int,
    average: bool = False,
    progress: RoundProgress | None = None,
) -> Solution:
    """`max_iter` steps from W (m, d) on 1/C times F, lambda = 1/C.

    W <- (1 - 1/t) W + 1/(lambda t) * (mean subgradient of the losses), then into the ball of radius
    1/sqrt(lambda). The last iterate is returned; with `average` the mean of those of the second half of the
    steps. objective : F before each step, then F of what is returned. There is no stopping test: the error
    falls like 1/(lambda T), and `converged` says that T steps were made.
    """
    C = problem.total
    radius = float(np.sqrt(C))
    mean, counted = np.zeros_like(W), 0
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
        if average and 2 * t > max_iter:
            counted += 1
            mean += (W - mean) / counted
    result = mean if average else W
    objective.append(problem.objective(result))
    return Solution(result, objective, max_iter, True)
