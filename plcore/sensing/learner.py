"""Label vectors learnt one answer at a time, and the cell to ask about next. No I/O, no clock, no hidden
randomness."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike
from scipy import linalg
from scipy.linalg import blas
from sklearn.base import clone
from sklearn.utils import check_array, check_consistent_length, check_random_state

from plcore.arrays.checks import check_choice
from plcore.arrays.threads import one_thread
from plcore.arrays.types import (
    AnyArray,
    BoolArray,
    FeatureMatrix,
    FloatArray,
    IntArray,
    LabelsLike,
    Matrix,
    MatrixLike,
    is_sparse,
)
from plcore.labels.candidates import CandidateError
from plcore.labels.vectors import UNKNOWN, check_label_vectors
from plcore.sensing.bml_cs import BMLCSClassifier, draw_projection
from plcore.sensing.information import (
    CRITERIA,
    DEFAULTS,
    KINDS,
    CellPosteriors,
    best_first,
    cell_batch,
    greedy_rows,
    random_scores,
)
from plcore.sensing.metrics import AUTO, EVEN
from plcore.sensing.noise import Noise, scale_of
from plcore.sensing.projection import Projection
from plcore.sensing.recovery import recover
from plcore.sensing.regression import Regression, make_kernel
from plcore.sensing.rows import RowInference

# BML-CS fitted to a table with missing labels: beliefs about every label of every row, before further answers.


@dataclass(frozen=True, eq=False)
class Belief:
    """A fit to n rows of L labels, compressed to K numbers.

    inside (n,) bool : training rows, which have a known label
    fitted (n, K) : the regressions' predictions for each row      mean, gamma (n, L) : of the labels
    prior : (a0, b0) of the labels' precisions      rounds : rounds of inference for a row
    threshold : mean above which a label of a new row is a yes
    marginal : whether unknown labels count with their beliefs; otherwise as no
    """

    projection: Projection
    noise: Noise
    regression: Regression
    inside: BoolArray
    fitted: FloatArray
    mean: FloatArray
    gamma: FloatArray
    prior: tuple[float, float]
    rounds: int
    threshold: float
    marginal: bool


def fit_belief(classifier: BMLCSClassifier, X: Matrix, cells: AnyArray, classes: AnyArray) -> Belief:
    """Fit a clone of the classifier to features X (n, d) and cells (n, L), which may all be unknown.

    Rows without a known label are not used for training; the beliefs about them follow from the other rows.
    """
    known = cells != UNKNOWN
    inside = known.any(axis=1)
    model = clone(classifier)
    prior = (model.a0, model.b0)
    if known.any():
        model.fit(X, pd.DataFrame(cells, columns=list(classes)))
        projection, noise = model._projection, model._noise
        regression, fitted = _of_all_rows(model, X, inside)
        mean, gamma, threshold = model.label_mean_, model.label_gamma_, model.threshold_
    else:
        projection, noise, regression = _without_labels(model, X, cells.shape[1])
        fitted = np.zeros((len(known), len(projection.Phi)))
        mean, gamma = np.zeros((2, *known.shape))
        threshold = EVEN if model.threshold == AUTO else float(model.threshold)
    out = ~inside
    if out.any():  # use the block schedule in any mode: questions need all the precisions
        rows = RowInference(
            projection, noise, np.zeros((int(out.sum()), known.shape[1])), known[out], fitted[out], *prior
        ).iterate(model.max_iter, "block")
        mean[out], gamma[out] = rows.mean, rows.gamma
    marginal = model.missing == "block"
    return Belief(
        projection, noise, regression, inside, fitted, mean, gamma, prior, model.max_iter, threshold, marginal
    )


def _of_all_rows(model: BMLCSClassifier, X: Matrix, inside: BoolArray) -> tuple[Regression, FloatArray]:
    """Return the regression over all rows, and the predictions (n, K) of the fitted coefficients for each row."""
    at, everywhere = model._at, inside.all()
    regression = at.parent if everywhere else Regression(at.parent.kernel, X)
    if at.parent.dual and regression.dual:  # the kernel is already computed
        between = regression.moments
        return regression, (between if everywhere else between[:, inside]) @ model._coefficients
    return regression, at.predict(X, model._coefficients)


def _without_labels(model: BMLCSClassifier, X: Matrix, L: int) -> tuple[Projection, Noise, Regression]:
    """Return the final Phi, and the noise as if every row had one yes, half of it explained by the features."""
    draw = check_random_state(model.random_state)
    projection = Projection(draw_projection(model.n_components, L, draw))
    kernel = make_kernel(model.kernel, X, model.gamma, model.degree, model.coef0, model.fit_intercept)
    half = 0.5 / len(projection.Phi)
    scale = scale_of(kernel, X)
    total = half if model.noise is None else float(model.noise)
    prior = half / scale if model.prior_variance is None else float(model.prior_variance)
    return projection, Noise(total, prior, model.split), Regression(kernel, X)


# The covariance of the regressions over a table of rows, with a rank-one update per answer.
#
# V = X C X', C = (X' diag(w) X / ridge + I)^-1: the uncertainty of W' x for every row, in units of the prior variance
# tau2, when row i has been measured with noise ridge / w_i. Measuring a row again, or withdrawing a measurement, is a
# Sherman-Morrison update. Stored as C (d, d) or V (n, n), whichever is smaller.


class RowCovariance:
    """The covariance for rows with these weights. weights (n,) : w of each row, 0 for rows not measured. Attribute:
    variances (n,), the diagonal of V."""

    def __init__(self, regression: Regression, ridge: float, weights: FloatArray) -> None:
        self.ridge, self.dual = ridge, regression.dual
        if self.dual:
            self._matrix = _given(regression.moments, np.flatnonzero(weights > 0), ridge, weights)
            self.variances = self._matrix.diagonal().copy()
            return
        self._features: FeatureMatrix = regression.features(regression.rows)
        scaled = _scaled(self._features, np.sqrt(weights / ridge))
        product = scaled.T @ scaled
        precision = product.toarray() if is_sparse(product) else np.asarray(product)
        precision.flat[:: len(precision) + 1] += 1.0
        self._matrix = linalg.inv(precision, check_finite=False)
        self._matrix = np.ascontiguousarray(0.5 * (self._matrix + self._matrix.T))
        images = np.asarray(self._features @ self._matrix)
        product = self._features.multiply(images) if is_sparse(self._features) else self._features * images
        self.variances = np.asarray(product.sum(axis=1)).ravel()

    def column(self, row: int) -> FloatArray:
        """Return (n,) V_:i."""
        if self.dual:
            return np.asarray(self._matrix[row])
        return np.asarray(self._features @ (self._matrix @ self._row(row)))

    def measure(self, row: int, weight: float) -> FloatArray:
        """Add `weight` to that of a row; a negative one withdraws it. Returns the previous V_:i, (n,)."""
        column = self.column(row).copy()
        scale = 1.0 / (self.ridge / weight + column[row])
        image = column if self.dual else self._matrix @ self._row(row)
        # Update in place the transposed matrix, which is equal and in Fortran order.
        blas.dger(-scale, image, image, a=self._matrix.T, overwrite_a=1, overwrite_x=0, overwrite_y=0)
        self.variances = self.variances - scale * column**2
        return column

    def _row(self, row: int) -> FloatArray:
        picked = self._features[[row]]
        return np.asarray(picked.toarray() if is_sparse(picked) else picked).ravel()


def _given(prior: FloatArray, inside: IntArray, ridge: float, weights: FloatArray) -> FloatArray:
    """Return (n, n) the covariance `prior` after the rows inside were measured. Holds at most four such matrices."""
    if not len(inside):
        return prior.copy()
    shifted = prior[np.ix_(inside, inside)]
    shifted.flat[:: len(inside) + 1] += ridge / weights[inside]
    lower = linalg.cholesky(shifted.T, lower=True, overwrite_a=True, check_finite=False)
    # half = lower^-1 prior[inside], computed in place: columns of the transposed matrix are its rows.
    half = blas.dtrsm(1.0, lower, prior[inside].T, side=1, lower=1, trans_a=1, overwrite_b=1)
    given: FloatArray = half @ half.T
    return np.subtract(prior, given, out=given)


def _scaled(features: FeatureMatrix, factors: FloatArray) -> FeatureMatrix:
    """Return the rows times factors."""
    if is_sparse(features):
        return features.multiply(factors[:, None]).tocsr()
    return features * factors[:, None]


class SensingLearner:
    """BML-CS over a table with missing labels. It learns answers by rank-one updates, and ranks questions.

    classifier : the `BMLCSClassifier` to fit, None for its defaults      random_state : seed of "random" scores

    Call `fit`, then `answer` and `next` in any order; `refresh` fits again on all known labels. The same table and the
    same answers in the same order give the same state, and after `refresh` their order does not matter. Between
    refreshes, Phi, the noise, and the label posteriors of other rows do not change; the predictions of the regressions
    (`predict_mean`, `row_variance_`) are up to date. A row without a known label is not used for training: its first
    answer adds it, and withdrawing its last answer removes it.

    Attributes
    ----------
    classes_ (L,)      cells_ (n, L) int8 : 1, 0, -1 not asked
    label_mean_ (n, L) : posterior means; known cells keep their value
    threshold_ : above which mean `predict` says yes, by the `threshold` of the classifier; found again by each
    `refresh`
    """

    classes_: AnyArray
    cells_: AnyArray
    label_mean_: FloatArray
    threshold_: float

    def __init__(self, classifier: BMLCSClassifier | None = None, *, random_state: int = 0) -> None:
        self.classifier = BMLCSClassifier() if classifier is None else classifier
        self.random_state = random_state

    def fit(self, X: MatrixLike, y: LabelsLike) -> Self:
        """Start with features X (n, d), dense or CSR, and label vectors y (n, L) as for `BMLCSClassifier.fit`; here all
        cells may be unknown. Raises CandidateError, naming row and column, for wrong cells."""
        self._start(X, y)
        return self.refresh()

    @classmethod
    def means(cls, classifier: BMLCSClassifier, X: Matrix, y: LabelsLike) -> FloatArray:
        """Return (n, L) `label_mean_` after `fit`, without the two square matrices, as large as the smaller of rows and
        features, that answers need."""
        learner = cls(classifier)
        learner._start(X, y)
        with one_thread():
            return fit_belief(classifier, learner._X, learner.cells_, learner.classes_).mean

    def _start(self, X: MatrixLike, y: LabelsLike) -> None:
        self._X = check_array(X, accept_sparse="csr", dtype=np.float64)
        vectors = check_label_vectors(y, matrix=True)
        check_consistent_length(self._X, vectors.values)
        self.cells_, self.classes_ = vectors.cells, vectors.classes

    def refresh(self) -> Self:
        """Refit on the current cells."""
        with one_thread():
            self._refresh()
        return self

    def _refresh(self) -> None:
        belief = fit_belief(self.classifier, self._X, self.cells_, self.classes_)
        self._projection, self._noise, self._regression = belief.projection, belief.noise, belief.regression
        self._prior, self._rounds, self._marginal = belief.prior, belief.rounds, belief.marginal
        self.threshold_ = belief.threshold
        self._fitted, self._inside, self.label_mean_ = belief.fitted, belief.inside, belief.mean
        known = self.cells_ != UNKNOWN
        self._means = RowCovariance(self._regression, self._noise.ridge, self._inside.astype(np.float64))
        self._unsure = RowCovariance(self._regression, self._noise.ridge, known.mean(axis=1))
        # Targets of the regressions, without rows not used for training.
        values = self.label_mean_ if self._marginal else np.where(known, self.cells_, 0.0)
        self._targets = values @ self._projection.Phi.T
        self._targets[~self._inside] = 0.0
        self._cells = CellPosteriors(self._projection, self._noise, belief.gamma, self.row_variance_)

    @property
    def row_variance_(self) -> FloatArray:
        """Return (n,) x' S_W x: the uncertainty of each entry of W' x, with rows weighted by the share of their known
        labels."""
        return np.asarray(np.maximum(self._unsure.variances, 0.0) * self._noise.prior)

    @property
    def label_variance_(self) -> FloatArray:
        """Return (n, L) the variance of each label, including that of W up to 1% of its noise; 0 if known."""
        return self._cells.at("wide")[0].variance.copy()

    def answer(self, row: int, label: int, value: int | None) -> Self:
        """Learn one answer: 1 yes, 0 no, None or -1 to withdraw it. label : column number.

        Costs O(size^2), with size the smaller of rows and features, and the recovery of one row. Raises ValueError for
        a row, a label or a value that does not exist.
        """
        self._check_number("row", row, len(self.cells_))
        self._check_number("label", label, len(self.classes_))
        cells = self.cells_[row].copy()
        value = UNKNOWN if value is None else value
        if value not in (1, 0, UNKNOWN):
            raise ValueError(f"An answer is 1 (yes), 0 (no), or -1 or None (not asked). Got {value!r}.")
        cells[label] = value
        return self._take(row, cells)

    def answer_row(self, row: int, cells: ArrayLike) -> Self:
        """Learn a whole row: (L,) of 1, 0 and -1 or NaN in place of its cells, at the cost of one answer. Raises
        ValueError for a row that does not exist, CandidateError for other cells."""
        self._check_number("row", row, len(self.cells_))
        vectors = check_label_vectors(np.asarray(cells)[None], matrix=True)
        if vectors.values.shape[1] != len(self.classes_):
            raise CandidateError(f"A row has {len(self.classes_)} labels. Got {vectors.values.shape[1]}.")
        return self._take(row, vectors.cells[0])

    def _check_number(self, name: str, number: object, size: int) -> None:
        if not isinstance(number, int | np.integer) or not 0 <= number < size:
            raise ValueError(f"{name} must be an int from 0 to {size - 1}. Got {number!r}.")

    def _take(self, row: int, cells: AnyArray) -> Self:
        """Replace the cells of a row. Inputs must be valid."""
        before, known = self.cells_[row] != UNKNOWN, cells != UNKNOWN
        if (cells == self.cells_[row]).all():
            return self
        self.cells_[row] = cells
        share = (int(known.sum()) - int(before.sum())) / len(cells)
        with one_thread():
            if share:
                self._unsure.measure(row, share)
            if not known.any():
                self._leave(row)
            elif not self._inside[row]:
                # The row joins with its prediction as target, which changes no prediction yet.
                self._means.measure(row, 1.0)
                self._targets[row], self._inside[row] = self._fitted[row], True
            self._infer_row(row, known, np.where(before, 1.0, self._cells.gamma[row]))
        self._cells.spread = self.row_variance_
        return self

    def _leave(self, row: int) -> None:
        """Remove a row from the regressions by withdrawing one measurement."""
        column = self._means.measure(row, -1.0)
        gain = column / (column[row] - self._noise.ridge)
        self._fitted += np.outer(gain, self._targets[row] - self._fitted[row])
        self._targets[row], self._inside[row] = 0.0, False

    def _infer_row(self, row: int, known: BoolArray, gamma: FloatArray) -> None:
        """Infer the labels of one row, and their effect on the regressions, including its own fitted value."""
        feeding = self._inside[row]
        column = self._means.column(row) / self._noise.ridge if feeding else np.zeros(len(self._fitted))
        values = np.where(known, self.cells_[row], 0).astype(np.float64)
        old, base = self._targets[row].copy(), self._fitted[row].copy()
        one = RowInference(
            self._projection, self._noise, values[None], known[None], base[None].copy(), *self._prior, gamma[None]
        )
        # Put the answer in place before recovery; otherwise it ends in another optimum.
        one.mean = np.where(known, values, self.label_mean_[row])[None]
        for _ in range(self._rounds):
            target = one.compressed[0] if self._marginal else one.observed[0]
            if feeding:
                one.fitted = (base + column[row] * (target - old))[None]
            one.iterate(1, "block")
        if feeding:
            target = one.compressed[0] if self._marginal else one.observed[0]
            self._fitted += np.outer(column, target - old)
            self._targets[row] = target
        self.label_mean_[row] = one.mean[0]
        self._cells.replace(row, one.gamma[0])

    def predict(self, X: MatrixLike) -> AnyArray:
        """Return (len(X), L) int8, 1 if `predict_mean` is above `threshold_`."""
        return np.asarray((self.predict_mean(X) > self.threshold_).astype(np.int8))

    def predict_mean(self, X: FeatureMatrix) -> FloatArray:
        """Return (len(X), L) posterior means for new rows with all answers so far, by the mode of the
        classifier."""
        X = check_array(X, accept_sparse="csr", dtype=np.float64)
        # E[W] = X' (T - F) / ridge over the training rows.
        duals = np.where(self._inside[:, None], self._targets - self._fitted, 0.0) / self._noise.ridge
        parent = self._regression
        if parent.dual:
            fitted = parent.kernel.between(X, self._X) @ duals
        else:
            fitted = parent.features(X) @ (parent.features(self._X).T @ duals)
        return self._recovered(np.asarray(fitted))

    def _recovered(self, fitted: FloatArray) -> FloatArray:
        mode = self.classifier.mode
        with one_thread():
            return recover(self._projection, self._noise, fitted, mode, self._rounds, *self._prior).mean

    def scores(self, kind: str = "pair", criterion: str | None = None) -> FloatArray:
        """Return the value of each question, higher = ask sooner; -inf if nothing is left to ask.

        kind : "instance", all labels of a row, scores (n,); "label", one label of each row, or "pair", one label of any
            row, scores (n, L)
        criterion : "entropy" of q(y), as in the paper; "variance", x' S_W x of a row or S_jj of a label; "information"
            about W for instances and pairs, about the rest of its row for labels; "margin", the closeness of the mean
            to 0.5; "random". None: variance for instances, else information.
        """
        check_choice("kind", kind, KINDS)
        criterion = DEFAULTS[kind] if criterion is None else criterion
        check_choice("criterion", criterion, CRITERIA)
        unknown = self.cells_ == UNKNOWN
        if criterion == "random":
            asked = unknown.any(axis=1) if kind == "instance" else unknown
            return random_scores(asked.shape, asked, self.random_state)
        if kind == "instance":
            return self._cells.row_scores(criterion, self.label_mean_, unknown)
        return self._cells.cell_scores(kind, criterion, self.label_mean_, unknown)

    def next(
        self,
        kind: str = "pair",
        n: int | None = 1,
        criterion: str | None = None,
        *,
        rows: BoolArray | None = None,
        cells: BoolArray | None = None,
        joint: bool = True,
    ) -> IntArray:
        """Return up to n questions, best first: rows (m,) for "instance", else (row, label) pairs (m, 2).

        n : None: all; for "label" at most one per row
        rows (n,), cells (n, L) bool : allowed questions; None: all. For instances, only rows counts.
        joint : choose a batch together, each question given the previous ones, so that similar rows do not all get the
            same question: for instances by variance or information; for labels and pairs by information about W, with
            at most one cell of a row, and each label at most twice as often as with equal frequencies.
        """
        scores = self.scores(kind, criterion)
        criterion = DEFAULTS[kind] if criterion is None else criterion
        allowed = np.ones(len(scores), dtype=bool) if rows is None else np.asarray(rows, dtype=bool)
        if kind == "instance":
            count = len(scores) if n is None else n
            open_ = allowed & (scores > -np.inf)
            if joint and count > 1 and criterion in ("variance", "information"):
                unsure = self._unsure
                return greedy_rows(unsure.variances, unsure.column, self._noise.ridge, count, open_)
            return best_first(np.where(open_, scores, -np.inf), count)
        scores = np.where(allowed[:, None], scores, -np.inf)
        if cells is not None:
            scores = np.where(np.asarray(cells, dtype=bool), scores, -np.inf)
        count = scores.size if n is None else n
        if joint and count > 1 and criterion == "information":
            return cell_batch(self._cells, scores, self._unsure.column, count)
        if kind == "label":
            only = np.full(scores.shape, -np.inf)
            best = scores.argmax(axis=1)[:, None]
            np.put_along_axis(only, best, np.take_along_axis(scores, best, axis=1), axis=1)
            scores = only
        return np.stack(np.unravel_index(best_first(scores, count), scores.shape), axis=1)
