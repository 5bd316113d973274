"""The full state of an online learner as plain arrays, from which it can continue exactly."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any

import numpy as np
from scipy import sparse

from plcore.arrays.types import AnyArray, BoolArray, FeatureMatrix, FloatArray, IntArray, is_sparse
from plcore.kernels.linear import mean_weights, score_rows, score_sparse_rows
from plcore.kernels.online import MASS, ROUNDS, SCALE, learn_dense, learn_sparse

NOTHING: FloatArray = np.zeros((0, 0))
NO_ROWS: IntArray = np.zeros(0, dtype=np.int64)
EVEN: FloatArray = np.zeros(0)


@dataclass(frozen=True)
class Rules:
    """The update rules of a learner.

    use_max : the loss takes the best candidate (L_MPH) instead of the candidates' mean (L_APH)
    eta0 : step of the Perceptrons      alpha : lambda of Pegasos, 0 for the Perceptrons
    decay_always : Pegasos decays in rounds without a loss too      averaging : keep the mean of the iterates
    constant : the feature of the intercept, 1 or 0
    """

    use_max: bool
    eta0: float
    alpha: float
    decay_always: bool
    averaging: bool
    constant: float

    @property
    def settings(self) -> tuple[bool, float, float, bool, bool]:
        return self.use_max, self.eta0, self.alpha, self.decay_always, self.averaging


@dataclass
class OnlineState:
    """The weights W = scale * weights (m, d + 1), the last column for the intercept, and what is counted.

    correction : (m, d + 1) with averaging, else (0, 0); the sum of the iterates is mass * weights - correction
    numbers : (5,) scale, mass, |W|^2 (carried by Pegasos only), sum of the objectives met before each update, and the
        mean |x|^2 of the rows that it began with, 1 if nothing uses it
    counts : (3,) rounds, updates, mistakes      possible : (m,) bool, the classes that were a candidate so far
    """

    weights: FloatArray
    correction: FloatArray
    numbers: FloatArray
    counts: IntArray
    possible: BoolArray

    @classmethod
    def zero(cls, m: int, d: int, averaging: bool) -> OnlineState:
        """W = 0 before the first round, for m classes and d features."""
        return cls(
            np.zeros((m, d + 1)),
            np.zeros((m, d + 1)) if averaging else NOTHING.copy(),
            np.array([1.0, 0.0, 0.0, 0.0, 1.0]),
            np.zeros(3, dtype=np.int64),
            np.zeros(m, dtype=bool),
        )

    @classmethod
    def read(cls, stored: Mapping[str, Any], m: int, d: int, averaging: bool) -> OnlineState:
        """Read the state from `stored`, arrays named as the attributes. Raises ValueError if it does not fit
        m, d, averaging."""
        fresh = cls.zero(m, d, averaging)
        for field in fields(cls):
            expected: AnyArray = getattr(fresh, field.name)
            if field.name not in stored:
                raise ValueError(f"The state has no {field.name!r}. Fix: pass what get_state() returned, whole.")
            given = np.array(stored[field.name])
            if not given.size and not expected.size:
                continue  # an empty list has lost its shape
            if given.shape != expected.shape or not np.can_cast(given.dtype, expected.dtype, "same_kind"):
                raise ValueError(
                    f"{field.name!r} of the state must be {expected.dtype} of shape {expected.shape} for {m} classes, "
                    f"{d} features and average={averaging}. Got {given.dtype} of shape {given.shape}. "
                    "Fix: restore into an estimator with the parameters of the one that was stored."
                )
            setattr(fresh, field.name, given.astype(expected.dtype))
        return fresh

    def copy(self) -> OnlineState:
        return OnlineState(**{field.name: getattr(self, field.name).copy() for field in fields(self)})

    def learn(
        self,
        X: FeatureMatrix,
        candidates: BoolArray,
        rules: Rules,
        order: IntArray = NO_ROWS,
        weights: FloatArray = EVEN,
        predict: bool = False,
    ) -> tuple[int, IntArray]:
        """The rounds of the rows of X, in `order`: how many were learnt, and the class predicted before each.

        weights : (n,) of the rows; those of weight 0 are looked at but are not rounds
        Fewer than the rows if one is too long or contains NaN: the state is then that of the rows before it.
        Raises ValueError where the rules average and the state does not, or the other way round.
        """
        if rules.averaging != self.averaging:
            raise ValueError(
                f"average is {rules.averaging}, but the rows so far were learnt with average={self.averaging}. "
                "Fix: set average before the first row."
            )
        predicted = np.zeros(X.shape[0] if predict else 0, dtype=np.int64)
        W, U = self._laid_out(is_sparse(X))
        rest = (
            order, candidates, weights, rules.settings, rules.constant, W, U,
            self.numbers, self.counts, self.possible, predicted,
        )  # fmt: skip
        if is_sparse(X):
            values, columns, starts = _parts(X)
            learnt = learn_sparse(values, columns, starts, *rest)
        else:
            learnt = learn_dense(_fixed(X), *rest)
        return int(learnt), predicted

    def _laid_out(self, by_feature: bool) -> tuple[FloatArray, FloatArray]:
        """weights and correction as the kernels of sparse rows read them, (d + 1, m), or those of dense rows."""
        order = "F" if by_feature else "C"
        self.weights = np.asarray(self.weights, order=order)  # type: ignore[call-overload]
        self.correction = np.asarray(self.correction, order=order)  # type: ignore[call-overload]
        return (self.weights.T, self.correction.T) if by_feature else (self.weights, self.correction)

    @property
    def averaging(self) -> bool:
        """Whether the mean of the iterates is computed."""
        return bool(self.correction.size)

    def model(self) -> tuple[FloatArray, float]:
        """(V, scale): the model is scale * V, V (m, d + 1): the last iterate, or the mean of all if it is kept."""
        if not self.averaging:
            return self.weights, float(self.numbers[SCALE])
        V, U = self._laid_out(not self.weights.flags.c_contiguous)
        mean = np.empty(V.shape)
        mean_weights(V, U, self.numbers[MASS], self.counts[ROUNDS], mean)
        return (mean if V is self.weights else mean.T), 1.0

    def scores(self, X: FeatureMatrix, constant: float) -> FloatArray:
        """(n, m), by the loops that learn: not by a matrix product, which may score equal weights differently."""
        V, scale = self.model()
        scores = np.empty((X.shape[0], len(V)))
        if is_sparse(X):
            score_sparse_rows(*_parts(X), np.ascontiguousarray(V.T), scale, constant, scores)
        else:
            score_rows(_fixed(X), np.ascontiguousarray(V), scale, constant, scores)
        return scores


def mean_square(X: FeatureMatrix, weights: FloatArray) -> float:
    """Mean |x|^2 of the rows of X by their weights (n,), or `EVEN`; 1 if that is 0: there is nothing to learn."""
    if is_sparse(X):
        squares = np.asarray(X.astype(np.float64).power(2).sum(axis=1)).ravel()
    else:
        squares = np.einsum("ij,ij->i", X, X, dtype=np.float64)
    return float(np.average(squares, weights=weights if len(weights) else None)) or 1.0


def _fixed(array: AnyArray) -> AnyArray:
    """Return the array as read-only, the only kind that the kernels are compiled for."""
    view = array.view()
    view.flags.writeable = False
    return view


def _parts(X: sparse.csr_matrix) -> tuple[AnyArray, AnyArray, AnyArray]:
    """Values, columns and row starts of a CSR matrix in which no cell is stored twice."""
    if not X.has_canonical_format:
        X = X.copy()  # summing duplicate entries would modify it
        X.sum_duplicates()
    kinds = (X.data, np.float64), (X.indices, np.int64), (X.indptr, np.int64)
    values, columns, starts = (_fixed(np.ascontiguousarray(array, dtype=kind)) for array, kind in kinds)
    return values, columns, starts
