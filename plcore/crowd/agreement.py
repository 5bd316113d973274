"""Inter-annotator agreement beyond chance: Krippendorff's alpha, Gwet's AC1, Cohen's kappa by pair.

An answer with several classes is a value of its own: two annotators agree if they name the same classes. With distance
"set", overlapping sets agree in part. The package `krippendorff` is under the GPL, so it is used only in the tests, to
check alpha.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from scipy import sparse, special
from sklearn.metrics import cohen_kappa_score
from sklearn.utils import check_random_state

from plcore.arrays.checks import check_choice, check_int
from plcore.arrays.types import BoolArray, FloatArray, IntArray, RandomState
from plcore.crowd.votes import VotesLike, read_votes

LEAST_ROWS = 30
"""Minimum number of shared rows to show a figure: with fewer, its interval would cover almost the whole scale."""

LEVEL = 0.95
"""Level of the bootstrap's intervals."""

DISTANCES = ("nominal", "set")
Figure = Callable[[FloatArray], FloatArray]
"""Function that computes the figure (b,) with each row counted weights (b, rows) times."""
BLOCK = 200
"""Resamples processed at a time."""

GROUPS = 200
"""Number of groups of rows for the jackknife, each left out in turn."""

ONE_VALUE = "Everyone gave the same answer to all rows, so agreement cannot be distinguished from chance."


class Agreement(float):
    """Agreement as a float: 1 if all agree, 0 for agreement at chance level, nan if undefined.

    reason : why it is nan, as a sentence, or ""      n_rows : rows answered by two or more people
    """

    reason: str
    n_rows: int

    def __new__(cls, value: float, n_rows: int, reason: str = "") -> Agreement:
        made = super().__new__(cls, value)
        made.n_rows, made.reason = n_rows, reason
        return made


@dataclass(frozen=True)
class Answers:
    """Answers as values.

    counts : sparse (n, V), number of answers with each value on each row with votes      sets : bool (V, m)"""

    counts: sparse.csr_array
    sets: BoolArray
    shared: BoolArray

    @property
    def n_shared(self) -> int:
        return int(self.shared.sum())


def krippendorff_alpha(
    votes: VotesLike,
    distance: str = "nominal",
    n_bootstrap: int = 0,
    random_state: RandomState = None,
    *,
    least_rows: int = 1,
) -> Agreement | tuple[Agreement, float, float]:
    """Compute Krippendorff's alpha (2011) for any number of annotators, who need not have seen the same rows.

    distance : "nominal": two answers are the same or not. "set": 1 - M x Jaccard (Passonneau, LREC 2006), M = 1 for the
        same set, 2/3 if one contains the other, 1/3 if they overlap, 0 if they have nothing in common
    n_bootstrap : number of bootstrap samples of the rows for a 95% confidence interval; 0: no interval
    least_rows : minimum number of rows answered by two people; with fewer it is nan. Pages use LEAST_ROWS
    Returns the figure, or (figure, low, high). It is nan, with `.reason`, if no two people have answered the same row,
    or all answers are the same. votes and errors as in `plcore.crowd.read_votes`.
    """
    check_choice("distance", distance, DISTANCES)
    answers = _read(votes)
    counts = answers.counts[answers.shared]
    apart = None if distance == "nominal" else set_distances(answers.sets)
    size = np.asarray(counts.sum(axis=1), dtype=np.float64).ravel()
    pairs = _pairs(counts, apart) / np.maximum(size - 1, 1)

    def figure(weights: FloatArray) -> FloatArray:
        """Return alpha (b,) with each row counted weights (b, rows) times."""
        values = np.asarray(weights @ counts, dtype=np.float64)
        total = values.sum(axis=1)
        expected = (
            total**2 - (values**2).sum(axis=1) if apart is None else np.einsum("bv,bv->b", values @ apart, values)
        )
        found = np.full(len(weights), np.nan)
        np.divide((total - 1) * (weights @ pairs), expected, out=found, where=expected > 0)
        return np.asarray(1 - found)

    return _with_interval(figure, answers.n_shared, n_bootstrap, random_state, least_rows)


def gwet_ac1(
    votes: VotesLike, n_bootstrap: int = 0, random_state: RandomState = None, *, least_rows: int = LEAST_ROWS
) -> Agreement | tuple[Agreement, float, float]:
    """Compute Gwet's AC1 (2008) for any number of annotators. It is robust if nearly all rows have the same class.

    Arguments as for `krippendorff_alpha`. The chance agreement is sum pi (1 - pi) / (V - 1), with pi the mean share of
    each of the V different answers given, over all rows with votes.
    """
    answers = _read(votes)
    size = np.asarray(answers.counts.sum(axis=1), dtype=np.float64).ravel()
    shares = sparse.diags_array(1 / size) @ answers.counts
    same = size * (size - 1) - _pairs(answers.counts, None)
    agreed = np.divide(same, size * (size - 1), out=np.zeros(len(size)), where=answers.shared)

    def figure(weights: FloatArray) -> FloatArray:
        with np.errstate(invalid="ignore", divide="ignore"):
            observed = (weights @ agreed) / (weights @ answers.shared)
            mean = np.asarray(weights @ shares) / weights.sum(axis=1, keepdims=True)
            chance = (mean * (1 - mean)).sum(axis=1) / (answers.counts.shape[1] - 1)
            return np.asarray((observed - chance) / (1 - chance))

    return _with_interval(figure, answers.n_shared, n_bootstrap, random_state, least_rows, len(size))


def cohen_kappa(votes: VotesLike, *, least_rows: int = LEAST_ROWS) -> dict[tuple[Hashable, Hashable], Agreement]:
    """Compute Cohen's kappa for every pair of annotators over the rows that both answered: {(one, other): figure}.

    least_rows : pairs with fewer shared rows get nan and a `.reason`, as do pairs that always gave the same answer
    """
    check_int("least_rows", least_rows, 1)
    read = read_votes(votes)
    _, value = np.unique(read.masks, axis=0, return_inverse=True)
    said: list[dict[int, int]] = [{} for _ in read.annotators]
    for row, who, one in zip(read.rows.tolist(), read.who.tolist(), value.ravel().tolist(), strict=True):
        said[who][row] = one
    found: dict[tuple[Hashable, Hashable], Agreement] = {}
    for one, other in combinations(range(len(said)), 2):
        rows = sorted(said[one].keys() & said[other].keys())
        pair = np.array([(said[one][row], said[other][row]) for row in rows], dtype=np.int64).reshape(-1, 2)
        key = read.annotators[one], read.annotators[other]
        if len(rows) < least_rows:
            found[key] = Agreement(np.nan, len(rows), _too_few(len(rows), least_rows))
        elif len(np.unique(pair)) == 1:
            found[key] = Agreement(np.nan, len(rows), ONE_VALUE)
        else:
            found[key] = Agreement(float(cohen_kappa_score(pair[:, 0], pair[:, 1])), len(rows))
    return found


def _read(votes: VotesLike) -> Answers:
    read = read_votes(votes)
    sets, value = np.unique(read.masks, axis=0, return_inverse=True)
    _, row = np.unique(read.rows, return_inverse=True)
    ones = np.ones(len(row))
    counts = sparse.csr_array((ones, (row, value.ravel())), shape=(int(row.max()) + 1, len(sets)))
    return Answers(counts, sets, np.asarray(counts.sum(axis=1)).ravel() >= 2)


def set_distances(sets: BoolArray) -> FloatArray:
    """Return (V, V) the distances of non-empty sets, bool (V, m): 1 - M x Jaccard, M = 1 for the same set, 2/3 if one
    contains the other, 1/3 if they overlap, else 0 (MASI: Passonneau, LREC 2006)."""
    numbers = sets.astype(np.float64)
    common, size = numbers @ numbers.T, numbers.sum(axis=1)
    jaccard = common / (size[:, None] + size - common)
    smaller, larger = np.minimum(size[:, None], size), np.maximum(size[:, None], size)
    within = common == smaller
    M = np.where(common == 0, 0.0, np.where(~within, 1 / 3, np.where(smaller < larger, 2 / 3, 1.0)))
    return np.asarray(1 - M * jaccard)


def _pairs(counts: sparse.csr_array, apart: FloatArray | None) -> FloatArray:
    """Return (rows,) the sum of distances over all ordered pairs of answers, for each row of counts (rows, V)."""
    if apart is None:
        size = np.asarray(counts.sum(axis=1), dtype=np.float64).ravel()
        return np.asarray(size**2 - np.asarray(counts.multiply(counts).sum(axis=1)).ravel())
    return np.asarray(counts.multiply(counts @ apart).sum(axis=1), dtype=np.float64).ravel()


def _too_few(n_rows: int, least_rows: int) -> str:
    rows = "No row has" if not n_rows else "Only 1 row has" if n_rows == 1 else f"Only {n_rows} rows have"
    needed = f"; a figure needs {least_rows} such rows" if least_rows > 1 else ""
    return f"{rows} been answered by two people{needed}."


def _with_interval(
    figure: Figure,
    n_shared: int,
    n_bootstrap: int,
    random_state: RandomState,
    least_rows: int,
    n_rows: int | None = None,
) -> Agreement | tuple[Agreement, float, float]:
    """Return the figure of all rows; if n_bootstrap is above 0 also its interval, from quantiles over resampled
    rows."""
    check_int("n_bootstrap", n_bootstrap, 0)
    check_int("least_rows", least_rows, 1)
    rows = n_shared if n_rows is None else n_rows
    if n_shared < least_rows:
        found = Agreement(np.nan, n_shared, _too_few(n_shared, least_rows))
    else:
        value = float(figure(np.ones((1, rows)))[0])
        found = Agreement(value, n_shared, ONE_VALUE if np.isnan(value) else "")
    if not n_bootstrap:
        return found
    if found.reason:
        return found, np.nan, np.nan
    rng = check_random_state(random_state)
    drawn = np.concatenate(
        [figure(_resamples(rng, rows, min(BLOCK, n_bootstrap - begin))) for begin in range(0, n_bootstrap, BLOCK)]
    )
    drawn = drawn[~np.isnan(drawn)]
    if not len(drawn):
        return found, np.nan, np.nan
    low, high = np.quantile(drawn, _levels(drawn, float(found), _without_each(figure, rows)))
    return found, float(min(low, found)), float(max(high, found))


def _without_each(figure: Figure, rows: int) -> FloatArray:
    """Return the figures with each of up to GROUPS groups of rows left out."""
    group = np.arange(rows) % min(rows, GROUPS)
    found = figure((group != np.arange(group.max() + 1)[:, None]).astype(np.float64))
    return np.asarray(found[~np.isnan(found)])


def _levels(drawn: FloatArray, value: float, without: FloatArray) -> FloatArray:
    """Return (2,) the quantiles of the resamples that bound the interval.

    They are those of 95%, corrected for bias and for a spread that changes with the figure (BCa; Efron, 1987). Plain
    quantiles are too narrow if few rows disagree."""
    below = np.mean(drawn < value) + np.mean(drawn == value) / 2
    bias = special.ndtri(np.clip(below, 1 / (len(drawn) + 1), 1 - 1 / (len(drawn) + 1)))
    moved = without.mean() - without if len(without) else np.zeros(1)
    spread = (moved**2).sum() ** 1.5
    change = (moved**3).sum() / (6 * spread) if spread > 0 else 0.0
    z = bias + special.ndtri([(1 - LEVEL) / 2, (1 + LEVEL) / 2])
    return np.asarray(special.ndtr(bias + z / (1 - change * z)))


def _resamples(rng: np.random.RandomState, rows: int, times: int) -> FloatArray:
    """Return (times, rows) how often each row is drawn."""
    drawn: IntArray = rng.randint(rows, size=(times, rows))
    flat = (drawn + rows * np.arange(times)[:, None]).ravel()
    return np.bincount(flat, minlength=times * rows).reshape(times, rows).astype(np.float64)
