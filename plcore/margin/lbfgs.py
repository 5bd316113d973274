"""L-BFGS with a weak-Wolfe line search (Nocedal and Wright, 2nd ed., Algorithm 7.4; Lewis and Overton 2013).

SciPy's minimiser is made for bounds; on the problems here (10 to 500 features, thousands of short runs) what it
does besides took 85-95 % of the time. The line search by bisection also stands the kinks that the smoothed loss
has where the best candidate changes.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from plcore.arrays.types import FloatArray

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
