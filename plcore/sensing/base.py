"""Code shared by the multi-label learners: reading the data, ranking labels, predictions and their score."""

from __future__ import annotations

from collections.abc import Callable
from numbers import Integral
from typing import Self

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils import Tags, check_consistent_length
from sklearn.utils.validation import check_is_fitted

from plcore.arrays.array_files import check_feature_size
from plcore.arrays.threads import one_thread
from plcore.arrays.types import AnyArray, FeatureMatrix, FloatArray, IntArray, LabelsLike, MatrixLike
from plcore.arrays.words import listed
from plcore.labels.accuracy import score_of
from plcore.labels.candidates import CandidateError
from plcore.labels.training import check_features, require_y
from plcore.labels.vectors import LabelVectors, check_label_vectors
from plcore.sensing.metrics import AUTO, best_threshold, drawn_rows, precision_at


class MultiLabelClassifier(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """Base class of the multi-label learners, which define `_fit` and `_values`, the values for ranking labels.

    y of `fit` is (n, L): 1 yes, 0 no, -1 or NaN not asked; or a plain label vector (n,), one-hot encoded.

    Parameters
    ----------
    threshold : value above which a label is a yes. "auto": the one with the highest F1 on the known cells,
        all labels together, using values of each row from a fit without it (see the learner); 0.5 if no known cell is a
        yes. Or a number: 0.5 is halfway between no and yes. A label vector needs none: the highest counts.

    Attributes
    ----------
    classes_ (L,), n_features_in_
    transduction_ : (n, L) int8 labels of the training rows, observed cells kept; for a label vector (n,) itself.
    threshold_ : the threshold in use; nan after a label vector.
    """

    threshold: float | str
    threshold_: float
    classes_: AnyArray
    transduction_: AnyArray
    _single: bool

    def fit(self, X: MatrixLike, y: LabelsLike) -> Self:
        """Fit on X (n, d), dense or CSR, and y as described in the class. Raises CandidateError, naming row
        and column, for other cells, repeated names and a y without any known cell; ValueError for wrong
        features."""
        self._validate_params()
        X = check_features(self, X, reset=True)
        require_y(self, y, "label vectors (n, L) or a label vector (n,)")
        vectors = check_label_vectors(y)
        check_consistent_length(X, vectors.values)
        check_feature_size(X)
        self.classes_, self._single = vectors.classes, vectors.single
        with one_thread():
            self._fit(X, vectors)
        return self

    def _fit(self, X: FeatureMatrix, vectors: LabelVectors) -> None:
        raise NotImplementedError

    def _values(self, X: FeatureMatrix) -> FloatArray:
        """Return (n, L) the values for ranking labels, from checked features."""
        raise NotImplementedError

    def _check(self, X: MatrixLike) -> FeatureMatrix:
        """Return the checked features of new rows."""
        check_is_fitted(self)
        return check_features(self, X, reset=False)

    def _find_threshold(self, vectors: LabelVectors, left_out: Callable[[IntArray], FloatArray]) -> None:
        """Find the threshold. left_out(rows) : returns (r, L) values of these training rows' labels, as if the row had
        been left out"""
        if self._single:
            self.threshold_ = float("nan")
        elif self.threshold != AUTO:
            self.threshold_ = float(self.threshold)
        else:
            rows = drawn_rows(vectors.known)
            known = vectors.known[rows]
            self.threshold_ = best_threshold(left_out(rows)[known], vectors.values[rows][known] == 1)

    def _finish(self, vectors: LabelVectors, mean: FloatArray) -> None:
        """Set the attributes of the fit. mean (n, L) : `_values` of the training cells; a label is yes above the
        threshold"""
        if self._single:
            self.transduction_ = self.classes_[vectors.values.argmax(axis=1)]
        elif vectors.known.all():
            self.transduction_ = vectors.values.astype(np.int8)
        else:
            self.transduction_ = np.where(vectors.known, vectors.values, mean > self._cut).astype(np.int8)

    def _from_single(self, scores: FloatArray) -> FloatArray:
        """Return scores (n, m) of a label vector in scikit-learn's form: (n,) = s1 - s0 for two classes."""
        return np.asarray(scores[:, 1] - scores[:, 0]) if scores.shape[1] == 2 else scores

    @property
    def _cut(self) -> float:
        """Return the threshold in units of `_values`; there is none after a label vector."""
        return self.threshold_

    def _decided(self, values: FloatArray) -> FloatArray:
        """Return the distances of values (n, L) from the threshold; after a label vector as `_from_single`."""
        return self._from_single(values) if self._single else values - self._cut

    def predict(self, X: MatrixLike) -> AnyArray:
        """Return (n, L) int8, 1 if the value is above `threshold_`; after a label vector (n,) the label of
        the highest value."""
        values = self._values(self._check(X))
        if self._single:
            return np.asarray(self.classes_[values.argmax(axis=1)])
        return np.asarray((values > self._cut).astype(np.int8))

    def top_labels(self, X: MatrixLike, t: int = 1) -> AnyArray:
        """Return (n, t) the t most probable labels of each row, best first, members of `classes_`; ties to
        the first."""
        values = self._values(self._check(X))
        if not isinstance(t, Integral) or isinstance(t, bool) or not 1 <= t <= values.shape[1]:
            raise ValueError(f"t must be an int from 1 to the {values.shape[1]} labels. Got {t!r}.")
        return np.asarray(self.classes_[top_columns(values, t)])

    def score(self, X: MatrixLike, y: LabelsLike, sample_weight: ArrayLike | None = None) -> float:
        """Return the accuracy for a label vector, or for a label matrix the precision of the first label: the share of
        rows whose highest ranked known label is a yes. Rows without a known label do not count. A DataFrame may have
        its columns in any order. Raises NotFittedError before `fit`, CandidateError for columns that are not the
        labels."""
        check_is_fitted(self)
        if self._single:
            return score_of(self.predict(X), y, self.classes_, sample_weight)
        return precision_at(self._cells(y), self._values(self._check(X)), 1, sample_weight=sample_weight)

    def _cells(self, y: LabelsLike) -> AnyArray:
        """Return (n, L) int8 the cells of y, with the columns in the order of `classes_`, by name if they have
        names."""
        vectors = check_label_vectors(y, matrix=True)
        place: IntArray = np.arange(len(self.classes_))
        if isinstance(y, pd.DataFrame):
            place = pd.Index(vectors.classes).get_indexer(pd.Index(self.classes_))
        if len(vectors.classes) != len(place) or (place < 0).any():
            raise CandidateError(
                f"y must have one column for each of the {len(place)} labels: "
                f"{listed([str(name) for name in self.classes_])}. Got {len(vectors.classes)}: "
                f"{listed([str(name) for name in vectors.classes])}. Fix: give the columns that y had in fit."
            )
        return vectors.cells[:, place]

    def __sklearn_tags__(self) -> Tags:
        # `multi_label` stays off: its check requires `predict` to return the type of y, and ours is int8. The other
        # checks of that tag are in tests/plcore/sensing/test_estimators.py.
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags


def top_columns(values: FloatArray, t: int) -> IntArray:
    """Return (n, t) the columns with the highest values, best first; ties to the first column."""
    return np.argsort(-values, axis=1, kind="stable")[:, :t]
