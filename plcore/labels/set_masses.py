"""Set masses: rows of one photo, recording or scene explain each other, because each name belongs to one of them.

Where candidates come from one source for several rows (the caption of a photo for its faces, the list of a recording
for its calls), every candidate of the source belongs to at least one of its rows. The bags of multi-instance
multi-label learning (Briggs, Fern and Raich, TKDD 2013) say so; partial-label learning has dropped them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike
from scipy import sparse

from plcore.arrays.types import AnyArray, BoolArray, FloatArray, IntArray, Matrix

STEPS = 3
EVEN = 4.0
"""Weight of a source's candidates, spread evenly, as a number of answers."""
SLACK = 0.5
"""Rows added to a class's current mass and target, so that classes with almost no mass are not pulled without
bound."""
LEAST_SHARE, LEAST_Z = 0.5, 10.0
"""Share of neighbouring rows with equal sets, and standard errors beyond chance, above which their order shows
sources."""
SETS_A_CLASS = 3
"""Minimum number of different sets per class: if sets follow from labels, there are about as many sets as labels."""
BLOCK = 1024  # rows compared at a time: of sparse rows, two copies and their difference


def read_sources(groups: ArrayLike, n_rows: int) -> IntArray | None:
    """Return (n,) a number for the source of each row, a unique one if none is given (None, NaN, an empty
    text); None if no source has two rows.

    Raises ValueError unless there are n groups.
    """
    names = pd.Series(groups, dtype=object)
    if len(names) != n_rows:
        raise ValueError(f"groups must name the source of each of the {n_rows:,} rows. Got {len(names):,}.")
    return _lone_apart(pd.factorize(names.mask(names == ""))[0].astype(np.int64))


def same_sets(imported: BoolArray, weights: FloatArray | None = None) -> IntArray | None:
    """(n,) a number for each row, the same for rows with the same candidate set (n, m) of several classes; None if
    no two rows have the same one. Each row of weight 0 (n,) is a separate source."""
    codes = np.unique(np.packbits(imported, axis=1), axis=0, return_inverse=True)[1]
    several = imported.sum(axis=1) > 1
    return _lone_apart(np.where(several if weights is None else several & (weights > 0), codes.ravel(), -1))


def _lone_apart(codes: IntArray) -> IntArray | None:
    """Sources (n,) with a number of its own for each row of -1, which has none."""
    lone = np.flatnonzero(codes < 0)
    if len(np.unique(codes[codes >= 0])) == len(codes) - len(lone):
        return None
    codes = codes.copy()
    codes[lone] = len(codes) + lone
    return codes


def sources_by_set(imported: BoolArray, X: Matrix, weights: FloatArray) -> IntArray | None:
    """(n,) rows with the same candidate set (n, m) as one source, or None if the order of the rows shows none.

    It does if more than half of the neighbouring ambiguous rows have equal sets, and that is beyond chance: ten
    standard errors above sum_S p_S^2, p_S the share of a set among the ambiguous rows. Of rows sorted by label whose
    sets follow from it that holds as well; there are few different sets then, and at least three for each class here.
    A row that is repeated, with equal features (n, d), counts once; rows of weight 0 do not count.
    """
    kept, packed = np.flatnonzero(weights > 0), np.packbits(imported, axis=1)
    ambiguous = imported.sum(axis=1) > 1
    equal = (packed[kept[1:]] == packed[kept[:-1]]).all(axis=1)
    if equal[ambiguous[kept[1:]]].sum() <= LEAST_SHARE * (ambiguous[kept[1:]] & ambiguous[kept[:-1]]).sum():
        return None  # most tables end here, before anything is sorted
    again = equal.copy()
    again[equal] = _repeated(X, kept[1:][equal], kept[:-1][equal])
    kept = kept[np.append(True, ~again)]
    codes = same_sets(imported, weights)
    pairs = ambiguous[kept[1:]] & ambiguous[kept[:-1]]
    if codes is None or not pairs.any():
        return None
    counts = np.unique(codes[kept][ambiguous[kept]], return_counts=True)[1]
    if len(counts) < SETS_A_CLASS * np.count_nonzero(imported.any(axis=0)):
        return None
    return codes if _beyond_chance(codes[kept[1:]] == codes[kept[:-1]], pairs, counts) else None


def show_in_sets(sources: IntArray, imported: BoolArray) -> bool:
    """Whether candidate sets (n, m) come from these sources (n,): more than half of the neighbouring ambiguous rows of
    one source have equal sets, and that is beyond chance, as for `sources_by_set`."""
    ambiguous = np.flatnonzero(imported.sum(axis=1) > 1)
    order = ambiguous[np.argsort(sources[ambiguous], kind="stable")]
    sets = np.unique(np.packbits(imported[order], axis=1), axis=0, return_inverse=True)[1].ravel()
    pairs = sources[order[1:]] == sources[order[:-1]]
    return bool(pairs.any()) and _beyond_chance(sets[1:] == sets[:-1], pairs, np.bincount(sets))


def _beyond_chance(equal: BoolArray, pairs: BoolArray, counts: IntArray) -> bool:
    """Whether most of the pairs are equal, and more than sets that are there so often would be by chance."""
    share, chance = equal[pairs].mean(), ((counts / counts.sum()) ** 2).sum()
    error = np.sqrt(chance * (1 - chance) / pairs.sum())
    return bool(share > LEAST_SHARE and share - chance > LEAST_Z * error)


def as_rows(weights: FloatArray) -> FloatArray:
    """(n,) the number of rows that each counts for in its source; rows of weight 0, which are not learnt from, count as
    one."""
    present = weights[weights > 0]
    return np.where(weights > 0, weights, min(1.0, float(present.mean())) if len(present) else 1.0)


def _repeated(X: Matrix, rows: IntArray, before: IntArray) -> BoolArray:
    """(r,) whether the features of each of these rows are those of the row before it."""
    found = np.empty(len(rows), dtype=bool)
    for start in range(0, len(rows), BLOCK):
        part = slice(start, start + BLOCK)
        change = abs(X[rows[part]] - X[before[part]]).max(axis=1)
        found[part] = (change.toarray().ravel() if sparse.issparse(change) else change) == 0
    return found


def draw_whole_sources(sources: IntArray, rows: IntArray, count: int, random: np.random.RandomState) -> IntArray:
    """At most `count` of these rows, ascending: drawn sources that fit, each with all of its rows. If these are less
    than half of the requested rows, because sources are large, draw single rows instead."""
    found, codes, sizes = np.unique(sources[rows], return_inverse=True, return_counts=True)
    taken = np.zeros(len(found), dtype=bool)
    left = count
    for source in random.permutation(len(found)):
        if sizes[source] <= left:
            taken[source], left = True, left - sizes[source]
    if 2 * left > min(count, len(rows)):
        return np.sort(random.choice(rows, min(count, len(rows)), replace=False))
    return np.sort(rows[taken[codes]])


@dataclass(frozen=True, eq=False)
class SetMasses:
    """The target number of rows of each class in each source. Sources with one row are left out.

    rows (r,) : the rows of sources that have several, ascending      of (r,) : their source, 0..g-1
    weights (r,) : of these rows      shares (g, m) : the mean of their soft labels as imported
    targets (g, m) : rows that each class is to have, by weight
    """

    rows: IntArray
    of: IntArray
    weights: FloatArray
    shares: FloatArray
    targets: FloatArray

    @classmethod
    def among(cls, sources: IntArray, imported: FloatArray, candidates: BoolArray, weights: FloatArray) -> SetMasses:
        """For sources (n,), soft labels as imported (n, m), candidates now (n, m) and weights of the rows (n,).

        Weights count rows, so that 2 is the row twice; if they are mostly below 1 they are shares, and are scaled to
        a mean of 1.
        """
        if 0 < (mean := weights[weights > 0].mean() if (weights > 0).any() else 0.0) < 1:
            weights = weights / mean
        _, codes = np.unique(sources, return_inverse=True)
        several = np.bincount(codes, weights) > 1
        rows = np.flatnonzero(several[codes])
        found, of = np.unique(codes[rows], return_inverse=True)
        empty = np.zeros((len(found), imported.shape[1]))
        masses = cls(rows, of.astype(np.int64), weights[rows], empty, empty)
        shares = masses._sums @ imported[rows]
        shares /= shares.sum(axis=1, keepdims=True)
        return replace(masses, shares=shares).answered(candidates)

    def answered(self, candidates: BoolArray) -> SetMasses:
        """The same with other candidates (n, m): rows with one candidate say what the others of their source need not
        be, T = A + (n - a) (4 U + A) / (4 + a), A the answers of a source to each class, a all, U `shares`, n rows."""
        inside = candidates[self.rows]
        answers = self._sums @ np.where(inside.sum(axis=1, keepdims=True) == 1, inside, 0.0)
        known = answers.sum(axis=1, keepdims=True)
        left = np.bincount(self.of, self.weights, len(self.shares))[:, None] - known
        return replace(self, targets=answers + left * (EVEN * self.shares + answers) / (EVEN + known))

    def pull(self, labels: FloatArray, power: float) -> FloatArray:
        """Soft labels (n, m) moved towards the targets: three times
        Q_ic ((T_gc + 0.5) / (sum of Q_jc over the source + 0.5))^power, rows scaled to 1."""
        return self._pull(labels, power)[0]

    def log_factors(self, labels: FloatArray, power: float) -> FloatArray:
        """(n, m) logarithms of the factors by which `pull` multiplies each class of a row, before rows are scaled."""
        found = np.zeros(labels.shape)
        found[self.rows] = self._pull(labels, power)[1][self.of]
        return found

    def _pull(self, labels: FloatArray, power: float) -> tuple[FloatArray, FloatArray]:
        logs, part = np.zeros(self.targets.shape), labels[self.rows]
        for _ in range(STEPS):
            factors = ((self.targets + SLACK) / (self._sums @ part + SLACK)) ** power
            part = part * factors[self.of]
            part /= part.sum(axis=1, keepdims=True)
            logs += np.log(factors)
        moved = labels.copy()
        moved[self.rows] = part
        return moved, logs

    @cached_property
    def _sums(self) -> sparse.csr_array:
        """(g, r) adds up the rows of a source, by weight."""
        places = np.arange(len(self.rows))
        return sparse.csr_array((self.weights, (self.of, places)), shape=(len(self.shares), len(places)))

    def to_arrays(self) -> dict[str, AnyArray]:
        """Parts that no answer changes, as arrays by name, for a file; `from_arrays` and `answered` make it again."""
        return {
            "source_rows": self.rows,
            "source_of": self.of,
            "source_weights": self.weights,
            "source_shares": self.shares,
        }

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, AnyArray]) -> SetMasses:
        """Restore the result of `to_arrays`, before any answer. Raises KeyError if something is missing."""
        names = ("source_rows", "source_of", "source_weights", "source_shares")
        rows, of, weights, shares = (arrays[name] for name in names)
        return cls(rows, of, weights, shares, shares * np.bincount(of, weights, len(shares))[:, None])
