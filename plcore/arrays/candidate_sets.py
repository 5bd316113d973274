"""Candidate sets of many rows over many classes, in memory that follows the number of candidates.

`CandidateSets` replaces a bool matrix (n, m) that would be large. It has the few array operations that plcore
uses on candidates, with the same results. Only `place_candidates` chooses between the two.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import DTypeLike

    from plcore.arrays.types import AnyArray, BoolArray, IntArray

FEW_CLASSES = 64
"""Up to this many classes, candidates are a bool matrix for any number of rows."""
FEW_CELLS = 2**24  # with more classes, a bool matrix up to this many rows times classes: 16 MB
FEW_PAIRS = 2**16  # candidates processed at a time: a megabyte or two
MOST_CELLS = 10**8  # rows times classes above which no dense matrix is made
SPARE = 1.25


class CandidateSets:
    """n candidate sets over m classes, each in its shorter form: a list of labels, or one bit per class.

    Attributes
    ----------
    words : int32; the set of row r is in them from start[r] on. If sizes[r] is at most ceil(m / 32) these are its
        labels, ascending; else ceil(m / 32) words of bits, bit l % 32 of word l // 32 for label l.
    start, sizes : int64 (n,)      n_classes : m

    Copies share the arrays until one of them changes (copy on write). Do not write to these arrays.
    """

    ndim = 2
    dtype = np.dtype(np.bool_)

    def __init__(self, words: AnyArray, start: IntArray, sizes: IntArray, n_classes: int) -> None:
        self.words, self.start, self.sizes, self.n_classes = words, start, sizes, n_classes
        self._used = len(words)  # the words after it are spare room for sets that grow
        self._shared = False
        self.writeable = True

    @property
    def n_words(self) -> int:
        """Words of a set in bit form."""
        return -(-self.n_classes // 32)

    @classmethod
    def of_pairs(cls, n: int, m: int, rows: AnyArray, labels: AnyArray) -> CandidateSets:
        """Build the sets of n rows from (row, label) pairs. A repeated pair counts once."""
        keys = np.asarray(rows, dtype=np.int64) * m + np.asarray(labels, dtype=np.int64)
        if not (keys[1:] > keys[:-1]).all():
            keys = np.unique(keys)
        row, label = keys // m, (keys % m).astype(np.int32)
        size = np.bincount(row, minlength=n).astype(np.int64)
        length = np.minimum(size, n_words := -(-m // 32))
        start = np.cumsum(length) - length
        if not (long := size > n_words).any():
            return cls(label, start, size, m)
        words: AnyArray = np.zeros(int(length.sum()), dtype=np.int32)
        first = np.cumsum(size) - size
        listed = ~long[row]
        words[(start[row] + np.arange(len(row)) - first[row])[listed]] = label[listed]
        bits = np.left_shift(np.uint32(1), (label[~listed] & 31).astype(np.uint32))
        np.bitwise_or.at(words.view(np.uint32), start[row[~listed]] + (label[~listed] >> 5), bits)
        return cls(words, start, size, m)

    @classmethod
    def of_mask(cls, mask: BoolArray) -> CandidateSets:
        """Build the sets from a bool matrix (n, m)."""
        return cls.of_pairs(*mask.shape, *np.nonzero(mask))

    @property
    def shape(self) -> tuple[int, int]:
        return len(self.start), self.n_classes

    @property
    def size(self) -> int:
        """Rows times classes."""
        return len(self) * self.n_classes

    @property
    def nbytes(self) -> int:
        """Bytes in use, including those shared with copies."""
        return int(self.words.nbytes + self.start.nbytes + self.sizes.nbytes)

    def __len__(self) -> int:
        return len(self.start)

    def pairs(self, rows: AnyArray | None = None) -> tuple[IntArray, IntArray]:
        """Return (places, labels) of all candidates of these rows (r,), ordered by place in `rows`, then
        label. None: all rows"""
        chosen = np.arange(len(self)) if rows is None else np.asarray(rows, dtype=np.int64)
        size, start = self.sizes[chosen], self.start[chosen]
        place = np.repeat(np.arange(len(chosen)), size)
        first = np.cumsum(size) - size
        labels: IntArray = np.empty(len(place), dtype=np.int64)
        long = size > self.n_words
        listed = ~long[place]
        at = (start - first)[place] + np.arange(len(place))
        labels[listed] = self.words[at[listed]]
        block = max(1, FEW_CELLS // self.n_classes)
        of_bits = np.flatnonzero(long)
        for begin in range(0, len(of_bits), block):
            some = of_bits[begin : begin + block]
            words = self.words[start[some, None] + np.arange(self.n_words)]
            bits = np.unpackbits(words.astype("<i4").view(np.uint8), axis=1, bitorder="little")
            row, label = np.nonzero(bits)
            labels[first[some[row]] + np.arange(len(row)) - (np.cumsum(size[some]) - size[some])[row]] = label
        return place, labels

    def __getitem__(self, key: int | slice | AnyArray | tuple[AnyArray, AnyArray]) -> BoolArray:
        """Return one row as a mask (m,), several rows as masks (r, m), or, for (rows, labels), whether each
        pair is a candidate."""
        if isinstance(key, tuple):
            rows, labels = key
            rows, labels = np.broadcast_arrays(np.arange(len(self))[rows], labels)
            place, found = self.pairs(rows)
            holds: BoolArray = np.zeros(len(rows), dtype=bool)
            holds[place[found == np.asarray(labels)[place]]] = True
            return holds
        rows = np.arange(len(self))[key]
        masks: BoolArray = np.zeros((np.size(rows), self.n_classes), dtype=bool)
        if masks.size > MOST_CELLS:
            raise ValueError(
                f"{len(masks):,} rows times {self.n_classes:,} classes are too many for a matrix; at most "
                f"{MOST_CELLS:,} are made. Fix: take fewer rows at a time."
            )
        masks[self.pairs(np.atleast_1d(rows))] = True
        return masks if np.ndim(rows) else masks[0]

    def __array__(self, dtype: DTypeLike | None = None, copy: bool | None = None) -> AnyArray:
        """The bool matrix. Raises ValueError above MOST_CELLS."""
        if copy is False:
            raise ValueError("Candidate sets become a matrix by a copy only.")
        return np.asarray(self[:], dtype=dtype)

    def __setitem__(self, row: int, mask: BoolArray) -> None:
        """Replace the candidate set of one row, given as a mask (m,)."""
        self.put(int(row), np.flatnonzero(mask))

    def put(self, row: int, labels: AnyArray) -> None:
        """Replace the candidate set of one row by these labels (ascending)."""
        self._own()
        length = min(len(labels), self.n_words)
        new: AnyArray = labels
        if len(labels) > self.n_words:
            new = np.zeros(self.n_words, dtype=np.uint32)
            np.bitwise_or.at(new, labels >> 5, np.left_shift(np.uint32(1), (labels & 31).astype(np.uint32)))
            new = new.view(np.int32)
        if length > min(int(self.sizes[row]), self.n_words):
            self.start[row] = self._room(length)
        self.words[self.start[row] : self.start[row] + length] = new
        self.sizes[row] = len(labels)

    def put_exact(self, rows: AnyArray, labels: AnyArray) -> None:
        """Reduce each of these distinct rows, none of them empty, to this single label."""
        self._own()
        self.words[self.start[rows]] = labels
        self.sizes[rows] = 1

    def _own(self) -> None:
        if not self.writeable:
            raise ValueError("assignment destination is read-only")
        if self._shared:  # until all are copied: there may be too little memory for a copy
            self.start, self.sizes = self.start.copy(), self.sizes.copy()
            self.words, self._shared = self.words[: self._used].copy(), False

    def _room(self, length: int) -> int:
        """Return where this many more words fit, after compacting the gaps left by moved or shortened
        sets."""
        if self._used + length > len(self.words):
            kept = np.minimum(self.sizes, self.n_words)
            if self._used > SPARE * int(kept.sum()) + len(self):
                self.words, self.start = _gathered(self.words, self.start, kept)
                self._used = len(self.words)
            more = max(length, int(len(self.words) * (SPARE - 1)), len(self) // 16)
            self.words = np.concatenate([self.words[: self._used], np.zeros(more, dtype=np.int32)])
        at, self._used = self._used, self._used + length
        return at

    def take(self, rows: AnyArray, axis: int = 0) -> CandidateSets:
        """Return the sets of these rows, in this order."""
        assert axis == 0  # noqa: S101 - rows only
        size = self.sizes[rows]
        words, start = _gathered(self.words, self.start[rows], np.minimum(size, self.n_words))
        return CandidateSets(words, start, size, self.n_classes)

    def copy(self) -> CandidateSets:
        """Return a writable copy of the sets."""
        self._shared = True
        copy = CandidateSets(self.words, self.start, self.sizes, self.n_classes)
        copy._used, copy._shared = self._used, True
        return copy

    def sum(self, axis: int) -> IntArray:
        """Return (n,) the number of candidates of each row, or (m,) the number of rows with each class."""
        if axis == 1:
            return self.sizes.copy()
        counts: IntArray = np.zeros(self.n_classes, dtype=np.int64)
        for rows in self._blocks():
            counts += np.bincount(self.pairs(rows)[1], minlength=self.n_classes)
        return counts

    def any(self, axis: int | None = None) -> BoolArray | bool:
        """Return (n,) whether each row has a candidate, or (m,) whether each class is a candidate of a row;
        None: whether there is any."""
        return bool((self.sizes > 0).any()) if axis is None else self.sum(axis) > 0

    def lowest(self, rows: AnyArray) -> IntArray:
        """(r,) the first candidate of each of these rows, 0 if there is none."""
        first: IntArray = np.zeros(len(rows), dtype=np.int64)
        some = np.flatnonzero(self.sizes[rows] > 0)
        place, labels = self.pairs(np.asarray(rows)[some])
        first[some] = labels[np.searchsorted(place, np.arange(len(some)))]
        return first

    def mapped(self, columns: IntArray, m: int) -> CandidateSets:
        """Return the sets over m new classes. columns : (n_classes,) the new number of each class, -1 to drop
        it."""
        rows, labels = self.pairs()
        new = columns[labels]
        return CandidateSets.of_pairs(len(self), m, rows[new >= 0], new[new >= 0])

    def _blocks(self) -> list[AnyArray]:
        """Yield all rows in parts of about FEW_PAIRS candidates at most."""
        ends = np.arange(1, int(self.sizes.sum()) // FEW_PAIRS + 1) * FEW_PAIRS
        return np.split(np.arange(len(self)), np.searchsorted(np.cumsum(self.sizes), ends))


def _gathered(words: AnyArray, start: IntArray, length: IntArray) -> tuple[AnyArray, IntArray]:
    """Gather the words of scattered sets into one array; return it and the new start of each set."""
    begin = np.cumsum(length) - length
    return words[np.repeat(start - begin, length) + np.arange(int(length.sum()))], begin


def is_wide(n: int, m: int) -> bool:
    """Return whether candidates of this many rows and classes are stored as `CandidateSets`."""
    return m > FEW_CLASSES and n * m > FEW_CELLS


def place_candidates(n: int, m: int, *pairs: tuple[AnyArray, AnyArray]) -> BoolArray:
    """Build the candidates of n rows over m classes from (rows, labels): a bool matrix, or `CandidateSets` if
    the matrix would be large (`is_wide`)."""
    if is_wide(n, m):
        return cast("BoolArray", CandidateSets.of_pairs(n, m, *map(np.concatenate, zip(*pairs, strict=True))))
    candidates = np.zeros((n, m), dtype=bool)
    for rows, labels in pairs:
        candidates[rows, labels] = True
    return candidates


def pairs_of(candidates: BoolArray) -> tuple[IntArray, IntArray]:
    """Return (rows, labels) of all candidates, ordered by row, then label."""
    rows, labels = candidates.pairs() if isinstance(candidates, CandidateSets) else np.nonzero(candidates)
    return rows, labels


def set_exact(candidates: BoolArray, rows: AnyArray, labels: AnyArray) -> None:
    """Reduce each of these distinct rows to this single label."""
    if not len(rows):  # `CandidateSets` may be read-only, too
        return
    if isinstance(candidates, CandidateSets):
        candidates.put_exact(rows, labels)
        return
    candidates[rows] = False
    candidates[rows, labels] = True


def lowest_of(candidates: BoolArray, rows: AnyArray) -> IntArray:
    """(r,) the first candidate of each of these rows, 0 if there is none."""
    if isinstance(candidates, CandidateSets):
        return candidates.lowest(rows)
    return np.asarray(candidates[rows].argmax(axis=1))


def rows_with_any(candidates: BoolArray, labels: AnyArray) -> BoolArray:
    """Return (n,) whether each row has one of these labels (k,) among its candidates."""
    wanted: BoolArray = np.zeros(candidates.shape[1], dtype=bool)
    wanted[labels] = True
    if not isinstance(candidates, CandidateSets):
        return np.asarray(candidates[:, wanted].any(axis=1))
    found: BoolArray = np.zeros(len(candidates), dtype=bool)
    for rows in candidates._blocks() if wanted.any() else ():
        place, own = candidates.pairs(rows)
        found[rows[place[wanted[own]]]] = True
    return found


def put_sets(candidates: BoolArray, rows: AnyArray, places: AnyArray, labels: AnyArray) -> None:
    """Replace the sets of these distinct rows by pairs in the form of `pairs_of`."""
    if isinstance(candidates, CandidateSets):
        edges = np.searchsorted(places, np.arange(len(rows) + 1))
        for place, row in enumerate(np.asarray(rows).tolist()):
            candidates.put(row, labels[edges[place] : edges[place + 1]])
        return
    candidates[rows] = False
    candidates[np.asarray(rows)[places], labels] = True


def rows_that_differ(one: BoolArray, other: BoolArray) -> IntArray:
    """Return the rows, ascending, whose candidates differ between the two."""
    if not isinstance(one, CandidateSets) or not isinstance(other, CandidateSets):
        blocks = (slice(first, first + FEW_PAIRS) for first in range(0, len(one), FEW_PAIRS))
        differ = [np.flatnonzero((one[some] != other[some]).any(axis=1)) + some.start for some in blocks]
        return np.concatenate([np.empty(0, dtype=np.int64), *differ])
    differs = one.sizes != other.sizes
    for rows in one._blocks():
        level = rows[~differs[rows]]
        (place, labels), (_, others) = one.pairs(level), other.pairs(level)
        differs[level[place[labels != others]]] = True
    return np.flatnonzero(differs)


def read_only(candidates: BoolArray) -> None:
    """Make these candidates read-only."""
    (candidates if isinstance(candidates, CandidateSets) else candidates.flags).writeable = False
