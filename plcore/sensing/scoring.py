"""Scores of the cells and rows of a table from the posterior of its labels, kept from one answer to the next."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from plcore.common.threads import one_thread
from plcore.common.types import BoolArray, FloatArray, IntArray
from plcore.sensing.information import (
    gain_about_weights,
    gain_of_rows,
    gain_within_row,
    greedy_cells,
    margin_scores,
)
from plcore.sensing.noise import Noise
from plcore.sensing.projection import LabelPosterior, Projection
from plcore.sensing.rows import LOG_2PI, label_entropy

FEWEST_LABELS, MOST_CELLS = 16, 50_000  # labels of a row, and cells in all, that a joint batch chooses from
EVEN_SHARES = 2  # a joint batch asks a label at most so many times as often as if all labels were asked alike
DRIFT = 0.01  # a row's covariance is made anew where its noise has moved by more than this share


class CellPosteriors:
    """Covariances of the unknown labels of n rows at three noises: "paper" c2, "narrow" t2, "wide" t2 + x' S_W x.

    They depend on the precisions, not on what is predicted: an answer makes those of its own row anew, and the wide
    ones of rows whose noise has moved by more than 1 %. Which those are is settled when the answer comes; they are
    made when they are asked for, each row by itself, so that looking changes nothing, not even by rounding.

    gamma (n, L) : 1 / E alpha, 0 where known; change it by `replace`      spread (n,) : x' S_W x
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
        """(n,) x' S_W x; to be set after every answer."""
        return self._spread

    @spread.setter
    def spread(self, spread: FloatArray) -> None:
        self._spread = spread
        used, now = self._noises["wide"], self.noise.total + spread
        moved = np.abs(now - used) > DRIFT * used
        used[moved] = now[moved]
        self._stale["wide"][moved] = True

    def replace(self, row: int, gamma: FloatArray) -> None:
        """New precisions of a row (L,)."""
        self.gamma[row] = gamma
        for stale in self._stale.values():
            stale[row] = True

    def at(self, name: str) -> tuple[LabelPosterior, FloatArray]:
        """The posteriors (means are 0) of all rows at a noise, and that noise (n,)."""
        noise, stale = self._noises[name], self._stale[name]
        nothing = np.zeros((len(noise), len(self.projection.Phi)))
        with one_thread():
            if name not in self._kept:
                gamma, wide = self._start
                self._kept[name] = self.projection.posterior(
                    gamma, nothing, wide if name == "wide" else noise
                )
            kept = self._kept[name]
            for row in np.flatnonzero(stale):
                one = slice(row, row + 1)
                fresh = self.projection.posterior(self.gamma[one], nothing[one], noise[one])
                kept.variance[one] = fresh.variance
                kept.trace[one], kept.logdet[one] = fresh.trace, fresh.logdet
        stale[:] = False
        return kept, noise

    def directions(self, rows: IntArray, labels: IntArray) -> FloatArray:
        """(m, K) a = g_j S0_i^-1 phi_j of cells at noise t2: what an answer about (i, j) measures of W' x_i.

        rows, labels (m,) int : cells, those of one row side by side
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
        """(n,) scores of whole rows by "entropy", "variance", "information" or "margin"."""
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
        """(n, L) scores of single labels; "information" is about the row (kind "label") or about W ("pair")."""
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


def cell_batch(
    cells: CellPosteriors, scores: FloatArray, column: Callable[[int], FloatArray], count: int
) -> IntArray:
    """At most `count` (row, label) pairs (m, 2) chosen together by what they tell about W, one of each row.

    scores (n, L) : -inf where not to be asked; of each row the labels with the best scores compete
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
