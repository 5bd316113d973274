"""One linear SVM for each label: the baseline without compression."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from sklearn.svm import LinearSVC
from sklearn.utils._param_validation import StrOptions

from plcore.common.types import AnyArray, FloatArray
from plcore.labels.vectors import LabelVectors
from plcore.sensing.base import MultiLabelClassifier
from plcore.sensing.bml_cs import POSITIVE


class OneVsAllSVC(MultiLabelClassifier):
    """scikit-learn's `LinearSVC` for each label.

    C : penalty of an error; choose it by cross-validation, `score` is the precision of the first label.
    missing : "zero": labels not asked are taken for no, as in the paper; "skip": each label is learned from the
        rows that know it. A label of which only one answer is known is always answered so, with a score of 1 or -1,
        one of which nothing is known with -1.
    Attributes: as `MultiLabelClassifier`, and coef_ (L, d), intercept_ (L,).
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "C": [POSITIVE],
        "missing": [StrOptions({"zero", "skip"})],
    }

    def __init__(self, C: float = 1.0, missing: str = "zero") -> None:
        self.C = C
        self.missing = missing

    def _fit(self, X: Any, vectors: LabelVectors) -> None:
        L = vectors.values.shape[1]
        self.coef_, self.intercept_ = np.zeros((L, X.shape[1])), np.full(L, -1.0)
        asked = np.flatnonzero(vectors.known.any(axis=1))
        for label in range(L):
            rows = asked if self.missing == "zero" else np.flatnonzero(vectors.known[:, label])
            y = vectors.values[rows, label]
            if len(np.unique(y)) < 2:
                self.intercept_[label] = 1.0 if len(y) and y[0] else -1.0
                continue
            svm = LinearSVC(C=self.C, dual="auto", max_iter=10_000, random_state=0).fit(X[rows], y)
            self.coef_[label], self.intercept_[label] = svm.coef_[0], svm.intercept_[0]
        self._finish(vectors, vectors.values if vectors.known.all() else self._values(X) + 0.5)

    def _values(self, X: Any) -> FloatArray:
        return np.asarray(X @ self.coef_.T + self.intercept_)

    def decision_function(self, X: Any) -> FloatArray:
        """(n, L) distances from the margins, in units of the margin; after a label vector of two (n,) = s1 - s0."""
        values = self._values(self._check(X))
        return self._from_single(values) if self._single else values

    def predict(self, X: Any) -> AnyArray:
        """(n, L) int8, 1 where the distance is above 0; after a label vector (n,) the label with the highest."""
        values = self._values(self._check(X))
        if self._single:
            return np.asarray(self.classes_[values.argmax(axis=1)])
        return np.asarray((values > 0).astype(np.int8))
