"""Convert rows of a LabelTable to a feature matrix; fitted on training rows only, as part of the model."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, TypeVar

import numpy as np
import numpy.typing as npt
import pandas as pd
import scipy.sparse as sp

from plcore.arrays import large_array, let_go
from plcore.arrays.checks import check_choice
from plcore.arrays.types import BOTH, FEATURE_SETS, WORDS, FeatureBlock, FloatArray
from plcore.tables.features.embeddings import ColumnVectors, Vectors, rows_at_once
from plcore.tables.features.text import LatentText, TextFeatures
from plcore.tables.media.cells import Media
from plcore.tables.media.images import NAMES
from plcore.tables.media.sound import SOUND_NAMES
from plcore.tables.roles.roles import Roles
from plcore.tables.text.arrow import stripped

if TYPE_CHECKING:
    from sklearn.preprocessing import OneHotEncoder

Number = TypeVar("Number", bound=np.number[Any])
Rows = npt.NDArray[np.integer[Any]] | npt.NDArray[np.bool_] | None

_WIDEST_DENSE = 1024  # one-hot columns above which a dense matrix would be mostly zeros
_NARROWEST = 1e-50  # smaller ranges count as 0; the largest numbers of a table divided by this can still be squared
_ROWS_AT_ONCE = 1 << 13
_LOOK, _SOUND, _EMBEDDING, _TEXT = "look", "sound", "embedding", "text"


class FeatureSource(Protocol):
    """The part of a LabelTable that the transformer needs."""

    @property
    def cells(self) -> pd.DataFrame: ...
    @property
    def roles(self) -> Roles: ...
    @property
    def numbers(self) -> npt.NDArray[np.float64]: ...
    @property
    def media(self) -> Media: ...
    @property
    def embeddings(self) -> Vectors | None: ...
    @property
    def encoded(self) -> Sequence[ColumnVectors]: ...


@dataclass(frozen=True)
class _Part:
    """A table without some of its columns."""

    cells: pd.DataFrame
    roles: Roles
    numbers: npt.NDArray[np.float64]
    media: Media
    embeddings: Vectors | None
    encoded: Sequence[ColumnVectors]


def has_choice(table: FeatureSource) -> bool:
    """Whether the feature sets differ: there are vectors, and texts, images or sounds with features."""
    described = table.media.looks is not None or table.media.sounds is not None
    has_vectors = table.embeddings is not None or len(table.encoded) > 0
    return has_vectors and (described or table.roles.text is not None)


def _part(table: FeatureSource, use: str) -> FeatureSource:
    """Return the table with only the columns of a feature set; unchanged if the sets do not differ."""
    if use == BOTH or not has_choice(table):
        return table
    if use == WORDS:
        return _Part(table.cells, table.roles, table.numbers, table.media, None, ())
    roles, media = replace(table.roles, text=None, more_texts=()), replace(table.media, looks=None, sounds=None)
    return _Part(table.cells, roles, table.numbers, media, table.embeddings, table.encoded)


class _NumberScaler:
    """Mean and range of each number column over the non-empty cells of the training rows."""

    def __init__(self, numbers: FloatArray, rows: Rows) -> None:
        width = numbers.shape[1]
        low, high = np.full(width, np.inf), np.full(width, -np.inf)
        total, n_known = np.zeros(width), np.zeros(width, dtype=np.int64)
        # Rows are added one after the other, so the last bits of a sum do not depend on the block size. NumPy adds a
        # single column, or columns that are not stored row by row, in pairs; these are processed in one block.
        in_order = width > 1 and numbers.flags.c_contiguous
        for some in _in_blocks(numbers, rows, _ROWS_AT_ONCE if in_order else len(numbers)):
            known = ~np.isnan(some)
            low = np.minimum(low, np.min(some, axis=0, where=known, initial=np.inf))
            high = np.maximum(high, np.max(some, axis=0, where=known, initial=-np.inf))
            if in_order:
                some, known = np.vstack([total, some]), np.vstack([np.ones(width, dtype=bool), known])
            total = np.sum(some, axis=0, where=known)
            n_known += known.sum(axis=0) - in_order
        narrow = ~(high - low > _NARROWEST)  # at most one distinct value
        # Held-out rows may have other values, on any scale; an infinite range makes them all 0.
        self._range: FloatArray = np.where(narrow, np.inf, high - low)
        self._low: FloatArray = np.where(narrow, 0.0, low)
        self._mean: FloatArray = np.where(narrow, 0.0, total / np.maximum(n_known, 1))

    def scaled(self, numbers: FloatArray, rows: Rows) -> Iterator[FloatArray]:
        """Yield the scaled rows in blocks."""
        for some in _in_blocks(numbers, rows, _ROWS_AT_ONCE):
            known = np.where(np.isnan(some), self._mean, some)
            yield (known - self._low) / self._range


class FeatureTransformer:
    """Convert rows of a table to numbers on comparable scales.

    numbers : missing values become the mean of the training rows, then each column is scaled to [0, 1] over them (other
        rows may be outside); a column with at most one distinct value in the training rows is 0 in every row;
    categories : one-hot divided by sqrt(2), so that two different values are at distance 1, like the two ends of a
        number column; empty cells and values not seen in training are all zeros;
    images, recordings : visual (`media.images`) and sound features (`media.sound`), rows of about length 1, if the
        roles ask for them; a row without any gets the mean of the training rows;
    embeddings, vectors of encoders : each divided by its length, so that only angles count; missing ones as for images;
    texts : the words of each text column and their character n-grams (`.text`), rows of length 1; next to dense
        vectors, 128 latent directions.

    Images, recordings, embeddings, each text column, and the vectors of each encoded column are *blocks*. If there are
    several, each is divided by its spread, the root mean squared distance of its known training rows to their mean, so
    that all have the same weight in distances. The vectors of some encoders almost all have the same direction: with
    length 1 they would have no effect next to words.

    `fit(table, rows)` learns, `transform(table, rows)` returns float64 (n_rows, n_features): an ndarray, or CSR if
    there is text without dense vectors, or a sparse block of more than 1024 columns. `rows` is an integer or bool
    array; None means all rows.

    use : one of `FEATURE_SETS`: "words" ignores embeddings; "meaning" ignores texts, images and recordings. A table
        with only one of the two is used as a whole.

    Attributes
    ----------
    feature_names_ : one per column.
    n_features_ : number of columns.
    blocks_ : column range of each block. Those of images have no common scale.
    """

    feature_names_: tuple[str, ...]
    n_features_: int
    blocks_: tuple[FeatureBlock, ...]
    _numbers: _NumberScaler | None
    _categories: OneHotEncoder | None
    _texts: dict[str, TextFeatures]
    _latent: dict[str, LatentText]
    _means: dict[str, FloatArray]
    _spreads: dict[str, float]
    _used: list[int]

    def __init__(self, use: str = BOTH) -> None:
        check_choice("use", use, FEATURE_SETS)
        self.use = use

    def fit(self, table: FeatureSource, rows: Rows = None) -> FeatureTransformer:
        """Learn means, ranges, categories and words from these rows. Raises ValueError if there are none."""
        table = _part(table, self.use)
        roles = table.roles
        if not _n_taken(table.numbers, rows):
            raise ValueError("FeatureTransformer.fit needs at least one row; got none.")
        self._numbers, self._categories, self._texts, self._latent = None, None, {}, {}
        self._means, self._spreads = {}, {}
        names: list[str] = []
        if roles.numbers:
            self._numbers = _NumberScaler(table.numbers, rows)
            names += roles.numbers
        seen: list[set[str]] = [{""} for _ in roles.categories]
        for values in _categories(table, rows, _ROWS_AT_ONCE):
            for known, column in zip(seen, values.T, strict=True):
                known.update(column)
        kinds = [sorted(known - {""}) for known in seen]
        self._used = [place for place, column in enumerate(kinds) if column]
        if self._used:
            from sklearn.preprocessing import OneHotEncoder  # a reader of tables does without scikit-learn's 35 MB

            names_of = [np.array(kinds[place], dtype=object) for place in self._used]
            encoder = OneHotEncoder(categories=names_of, handle_unknown="ignore")
            self._categories = encoder.fit(np.array([[column[0] for column in names_of]], dtype=object))
            names += [f"{roles.categories[place]}={value}" for place in self._used for value in kinds[place]]
        described, starts = _described(table), [len(names)]
        for name, vectors in described.items():
            self._means[name], self._spreads[name] = _mean(_unit_rows(name, vectors, rows), vectors.shape[1])
            names += _names_of(name, roles, vectors.shape[1])
            starts.append(len(names))
        if table.embeddings is not None and sp.issparse(table.embeddings):
            self._spreads[_EMBEDDING] = _spread(_sparse_rows(table.embeddings, rows))
            names += _names_of(_EMBEDDING, roles, table.embeddings.shape[1])
            starts.append(len(names))
        for column in roles.text_columns:
            text = TextFeatures().fit(_column(table, column, rows))
            if text.names_:  # otherwise the texts have no words
                self._texts[column] = text
        for column, text in self._texts.items():
            parts: Sequence[str] = text.names_
            spread = 1.0
            if len(starts) + len(self._texts) > 2:  # there are other blocks
                found = text.transform(_column(table, column, rows))
                if described:
                    latent = self._latent[column] = LatentText().fit(found)
                    if (directions := latent.directions_) is not None:
                        parts = [f"direction {place + 1}" for place in range(directions.shape[1])]
                    found = latent.transform(found)
                spread = _spread(found)
            self._spreads[f"{_TEXT} {column}"] = spread
            names += [f"{column}: {name}" for name in parts]
            starts.append(len(names))
        self.blocks_ = tuple(
            FeatureBlock(slice(*ends), name != _LOOK)
            for name, ends in zip(self._spreads, pairwise(starts), strict=True)
        )
        if len(self.blocks_) == 1:
            self._spreads = dict.fromkeys(self._spreads, 1.0)
        self.feature_names_ = tuple(names) or ("nothing",)
        self.n_features_ = len(self.feature_names_)
        return self

    def transform(self, table: FeatureSource, rows: Rows = None) -> npt.NDArray[np.float64] | sp.csr_matrix:
        """Return the features of these rows, in order. Raises NotFittedError before `fit`."""
        if not hasattr(self, "n_features_"):
            from sklearn.exceptions import NotFittedError

            raise NotFittedError("This FeatureTransformer is not fitted yet. Call 'fit' first.")
        table = _part(table, self.use)
        blocks: list[_Block] = []
        if self._numbers is not None:
            blocks.append(_Block(table.numbers.shape[1], self._numbers.scaled(table.numbers, rows)))
        if (categories := self._categories) is not None:
            width = sum(map(len, categories.categories_))
            # Each block of rows repeats the category lookup, so blocks have at least as many rows as there are
            # categories.
            at_once = max(_ROWS_AT_ONCE, width)
            values = (some[:, self._used] for some in _categories(table, rows, at_once))
            blocks.append(_Block(width, (categories.transform(some) * np.sqrt(0.5) for some in values), True))
        for name, vectors in _described(table).items():
            filled = _filled(_unit_rows(name, vectors, rows), self._means[name], self._spreads[name])
            blocks.append(_Block(vectors.shape[1], filled))
        if table.embeddings is not None and sp.issparse(table.embeddings):
            sparse = _sparse_rows(table.embeddings, rows) / self._spreads[_EMBEDDING]
            blocks.append(_Block(sparse.shape[1], iter([sparse]), True))
        for column, text in self._texts.items():
            found = text.transform(_column(table, column, rows))
            latent = self._latent.get(column)
            if latent is not None:
                found = latent.transform(found)
            found /= self._spreads[f"{_TEXT} {column}"]
            blocks.append(_Block(found.shape[1], iter([found]), latent is None))
        n_rows = _n_taken(table.numbers, rows)
        if not blocks:  # no features: one constant column
            return np.zeros((n_rows, 1))
        widest = max((block.width for block in blocks if block.sparse), default=0)
        if (not self._texts or self._latent) and widest <= _WIDEST_DENSE:
            return _side_by_side(blocks, n_rows)
        stacked = []
        for block in blocks:
            parts = [sp.csr_matrix(some) for some in block.rows]
            none = sp.csr_matrix((0, block.width))
            stacked.append(
                parts[0] if len(parts) == 1 else sp.vstack([none, *parts])
            )  # vstack would copy a single part
        return sp.csr_matrix(sp.hstack(stacked), dtype=np.float64)


class _Block(NamedTuple):
    """Some columns of a feature matrix: their number, and their rows in blocks, dense or CSR."""

    width: int
    rows: Iterator[Any]
    sparse: bool = False


def _side_by_side(blocks: Sequence[_Block], n_rows: int) -> FloatArray:
    """Concatenate all columns of all rows; a large result is stored in a temporary file."""
    found = large_array((n_rows, sum(block.width for block in blocks)), np.float64)
    left = 0
    for block in blocks:
        start = 0
        for some in block.rows:
            columns = found[start : start + some.shape[0], left : left + block.width]
            columns[...] = some.toarray() if block.sparse else some
            start += len(columns)
        left += block.width
    return found


def _filled(blocks: Iterable[FloatArray], mean: FloatArray, spread: float) -> Iterator[FloatArray]:
    """Yield the rows with unknown ones replaced by `mean` (d,), all divided by the spread."""
    for some in blocks:
        yield np.where(np.isnan(some), mean, some) / spread


def _described(table: FeatureSource) -> dict[str, npt.NDArray[np.floating[Any]]]:
    """Return the vectors (n, d) of each dense block by name; NaN in rows without one."""
    found: dict[str, Any] = {_LOOK: table.media.looks, _SOUND: table.media.sounds}
    if not sp.issparse(table.embeddings):
        found[_EMBEDDING] = table.embeddings
    found |= {f"{one.column} by {one.encoder}": one.values for one in table.encoded}
    return {name: vectors for name, vectors in found.items() if vectors is not None}


def _unit_rows(name: str, vectors: npt.NDArray[np.floating[Any]], rows: Rows) -> Iterator[FloatArray]:
    """Yield these rows of a block of `_described` in blocks, as vectors (r, d) of length 1."""
    for some in _in_blocks(vectors, rows, min(_ROWS_AT_ONCE, rows_at_once(vectors.shape[1]))):
        found = some.astype(np.float64)
        if name == _EMBEDDING:  # the others are stored with length 1
            lengths = np.linalg.norm(found, axis=1, keepdims=True)
            found /= np.where(lengths == 0, 1.0, lengths)
        yield found


def _mean(blocks: Iterable[FloatArray], width: int) -> tuple[FloatArray, float]:
    """Return the mean (d,) of all known rows, added one after the other, and their spread; zeros and 1 without any."""
    total, n_known = np.zeros((0, width + 1)), 0
    for some in blocks:
        known = some[~np.isnan(some[:, 0])]
        n_known += len(known)
        if len(known):
            squares = np.einsum("ij,ij->i", known, known)[:, None]
            total = np.add.reduce(np.vstack([total, np.hstack([known, squares])]), axis=0, keepdims=True)
    if not n_known:
        return np.zeros(width), 1.0
    mean, square = total[0, :-1] / n_known, float(total[0, -1] / n_known)
    return mean, _root(square, mean)


def _spread(rows: Any) -> float:
    """Return the root mean squared distance of these rows (r, d), dense or CSR, to their mean; 1 if it is 0."""
    squares = rows.multiply(rows).sum() if sp.issparse(rows) else np.einsum("ij,ij->", rows, rows)
    return _root(float(squares) / rows.shape[0], np.asarray(rows.mean(axis=0)).ravel())


def _root(square: float, mean: FloatArray) -> float:
    """Return the spread of rows with this mean squared length and mean (d,); 1 if it is only rounding error."""
    spread = square - float(mean @ mean)
    return spread**0.5 if spread > 1e-12 * square else 1.0


def _sparse_rows(vectors: sp.csr_matrix, rows: Rows) -> sp.csr_matrix:
    """Return these rows of sparse embeddings, scaled to length 1."""
    from sklearn.preprocessing import normalize

    return normalize((vectors if rows is None else vectors[rows]).astype(np.float64))


def _names_of(block: str, roles: Roles, width: int) -> list[str]:
    """Return the feature names of a block of `_described`."""
    if block == _LOOK:
        return [f"{roles.image}: {name}" for name in NAMES]
    if block == _SOUND:
        return [f"{roles.audio}: {name}" for name in SOUND_NAMES]
    named = roles.embedding if block == _EMBEDDING else block
    return [f"{named}: {place + 1}" for place in range(width)]


def _n_taken(array: npt.NDArray[Any], rows: Rows) -> int:
    if rows is None:
        return len(array)
    return int(np.count_nonzero(rows)) if rows.dtype == bool else len(rows)


def _in_blocks(numbers: npt.NDArray[Number], rows: Rows, at_once: int) -> Iterator[npt.NDArray[Number]]:
    """Yield the chosen rows in blocks of `at_once`: all at once would need memory in addition to the result."""
    places = np.flatnonzero(rows) if rows is not None and rows.dtype == bool else rows
    for start in range(0, _n_taken(numbers, rows), max(at_once, 1)):
        block = slice(start, start + at_once)
        yield numbers[block] if places is None else numbers[places[block]]
        let_go()


def _categories(table: FeatureSource, rows: Rows, at_once: int) -> Iterator[npt.NDArray[np.object_]]:
    """Yield blocks (r, n_categories) of stripped str; nothing if there are no categories."""
    names = table.roles.categories
    for some in _in_blocks(np.arange(len(table.numbers)), rows, at_once) if names else ():
        columns = [_column(table, name, some) for name in names]
        yield np.array(columns, dtype=object).reshape(len(names), len(some)).T


def _column(table: FeatureSource, name: str, rows: Rows) -> list[str]:
    cells = table.cells[[name]] if rows is None else table.cells[[name]].iloc[rows]
    return [str(value) for value in stripped(cells, name).to_pylist()]
