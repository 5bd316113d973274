"""Kernel, ridge, set mass and class mass, chosen by held-out candidate accuracy: no clean label is seen.

Three folds, of whole sources where rows have these, the same in whatever order the rows come. Kernel and alpha by the
highest share of held-out predictions inside their sets, at class mass 0.5, and set mass 1 if rows come from
sources; then set mass 0.5 or 0 instead only where that is better by more than two paired standard errors, and class
mass 0 or 1 if by more than one. What is clearly worse on the first fold is not tried on the others. Leave-one-out
consistency, which is free, chooses worse: it prefers too small an alpha.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from plcore.arrays.types import BoolArray, FeatureMatrix, FloatArray, IntArray, RoundProgress
from plcore.kernel.doubtful import Sets, settle_in_doubt
from plcore.kernel.features import KernelFeatures
from plcore.kernel.rounds import Rounds
from plcore.kernel.smoother import Smoother
from plcore.labels.accuracy import deal_whole
from plcore.labels.set_masses import SetMasses, as_rows, take_whole
from plcore.labels.weights import ClassMasses

ALPHAS = (0.02, 0.1, 0.5, 2.0)
MIDDLE_MASS = 0.5
MASSES = (0.0, MIDDLE_MASS, 1.0)
SET_MASSES = (1.0, 0.5, 0.0)  # the first if nothing speaks against it
# Candidate accuracy hardly sees what set masses gain: at one standard error chance turned them off in two of ten folds
# of MSRCv2, which cost 0.03. Where sets follow from labels it falls by more than that.
DOUBT = 2.0  # paired standard errors
FOLDS = 3
NOT_LEFT_OUT = -1
MOST_MEMBERS = 4
HOPELESS = 1.5  # paired standard errors by which a setting is worse on the first fold that is not tried on the others
MOST_ROWS = 5000  # rows up to which all of them serve for the choice
# Of more rows this many are drawn for it, with this many points and rounds: 0.3 s instead of 3. In five draws what is
# chosen
# so ended as accurate as what 5,000 rows choose on Gaussian classes (0.948); on satimage with three false labels in
# every row it was 0.878 where all rows choose 0.884, and 3,000 drawn rows did no better (0.870).
DRAWN_ROWS, DRAWN_POINTS, DRAWN_ROUNDS = 1500, 200, 5


@dataclass(frozen=True)
class Chosen:
    """Kernel, alpha and the masses; accuracy : the held-out candidate accuracy they were chosen by, nan for none."""

    kernel: str
    alpha: float
    mass: float
    set_mass: float
    accuracy: float
    doubt: float | None = None  # how far single candidates are doubted at the start; None: no set is doubted


@dataclass(frozen=True)
class Grid:
    """Candidates of the choice, and its extra inputs.

    kernels, alphas : ties go to the first      mass, set_mass : None if it is chosen too
    doubt : given, None for none      doubts : tried in turn, each against what was chosen before
    """

    kernels: tuple[str, ...]
    alphas: tuple[float, ...]
    mass: float | None
    set_mass: float | None
    temperature: float
    max_iter: int
    n_components: int
    doubt: float | None = None
    doubts: tuple[float, ...] = ()

    @property
    def single(self) -> bool:
        """Whether there is nothing to choose."""
        given = None not in (self.mass, self.set_mass) and not self.doubts
        return len(self.kernels) == len(self.alphas) == 1 and given

    @property
    def middle(self) -> Chosen:
        """Fallback if nothing can be tried."""
        mass = MIDDLE_MASS if self.mass is None else self.mass
        alpha = self.alphas[min(1, len(self.alphas) - 1)]
        return Chosen(self.kernels[0], alpha, mass, self.set_mass or 0.0, np.nan, self.doubt)


@dataclass(frozen=True)
class Rows:
    """The inputs of the choice: features (n, d) as scaled, candidates (n, m), their soft labels now and as imported,
    weights (n,), the source of each row (n,), if these have some, and whether a person answered it (n,); None: none."""

    X: FeatureMatrix
    candidates: BoolArray
    prior: FloatArray
    imported: FloatArray
    weights: FloatArray
    sources: IntArray | None = None
    answered: BoolArray | None = None

    def take(self, rows: IntArray) -> Rows:
        return Rows(
            self.X[rows],
            self.candidates[rows],
            self.prior[rows],
            self.imported[rows],
            self.weights[rows],
            None if self.sources is None else self.sources[rows],
            None if self.answered is None else self.answered[rows],
        )

    def draw(self, rows: IntArray, count: int, random: np.random.RandomState) -> IntArray:
        """So many of these rows, ascending; about this many if there are sources, which are drawn whole."""
        if self.sources is None:
            return np.sort(random.choice(rows, min(count, len(rows)), replace=False))
        return take_whole(self.sources, rows, count, random)

    def with_members(self, rows: IntArray) -> IntArray:
        """These rows and those of weight 0 in their sources, ascending: nothing is learnt of the latter, but a
        candidate may belong to them. More than MOST_MEMBERS to a row are left out: they cost as much as rows."""
        if self.sources is None:
            return rows
        absent = np.flatnonzero(self.weights == 0)
        members = absent[np.isin(self.sources[absent], self.sources[rows])]
        return np.union1d(rows, members) if len(members) <= MOST_MEMBERS * len(rows) else rows

    @property
    def set_masses(self) -> SetMasses | None:
        if self.sources is None:
            return None
        return SetMasses.among(self.sources, self.imported, self.candidates, as_rows(self.weights))

    @property
    def sets(self) -> Sets:
        """The inputs of doubts."""
        answered = np.zeros(len(self.candidates), dtype=bool) if self.answered is None else self.answered
        return Sets(self.candidates, self.prior, self.imported, answered, self.sources)


@dataclass(frozen=True)
class _Fold:
    """Common parts of every setting on one fold: the regression of the other rows, and the rows left out."""

    smoother: Smoother
    rows: Rows
    masses: ClassMasses
    sources: SetMasses | None
    impossible: BoolArray  # (m,) the classes that none of the other rows may have
    Z: FeatureMatrix
    candidates: BoolArray


class _Folds:
    """One kernel on all folds: held-out hits for any alpha and masses."""

    def __init__(
        self, rows: Rows, fold: IntArray, kernel: str, grid: Grid, seed: int, progress: RoundProgress | None
    ) -> None:
        self.rows, self.fold, self.kernel, self.grid, self.progress = rows, fold, kernel, grid, progress
        features = KernelFeatures(kernel, grid.n_components)
        self.Z = features.fit(rows.X, rows.weights, np.random.RandomState(seed))
        self._made: dict[int, _Fold] = {}

    def hits(
        self, alpha: float, mass: float, set_mass: float, doubt: float | None, number: int
    ) -> FloatArray:
        """1 for each row of a fold whose prediction, by a fit on the other folds, is inside its set, else 0."""
        if number not in self._made:  # not before a setting gets so far
            self._made[number] = self._make(number)
        part = self._made[number]
        sources = part.sources if set_mass > 0 else None
        ridge = part.smoother.ridge(alpha)
        rounds = Rounds(ridge, part.masses, mass, self.grid.temperature, sources, set_mass)
        if doubt is None:
            settled = rounds.settle(part.rows.prior, self.grid.max_iter, progress=self.progress)
        else:
            settled = settle_in_doubt(rounds, part.rows.sets, doubt, self.grid.max_iter, self.progress)[1]
        outer, shift = part.smoother.weights_of(rounds.ridge, settled.labels)
        scores = part.Z @ outer + shift
        scores[:, part.impossible] = -np.inf
        inside = part.candidates[np.arange(len(scores)), scores.argmax(axis=1)]
        return np.asarray(inside, dtype=float)

    def _make(self, number: int) -> _Fold:
        others, left = np.flatnonzero(self.fold != number), np.flatnonzero(self.fold == number)
        rows = self.rows.take(others)
        learnt = rows.prior[rows.weights > 0]
        return _Fold(
            Smoother(self.Z[others], rows.weights),
            rows,
            ClassMasses.of(rows.imported, rows.weights),
            rows.set_masses,
            np.asarray(~(learnt > 0).any(axis=0)),
            self.Z[left],
            self.rows.candidates[left],
        )


Setting = tuple[_Folds, float, float, float, float | None]
"""Kernel, alpha, class mass, set mass and how far single candidates are doubted."""


def choose(rows: Rows, grid: Grid, seed: int, progress: RoundProgress | None = None) -> Chosen:
    """The best of the grid; its middle if there is nothing to choose, or fewer than two rows of weight a fold.

    Rows of weight 0 are never left out: they stay in their sources, whatever fold these are in. The same seed gives the
    same folds and the same choice. progress : as for `Rounds.settle`, after every round
    """
    random = np.random.RandomState(seed)
    present = np.flatnonzero(rows.weights > 0)
    grid = grid if rows.sources is not None else replace(grid, set_mass=0.0)
    if grid.single or len(present) < 2 * FOLDS:
        return grid.middle
    if len(present) > MOST_ROWS:
        present = rows.draw(present, DRAWN_ROWS, random)
        grid = replace(
            grid, n_components=min(grid.n_components, DRAWN_POINTS), max_iter=min(grid.max_iter, DRAWN_ROUNDS)
        )
    part = rows.take(rows.with_members(present))
    part = part.take(by_content(part))
    learnt = np.flatnonzero(part.weights > 0)
    sources = None if part.sources is None else part.sources[learnt]
    fold = np.full(len(part.weights), NOT_LEFT_OUT)
    fold[learnt] = deal_whole(part.candidates[learnt], sources, FOLDS, random)
    start = grid.middle.mass
    start_set = grid.set_mass
    if start_set is None:
        start_set = 0.0 if part.sources is None else SET_MASSES[0]
    weights = [part.weights[fold == number] for number in range(FOLDS)]
    folds = [_Folds(part, fold, kernel, grid, seed, progress) for kernel in grid.kernels]
    settings: list[Setting] = [(one, alpha, start, start_set, None) for one in folds for alpha in grid.alphas]
    tried = _race(settings, _firsts(settings), weights)
    whole = np.concatenate(weights)
    shares = [float(np.average(hits, weights=whole)) for _, hits in tried]
    (best, alpha, *_), found = tried[int(np.argmax(shares))]
    chosen = Chosen(best.kernel, alpha, start, start_set, max(shares))
    if grid.set_mass is None and part.sources is not None:
        settings = [(best, alpha, start, one, None) for one in SET_MASSES[1:]]
        chosen, found = _challenge(chosen, found, settings, weights, DOUBT)
    if grid.mass is None:
        # With set masses classes are pulled at least as far as that.
        masses = [one for one in MASSES if one != start and (one > start or chosen.set_mass == 0)]
        settings = [(best, alpha, one, chosen.set_mass, None) for one in masses]
        chosen, found = _challenge(chosen, found, settings, weights)
    for doubt in grid.doubts:
        settings = [(best, alpha, chosen.mass, chosen.set_mass, doubt)]
        chosen, found = _challenge(chosen, found, settings, weights)
    return chosen if grid.doubt is None else replace(chosen, doubt=grid.doubt)


def by_content(rows: Rows) -> IntArray:
    """(n,) an order of the rows that is the same in whatever order they come, so that these get the same folds; rows
    that are alike are in any order among themselves."""
    random = np.random.RandomState(0)
    places, sets = (
        values @ random.standard_normal(values.shape[1]) for values in (rows.X, rows.candidates.astype(float))
    )
    largest = np.abs(places).max() or 1.0
    # To nine digits: scaling and products round otherwise in another order of the rows.
    return np.lexsort((sets.round(9), (places / largest).round(9)))


def _firsts(settings: list[Setting]) -> list[FloatArray]:
    """The hits of each setting on the first fold."""
    return [one[0].hits(*one[1:], 0) for one in settings]


def _challenge(
    chosen: Chosen,
    found: FloatArray,
    settings: list[Setting],
    weights: list[FloatArray],
    errors: float = 1.0,
) -> tuple[Chosen, FloatArray]:
    """The best of the settings if it is better than what was chosen by more than this many paired standard errors,
    with its hits on all folds; else what was chosen. found : the hits of that"""
    whole, best, kept = np.concatenate(weights), chosen, found
    rival = found[: len(weights[0])]
    for setting, hits in _race(settings, _firsts(settings), weights, rival):
        gain = hits - found
        mean = float(np.average(gain, weights=whole))
        if mean > errors * standard_error(gain, whole) and chosen.accuracy + mean > best.accuracy:
            kernel, alpha, mass, set_mass, doubt = setting
            best = Chosen(kernel.kernel, alpha, mass, set_mass, chosen.accuracy + mean, doubt)
            kept = hits
    return best, kept


def _race(
    settings: list[Setting],
    firsts: list[FloatArray],
    weights: list[FloatArray],
    rival: FloatArray | None = None,
) -> list[tuple[Setting, FloatArray]]:
    """The settings that are not clearly worse than the best on the first fold, and their hits on all of them.

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
    """For the weighted mean of values (n,)."""
    shares = weights / weights.sum()
    return float(np.sqrt(shares**2 @ (values - shares @ values) ** 2))
