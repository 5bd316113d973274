"""Code shared by learners that end in class scores and in soft labels of the training rows."""

from __future__ import annotations

import warnings
from abc import abstractmethod
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import pandas as pd
from sklearn.base import TransformerMixin
from sklearn.utils import get_tags
from sklearn.utils._param_validation import StrOptions
from sklearn.utils.validation import check_is_fitted

from plcore.arrays.types import (
    AnyArray,
    BoolArray,
    FeatureMatrix,
    FloatArray,
    LabelsLike,
    MatrixLike,
    RoundProgress,
    is_sparse,
)
from plcore.arrays.words import either, listed
from plcore.kernels import softmax_rows
from plcore.labels.candidates import CandidateError, candidates_among, refuse_other_columns
from plcore.labels.training import ScoreClassifier, check_features
from plcore.labels.weights import prior_labels, project_rows
from plcore.neighbors import make_scaler

SCALING: list[object] = [StrOptions({"standard", "minmax"}), None]
"""Allowed values of `scaling`: "standard" z-scores the features, "minmax" brings each to [0, 1], None leaves them."""


def fit_scaler(scaling: str | None, X: FeatureMatrix, weights: FloatArray) -> TransformerMixin | None:
    """Return a scaler fitted on rows X (n, d), or None. weights : (n,) used by "standard" only

    "auto" is "standard" for dense X, None for sparse X, which is mostly text with meaningful scales. Sparse features
    are never shifted.
    """
    if scaling == "auto":
        scaling = None if is_sparse(X) else "standard"
    scaler = make_scaler(scaling, is_sparse(X))
    if scaler is None:
        return None
    return scaler.fit(X, sample_weight=weights) if scaling == "standard" else scaler.fit(X)


def scaled(scaler: TransformerMixin | None, X: FeatureMatrix) -> FeatureMatrix:
    """Scale rows X (q, d), dense or CSR, by a scaler from `fit_scaler`."""
    if scaler is None:
        return X
    if is_sparse(X) and not get_tags(scaler).input_tags.sparse:  # it shifts, as for dense rows
        X = X.toarray()
    return scaler.transform(X)


class SoftLabelClassifier(ScoreClassifier):
    """Base of learners with scores F(x) (n, m), about 1 for a certain class, which add `fit` and `_score_rows`.

    Attributes
    ----------
    classes_ (m,), n_features_in_
    label_distributions_ : (n, m) soft labels of the training rows, 0 outside of their sets.
    transduction_ : (n,) the most likely candidate of each training row, ties to the first class.
    objective_ : the minimised quantity after each round; n_iter_ : rounds; converged_ : whether the stopping
        criterion was met.
    """

    classes_: AnyArray
    label_distributions_: FloatArray
    transduction_: AnyArray
    objective_: FloatArray
    n_iter_: int
    converged_: bool
    _possible: BoolArray  # (m,) the classes that are a candidate of a training row with weight
    _scaler: TransformerMixin | None  # of the features, None if they are used unchanged

    def _finish(
        self,
        classes: AnyArray,
        labels: FloatArray,
        possible: BoolArray,
        scaler: TransformerMixin | None,
        objective: list[float],
        converged: bool,
    ) -> None:
        """Store the results of a fit: classes (m,), labels (n, m), possible (m,), and the other arguments."""
        self.classes_, self._possible, self._scaler = classes, possible, scaler
        self.label_distributions_ = labels
        self.transduction_ = classes[labels.argmax(axis=1)]
        self.objective_, self.n_iter_, self.converged_ = np.array(objective), len(objective), converged

    @abstractmethod
    def _score_rows(self, X: FeatureMatrix) -> FloatArray:
        """Return (n, m) scores of rows X (n, d), dense or CSR, already checked and scaled; a new array."""

    def _scores(self, X: MatrixLike) -> FloatArray:
        """Return (n, m) scores, -inf for classes that were a candidate of no training row with weight."""
        check_is_fitted(self)
        scores = self._score_rows(self._read_rows(X))
        scores[:, ~self._possible] = -np.inf
        return scores

    def _read_rows(self, X: MatrixLike) -> FeatureMatrix:
        """Return new rows (q, d), dense or CSR, checked and scaled like the training rows."""
        return scaled(self._scaler, check_features(self, X, reset=False))

    def _probabilities(self, scores: FloatArray) -> FloatArray:
        """Return (n, m) the distribution nearest to scores (n, m). Scores of classes that no row has are -inf."""
        return project_rows(scores, np.broadcast_to(self._possible, scores.shape))

    def predict_proba(self, X: MatrixLike) -> FloatArray:
        """Return class probabilities (n, m), rows sum to 1; 0 for a class that was never a candidate."""
        return self._probabilities(self._scores(X))


LEAST_SHARE = 1e-2  # share of a class that no fit without the row has seen near it: its set may know better
TOLERANCE = 0.02  # mean change of a row's soft labels, summed over the classes, at which the rounds end


@dataclass(frozen=True)
class HeldOutRounds:
    """Result of `held_out_rounds`: labels (n, m), the last shares (n, m), mean change of a row in each round, whether
    the last one is below `TOLERANCE`."""

    labels: FloatArray
    shares: FloatArray
    objective: list[float]
    converged: bool


def held_out_rounds(
    prior: FloatArray,
    weights: FloatArray,
    shares_of: Callable[[FloatArray], FloatArray],
    max_iter: int,
    progress: RoundProgress | None,
) -> HeldOutRounds:
    """Renew soft labels in rounds, from the prior (n, m): the prior times the shares of the classes, rows scaled to 1.
    So no row confirms its own guess, if its shares come from fits without it.

    weights : (n,) of the rows in the mean change      shares_of : returns shares (n, m) for soft labels (n, m)
    progress : called with (round, mean change) after every round
    """
    labels, converged = prior, False
    objective: list[float] = []
    while len(objective) < max_iter and not converged:
        shares = shares_of(labels)
        new = np.maximum(shares, LEAST_SHARE) * prior
        new /= new.sum(axis=1, keepdims=True)
        objective.append(float(np.average(np.abs(new - labels).sum(axis=1), weights=weights)))
        labels, converged = new, objective[-1] < TOLERANCE
        if progress is not None:
            progress(len(objective), objective[-1])
    return HeldOutRounds(labels, shares, objective, converged)


def share_inside(shares: FloatArray, candidates: BoolArray, weights: FloatArray) -> float:
    """Return the share of rows, by weights (n,), whose likeliest class by shares (n, m) is one of their candidates."""
    inside = candidates[np.arange(len(candidates)), shares.argmax(axis=1)]
    return float(np.average(inside, weights=weights))


# Soft labels inside candidate sets, and classes that are in nearly all of them.

FREQUENT = 0.97


def softmax_inside(scores: FloatArray, temperature: float, prior: FloatArray) -> FloatArray:
    """Return (n, m) prior * exp(scores / temperature), rows scaled to 1; 0 if the prior is 0."""
    logs, inside = logs_inside(prior)
    return np.asarray(softmax_rows(scores / temperature + logs, inside))


def logs_inside(prior: FloatArray) -> tuple[FloatArray, BoolArray]:
    """Return (n, m) the logarithms of the prior and where it is above 0, as used in every round."""
    with np.errstate(divide="ignore"):
        return np.log(prior), prior > 0


def imported_labels(
    imported: LabelsLike, shape: tuple[int, ...], classes: AnyArray, weights: FloatArray | None = None
) -> FloatArray:
    """Return soft labels (n, m) of the candidates as imported, before anything is learnt (`prior_labels`).

    weights : (n, m) of the candidates, None for even ones
    Raises CandidateError if they do not have this shape (n, m), or their columns or names do not match the classes
    (m,).
    """
    if isinstance(imported, pd.DataFrame):
        refuse_other_columns("imported", imported, classes)
    before = candidates_among(imported, classes)
    if before.shape != shape:
        raise CandidateError(f"imported must have the shape of the candidates, {shape}. Got {before.shape}.")
    return prior_labels(before, weights)


def frequent_classes(candidates: BoolArray) -> BoolArray:
    """Return (m,) whether each class is in more than 0.97 of the informative sets, some of which are
    ambiguous.

    Every learner does badly then: a class that all rows may have is the easiest prediction.
    """
    known = candidates.any(axis=0)
    sizes = candidates.sum(axis=1)
    telling = candidates[sizes < known.sum()]
    if not (telling.sum(axis=1) > 1).any():
        return np.zeros(candidates.shape[1], dtype=bool)
    return np.asarray(telling.mean(axis=0) > FREQUENT)


def warn_about_frequent_classes(candidates: BoolArray, classes: AnyArray) -> None:
    """Warn (UserWarning), at the caller's caller, about classes (m,) that `frequent_classes` finds: by name, or only by
    their count if they are numbers, as in a comparison, which numbers the classes of a project."""
    frequent = frequent_classes(candidates)
    if frequent.any():
        names, number = listed([str(name) for name in classes[frequent]]), int(frequent.sum())
        which = either(number, "one class", f"the same {number} classes") if classes.dtype.kind in "iu" else names
        warnings.warn(
            f"More than 97% of the candidate sets have {which} among them. A class that nearly every row may have "
            "gives little information, and every learner does badly. Fix: rule it out where it is wrong, or answer "
            "some rows first.",
            UserWarning,
            stacklevel=3,
        )
