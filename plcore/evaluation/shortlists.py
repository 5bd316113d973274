"""Shortlists with guaranteed coverage: split conformal prediction by rows with known truth.

A row j with known truth that no model has learnt from has the score s_j = 1 - p_j(y_j), p_j being the model's shares of
its candidates. With m such rows, drawn at random, the threshold q of the miss rate a is the ceil((m + 1)(1 - a))-th
smallest score. The shortlist of any other row of that kind is {k in S: 1 - p(k) <= q}. It holds the truth with
probability at least 1 - a, and at most 1 - a + 1 / (m + 1) if no scores are equal, for any model (Vovk, Gammerman and
Shafer 2005; shown to people: Straitouri et al., ICML 2023).

This holds on average over all rows. The rows that the model is least certain of are asked first, and their lists hold
the truth less often: at a promised 0.9, those of the least certain fifth of Lost in 0.75. So a row gets the threshold
of checks with a similar difference between the two largest shares (a Mondrian taxonomy: Vovk, Gammerman and Shafer
2005).

If the truth is none of the candidates, no list of candidates can hold it: the score is infinite. Such rows count, so
that the promise covers all rows; if they are more than a share a, there is no finite threshold. Equal scores make lists
longer, never shorter.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from math import ceil, floor
from numbers import Integral
from typing import ClassVar

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator, MetaEstimatorMixin, _fit_context, clone
from sklearn.model_selection import BaseCrossValidator
from sklearn.utils import Tags, _safe_indexing, check_consistent_length, indexable
from sklearn.utils._param_validation import HasMethods, Interval
from sklearn.utils.validation import check_is_fitted

from plcore.arrays.checks import is_real
from plcore.arrays.types import AnyArray, BoolArray, FloatArray, IntArray, LabelsLike, MatrixLike
from plcore.kernels.scores import softmax_rows
from plcore.labels.accuracy import PartialKFold
from plcore.labels.candidates import check_candidates
from plcore.labels.temperature import fit_temperature
from plcore.labels.training import CandidateScoreMixin, require_y
from plcore.labels.weights import score_columns
from plcore.neighbors.classifier import PLKNeighborsClassifier


def checks_needed(miss: float) -> int:
    """Return the number of rows with known truth needed before any label can be left out: m >= 1 / miss - 1,
    19 for 0.05.

    miss : the share of lists that may lack the truth, in (0, 1). Raises ValueError.
    """
    return ceil(1 / _exactly(miss)) - 1


def conformity_scores(shares: ArrayLike, truth: ArrayLike) -> FloatArray:
    """Return (c,) the scores 1 - p(y) of rows with known truth.

    shares : (c, m) the model's shares inside each row's candidates before any answer
    truth : (c,) class numbers; -1 if the truth is not a candidate: the score is then infinite
    Raises ValueError for other numbers, and for values that are not numbers, such as class names.
    """
    shares, truth = np.asarray(shares, dtype=np.float64), np.asarray(truth)
    m = shares.shape[-1]
    if truth.dtype.kind not in "iuf" or not ((truth >= -1) & (truth < m) & (truth % 1 == 0)).all():
        raise ValueError(
            f"truth must be class numbers, columns of shares from 0 to {m - 1}, or -1 if the truth is not among the "
            f"candidates. Got {truth.tolist()[:6]!r}. Fix: for names, pandas.Index(classes).get_indexer(names)."
        )
    number: IntArray = truth.astype(np.int64)
    given = shares[np.arange(len(number)), np.maximum(number, 0)]
    return np.where(number >= 0, 1.0 - given, np.inf)


def conformal_threshold(scores: ArrayLike, miss: float) -> float:
    """Return q, the largest score of a label on the shortlist; infinite if nothing may be left out because
    there are too few scores, or too many infinite ones.

    scores : (c,) from `conformity_scores`, in any order      miss : in (0, 1)
    Raises ValueError.
    """
    scores = np.sort(np.asarray(scores, dtype=np.float64))
    if np.isnan(scores).any():
        raise ValueError("scores must be numbers. Got NaN. Fix: leave out rows whose truth is not known.")
    # (m + 1)(1 - a) in exact arithmetic: rounding must not turn 19 into 20.
    rank = len(scores) + 1 - floor((len(scores) + 1) * _exactly(miss))
    return float(scores[rank - 1]) if rank <= len(scores) else np.inf


STRATA = 3
"""Maximum number of strata, each of checks with similar margins."""


@dataclass(frozen=True)
class MarginThresholds:
    """Thresholds by the model's margin for a row.

    cuts : (k - 1,) margins, ascending; the stratum of a row is the number of cuts not above its margin
    thresholds : (k,) one per stratum, from `conformal_threshold`
    """

    cuts: FloatArray
    thresholds: FloatArray

    @classmethod
    def fit(cls, scores: ArrayLike, sureness: ArrayLike, miss: float) -> MarginThresholds:
        """Return the thresholds from checks with these scores (c,) and margins (c,).

        There are up to STRATA strata with about equally many checks, as long as each has enough for a finite threshold,
        else one stratum. Raises ValueError as `conformal_threshold` does."""
        scores, sureness = np.asarray(scores, dtype=np.float64), np.asarray(sureness, dtype=np.float64)
        needed = checks_needed(miss)
        for count in range(max(1, min(STRATA, len(scores) // needed)), 0, -1):
            cuts = np.sort(sureness)[[len(scores) * one // count for one in range(1, count)]]
            strata = np.searchsorted(cuts, sureness, side="right")
            if count == 1 or np.bincount(strata, minlength=count).min() >= needed:
                break
        found = [conformal_threshold(scores[strata == one], miss) for one in range(count)]
        return cls(cuts, np.array(found))

    def of(self, sureness: ArrayLike) -> FloatArray:
        """Return (n,) the threshold of rows with these margins (n,)."""
        return np.asarray(self.thresholds[np.searchsorted(self.cuts, sureness, side="right")])


def conformal_sets(shares: ArrayLike, candidates: LabelsLike, threshold: float | FloatArray) -> BoolArray:
    """Return (n, m) the labels on the shortlist of each row, all of them candidates; only the likeliest if
    none is within the threshold.

    shares : (n, m) the model's shares inside the candidates      candidates : bool (n, m)
    threshold : one for all rows, or (n,)
    The lists of a smaller miss rate contain those of a larger one.
    """
    shares, candidates = np.asarray(shares, dtype=np.float64), np.asarray(candidates, dtype=bool)
    within = candidates & (1.0 - shares <= np.reshape(threshold, (-1, 1)))
    best = np.where(candidates, shares, -1.0).argmax(axis=1)
    alone = candidates & (np.arange(candidates.shape[1]) == best[:, None])
    return np.asarray(np.where(within.any(axis=1, keepdims=True), within, alone))


def _exactly(miss: float) -> Fraction:
    """Return the rate as written in decimals: 0.05 is exactly a twentieth."""
    if not is_real(miss) or not 0 < miss < 1:
        raise ValueError(f"miss must be a number in (0, 1). Got {miss!r}.")
    rate = Fraction(str(float(miss)))
    near = rate.limit_denominator(1_000_000)
    return near if 0 < near < 1 else rate  # rates below one in a million must not become 0


# Calibrated probabilities, fitted without clean labels: one temperature, chosen by held-out candidate sets.


@dataclass(eq=False, repr=False)
class PLCalibratedClassifier(CandidateScoreMixin, MetaEstimatorMixin, BaseEstimator):  # type: ignore[misc]
    """A learner whose `predict_proba` is softmax(scores / T), with T maximising the likelihood of held-out candidate
    sets.

    Temperature scaling (Guo et al., ICML 2017) with the likelihood of partial labels instead of labels: T maximises
    sum_i log sum_{c in S_i} p_c(x_i), with p from models that have not seen row i. It is the counterpart of
    scikit-learn's `CalibratedClassifierCV`, which takes only label vectors. Predictions stay those of the learner. If
    distractors resemble the truth, sets are likelier than labels, and p is slightly overconfident.

    Parameters
    ----------
    estimator : learner from candidates with `decision_function` or `predict_proba` (its logarithm is then scaled);
        None: PLKNeighborsClassifier().
    cv : folds, an int for PartialKFold with a fixed seed, or a scikit-learn splitter.

    Attributes
    ----------
    estimator_ : fitted on all rows.      temperature_ : T, in units of the scores      classes_ (m,)
    candidate_likelihood_ : mean probability of the held-out rows' candidate sets at T.
    """

    _parameter_constraints: ClassVar[dict[str, list[object]]] = {
        "estimator": [HasMethods(["fit", "predict"]), None],
        "cv": [Interval(Integral, 2, None, closed="left"), HasMethods(["split"])],
    }

    estimator: BaseEstimator | None = None
    cv: int | BaseCrossValidator = 5

    @_fit_context(prefer_skip_nested_validation=False)  # type: ignore[untyped-decorator]
    def fit(self, X: MatrixLike, y: LabelsLike) -> PLCalibratedClassifier:
        """Fit on X (n, d) and y: labels (n,), candidates (n, m) or n sets of class names.

        Raises CandidateError for invalid candidates, ValueError for fewer rows than folds, and the learner's errors.
        """
        require_y(self, y)
        candidates, self.classes_ = check_candidates(y)
        check_consistent_length(X, candidates)
        named = pd.DataFrame(candidates, columns=pd.Index(self.classes_))
        learner = PLKNeighborsClassifier() if self.estimator is None else self.estimator
        # First, so that wrong input gets the learner's own error messages.
        self.estimator_ = clone(learner).fit(X, named)
        folds = self.cv if hasattr(self.cv, "split") else PartialKFold(int(self.cv), random_state=0)
        (X,) = indexable(X)
        found, seen = [], []
        for train, test in folds.split(X, candidates):
            model = clone(learner).fit(_safe_indexing(X, train), named.iloc[train])
            found.append(_scores(model, _safe_indexing(X, test)))
            seen.append(candidates[test])
        scores, inside = np.concatenate(found), np.concatenate(seen)
        self.temperature_ = fit_temperature(scores, inside)
        self.candidate_likelihood_ = float(_shares(scores, self.temperature_).sum(axis=1, where=inside).mean())
        return self

    def predict_proba(self, X: MatrixLike) -> FloatArray:
        """Return (n, m) softmax(scores / temperature_)."""
        check_is_fitted(self)
        return _shares(_scores(self.estimator_, X), self.temperature_)

    def predict(self, X: MatrixLike) -> AnyArray:
        """Return (n,) the learner's predictions."""
        check_is_fitted(self)
        return np.asarray(self.estimator_.predict(X))

    @property
    def n_features_in_(self) -> int:
        """The number of features seen by the fitted learner."""
        return int(self.estimator_.n_features_in_)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = self.estimator is None or self.estimator.__sklearn_tags__().input_tags.sparse
        return tags


def _shares(scores: FloatArray, temperature: float) -> FloatArray:
    """Return (n, m) softmax(scores / temperature)."""
    return np.asarray(softmax_rows(scores / temperature, np.ones(scores.shape, dtype=bool)))


def _scores(model: BaseEstimator, X: MatrixLike) -> FloatArray:
    """Return (n, m) scores of a fitted learner."""
    if not hasattr(model, "decision_function"):
        with np.errstate(divide="ignore"):
            return np.asarray(np.log(model.predict_proba(X)))
    return score_columns(model.decision_function(X)).astype(np.float64)
