"""Information gain of an answer about a label, in closed form, and batches without redundant questions.

For fixed precisions alpha, BML-CS is jointly Gaussian: the covariance after an answer does not depend on the answer, so
no expectation and no repeated inference is needed. With g = 1/alpha, S the covariance of a row's unknown labels at
noise c, and v = x' S_W x:

    about the rest of the row   I(y_j; y_rest) = 1/2 log(S_jj Lambda_jj),  Lambda_jj = 1/g_j + |phi_j|^2 / c
    about the regressions W     I(y_j; W)      = 1/2 log(S_jj[t2 + v] / S_jj[t2])
    of all labels of a row      I(y; W)        = 1/2 (logdet S[t2 + v] - logdet S[t2]),  K/2 log(1 + v/t2) for g -> inf

All gains are in nats. Scores are higher = ask sooner, -inf if there is nothing to ask.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from plcore.arrays.threads import one_thread
from plcore.arrays.types import BoolArray, FloatArray, IntArray
from plcore.sensing.noise import Noise
from plcore.sensing.projection import LabelPosterior, Projection
from plcore.sensing.rows import LOG_2PI, label_entropy

KINDS = ("instance", "label", "pair")
CRITERIA = ("entropy", "variance", "information", "margin", "random")
DEFAULTS = {"instance": "variance", "label": "information", "pair": "information"}


def gain_within_row(
    variance: FloatArray, gamma: FloatArray, lengths: FloatArray, noise: FloatArray | float
) -> FloatArray:
    """Return (n, L) the information of a label's answer about the other unknown labels of its row; -inf if known.

    variance (n, L) : S_jj at `noise`      gamma (n, L) : 1/alpha, 0 if known      lengths (L,) : |phi_j|^2
    noise : (n,) or one number
    """
    unknown = gamma > 0
    c = np.asarray(noise, dtype=np.float64)
    precision = 1.0 / np.where(unknown, gamma, 1.0) + lengths / (c[:, None] if c.ndim else c)
    return _half_log(variance * precision, unknown)


def gain_about_weights(wide: FloatArray, narrow: FloatArray, unknown: BoolArray) -> FloatArray:
    """Return (n, L) the information of a label's answer about W, and so about all other rows; -inf unless unknown.

    wide, narrow (n, L) : S_jj at noise t2 + x' S_W x, and at t2
    """
    ratio = np.where(narrow > 0, wide, 1.0) / np.where(narrow > 0, narrow, 1.0)
    return _half_log(ratio, unknown)


def gain_of_rows(
    logdet_wide: FloatArray, logdet_narrow: FloatArray, wide: FloatArray, narrow: float, K: int
) -> FloatArray:
    """Return (n,) the information of all unknown labels of a row about W.

    logdet_wide, logdet_narrow (n,) : logdet S0, S0 = c I + Phi diag(g) Phi', at noise c = wide (n,) and narrow
    """
    return np.asarray(0.5 * (logdet_narrow - logdet_wide + K * np.log(wide / narrow)))


def margin_scores(decision: FloatArray, unknown: BoolArray) -> FloatArray:
    """Return (n, L) the closeness to the margin: -|decision|, -inf unless unknown."""
    return np.where(unknown, -np.abs(decision), -np.inf)


def random_scores(shape: tuple[int, ...], unknown: BoolArray, seed: int) -> FloatArray:
    """Return uniform random numbers of one seed, -inf unless unknown: the order of the cells does not depend on the
    known ones."""
    return np.where(unknown, np.random.default_rng(seed).random(shape), -np.inf)


def best_first(scores: FloatArray, n: int) -> IntArray:
    """Return at most n positions of the (flattened) scores, best first, ties to the first; never those with -inf."""
    flat = scores.ravel()
    count = min(n, int((flat > -np.inf).sum()))
    return np.argsort(-flat, kind="stable")[:count]


def greedy_rows(
    variances: FloatArray, column: Callable[[int], FloatArray], noise: float, n: int, among: BoolArray
) -> IntArray:
    """Return at most n rows, each the best given the previous ones: greedy log det(I + V_BB / noise), V = X S_W X'.

    It is within 1 - 1/e of the best batch (monotone and submodular). Costs O(rows n) for each row chosen.

    variances (N,) : the diagonal of V      column(i) -> (N,) : a column of V      among (N,) : rows to choose from
    """
    left = np.where(among, variances, -np.inf)
    rest = variances.copy()
    factors: list[FloatArray] = []
    chosen: list[int] = []
    for _ in range(min(n, int(among.sum()))):
        row = int(left.argmax())
        chosen.append(row)
        given = column(row) - sum((f * f[row] for f in factors), start=np.zeros(len(rest)))
        factors.append(given / np.sqrt(noise + max(float(given[row]), 0.0)))
        rest = rest - factors[-1] ** 2
        left = np.where(among, rest, -np.inf)
        left[chosen] = -np.inf
    return np.array(chosen, dtype=np.int64)


def greedy_cells(
    cells: IntArray,
    directions: FloatArray,
    noise: FloatArray,
    column: Callable[[int], FloatArray],
    n: int,
    most: int | None = None,
) -> IntArray:
    """Return at most n of m cells, at most one per row, each with the most information about W given the previous ones.

    Given W, the answer of cell (i, j) is a measurement of a' W' x_i, a = g_j S0_i^-1 phi_j, with variance S_jj[t2]; two
    cells share V_ii' a.a', V = X S_W X'. It maximises greedily the log det of the answers' covariance over their own
    noise: after an answer about a label on one row, the label is worth less on similar rows.

    cells (m, 2) : row and label      directions (m, K) : a      noise (m,) : S_jj at t2
    column(i) -> (N,) : a column of V
    most : how often a label may be chosen while others are left; without it, rows with little in common would all be
        asked about the same label. None: no limit

    Returns positions in the m cells, in the order chosen; ties to the first.
    """
    rows, labels = cells[:, 0], cells[:, 1]
    distinct, place = np.unique(rows, return_inverse=True)
    own = np.array([column(int(row))[row] for row in distinct])
    explained = own[place] * (directions**2).sum(axis=1)
    open_ = np.ones(len(rows), dtype=bool)
    times = np.zeros(int(labels.max(initial=0)) + 1, dtype=np.int64)
    allowed = len(rows) if most is None else most
    factors = np.empty((min(n, len(distinct)), len(rows)))
    chosen: list[int] = []
    for step in range(len(factors)):
        while not (free := open_ & (times[labels] < allowed)).any():
            allowed += 1
        gain = np.where(free, np.log1p(np.maximum(explained, 0.0) / noise), -np.inf)
        cell = int(gain.argmax())
        chosen.append(cell)
        shared = column(int(rows[cell]))[rows] * (directions @ directions[cell])
        shared -= factors[:step, cell] @ factors[:step]
        factors[step] = shared / np.sqrt(noise[cell] + max(float(explained[cell]), 0.0))
        explained = explained - factors[step] ** 2
        open_ &= rows != rows[cell]
        times[labels[cell]] += 1
    return np.array(chosen, dtype=np.int64)


def _half_log(ratio: FloatArray, unknown: BoolArray) -> FloatArray:
    """Return 1/2 log, at least 0 except for rounding; -inf for known labels."""
    return np.where(unknown, 0.5 * np.log(np.maximum(np.where(unknown, ratio, 1.0), 1e-300)), -np.inf)


# Scores of the cells and rows of a table from the posterior of its labels, stored between answers.

FEWEST_LABELS, MOST_CELLS = 16, 50_000  # labels of a row, and total cells, that a joint batch chooses from
EVEN_SHARES = 2  # a joint batch asks about a label at most this many times as often as with equal frequencies
DRIFT = 0.01  # change of a row's noise beyond which its covariance is rebuilt, as a share


class CellPosteriors:
    """Covariances of the unknown labels of n rows at three noises: "paper" c2, "narrow" t2, "wide" t2 + x' S_W x.

    They depend on the precisions, not on the predictions. An answer changes those of its own row, and the wide ones of
    rows whose noise has changed by more than 1%. These rows are determined when the answer comes. Their covariances are
    computed when requested, each row by itself, so that reading changes nothing, not even by rounding.

    gamma (n, L) : 1 / E alpha, 0 if known; change it by `replace`      spread (n,) : x' S_W x
    """

    def __init__(self, projection: Projection, noise: Noise, gamma: FloatArray, spread: FloatArray) -> None:
        self.projection, self.noise, self.gamma = projection, noise, gamma
        self._spread = spread
        n = len(gamma)
        self._noises = {
            "paper": np.full(n, noise.projection),
            "narrow": np.full(n, noise.total),
            "wide": noise.total + spread,
        }
        self._start = gamma.copy(), self._noises["wide"].copy()
        self._stale = {name: np.zeros(n, dtype=bool) for name in self._noises}
        self._kept: dict[str, LabelPosterior] = {}

    @property
    def spread(self) -> FloatArray:
        """Return (n,) x' S_W x; set it after every answer."""
        return self._spread

    @spread.setter
    def spread(self, spread: FloatArray) -> None:
        self._spread = spread
        used, now = self._noises["wide"], self.noise.total + spread
        moved = np.abs(now - used) > DRIFT * used
        used[moved] = now[moved]
        self._stale["wide"][moved] = True

    def replace(self, row: int, gamma: FloatArray) -> None:
        """Set new precisions (L,) of a row."""
        self.gamma[row] = gamma
        for stale in self._stale.values():
            stale[row] = True

    def at(self, name: str) -> tuple[LabelPosterior, FloatArray]:
        """Return the posteriors (means are 0) of all rows at a noise, and that noise (n,)."""
        noise, stale = self._noises[name], self._stale[name]
        nothing = np.zeros((len(noise), len(self.projection.Phi)))
        with one_thread():
            if name not in self._kept:
                gamma, wide = self._start
                self._kept[name] = self.projection.posterior(gamma, nothing, wide if name == "wide" else noise)
            kept = self._kept[name]
            for row in np.flatnonzero(stale):
                one = slice(row, row + 1)
                fresh = self.projection.posterior(self.gamma[one], nothing[one], noise[one])
                kept.variance[one] = fresh.variance
                kept.trace[one], kept.logdet[one] = fresh.trace, fresh.logdet
        stale[:] = False
        return kept, noise

    def directions(self, rows: IntArray, labels: IntArray) -> FloatArray:
        """Return (m, K) a = g_j S0_i^-1 phi_j of cells at noise t2: the direction of W' x_i that an answer about (i, j)
        measures.

        rows, labels (m,) int : cells, those of one row next to each other
        """
        Phi = self.projection.Phi
        found = np.empty((len(rows), len(Phi)))
        starts = np.flatnonzero(np.diff(rows, prepend=-1))
        for begin, end in zip(starts, [*starts[1:], len(rows)], strict=True):
            gamma, columns = self.gamma[rows[begin]], labels[begin:end]
            matrix = (Phi * gamma) @ Phi.T + self.noise.total * np.eye(len(Phi))
            found[begin:end] = gamma[columns, None] * np.linalg.solve(matrix, Phi[:, columns]).T
        return found

    def row_scores(self, criterion: str, mean: FloatArray, unknown: BoolArray) -> FloatArray:
        """Return (n,) scores of whole rows by "entropy", "variance", "information" or "margin"."""
        asked = unknown.any(axis=1)
        K = len(self.projection.Phi)
        if criterion == "variance":
            scores = self.spread
        elif criterion == "entropy":
            posterior, noise = self.at("paper")
            scores = label_entropy(self.gamma, posterior, noise, K)
        elif criterion == "information":
            wide, noise = self.at("wide")
            scores = gain_of_rows(wide.logdet, self.at("narrow")[0].logdet, noise, self.noise.total, K)
        else:
            scores = margin_scores(mean - 0.5, unknown).max(axis=1)
        return np.where(asked, scores, -np.inf)

    def cell_scores(self, kind: str, criterion: str, mean: FloatArray, unknown: BoolArray) -> FloatArray:
        """Return (n, L) scores of single labels; "information" is about the row (kind "label") or about W ("pair")."""
        if criterion == "margin":
            return margin_scores(mean - 0.5, unknown)
        if criterion == "entropy":
            variance = self.at("paper")[0].variance
            entropy = 0.5 * (1.0 + LOG_2PI + np.log(np.maximum(variance, 1e-300)))
            return np.where(unknown, entropy, -np.inf)
        wide, noise = self.at("wide")
        if criterion == "variance":
            return np.where(unknown, wide.variance, -np.inf)
        if kind == "label":
            lengths = (self.projection.Phi**2).sum(axis=0)
            return gain_within_row(wide.variance, self.gamma, lengths, noise)
        return gain_about_weights(wide.variance, self.at("narrow")[0].variance, unknown)


def cell_batch(cells: CellPosteriors, scores: FloatArray, column: Callable[[int], FloatArray], count: int) -> IntArray:
    """Return at most `count` (row, label) pairs (m, 2), at most one per row, chosen together by their information about
    W.

    scores (n, L) : -inf for cells not to ask about; of each row the labels with the best scores compete
    column(i) -> (n,) : a column of X S_W X' in units of the prior variance
    """
    rows = np.flatnonzero((scores > -np.inf).any(axis=1))
    if not len(rows):
        return np.empty((0, 2), dtype=np.int64)
    short = min(scores.shape[1], max(FEWEST_LABELS, MOST_CELLS // len(rows)))
    labels = np.argsort(-scores[rows], axis=1, kind="stable")[:, :short]
    pairs = np.stack([np.repeat(rows, short), labels.ravel()], axis=1)
    pairs = pairs[scores[pairs[:, 0], pairs[:, 1]] > -np.inf]
    narrow = cells.at("narrow")[0].variance[pairs[:, 0], pairs[:, 1]]
    directions = cells.directions(pairs[:, 0], pairs[:, 1])
    noise = np.maximum(narrow, 1e-300) / cells.noise.prior
    most = -(-EVEN_SHARES * min(count, len(rows)) // scores.shape[1])
    return pairs[greedy_cells(pairs, directions, noise, column, count, most)]
