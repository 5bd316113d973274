"""One linear SVM per label: the baseline without compression."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from sklearn.utils._param_validation import StrOptions

from plcore.arrays.types import FloatArray, IntArray, Matrix, MatrixLike
from plcore.labels.vectors import LabelVectors
from plcore.sensing.base import MultiLabelClassifier
from plcore.sensing.bml_cs import POSITIVE
from plcore.sensing.metrics import AUTO, THRESHOLD

FOLDS = 3  # folds of rows, for values of rows left out: SVMs have no closed form for them


@dataclass(eq=False, repr=False)
class OneVsAllSVC(MultiLabelClassifier):
    """scikit-learn's `LinearSVC` for each label.

    C : penalty of an error; choose it by cross-validation: `score` is the precision of the first label.
    missing : "skip": each label is learnt from the rows where it is known; "zero": unasked labels count as no, as in
        the paper. A label with only one known answer is always predicted so, an unknown label as no: its distance from
        the margin is 1 or -1.
    threshold : as in `MultiLabelClassifier`, for the value (1 + distance from the margin) / 2, which is 0 and 1 at the
        margins of no and yes; 0.5 is the threshold of `LinearSVC`. "auto": values of each row from SVMs fitted to the
        other two of three seeded folds of rows, so a fit takes three times as long.
    Attributes: as in `MultiLabelClassifier`, and coef_ (L, d), intercept_ (L,).
    """

    _parameter_constraints: ClassVar[dict[str, list[object]]] = {
        "C": [POSITIVE],
        "missing": [StrOptions({"zero", "skip"})],
        **THRESHOLD,
    }

    C: float = 1.0
    missing: str = "skip"
    threshold: float | str = AUTO

    def _fit(self, X: Matrix, vectors: LabelVectors) -> None:
        asked = np.flatnonzero(vectors.known.any(axis=1))
        self.coef_, self.intercept_ = self._machines(X, vectors, asked)

        def left_out(rows: IntArray) -> FloatArray:
            fold = np.empty(X.shape[0], dtype=np.int64)
            fold[np.random.default_rng(0).permutation(asked)] = np.arange(len(asked)) % FOLDS
            values = np.empty((len(rows), len(self.classes_)))
            for k in range(FOLDS):
                there = fold[rows] == k
                machines = self._machines(X, vectors, asked[fold[asked] != k])
                values[there] = _distances(X[rows[there]], *machines)
            return 0.5 * (1.0 + values)

        self._find_threshold(vectors, left_out)
        self._finish(vectors, vectors.values if vectors.known.all() else self._values(X))

    def _machines(self, X: Matrix, vectors: LabelVectors, inside: IntArray) -> tuple[FloatArray, FloatArray]:
        """Return coef (L, d) and intercept (L,) of SVMs fitted to these rows."""
        from sklearn.svm import LinearSVC  # costs 4 MB in every process that loads it

        L = vectors.values.shape[1]
        coef, intercept = np.zeros((L, X.shape[1])), np.full(L, -1.0)
        for label in range(L):
            rows = inside if self.missing == "zero" else inside[vectors.known[inside, label]]
            y = vectors.values[rows, label]
            if len(np.unique(y)) < 2:
                intercept[label] = 1.0 if len(y) and y[0] else -1.0
                continue
            # The primal solver uses no random numbers: all threads of a process share liblinear's generator.
            svm = LinearSVC(C=self.C, dual=False, max_iter=10_000).fit(X[rows], y)
            coef[label], intercept[label] = svm.coef_[0], svm.intercept_[0]
        return coef, intercept

    def _values(self, X: Matrix) -> FloatArray:
        return _distances(X, self.coef_, self.intercept_)

    @property
    def _cut(self) -> float:
        return 2.0 * self.threshold_ - 1.0

    def decision_function(self, X: MatrixLike) -> FloatArray:
        """Return (n, L) distances from the margins, in units of the margin, minus that of the threshold, so
        that yes is > 0; after a label vector the distances, for two labels (n,) = s1 - s0."""
        return self._decided(self._values(self._check(X)))


def _distances(X: Matrix, coef: FloatArray, intercept: FloatArray) -> FloatArray:
    """Return (n, L) distances from the margins."""
    return np.asarray(X @ coef.T + intercept)
