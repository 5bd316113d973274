"""The choice of kernel, ridge, masses and temperature by held-out candidate sets, without clean labels.

There are three folds, of whole sources if rows have these, the same for any order of the rows. First, kernel and alpha
are chosen by the highest share of held-out predictions inside their sets, at class mass 0.5, and set mass 1 if rows
come from sources. Then set mass 0.5 or 0 replaces it only if better by more than two paired standard errors, and class
mass 0 or 1 if better by more than one. A setting that is clearly worse on the first fold is not tried on the others.
Leave-one-out consistency, which is free, chooses worse: it prefers too small an alpha.

Candidate accuracy hardly sees two things. They use agreement as well: how often the prediction for a held-out row is
the label that the row gets when it trains.

- The temperature. A softer one keeps early mistakes from becoming final, but gives more power to the class masses, and
  ruins labels if these are wrong, that is, if false candidates are spread over the classes more evenly than truths.
  Labels and predictions then diverge. So 0.15 replaces 0.05 if the sets show that false candidates are not spread
  evenly (`uneven`) and agreement is no lower, with class mass 1 or, if that lowers it, the larger of 0.5 and the chosen
  value.
- Rows whose truth is outside their set (`plcore.kernel.doubtful`). Candidate accuracy also counts the wrong sets.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple

import numpy as np

from plcore.arrays.types import BoolArray, FeatureMatrix, FloatArray, IntArray, RoundProgress
from plcore.kernel.doubtful import Sets, settle_in_doubt
from plcore.kernel.features import KernelFeatures
from plcore.kernel.rounds import Rounds
from plcore.kernel.smoother import Ridge, Smoother
from plcore.kernels import softmax_rows
from plcore.labels.accuracy import deal_whole
from plcore.labels.set_masses import SETS_A_CLASS, SetMasses, as_rows, draw_whole_sources
from plcore.labels.temperature import fit_temperature
from plcore.labels.weights import ClassMasses

ALPHAS = (0.02, 0.1, 0.5, 2.0)
MIDDLE_MASS = 0.5
MASSES = (0.0, MIDDLE_MASS, 1.0)
SET_MASSES = (1.0, 0.5, 0.0)  # default: the first
# Candidate accuracy hardly sees the gain from set masses: at one standard error, chance turned them off in two of ten
# folds of MSRCv2, which cost 0.03. If sets follow from labels, it falls by more than that.
DOUBT = 2.0  # paired standard errors
SHARP, SOFT = 0.05, 0.15
"""Temperatures of the softmax of the rounds, in units of scores, which are about 1 for a certain class."""
RARE = 0.5  # share of the sets that evenly spread false candidates would put a class in
CLEARLY = 3.0  # standard errors below that share
AGREED = 2.0  # paired standard errors by which agreement must rise before rows are doubted
FOLDS = 3
LEAST_SHARE = 1e-12  # least share of a set in the predictions, so that no set gets unlimited weight
NOT_LEFT_OUT, NOTHING = -1, -2  # number for no fold, and for the fit that leaves nothing out
MOST_MEMBERS = 4
HOPELESS = 1.5  # paired standard errors: a setting worse by more on the first fold is not tried on the others
# From MANY_ROWS on, the choice uses few points and rounds: with all of them, 5,000 rows took nine times as long. The
# accuracy was within 0.003 of the full choice on 4,400 rows of satimage, usps and pendigits with three false labels in
# every row, and on Gaussian classes. On 1,000 and 2,000 rows it was between 0.006 lower and 0.002 higher, and 0.001
# lower on average: other folds differ as much. Rows with sources, or with a temperature to choose, use few points only
# if they are a sample: with sources MSRCv2 lost 0.011, and without them agreement on 200 points never chose the softer
# temperature.
MANY_ROWS, FEW_POINTS, FEW_ROUNDS = 1000, 200, 5
# With more than MOST_ROWS rows, the choice uses a sample. 1,500 of 4,400 lost 0.010 on satimage.
MOST_ROWS, DRAWN_ROWS = 5000, 1500


@dataclass(frozen=True)
class Chosen:
    """Chosen settings: kernel, alpha, masses, temperature; accuracy : their held-out candidate accuracy, nan for
    none."""

    kernel: str
    alpha: float
    mass: float
    set_mass: float
    temperature: float
    accuracy: float
    doubt: float | None = None  # how far single candidates are doubted at the start; None: no set is doubted


@dataclass(frozen=True)
class Grid:
    """Candidates of the choice, and its extra inputs.

    kernels, alphas : ties go to the first      mass, set_mass : None if it is chosen, too
    temperature : None if it is chosen with the class mass
    doubt : fixed, None for none      doubts : tried in turn, each against the best so far
    """

    kernels: tuple[str, ...]
    alphas: tuple[float, ...]
    mass: float | None
    set_mass: float | None
    temperature: float | None
    max_iter: int
    n_components: int
    doubt: float | None = None
    doubts: tuple[float, ...] = ()

    @property
    def single(self) -> bool:
        """Return whether there is nothing to choose."""
        given = None not in (self.mass, self.set_mass) and not self.doubts
        return len(self.kernels) == len(self.alphas) == 1 and given

    @property
    def middle(self) -> Chosen:
        """Return the fallback if nothing can be tried."""
        mass = MIDDLE_MASS if self.mass is None else self.mass
        alpha = self.alphas[min(1, len(self.alphas) - 1)]
        return Chosen(self.kernels[0], alpha, mass, self.set_mass or 0.0, self.start, np.nan, self.doubt)

    @property
    def start(self) -> float:
        """Return the temperature to use before another is tried."""
        return SHARP if self.temperature is None else self.temperature


@dataclass(frozen=True)
class Rows:
    """The inputs of the choice: scaled features (n, d), candidates (n, m), their soft labels now and as imported,
    weights (n,), the source of each row (n,), and whether a person answered it (n,); None: no sources, no answers."""

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
        """Draw `count` of these rows, ascending; with sources, which are drawn as a whole, about that many."""
        if self.sources is None:
            return np.sort(random.choice(rows, min(count, len(rows)), replace=False))
        return draw_whole_sources(self.sources, rows, count, random)

    def with_members(self, rows: IntArray) -> IntArray:
        """Return these rows and those of weight 0 in their sources, ascending: the latter do not train, but a candidate
        may belong to them. At most MOST_MEMBERS per row are used: they cost as much as rows."""
        if self.sources is None:
            return rows
        absent = np.flatnonzero(self.weights == 0)
        members = absent[np.isin(self.sources[absent], self.sources[rows])]
        return np.union1d(rows, members) if len(members) <= MOST_MEMBERS * len(rows) else rows

    @cached_property
    def are_many(self) -> bool:
        """Return whether rows are fitted by normal equations, with settings chosen from few points and rounds."""
        learnt = self.weights > 0
        count = np.count_nonzero(learnt)
        if count < MANY_ROWS or count > MOST_ROWS:
            return bool(count > MOST_ROWS)
        return self.sources is None and not uneven(self.imported[learnt] > 0)

    @property
    def set_masses(self) -> SetMasses | None:
        if self.sources is None:
            return None
        return SetMasses.among(self.sources, self.imported, self.candidates, as_rows(self.weights))

    @property
    def sets(self) -> Sets:
        """Return the inputs of the doubts."""
        answered = np.zeros(len(self.candidates), dtype=bool) if self.answered is None else self.answered
        return Sets(self.candidates, self.prior, self.imported, answered, self.sources)


@dataclass(frozen=True)
class _Fold:
    """The parts of a fold that all settings share: the regression on the other rows, and the rows left out."""

    smoother: Smoother
    rows: Rows
    masses: ClassMasses
    sources: SetMasses | None
    impossible: BoolArray  # (m,) the classes that are a candidate of none of the other rows
    Z: FeatureMatrix
    candidates: BoolArray


@dataclass(frozen=True)
class _HeldOut:
    """Columns predicted for the rows of a fold, among all classes and inside their sets (r,), and 1 if the former is
    inside the set, else 0; also their scores (r, m) if doubts are tried."""

    predicted: IntArray
    inside: IntArray
    hits: FloatArray
    scores: FloatArray | None = None


class _Folds:
    """One kernel on all folds: the predictions for held-out rows, for any alpha, masses and temperature."""

    def __init__(
        self, rows: Rows, fold: IntArray, kernel: str, grid: Grid, seed: int, progress: RoundProgress | None
    ) -> None:
        self.rows, self.fold, self.kernel, self.grid, self.progress = rows, fold, kernel, grid, progress
        features = KernelFeatures(kernel, grid.n_components)
        self.Z = features.fit(rows.X, rows.weights, np.random.RandomState(seed))
        self._made: dict[int, _Fold] = {}
        # By numbers only: settings refer to these folds, and cycles keep all this until garbage is looked for.
        self._held: dict[tuple[float | None, ...], _HeldOut] = {}

    def held_out(self, setting: _Setting, number: int) -> _HeldOut:
        """Predict the rows of a fold by a fit on the other folds."""
        known = (*setting.numbers, number)
        if known not in self._held:
            part, ridge, labels = self._settle(setting, number)
            outer, shift = part.smoother.weights_of(ridge, labels)
            scores = part.Z @ outer + shift
            scores[:, part.impossible] = -np.inf
            predicted = scores.argmax(axis=1)
            inside = np.where(part.candidates, scores, -np.inf).argmax(axis=1)
            hits = part.candidates[np.arange(len(scores)), predicted].astype(float)
            kept = scores if self.grid.doubts else None
            self._held[known] = _HeldOut(predicted, inside, hits, kept)
        return self._held[known]

    def labels(self, setting: _Setting) -> IntArray:
        """Return (n,) the label of each row in a fit on all rows."""
        return np.asarray(self._settle(setting, NOTHING)[2].argmax(axis=1))

    def _settle(self, setting: _Setting, number: int) -> tuple[_Fold, Ridge, FloatArray]:
        if number not in self._made:  # computed only when a setting gets this far
            self._made[number] = self._make(number)
        part, progress = self._made[number], self.progress
        sources = part.sources if setting.set_mass > 0 else None
        ridge = part.smoother.ridge(setting.alpha)
        rounds = Rounds(ridge, part.masses, setting.mass, setting.temperature, sources, setting.set_mass)
        if setting.doubt is None:
            settled = rounds.settle(part.rows.prior, self.grid.max_iter, progress=progress)
        else:
            settled = settle_in_doubt(rounds, part.rows.sets, setting.doubt, self.grid.max_iter, progress)[1]
        return part, ridge, settled.labels

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


class _Setting(NamedTuple):
    """A setting to try. doubt : how much single candidates are doubted at the start, None if no set is doubted"""

    folds: _Folds
    alpha: float
    mass: float
    set_mass: float
    temperature: float
    doubt: float | None = None

    @property
    def numbers(self) -> tuple[float | None, ...]:
        """The setting without its folds."""
        return self[1:]

    def hits(self, number: int) -> FloatArray:
        """Return 1 for each row of a fold whose prediction, by a fit on the other folds, is inside its set, else 0."""
        return self.folds.held_out(self, number).hits

    def agreement(self, *, among_all: bool) -> FloatArray:
        """Return 1 for each held-out row, fold after fold, whose prediction is its label in a fit on all rows, else 0.

        among_all : predict among all classes; else inside the set, and rows with one candidate have 0
        """
        labels, fold, found = self.folds.labels(self), self.folds.fold, []
        several = self.folds.rows.candidates.sum(axis=1) > 1
        for number in range(FOLDS):
            rows, held = fold == number, self.folds.held_out(self, number)
            same = labels[rows] == (held.predicted if among_all else held.inside)
            found.append(same if among_all else same & several[rows])
        return np.concatenate(found).astype(float)

    def set_logs(self, whole: FloatArray) -> FloatArray:
        """Return (n,) the log probability of each held-out row's set, fold after fold, at the temperature that
        maximises them. whole : their weights (n,)"""
        candidates, fold = self.folds.rows.candidates, self.folds.fold
        sets = np.concatenate([candidates[fold == number] for number in range(FOLDS)])
        scores = np.concatenate([self.folds.held_out(self, number).scores for number in range(FOLDS)])
        shares = softmax_rows(scores / fit_temperature(scores, sets, whole), np.isfinite(scores))
        return np.asarray(np.log(np.maximum((shares * sets).sum(axis=1), LEAST_SHARE)))


def choose(rows: Rows, grid: Grid, seed: int, progress: RoundProgress | None = None) -> Chosen:
    """Choose the best settings of the grid; its middle if there is nothing to choose, or if a fold would have
    fewer than two rows with weight.

    Rows of weight 0 are never left out: they stay in their sources, in any fold. The same seed gives the same folds and
    the same choice. progress : as for `Rounds.settle`, after every round
    """
    random = np.random.RandomState(seed)
    present = np.flatnonzero(rows.weights > 0)
    grid = grid if rows.sources is not None else replace(grid, set_mass=0.0)
    if grid.single or len(present) < 2 * FOLDS:
        return grid.middle
    if rows.are_many:
        few = min(grid.n_components, FEW_POINTS), min(grid.max_iter, FEW_ROUNDS)
        grid = replace(grid, n_components=few[0], max_iter=few[1])
    if len(present) > MOST_ROWS:
        present = rows.draw(present, DRAWN_ROWS, random)
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
    settings = [_Setting(one, alpha, start, start_set, grid.start) for one in folds for alpha in grid.alphas]
    tried = _race(settings, weights)
    whole = np.concatenate(weights)
    shares = [float(np.average(hits, weights=whole)) for _, hits in tried]
    best, found = tried[int(np.argmax(shares))]
    if grid.set_mass is None and part.sources is not None:
        settings = [best._replace(set_mass=one) for one in SET_MASSES[1:]]
        best, found = _challenge(best, found, settings, weights, DOUBT)
    if grid.mass is None:
        # With set masses, classes are pulled at least that far.
        masses = [one for one in MASSES if one != start and (one > start or best.set_mass == 0)]
        best, found = _challenge(best, found, [best._replace(mass=one) for one in masses], weights)
        # Set masses also keep early mistakes from becoming final: with both, Lost lost 0.02.
        if grid.temperature is None and best.set_mass == 0 and uneven(part.imported[learnt] > 0):
            best = _softened(best, whole)
            found = np.concatenate([best.hits(number) for number in range(FOLDS)])
    # Without masses, classes with only ambiguous rows lose their rows: BirdSong fell from 0.65 to 0.49.
    least = 0.0 if grid.mass is not None else MIDDLE_MASS
    for doubt in grid.doubts:
        doubting = best._replace(doubt=doubt, mass=max(best.mass, least))
        if best.doubt is not None:
            best, found = _challenge(best, found, [doubting], weights)
        elif _is_agreed(best, found, doubting, weights):
            best, found = doubting, np.concatenate([doubting.hits(number) for number in range(FOLDS)])
    share = float(np.average(found, weights=whole))
    if grid.doubt is not None:
        best = best._replace(doubt=grid.doubt, mass=max(best.mass, least))
    return Chosen(best.folds.kernel, best.alpha, best.mass, best.set_mass, best.temperature, share, best.doubt)


def uneven(sets: BoolArray) -> bool:
    """Return whether false candidates are not spread evenly over the classes of sets (n, m).

    Spread evenly, they would put every class in at least (mean size - 1)/(m - 1) of the sets, and flatten the counted
    class masses. If a class is in less than half of that share, by more than three standard errors, false candidates
    follow the truths, and the counts are close to the true ones: rare classes are rarely wrong. Sets that follow from
    the label do not count as evidence: each class must have at least three different sets.
    """
    sets = sets[:, sets.any(axis=0)]
    n, m = sets.shape
    different = len(np.unique(np.packbits(sets, axis=1), axis=0))
    if m < 2 or different < SETS_A_CLASS * m:
        return False
    evenly = (sets.sum() - n) / (m - 1)
    return bool(sets.sum(axis=0).min() < min(RARE * evenly, evenly - CLEARLY * np.sqrt(evenly)))


def _softened(best: _Setting, whole: FloatArray) -> _Setting:
    """Return the setting with the softer temperature and the largest class mass at which agreement is no lower;
    unchanged if there is none. whole : weights (n,) of the held-out rows"""
    before = best.agreement(among_all=False)
    for mass in dict.fromkeys((MASSES[-1], max(best.mass, MIDDLE_MASS))):
        softer = best._replace(mass=mass, temperature=SOFT)
        if np.average(softer.agreement(among_all=False) - before, weights=whole) >= 0:
            return softer
    return best


def _is_agreed(best: _Setting, found: FloatArray, doubting: _Setting, weights: list[FloatArray]) -> bool:
    """Whether doubts raise the agreement by more than two paired standard errors, and neither candidate accuracy nor
    the log probability of the sets falls by more than one. found : the hits of the previous best"""
    whole = np.concatenate(weights)
    for _, hits in _race([doubting], weights, found[: len(weights[0])]):
        losses = found - hits, best.set_logs(whole) - doubting.set_logs(whole)
        if all(np.average(loss, weights=whole) <= standard_error(loss, whole) for loss in losses):
            gain = doubting.agreement(among_all=True) - best.agreement(among_all=True)
            return bool(np.average(gain, weights=whole) > AGREED * standard_error(gain, whole))
    return False


def by_content(rows: Rows) -> IntArray:
    """Return (n,) an order of the rows by content, so that folds do not depend on the input order. Equal rows may be in
    any order."""
    random = np.random.RandomState(0)
    places, sets = (
        values @ random.standard_normal(values.shape[1]) for values in (rows.X, rows.candidates.astype(float))
    )
    largest = np.abs(places).max() or 1.0
    # Rounded to nine digits, because scaling and products round differently in another order of the rows.
    return np.lexsort((sets.round(9), (places / largest).round(9)))


def _challenge(
    best: _Setting, found: FloatArray, settings: list[_Setting], weights: list[FloatArray], errors: float = 1.0
) -> tuple[_Setting, FloatArray]:
    """Return the best of the settings, with its hits on all folds, if it beats the current choice by more than this
    many paired standard errors; else the current choice. found : hits of the current choice"""
    whole, taken, kept, most = np.concatenate(weights), best, found, 0.0
    for setting, hits in _race(settings, weights, found[: len(weights[0])]):
        gain = hits - found
        mean = float(np.average(gain, weights=whole))
        if mean > errors * standard_error(gain, whole) and mean > most:
            taken, kept, most = setting, hits, mean
    return taken, kept


def _race(
    settings: list[_Setting], weights: list[FloatArray], rival: FloatArray | None = None
) -> list[tuple[_Setting, FloatArray]]:
    """Return the settings that are not clearly worse than the best on the first fold, with their hits on all folds.

    weights : of the rows of each fold      rival : hits on the first fold, None for the best of these
    """
    firsts = [one.hits(0) for one in settings]
    if rival is None:
        rival = max(firsts, key=lambda hits: float(hits @ weights[0]))
    kept = []
    for setting, first in zip(settings, firsts, strict=True):
        loss = rival - first
        if np.average(loss, weights=weights[0]) <= HOPELESS * standard_error(loss, weights[0]):
            kept.append(setting)
    return [(one, np.concatenate([one.hits(number) for number in range(FOLDS)])) for one in kept]


def standard_error(values: FloatArray, weights: FloatArray) -> float:
    """Return the standard error of the weighted mean of values (n,)."""
    shares = weights / weights.sum()
    return float(np.sqrt(shares**2 @ (values - shares @ values) ** 2))
