"""Kernel, ridge and class mass, chosen by held-out candidate accuracy: no clean label is seen.

Three folds. Kernel and alpha by the highest share of held-out predictions inside their sets, at mass .5; then mass 0
or 1 instead only where it is better by more than one paired standard error. What is clearly worse on the first fold
is not tried on the others. Leave-one-out consistency, which is free, chooses worse: it prefers too small an alpha.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from plcore.arrays.types import BoolArray, FeatureMatrix, FloatArray, IntArray, RoundProgress
from plcore.kernel.features import KernelFeatures
from plcore.kernel.rounds import Rounds
from plcore.kernel.smoother import Smoother
from plcore.labels.accuracy import deal
from plcore.labels.weights import ClassMasses

ALPHAS = (0.02, 0.1, 0.5, 2.0)
MIDDLE_MASS = 0.5
MASSES = (0.0, MIDDLE_MASS, 1.0)
FOLDS = 3
HOPELESS = 1.5  # paired standard errors by which a setting is worse on the first fold that is not tried on the others
MOST_ROWS = 5000  # rows up to which all of them serve for the choice
# Of more rows so many are drawn for it, with so many points and rounds: .3 s instead of 3. In five draws what is chosen
# so ended as accurate as what 5,000 rows choose on Gaussian classes (.948); on satimage with three false labels in
# every row it was .878 where all rows choose .884, and 3,000 drawn rows did no better (.870).
DRAWN_ROWS, DRAWN_POINTS, DRAWN_ROUNDS = 1500, 200, 5


@dataclass(frozen=True)
class Chosen:
    """Kernel, alpha and mass; accuracy : the held-out candidate accuracy they were chosen by, nan for none."""

    kernel: str
    alpha: float
    mass: float
    accuracy: float


@dataclass(frozen=True)
class Grid:
    """What is chosen from, and what is given beside it.

    kernels, alphas : ties go to the first      mass : None where it is chosen too
    """

    kernels: tuple[str, ...]
    alphas: tuple[float, ...]
    mass: float | None
    temperature: float
    max_iter: int
    n_components: int

    @property
    def single(self) -> bool:
        """Whether there is nothing to choose."""
        return len(self.kernels) == len(self.alphas) == 1 and self.mass is not None

    @property
    def middle(self) -> Chosen:
        """What is taken where nothing can be tried."""
        mass = MIDDLE_MASS if self.mass is None else self.mass
        return Chosen(self.kernels[0], self.alphas[min(1, len(self.alphas) - 1)], mass, np.nan)


@dataclass(frozen=True)
class Rows:
    """What the choice goes by: features (n, d) as scaled, candidates (n, m), their soft labels now and as imported,
    and weights (n,)."""

    X: FeatureMatrix
    candidates: BoolArray
    prior: FloatArray
    imported: FloatArray
    weights: FloatArray

    def take(self, rows: IntArray) -> Rows:
        return Rows(
            self.X[rows], self.candidates[rows], self.prior[rows], self.imported[rows], self.weights[rows]
        )


@dataclass(frozen=True)
class _Fold:
    """What every setting has in common on one fold: the regression of the other rows, and the rows left out."""

    smoother: Smoother
    prior: FloatArray
    masses: ClassMasses
    impossible: BoolArray  # (m,) the classes that none of the other rows may have
    Z: FeatureMatrix
    candidates: BoolArray


class _Folds:
    """One kernel on all folds: held-out hits for any alpha and mass."""

    def __init__(
        self, rows: Rows, fold: IntArray, kernel: str, grid: Grid, seed: int, progress: RoundProgress | None
    ) -> None:
        self.rows, self.fold, self.kernel, self.grid, self.progress = rows, fold, kernel, grid, progress
        features = KernelFeatures(kernel, grid.n_components)
        self.Z = features.fit(rows.X, rows.weights, np.random.RandomState(seed))
        self._made: dict[int, _Fold] = {}

    def hits(self, alpha: float, mass: float, number: int) -> FloatArray:
        """1 for each row of a fold whose prediction, by a fit on the other folds, is inside its set, else 0."""
        if number not in self._made:  # not before a setting gets so far
            self._made[number] = self._make(number)
        part = self._made[number]
        rounds = Rounds(part.smoother.ridge(alpha), part.masses, mass, self.grid.temperature)
        settled = rounds.settle(part.prior, self.grid.max_iter, progress=self.progress)
        outer, shift = part.smoother.weights_of(rounds.ridge, settled.labels)
        scores = part.Z @ outer + shift
        scores[:, part.impossible] = -np.inf
        inside = part.candidates[np.arange(len(scores)), scores.argmax(axis=1)]
        return np.asarray(inside, dtype=float)

    def _make(self, number: int) -> _Fold:
        others, left = np.flatnonzero(self.fold != number), np.flatnonzero(self.fold == number)
        rows = self.rows
        prior, weights = rows.prior[others], rows.weights[others]
        return _Fold(
            Smoother(self.Z[others], weights),
            prior,
            ClassMasses.of(rows.imported[others], weights),
            np.asarray(~(prior > 0).any(axis=0)),
            self.Z[left],
            rows.candidates[left],
        )


def choose(rows: Rows, grid: Grid, seed: int, progress: RoundProgress | None = None) -> Chosen:
    """The best of the grid; its middle where there is nothing to choose, or fewer than two rows of weight a fold.

    The same seed gives the same folds and the same choice. progress : as for `Rounds.settle`, after every round
    """
    random = np.random.RandomState(seed)
    present = np.flatnonzero(rows.weights > 0)
    if grid.single or len(present) < 2 * FOLDS:
        return grid.middle
    if len(present) > MOST_ROWS:
        present = np.sort(random.choice(present, DRAWN_ROWS, replace=False))
        grid = replace(
            grid, n_components=min(grid.n_components, DRAWN_POINTS), max_iter=min(grid.max_iter, DRAWN_ROUNDS)
        )
    part = rows.take(present)
    fold = deal(part.candidates, FOLDS, random)
    start = grid.middle.mass
    weights = [part.weights[fold == number] for number in range(FOLDS)]
    folds = [_Folds(part, fold, kernel, grid, seed, progress) for kernel in grid.kernels]
    settings = [(one, alpha, start) for one in folds for alpha in grid.alphas]
    tried = _race(settings, [one.hits(alpha, start, 0) for one, alpha, _ in settings], weights)
    whole = np.concatenate(weights)
    shares = [float(np.average(hits, weights=whole)) for _, hits in tried]
    (best, alpha, _), found = tried[int(np.argmax(shares))]
    accuracy = max(shares)
    chosen = Chosen(best.kernel, alpha, start, accuracy)
    if grid.mass is None:
        others = [(best, alpha, mass) for mass in MASSES if mass != start]
        firsts = [best.hits(alpha, mass, 0) for _, _, mass in others]
        for (_, _, mass), hits in _race(others, firsts, weights, rival=found[: len(weights[0])]):
            gain = hits - found
            mean = float(np.average(gain, weights=whole))
            if mean > standard_error(gain, whole) and accuracy + mean > chosen.accuracy:
                chosen = Chosen(best.kernel, alpha, mass, accuracy + mean)
    return chosen


def _race(
    settings: list[tuple[_Folds, float, float]],
    firsts: list[FloatArray],
    weights: list[FloatArray],
    rival: FloatArray | None = None,
) -> list[tuple[tuple[_Folds, float, float], FloatArray]]:
    """The settings that are not clearly worse than the rival on the first fold, and their hits on all of them.

    firsts : the hits of each setting on the first fold      weights : of the rows of each fold
    rival : hits on the first fold, None for the best of these
    """
    if rival is None:
        rival = max(firsts, key=lambda hits: float(hits @ weights[0]))
    kept = []
    for setting, first in zip(settings, firsts, strict=True):
        loss = rival - first
        if np.average(loss, weights=weights[0]) <= HOPELESS * standard_error(loss, weights[0]):
            kept.append((setting, first))
    return [
        (one, np.concatenate([first, *(one[0].hits(*one[1:], number) for number in range(1, FOLDS))]))
        for one, first in kept
    ]


def standard_error(values: FloatArray, weights: FloatArray) -> float:
    """Of the weighted mean of values (n,)."""
    shares = weights / weights.sum()
    return float(np.sqrt(shares**2 @ (values - shares @ values) ** 2))
