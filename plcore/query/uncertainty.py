"""Uncertainty sampling and related strategies: rows about which the model is least certain, or whose answer would
change it most."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator
from sklearn.exceptions import NotFittedError

from plcore.arrays.types import BoolArray, FeatureMatrix, FloatArray, IntArray, Matrix
from plcore.kernels.scores import margins, softmax_rows
from plcore.labels.weights import score_columns
from plcore.query.strategies import Baseline

# Strategies from any function of a fitted learner, and learners' shares for their training rows.

LearnerScore = Callable[[BaseEstimator, FeatureMatrix, BoolArray], ArrayLike]


@dataclass(eq=False, repr=False)
class LearnerScores(Baseline):
    """Order rows by any function of a fitted learner, such as entropy or expected change.

    score : score(learner, X, candidates) returns (n,) finite numbers, higher = ask sooner, for the training rows X (n,
        d) with candidates bool (n, m). It may use anything of the learner: `predict_proba(X)`, `label_distributions_`,
        `effect_scores()`. It is called each time the learner has learnt. Rows with one candidate are never asked about.

        >>> import scipy.stats
        >>> def entropy(learner, X, candidates):
        ...     return scipy.stats.entropy(learner_shares(learner, X, candidates), axis=1)
        >>> strategy = LearnerScores(entropy)  # replay(..., strategy=entropy) makes it by itself
    """

    score: LearnerScore

    def _start(self, features: FeatureMatrix) -> None:  # noqa: ARG002
        self._scores: FloatArray | None = None

    def learner_changed(self, learner: BaseEstimator, X: Matrix) -> None:
        """Score the training rows X (n, d) of this fitted learner. Raises ValueError unless the scores are
        (n,) numbers."""
        found = np.asarray(self.score(learner, X, self.candidates_.copy()), dtype=np.float64)
        if found.shape != self._sizes.shape or not np.isfinite(found).all():
            raise ValueError(
                f"score must give {len(self._sizes)} finite numbers, one for each row. Got shape {found.shape}"
                + ("." if found.shape != self._sizes.shape else ", some of them NaN or infinite.")
            )
        self._scores = found

    def _values(self, rows: IntArray) -> FloatArray:
        if self._scores is None:
            raise no_learner(self)
        return self._scores[rows]


def learner_shares(learner: BaseEstimator, X: Matrix, candidates: BoolArray) -> FloatArray:
    """Return (n, m) a fitted learner's shares for its training rows X (n, d) inside their candidates, rows
    summing to 1.

    They are its `label_distributions_` if it has them, else `predict_proba`, else the softmax of `decision_function`.
    They are even if no candidate is likely. Raises ValueError for a learner with none of these.
    """
    if hasattr(learner, "label_distributions_"):
        return np.array(learner.label_distributions_)  # copy, because an update changes them in place
    if hasattr(learner, "predict_proba"):
        inside = np.where(candidates, learner.predict_proba(X), 0.0)
        inside = np.where(inside.any(axis=1, keepdims=True), inside, candidates)
        return np.asarray(inside / inside.sum(axis=1, keepdims=True))
    if hasattr(learner, "decision_function"):
        return softmax_rows(score_columns(learner.decision_function(X)), candidates)
    raise ValueError(
        "The learner must have label_distributions_, predict_proba or decision_function. "
        f"Got {type(learner).__name__}. Fix: take another learner, or a strategy that needs none."
    )


def no_learner(strategy: Baseline) -> NotFittedError:
    """Return the error for a strategy that was used before it had a learner."""
    return NotFittedError(
        f"This {type(strategy).__name__} knows no learner yet: call learner_changed(learner, X) after fit."
    )


BLOCK_CELLS = 1_000_000  # cells of shares in memory at a time
OfRows = Callable[[IntArray], FloatArray]


@dataclass(eq=False, repr=False)
class ByModel(Baseline):
    """Asks first about the row with the largest of the model's figures. Rows are scored again only when the model or
    the row has changed.

    figures : returns the model's figures (r,) for training rows (r,); None: those of the learner given to
        `learner_changed`
    """

    figures: OfRows | None = None

    def _start(self, features: FeatureMatrix) -> None:  # noqa: ARG002
        self._scores: FloatArray = np.zeros(len(self._sizes))
        self._stale: BoolArray = np.ones(len(self._sizes), dtype=bool)

    def model_changed(self) -> None:
        """Handle a change of the model, which may affect any row."""
        self._stale[:] = True

    def _changed(self, row: int, old_size: int) -> None:  # noqa: ARG002
        self._stale[row] = True

    def _values(self, rows: IntArray) -> FloatArray:
        old = rows[self._stale[rows]]
        block = max(1, BLOCK_CELLS // self.candidates_.shape[1])
        for begin in range(0, len(old), block):
            part = old[begin : begin + block]
            self._scores[part] = self._by_model(part)
        self._stale[old] = False
        return self._scores[rows]

    def _by_model(self, rows: IntArray) -> FloatArray:
        """Return (r,) the scores of these rows under the current model."""
        if self.figures is None:
            raise no_learner(self)
        return self.figures(rows)


class SmallestMargin(ByModel):
    """Margin sampling (Scheffer, Decomain and Wrobel, "Active hidden Markov models", IDA 2001) inside the candidates.

    The figures are p1 - p2, the two largest shares of the row; scores are 1 - (p1 - p2), 1 if these are equal.
    """

    def learner_changed(self, learner: BaseEstimator, X: Matrix) -> None:
        """Use this fitted learner's shares for its training rows X (n, d) (`learner_shares`)."""
        shares = learner_shares(learner, X, self.candidates_)
        self.figures = lambda rows: margins(shares[rows])
        self.model_changed()

    def _by_model(self, rows: IntArray) -> FloatArray:
        return np.asarray(1.0 - super()._by_model(rows))


class LargestEffect(ByModel):
    """Asks first about the row whose answer would change the model most, by the model's own effect scores.

    The figures are scores such as those of `PLKernelRidge.effect_scores`. They are similar to the effect rules
    (Nguyen, Destercke and Masson, AAAI 2017), on the model's own neighbourhoods.
    """

    def learner_changed(self, learner: BaseEstimator, X: Matrix) -> None:  # noqa: ARG002
        """Use this fitted learner's effect scores (n,) for its training rows. Raises ValueError for a learner without
        `effect_scores`."""
        if not hasattr(learner, "effect_scores"):
            raise ValueError(
                f"The learner must have effect_scores, as PLKernelRidge has. Got {type(learner).__name__}. "
                "Fix: take such a learner, or the strategy SmallestMargin."
            )
        scores = learner.effect_scores()
        self.figures = lambda rows: scores[rows]
        self.model_changed()
