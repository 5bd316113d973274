"""The objective of the margin learners: the regularised multi-class hinge, exact and smoothed, with its dual.

    F(W) = 1/2 |W|^2 + sum_i c_i loss_i,   loss_i = [1 - max_{k in Y_i} s_k + max_{j in R_i} s_j]_+,   s = x W'

c_i = scale * weights_i; R_i holds the classes outside of the candidates Y_i (PL-SVM), or all but the best
candidate y_i (LM-PLANE, M3PL). With the labels y_i fixed the loss is convex and majorises the above; its dual has
one simplex point a_i for each row: D(a) = sum_i c_i sum_k a_ik - 1/2 |W_a|^2, W_a = -(gradient of the losses).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from scipy import linalg

from plcore.arrays.types import AnyArray, BoolArray, FeatureMatrix, FloatArray, IntArray, Matrix, is_sparse
from plcore.kernels.margin import add_rows, best_candidates, candidate_losses, hard_rows, smooth_rows, spread
from plcore.margin.feature_maps import RANK_TOLERANCE

# Features, or scores, at a time. All passes then find them in a second-level cache of 1 MB; with twice as much, which
# fills it, products took up to twice as long.
BLOCK_BYTES = 1 << 19
FEW = 8  # one in this many entries of the losses' derivative: with more, a product with all of them is slower
# In PL-SVM and LM-PLANE the scores of this many classes are products in single precision, which take half of the time.
# They are rounded to 1e-6 of their size: far below tolerances and smoothings of at least these. Not in M3PL: rounding
# moves its path through 29 stages, and F at its end, by a few parts in 10,000.
SINGLE_CLASSES = 64
SINGLE_TOL, SINGLE_SMOOTHING = 1e-5, 1e-2
NOTHING: FloatArray = np.zeros((0, 0))


@dataclass(frozen=True)
class Smoothed:
    """One evaluation at W: the smoothed F and its gradient, F with the same labels, and a dual value."""

    value: float
    gradient: FloatArray
    objective: float
    dual: float

    @property
    def gap(self) -> float:
        """Upper bound on the distance of `objective` from the least value of the convex problem."""
        return self.objective - self.dual


@dataclass
class HingeProblem:
    """The data of one fit: X (n, d) dense or CSR, candidates (n, m), weights (n,), scale (see the module).

    tol : the relative tolerance that it is solved to, which says how the scores may be rounded (`SINGLE_CLASSES`)
    """

    X: FeatureMatrix
    candidates: BoolArray
    weights: FloatArray
    scale: float
    all_others: bool = False
    gram: FloatArray | None = None  # (d, d), or (d,) of uncorrelated features
    prior: FloatArray | None = None  # (n, m), rows sum to 1: y_i = arg max of s + log prior; None: of s
    tol: float = 0.0
    costs: FloatArray = field(init=False)
    metric: Any = field(init=False, default=None)  # the metric of the last descent (`.majorise.metric_at`)
    _labels: IntArray = field(init=False)
    _starts: IntArray = field(init=False)
    _members: IntArray = field(init=False)
    _favours: FloatArray = field(init=False)
    _single: AnyArray | None = field(init=False, default=None)  # X in single precision, if that is accurate enough

    def __post_init__(self) -> None:
        self.candidates = np.ascontiguousarray(self.candidates)
        self._members = np.nonzero(self.candidates)[1].astype(np.int64)
        self._starts = np.append(0, np.cumsum(self.candidates.sum(axis=1))).astype(np.int64)
        self._labels = np.zeros(len(self.candidates), dtype=np.int64)
        self._favours = np.zeros(len(self._members))
        if self.prior is not None:
            with np.errstate(divide="ignore"):
                share = self.prior / self.prior.max(axis=1, keepdims=True)
                self._favours = np.log(share[self.candidates])
        if self.tol >= SINGLE_TOL and self.candidates.shape[1] >= SINGLE_CLASSES and not is_sparse(self.X):
            self._single = self.X.astype(np.float32)
        self.rescale(self.scale)

    def rescale(self, scale: float) -> None:
        """Set what the losses are multiplied with: C, or C divided by the sum of the weights."""
        self.scale = scale
        self.costs = np.ascontiguousarray(self.weights * scale)

    @property
    def shape(self) -> tuple[int, int]:
        """(classes, features): the shape of W."""
        return self.candidates.shape[1], self.X.shape[1]

    @property
    def sizes(self) -> IntArray:
        """(n,) number of candidates of each row."""
        return np.diff(self._starts)

    @property
    def total(self) -> float:
        """sum_i c_i: F at W = 0 is at most this."""
        return float(self.costs.sum())

    def floor(self, value: float) -> float:
        """Reference of relative tolerances: F, or a millionth of F(0) where F is almost 0."""
        return max(value, 1e-6 * self.total)

    def sample(self, share: int) -> HingeProblem:
        """The problem of every `share`-th row in a fixed random order, its losses scaled up accordingly."""
        n = len(self.candidates)
        rows = np.sort(np.random.default_rng(0).permutation(n)[: n // share])
        weights = self.weights[rows]
        scale = self.total / weights.sum() if weights.any() else self.scale
        gram = None if self.gram is None else self.gram * (self.scale / scale)
        prior = None if self.prior is None else self.prior[rows]
        return HingeProblem(self.X[rows], self.candidates[rows], weights, scale, self.all_others, gram, prior, self.tol)

    def blocks(self) -> Iterator[tuple[slice, FeatureMatrix]]:
        """The rows in pieces, and their features."""
        n, d = self.X.shape
        size = max(64, BLOCK_BYTES // (8 * max(d, self.candidates.shape[1], 1)))
        for begin in range(0, n, size):
            yield slice(begin, min(n, begin + size)), self.X[begin : begin + size]

    def scored(self, W: FloatArray, single: bool = False) -> Iterator[tuple[slice, FeatureMatrix, FloatArray]]:
        """The rows in pieces, their features and their scores at W, which may be overwritten.

        single : whether a product in single precision will do, if there is one
        """
        WT = np.ascontiguousarray(W.T)
        short = WT.astype(np.float32) if single and self._single is not None else None
        for rows, X in self.blocks():
            if short is None or self._single is None:
                yield rows, X, np.ascontiguousarray(X @ WT)
            else:
                yield rows, X, (self._single[rows] @ short).astype(np.float64)

    def labels(self, W: FloatArray) -> IntArray:
        """(n,) y_i = arg max over the candidates of s, or of s + log prior, the first on ties."""
        labels = np.empty(len(self.candidates), dtype=np.int64)
        for rows, _, scores in self.scored(W):
            best_candidates(scores, *self._sets(rows), self._favours, labels[rows])
        return labels

    def candidate_losses(self, W: FloatArray) -> FloatArray:
        """The loss of each row with each candidate as its label, concatenated over the rows."""
        losses = np.empty(len(self._members))
        for rows, _, scores in self.scored(W):
            candidate_losses(scores, *self._sets(rows), losses)
        return losses

    def _sets(self, rows: slice) -> tuple[IntArray, IntArray]:
        """The candidates of some rows, as `best_candidates` takes them."""
        return self._starts[rows.start : rows.stop + 1], self._members

    def objective(self, W: FloatArray) -> float:
        """F(W), exact."""
        return self.hard(W)[0]

    def hard(
        self, W: FloatArray, labels: IntArray | None = None, single: bool = False
    ) -> tuple[float, FloatArray, float]:
        """F(W), a subgradient of the sum of losses (m, d), and the weight of the rows with a loss.

        labels : (n,) fixed labels; None: the best candidates at W.      single : as for `scored`
        """
        fixed = self._labels if labels is None else labels
        gradient = np.zeros(W.shape)
        losses, weight = 0.0, 0.0
        for rows, X, scores in self.scored(W, single):
            starts, members = self._sets(rows)
            if labels is None:
                best_candidates(scores, starts, members, self._favours, fixed[rows])
            slopes = ends, places, values = _room(scores)
            loss, moved = hard_rows(
                scores, starts, members, fixed[rows], self.costs[rows], self.all_others, ends, places, values
            )
            losses, weight = losses + loss, weight + moved
            _add_product(gradient, slopes, X, scores)
        return float(0.5 * np.vdot(W, W)) + losses, gradient, weight

    def smooth(
        self,
        W: FloatArray,
        mu: float,
        labels: IntArray | None = None,
        prior: FloatArray | None = None,
        store: FloatArray | None = None,
    ) -> Smoothed:
        """The smoothed problem at W; see `smooth_rows` for mu (in units of the margin), prior and store."""
        fixed = self._labels if labels is None else labels
        gradient = np.zeros(W.shape)
        smoothed, hinge, linear = 0.0, 0.0, 0.0
        for rows, X, scores in self.scored(W, mu >= SINGLE_SMOOTHING):
            starts, members = self._sets(rows)
            if labels is None:
                best_candidates(scores, starts, members, self._favours, fixed[rows])
            slopes = ends, places, values = _room(scores)
            sums = smooth_rows(
                scores,
                starts,
                members,
                fixed[rows],
                self.costs[rows],
                self.all_others,
                mu,
                NOTHING if prior is None else prior[rows],
                NOTHING if store is None else store[rows],
                ends,
                places,
                values,
            )
            smoothed, hinge, linear = smoothed + sums[0], hinge + sums[1], linear + sums[2]
            _add_product(gradient, slopes, X, scores)
        half = float(0.5 * np.vdot(W, W))
        dual = linear - float(0.5 * np.vdot(gradient, gradient))
        return Smoothed(half + smoothed, gradient + W, half + hinge, dual)


def _room(scores: FloatArray) -> tuple[IntArray, IntArray, FloatArray]:
    """Where `hard_rows` and `smooth_rows` put the derivative by scores (b, m)."""
    most = scores.size + len(scores)
    return (np.empty(len(scores) + 1, dtype=np.int64), np.empty(most, dtype=np.int64), np.empty(most))


def _add_product(
    total: FloatArray, slopes: tuple[IntArray, IntArray, FloatArray], X: FeatureMatrix, room: FloatArray
) -> None:
    """total (m, d) += S'X, S the derivative of the losses by the scores; room : (b, m), overwritten."""
    ends = slopes[0]
    if not is_sparse(X) and ends[-1] * FEW < room.size:
        add_rows(*slopes, X, total)
        return
    spread(*slopes, room)
    if is_sparse(X):
        total += (X.T @ room).T
        return
    moved = ends[1:] > ends[:-1]
    count = np.count_nonzero(moved)
    if count > 0.7 * len(room):
        total += room.T @ X
    elif count:
        total += room[moved].T @ X[moved]


# Where the solvers start: ridge regression on the normalised candidate matrix.

WIDEST = 2048  # features up to which the d x d matrix is made and factored
STEPS = 200
DENSE = 4  # a dense product handles this many cells in the time that a sparse one takes for one entry
TURNED = 8  # rows for each feature up to which features are turned into their principal axes


def gram_matrix(X: FeatureMatrix, weights: FloatArray) -> FloatArray | None:
    """X' diag(weights) X (d, d); None if d is too large for it to pay."""
    d = X.shape[1]
    if d > WIDEST:
        return None
    if is_sparse(X):
        return np.asarray((X.T @ X.multiply(weights[:, None]).tocsr()).toarray())
    if (weights == 1).all():
        return np.asarray(X.T @ X)
    root = X * np.sqrt(weights)[:, None]
    return np.asarray(root.T @ root)


def ridge_start(X: FeatureMatrix, targets: FloatArray, weights: FloatArray, gram: FloatArray | None) -> FloatArray:
    """W (m, d) = T' S X (X' S X + I)^-1, S the weights; by conjugate gradients if there is no gram matrix.

    targets : T (n, m), as `plcore.labels.weights.prior_labels` makes them
    """
    right = np.asarray(X.T @ (targets * weights[:, None]))
    if gram is not None:
        return np.ascontiguousarray(solve_shifted(gram, right).T)
    return np.ascontiguousarray(_conjugate_gradients(X, weights, right).T)


@dataclass(frozen=True)
class Axes:
    """Orthonormal axes of the features, A = rows' mix (D, r), one a column; sparse rows (p, D) stay sparse.

    mix : (p, r); None: the rows are the axes
    """

    rows: FeatureMatrix
    mix: FloatArray | None = None

    def coordinates(self, X: FeatureMatrix) -> FloatArray:
        """Return X A (n, r), for features X (n, D)."""
        products = X @ self.rows.T
        products = products.toarray() if is_sparse(products) else np.asarray(products)
        return np.asarray(products if self.mix is None else products @ self.mix)

    def features(self, W: FloatArray) -> FloatArray:
        """Return W A' (m, D), for weights of the axes W (m, r)."""
        return np.asarray((W if self.mix is None else W @ self.mix.T) @ self.rows)


def principal_axes(X: Matrix, gram: FloatArray | None) -> tuple[FloatArray, Axes] | None:
    """The gram matrix (d,) of the features X (n, d) in their principal axes, and these: there it is diagonal, and the
    solvers go the same way. None for sparse features, and for this many rows that turning them costs more than it
    saves."""
    if gram is None or is_sparse(X) or X.shape[0] > TURNED * X.shape[1]:
        return None
    values, axes = linalg.eigh(gram, driver="evd", check_finite=False)
    return np.maximum(values, 0.0), Axes(np.ascontiguousarray(axes.T))


def row_axes(X: FeatureMatrix, weights: FloatArray) -> tuple[FloatArray | None, Axes] | None:
    """The principal axes of features X (n, d) of fewer rows than features, such as texts, with the gram matrix as
    `gram_matrix` has it: the rows of positive weight span r < d axes, in which all solutions are, so that the solvers
    take the same steps in fewer dimensions. None for other tables, and if products in the axes would cost more."""
    present = weights > 0
    n, d = int(present.sum()), X.shape[1]
    stored = X.nnz if is_sparse(X) else X.size
    if n >= d or n > WIDEST or (d > WIDEST and n * n > DENSE * stored):
        return None
    root = np.sqrt(weights[present])[:, None]
    rows = X[present].multiply(root).tocsr() if is_sparse(X) else X[present] * root
    products = rows @ rows.T
    values, vectors = linalg.eigh(products.toarray() if is_sparse(products) else products, check_finite=False)
    found = values > RANK_TOLERANCE * values.max(initial=0.0)
    if not found.any():
        return None
    axes = Axes(rows, vectors[:, found] / np.sqrt(values[found]))
    return values[found] if d <= WIDEST else None, axes


def shifted_factor(gram: FloatArray, shift: float = 1.0) -> FloatArray:
    """L (d, d) lower triangular, L L' = gram + shift * I, and what rounding needs to keep that positive; of a diagonal
    gram matrix (d,) L is diagonal, (d,), too."""
    size = len(gram)
    largest = float((gram if gram.ndim == 1 else gram.diagonal()).max(initial=0.0))
    rounding = 10.0 * size * float(np.finfo(np.float64).eps) * largest
    if gram.ndim == 1:
        return np.asarray(np.sqrt(gram + (shift + rounding)))
    return np.asarray(linalg.cholesky(gram + (shift + rounding) * np.eye(size), lower=True))


def solve_shifted(gram: FloatArray, right: FloatArray, shift: float = 1.0) -> FloatArray:
    """(gram + shift * I)^-1 right (d, m), as `shifted_factor` has it."""
    lower = shifted_factor(gram, shift)
    if lower.ndim == 1:
        return np.asarray(right / (lower**2)[:, None])
    return np.asarray(linalg.cho_solve((lower, True), right))


def _conjugate_gradients(X: FeatureMatrix, weights: FloatArray, right: FloatArray) -> FloatArray:
    """(X' S X + I)^-1 right, all columns side by side, to a relative residual of 1e-6."""
    solution = np.zeros(right.shape)
    residual = right.copy()
    direction = residual.copy()
    size = (residual * residual).sum(axis=0)
    enough = 1e-12 * size
    for _ in range(STEPS):
        open_ = size > enough
        if not open_.any():
            break
        image = X.T @ (weights[:, None] * (X @ direction)) + direction
        bend = (direction * image).sum(axis=0)
        step = np.where(open_, size / np.where(open_, bend, 1.0), 0.0)
        solution += step * direction
        residual -= step * image
        after = (residual * residual).sum(axis=0)
        direction = residual + np.where(open_, after / np.where(open_, size, 1.0), 0.0) * direction
        size = after
    return solution
