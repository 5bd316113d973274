"""Compiled scores of linear models, the same to the last bit during and after training.

Two classes at a time share the loads of x and hide each other's addition latency. Only the products of rows are
compiled with `fastmath` (reordered sums, fused multiply-add); a strict sum would have to wait for every addition.
Weights of dense rows are (m, d + 1); for sparse rows they are (d + 1, m), so that the classes of a feature are
adjacent. The last feature is the constant of the intercept, 0 if there is none.
"""

from __future__ import annotations

from typing import cast

import numpy as np
from numba import njit

from plcore.arrays.types import AnyArray, BoolArray, FloatArray, IntArray
from plcore.kernels.compiled import Compiler, kernel

# Inlined into the machine code of the kernels that call them, which is cached on disk. Matrix and row number are two
# arguments: slicing a row would count a reference in every call, which costs more than the product.
product = cast(Compiler, njit(nogil=True, error_model="numpy", fastmath={"reassoc", "contract"}))


@product
def squared_length(X: AnyArray, i: int) -> float:
    """X[i] . X[i]"""
    total = 0.0
    for j in range(X.shape[1]):
        total += X[i, j] * np.float64(X[i, j])
    return total


@product
def two_products(V: FloatArray, first: int, second: int, X: AnyArray, i: int) -> tuple[float, float]:
    """V[first] . X[i] and V[second] . X[i]"""
    a, b = 0.0, 0.0
    for j in range(X.shape[1]):
        a += V[first, j] * X[i, j]
        b += V[second, j] * X[i, j]
    return a, b


@kernel
def score_dense(V: FloatArray, scale: float, X: AnyArray, i: int, constant: float, scores: FloatArray) -> None:
    """scores[k] = scale * V[k] . (X[i], constant). Equal rows of V get equal scores, to the last bit."""
    m, d = len(V), X.shape[1]
    for pair in range((m + 1) // 2):
        second = min(2 * pair + 1, m - 1)
        first = max(second - 1, 0)  # an odd last class is paired with the one before, to be summed like all others
        scores[first], scores[second] = two_products(V, first, second, X, i)
    for k in range(m):
        scores[k] = scale * (scores[k] + V[k, d] * constant)


@kernel
def score_sparse(
    V: FloatArray,
    scale: float,
    values: FloatArray,
    columns: IntArray,
    starts: IntArray,
    i: int,
    constant: float,
    scores: FloatArray,
) -> None:
    """Like `score_dense`, for CSR rows, V (d + 1, m)."""
    for k in range(len(scores)):
        scores[k] = V[-1, k] * constant
    for place in range(starts[i], starts[i + 1]):
        for k in range(len(scores)):
            scores[k] += V[columns[place], k] * values[place]
    for k in range(len(scores)):
        scores[k] *= scale


@kernel
def score_rows(X: AnyArray, V: FloatArray, scale: float, constant: float, scores: FloatArray) -> None:
    """Scores (n, m) of dense rows."""
    for i in range(len(X)):
        score_dense(V, scale, X, i, constant, scores[i])


@kernel
def score_sparse_rows(
    values: FloatArray,
    columns: IntArray,
    starts: IntArray,
    V: FloatArray,
    scale: float,
    constant: float,
    scores: FloatArray,
) -> None:
    """Scores (n, m) of CSR rows."""
    for i in range(len(scores)):
        score_sparse(V, scale, values, columns, starts, i, constant, scores[i])


@kernel
def mean_weights(V: FloatArray, U: FloatArray, mass: float, rounds: int, mean: FloatArray) -> None:
    """Compute the mean of the iterates after each of the rounds, from a zero start."""
    rows, columns = V.shape
    for i in range(rows):
        for j in range(columns):
            mean[i, j] = (mass * V[i, j] - U[i, j]) / max(rounds, 1)


@kernel
def best_possible(scores: FloatArray, possible: BoolArray) -> int:
    """Return the class with the highest score among those that were a candidate before, the first on ties; 0 if there
    is none."""
    best, highest = 0, -np.inf
    for k in range(len(scores)):
        if possible[k] and scores[k] > highest:
            best, highest = k, scores[k]
    return best
