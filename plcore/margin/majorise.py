"""The majorise-minimise solver: fix the labels, solve the convex problem that is left, choose the labels again.

Each convex step is an augmented-Lagrangian (dual proximal) loop: L-BFGS on the smoothed hinge, then the maximiser
becomes the next centre. The centres are dual variables of the restricted Crammer-Singer problem, so every
evaluation carries a duality gap, and the smoothing need not go to 0 for the gap to.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.linalg import lapack

from plcore.arrays.types import FloatArray, IntArray, RoundProgress
from plcore.margin.problem import HingeProblem, shifted_factor

# The smoothing, in units of the margin, on the way from the start to the first majoriser. Large values see past
# poor local minima of F, which is not convex: the labels are chosen again at every evaluation. Begun at 30 rather than
# 3, F ends 9 to 18% lower on Lost at lambda 1e-3, 1 to 3% on BirdSong and 4 to 7% on USPS at 1e-4 (three seeds).
PATH = (30.0, 10.0, 3.0, 1.0, 0.3, 0.1, 0.03, 0.01)
PATH_STEPS = 300
STAGES, STAGE_STEPS = 60, 200
STEP_SMOOTHING, FINEST = 0.03, 1e-4  # first and smallest smoothing of a convex step
# Relative gain of an L-BFGS step at which it ends: at first, and when the duality gap needs more precision.
COARSE, FINE = 1e-5, 1e-15
SAMPLE_FROM, SAMPLE_SHARE = 20_000, 8  # from this many rows on, the path is followed on a part of them first
SHARE_ACTIVE = 0.2  # a guess of the share of rows with a loss; only the speed depends on it
NEAR = 2.0  # factor by which a metric may differ from the best; see SHARE_ACTIVE


@dataclass(frozen=True)
class Solution:
    """Result of a solver; `objective` is the history of F, of which `W` is the least."""

    W: FloatArray
    objective: list[float]
    n_iter: int
    converged: bool


class Metric:
    """Coordinates V, W = V L^-1, in which the smoothed problem is about equally curved in all directions.

    sharpness : scale / mu, by which the losses bend more than 1/2 |W|^2 does
    """

    def __init__(self, problem: HingeProblem, mu: float) -> None:
        self.sharpness = problem.scale / mu
        self._lower: FloatArray | None = None
        if problem.gram is not None:
            self._lower = shifted_factor(problem.gram * (self.sharpness * SHARE_ACTIVE))
            diagonal = self._lower.ndim == 1
            self._inverse = 1.0 / self._lower if diagonal else np.asarray(lapack.dtrtri(self._lower, lower=1)[0])

    def inward(self, W: FloatArray) -> FloatArray:
        return W if self._lower is None else _times(W, self._lower)

    def outward(self, V: FloatArray) -> FloatArray:
        return V if self._lower is None else _times(V, self._inverse)

    def gradient(self, gradient: FloatArray) -> FloatArray:
        return gradient if self._lower is None else _times(gradient, self._inverse.T)


def _times(rows: FloatArray, matrix: FloatArray) -> FloatArray:
    """rows (m, d) times a matrix (d, d), or a diagonal one (d,)."""
    return rows * matrix if matrix.ndim == 1 else rows @ matrix


def metric_at(problem: HingeProblem, mu: float) -> Metric:
    """A metric for this smoothing: that of the previous descent while it is close enough. To factor a new one costs
    as much as a few evaluations, and it only has to be about right."""
    old = problem.metric
    if not isinstance(old, Metric) or not 1 / NEAR <= problem.scale / mu / old.sharpness <= NEAR:
        problem.metric = Metric(problem, mu)
    metric: Metric = problem.metric
    return metric


def descend(
    problem: HingeProblem,
    W: FloatArray,
    mu: float,
    labels: IntArray | None = None,
    prior: FloatArray | None = None,
    steps: int = STAGE_STEPS,
    flat: float = 1e-6,
    gap: float = 0.0,
) -> FloatArray:
    """L-BFGS on the smoothed problem from W; stops when a step gains less than `flat` of the value, or at a
    duality gap of `gap` * F."""
    metric = metric_at(problem, mu)
    enough = [False]

    def evaluate(V: FloatArray) -> tuple[float, FloatArray]:
        found = problem.smooth(metric.outward(V), mu, labels, prior)
        enough[0] = found.gap <= gap * problem.floor(found.objective)
        return found.value, metric.gradient(found.gradient)

    memory = 20 if W.size < 1_000_000 else 5
    found = descend_from(evaluate, metric.inward(W), steps, flat, lambda _: enough[0], memory)
    return metric.outward(found.point)


@dataclass
class ConvexStep:
    """The convex problem of fixed labels, warm from one set of labels to the next."""

    problem: HingeProblem
    labels: IntArray
    duals: FloatArray | None = None
    gap: float = np.inf

    def relabel(self, labels: IntArray) -> int:
        """Set the labels; the duals of the rows concerned start again. Returns how many changed."""
        changed = labels != self.labels
        if self.duals is not None:
            self.duals[changed] = 0.0
        self.labels = labels
        return int(changed.sum())

    def solve(self, W: FloatArray, tol: float) -> FloatArray:
        """The best W found once its duality gap is at most tol * F, or after STAGES rounds; sets `gap`."""
        problem = self.problem
        best, lowest, dual = W, np.inf, -np.inf
        duals, mu, flat, self.gap = self.duals, STEP_SMOOTHING, COARSE, np.inf
        for _ in range(STAGES):
            after = np.empty((problem.X.shape[0], problem.shape[0] + 1))
            W = descend(problem, W, mu, self.labels, duals, flat=flat, gap=0.5 * tol)
            found = problem.smooth(W, mu, self.labels, duals, after)
            duals, dual, before = after, max(dual, found.dual), self.gap
            if found.objective < lowest:
                best, lowest = W, found.objective
            self.gap = lowest - dual
            if self.gap <= tol * problem.floor(lowest):
                break
            if self.gap > 0.3 * before or before == np.inf:
                flat = max(0.1 * flat, FINE)  # the L-BFGS steps are too coarse
            else:
                mu = max(0.5 * mu, FINEST)
        self.duals = duals
        return best


def majorise(
    problem: HingeProblem,
    W: FloatArray,
    tol: float,
    max_iter: int,
    progress: RoundProgress | None = None,
    warm: bool = False,
) -> Solution:
    """Minimise F of `problem` from W (m, d).

    1) Follow the smoothing PATH; only its end where W is `warm`, a solution of a problem much the same.
    2) Fix the labels, solve to a relative duality gap of `tol`, choose them again; until F gains less than `tol`
    of its value, at most `max_iter` times. A step that would raise F is not taken.
    """
    objective = [problem.objective(W)]
    if progress is not None:
        progress(0, objective[0])
    flat = min(1e-5, 0.01 * tol)
    smoothed, path = W, list(PATH)
    if warm:
        path = [STEP_SMOOTHING]
    elif len(problem.candidates) >= SAMPLE_FROM:
        sample = problem.sample(SAMPLE_SHARE)
        for mu in PATH:
            smoothed = descend(sample, smoothed, mu, steps=PATH_STEPS, flat=flat)
        path = [STEP_SMOOTHING]
    for mu in path:
        smoothed = descend(problem, smoothed, mu, steps=PATH_STEPS, flat=flat)
    value = problem.objective(smoothed)
    if value <= objective[0]:
        W = smoothed
        objective.append(value)
    step = ConvexStep(problem, problem.labels(W))
    converged, n_iter = False, 0
    for n_iter in range(1, max_iter + 1):
        candidate = step.solve(W, tol)
        value = problem.objective(candidate)
        gain = objective[-1] - value
        certified = step.gap <= tol * problem.floor(objective[-1])
        if gain >= 0:
            W = candidate
            objective.append(value)
        if progress is not None:
            progress(n_iter, objective[-1])
        moved = step.relabel(problem.labels(W))
        if gain <= tol * problem.floor(value) or moved == 0:
            converged = certified
            break
    return Solution(W, objective, n_iter, converged)


# L-BFGS with a weak-Wolfe line search (Nocedal and Wright, 2nd ed., Algorithm 7.4; Lewis and Overton 2013).
#
# SciPy's minimiser is made for bounds; on the problems here (10 to 500 features, thousands of short runs) what it
# does in addition to took 85-95% of the time. The line search by bisection also handles the kinks that the smoothed
# loss has where the best candidate changes.

DECREASE, CURVATURE = 1e-4, 0.9  # of the Wolfe conditions
TRIALS = 30


@dataclass(frozen=True)
class Descent:
    """Where it ended: the point, its value, steps made, and whether `stop` or `flat` (not `steps`) ended it."""

    point: FloatArray
    value: float
    steps: int
    settled: bool


def descend_from(
    evaluate: Callable[[FloatArray], tuple[float, FloatArray]],
    point: FloatArray,
    steps: int,
    flat: float,
    stop: Callable[[float], bool],
    memory: int = 20,
) -> Descent:
    """Minimise from `point`, an array of any shape.

    evaluate : point -> value and gradient.
    flat : a step that gains less than this share of the value ends it.
    stop : asked with the value after every step; it may look at what `evaluate` last saw, which is that step.
    """
    value, gradient = evaluate(point)
    pairs: deque[tuple[FloatArray, FloatArray, float]] = deque(maxlen=memory)
    for step in range(steps):
        direction = _direction(gradient, pairs)
        slope = float(np.vdot(direction, gradient))
        if slope >= 0.0:  # rounding has used the pairs up
            pairs.clear()
            direction, slope = -gradient, -float(np.vdot(gradient, gradient))
        if slope == 0.0:
            return Descent(point, value, step, True)
        length, low, high = 1.0, 0.0, np.inf
        for _ in range(TRIALS):
            trial = point + length * direction
            new_value, new_gradient = evaluate(trial)
            if new_value > value + DECREASE * length * slope:
                high = length
            elif float(np.vdot(direction, new_gradient)) < CURVATURE * slope:
                low = length
            else:
                break
            length = 2.0 * low if high == np.inf else 0.5 * (low + high)
        if not new_value < value:
            return Descent(point, value, step, True)
        moved, bent = trial - point, new_gradient - gradient
        product = float(np.vdot(moved, bent))
        if product > 1e-14 * float(np.vdot(moved, moved)):
            pairs.append((moved, bent, product))
        gain = value - new_value
        point, value, gradient = trial, new_value, new_gradient
        if stop(value) or gain <= flat * abs(value):
            return Descent(point, value, step + 1, True)
    return Descent(point, value, steps, False)


def _direction(gradient: FloatArray, pairs: deque[tuple[FloatArray, FloatArray, float]]) -> FloatArray:
    """-H gradient by the two-loop recursion."""
    direction = -gradient
    shares = []
    for moved, bent, product in reversed(pairs):
        share = float(np.vdot(moved, direction)) / product
        direction = direction - share * bent
        shares.append(share)
    if pairs:
        _, bent, product = pairs[-1]
        direction = direction * (product / float(np.vdot(bent, bent)))
    for (moved, bent, product), share in zip(pairs, reversed(shares), strict=True):
        direction = direction + (share - float(np.vdot(bent, direction)) / product) * moved
    return direction
