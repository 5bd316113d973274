"""Convert texts to sparse rows of length 1, from words and character n-grams; find the pieces of a text that count."""

from __future__ import annotations

import re
import unicodedata
from array import array
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Sized
from functools import cache
from typing import NamedTuple

import numpy as np
import scipy.sparse as sp

from plcore.arrays.threads import one_thread
from plcore.arrays.types import FloatArray

_PLANE = 0x10000  # marks above it belong to scripts that are no longer used


def compared(text: str) -> str:
    """Normalise a text for comparing words: lower case, and one form per letter (ﬁ, full width, separate accents)."""
    return unicodedata.normalize("NFKC", text).lower()


def words_of(text: str) -> list[str]:
    """Return the words of a text in order, normalised."""
    return word_pattern().findall(compared(text))


def spans_of(text: str) -> Iterator[tuple[int, int, str]]:
    """Yield (start, end, word) of each word: its place in the original text, and the normalised word."""
    for found in word_pattern().finditer(text):
        yield found.start(), found.end(), compared(found.group())


@cache
def word_pattern() -> re.Pattern[str]:
    """Return the pattern of a word: letters and digits with their marks.

    Vowel signs and accents are not `\\w`; without them, words of Hindi or pointed Hebrew would be split.
    """
    marks = "".join(chr(code) for code in range(_PLANE) if unicodedata.category(chr(code)).startswith("M"))
    return re.compile(rf"\w[\w{marks}]*")


MOST_WORDS = 50_000
MOST_GRAMS = 50_000
SHORTEST, LONGEST = 2, 4
"""Length of an n-gram in characters."""
WORDS_SHARE = 0.25
"""Share of a row's squared length that comes from words; the rest comes from n-grams. With a half each, rare words
would separate rows that n-grams put close together.
"""
COMMON_SHARE, COMMON = 0.2, 100
"""N-grams in more than this share of the texts, and in more than `COMMON`, are dropped: they are the least informative,
and take most of the time of a neighbour search.
"""
MOST_CHARACTERS = 3_000_000
"""Total length of the distinct words from which n-grams are chosen. If there is more, as in texts without spaces, only
every second or third word is used, to limit memory.
"""
_AT_ONCE = 2**20


class TextFeatures:
    """TF-IDF of words and of their n-grams, side by side.

    Counts enter as 1 + log(count), with inverse document frequencies ln((1 + n) / (1 + df)) + 1, as in scikit-learn's
    `TfidfVectorizer`. A row has length 1, a quarter of its square from words. If one part is empty, the row is the
    other part; a text without known parts is all zeros. Only the 50,000 most frequent words and n-grams each are used,
    ties in alphabetical order, without n-grams that are too common (`COMMON_SHARE`).

    words, grams : parts to use; both by default, one alone for comparisons

    Attributes
    ----------
    names_ : name of each column: the normalised words, then the n-grams in quotation marks, with spaces for the start
        and end of a word; empty if the texts have no words.
    """

    names_: tuple[str, ...]

    def __init__(self, *, words: bool = True, grams: bool = True) -> None:
        self._sides: list[_Side] = []
        if words:
            self._sides.append(_Side(_whole, "{}", MOST_WORDS, 1.0, WORDS_SHARE))
        if grams:
            self._sides.append(_Side(grams_of, "“{}”", MOST_GRAMS, COMMON_SHARE, 1 - WORDS_SHARE))

    def fit(self, texts: Iterable[str]) -> TextFeatures:
        """Learn the words, the n-grams and their frequencies."""
        words, counts = _count(texts)
        self.names_ = tuple(name for side in self._sides for name in side.fit(words, counts))
        return self

    def transform(self, texts: Iterable[str]) -> sp.csr_matrix:
        """Return float64 (n, len(names_)). Raises NotFittedError before `fit`."""
        if not hasattr(self, "names_"):
            from sklearn.exceptions import NotFittedError

            raise NotFittedError("These TextFeatures are not fitted yet. Call 'fit' first.")
        from sklearn.utils.sparsefuncs_fast import inplace_csr_row_normalize_l2  # readers of tables do not need it

        words, counts = _count(texts)
        sides = sp.hstack([side.transform(words, counts) for side in self._sides], format="csr")
        inplace_csr_row_normalize_l2(sides)
        sides.sort_indices()  # callers that need sorted indices would copy the matrix
        return sides

    def columns_of(self, word: str) -> list[tuple[int, int, int]]:
        """Return (start, end, column) of every part of a word that has a column; the end is exclusive."""
        found, first = [], 0
        for side in self._sides:
            found += [(start, end, first + column) for start, end, column in side.columns_of(word)]
            first += side.width
        return found


DIRECTIONS = 128
"""Columns of `LatentText`. On 20 intents of banking77, next to MiniLM's vectors, 256 and 400 are no better, and random
projections to 512 and 1,024 are worse.
"""
_SAMPLE, _ROUNDS = 20_000, 4


class LatentText:
    """Rows of `TextFeatures` as few dense numbers: latent semantic analysis (Deerwester et al., JASIS 1990).

    Next to vectors, tens of thousands of sparse columns would make all features sparse: finding the neighbours of
    10,000 rows then takes 50 s instead of 2, and models have only a linear kernel.

    Attributes
    ----------
    directions_ : (width, k) the first right singular vectors of up to 20,000 training rows, with k = 128 or the number
        of rows, if that is less; None if there are at most 128 columns, which are used unchanged.
    """

    def fit(self, X: sp.csr_matrix) -> LatentText:
        """Learn the directions from X (n, width), n > 0."""
        from sklearn.utils.extmath import randomized_svd

        self.directions_: FloatArray | None = None
        if X.shape[1] > DIRECTIONS:
            if X.shape[0] > _SAMPLE:
                X = X[np.sort(np.random.default_rng(0).choice(X.shape[0], _SAMPLE, replace=False))]
            with one_thread():  # with several, the last bits depend on their number
                _, _, found = randomized_svd(X, min(DIRECTIONS, X.shape[0]), n_iter=_ROUNDS, random_state=0)
            self.directions_ = found.T
        return self

    def transform(self, X: sp.csr_matrix) -> FloatArray:
        """Return (n, k) for X (n, width)."""
        return np.asarray(X.toarray() if self.directions_ is None else X @ self.directions_)


Part = tuple[str, int, int]
"""A word or an n-gram, and its start and exclusive end in the word, without outer spaces."""


def grams_of(word: str) -> Iterator[Part]:
    """Yield the n-grams of a word with a space at either end, so that its first and last letters count as such."""
    padded, size = f" {word} ", len(word)
    for n in range(SHORTEST, LONGEST + 1):
        for at in range(size + 3 - n):
            yield padded[at : at + n], max(at - 1, 0), min(at + n - 1, size)


def _whole(word: str) -> Iterator[Part]:
    yield word, 0, len(word)


class _Side:
    """The columns of words, or of their n-grams; rows have the same length, or are empty.

    The n-grams of a text are those of its words, so each distinct word is split only once: the counts of a text's parts
    are the product of two sparse matrices, (texts, words) and (words, parts).

    parts_of : splits a word      named : format of a column name      most : maximum number of parts
    common : share of the texts above which a part is dropped      share : of the squared length of a row
    """

    def __init__(
        self, parts_of: Callable[[str], Iterator[Part]], named: str, most: int, common: float, share: float
    ) -> None:
        self._parts_of, self._named, self._most, self._common = parts_of, named, most, common
        self._length = share**0.5

    @property
    def width(self) -> int:
        """Number of columns."""
        return len(self._places)

    def fit(self, words: Sequence[str], counts: sp.csr_matrix) -> list[str]:
        """Choose the parts, which become the columns in alphabetical order. Return the column names."""
        often = np.asarray(counts.sum(axis=0)).ravel()
        total: Counter[str] = Counter()
        step = 1 + sum(map(len, words)) // MOST_CHARACTERS
        for word, times in zip(words[::step], often[::step].tolist(), strict=True):
            for part, _, _ in self._parts_of(word):
                total[part] += times
        frequent = sorted(sorted(total, key=lambda part: (-total[part], part))[: self._most])
        self._places = {part: place for place, part in enumerate(frequent)}
        held = self._held(words, counts)
        n, holding = counts.shape[0], np.zeros(len(frequent), dtype=np.int64)
        for first in range(0, held.nnz, _AT_ONCE):  # in blocks, as bincount copies to int64
            holding += np.bincount(held.indices[first : first + _AT_ONCE], minlength=len(frequent))
        rare = holding <= max(COMMON, self._common * n)
        kept = [part for part, is_rare in zip(frequent, rare.tolist(), strict=True) if is_rare]
        self._places = {part: place for place, part in enumerate(kept)}
        self._idf = np.log((n + 1) / (holding[rare] + 1)) + 1
        return [self._named.format(part) for part in kept]

    def transform(self, words: Sequence[str], counts: sp.csr_matrix) -> sp.csr_matrix:
        """Return the TF-IDF of the chosen parts.

        Equals `TfidfTransformer(sublinear_tf=True)`, whose checks take longer than a single text.
        """
        from sklearn.utils.sparsefuncs_fast import inplace_csr_row_normalize_l2

        held = self._held(words, counts)
        np.log(held.data, out=held.data)
        held.data += 1.0
        held.data *= self._idf[held.indices]
        inplace_csr_row_normalize_l2(held)
        held.data *= self._length
        return held

    def columns_of(self, word: str) -> list[tuple[int, int, int]]:
        """Return the same as `TextFeatures.columns_of`, for these columns only."""
        places = self._places
        return [(start, end, places[part]) for part, start, end in self._parts_of(word) if part in places]

    def _held(self, words: Sequence[str], counts: sp.csr_matrix) -> sp.csr_matrix:
        """Count the chosen parts in each text, (n, parts)."""
        apart = (Counter(column for _, _, column in self.columns_of(word)) for word in words)
        return sp.csr_matrix(counts @ _matrix(apart, self._places))


def _count(texts: Iterable[str]) -> tuple[list[str], sp.csr_matrix]:
    """Return the distinct words of these texts in order of appearance, and their counts in each text (n, words)."""
    places: dict[str, int] = {}
    counted = (
        {places.setdefault(word, len(places)): times for word, times in Counter(words_of(text)).items()}
        for text in texts
    )
    made = _matrix(counted, places)
    return list(places), made


def _matrix(rows: Iterable[Mapping[int, int]], places: Sized) -> sp.csr_matrix:
    """Build a float64 matrix from rows {column: value}.

    places : its length is the number of columns, once all rows are read
    """
    ends, columns, values = [0], array("i"), array("d")
    for row in rows:
        columns.extend(row.keys())
        values.extend(row.values())
        ends.append(len(columns))
    made = (np.array(values), np.array(columns, dtype=np.int32), np.array(ends))
    return sp.csr_matrix(made, shape=(len(ends) - 1, len(places)))


# Thai and Lao, Myanmar, Khmer, kana, Han: no spaces between words.
_UNSPACED = "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
_PIECE = re.compile(rf"[{_UNSPACED}]\W*|[^{_UNSPACED}]+")  # a character with its marks


class Mark(NamedTuple):
    """A piece of a text, from start to before end. worth : (k,) by each of k measures"""

    start: int
    end: int
    worth: FloatArray


def marks_of(features: TextFeatures, text: str, worth: FloatArray) -> list[Mark]:
    """Split the text into pieces, in order, each with the total worth of its features.

    worth : (d, k) of each column of `features`. A column that occurs in several places is shared evenly among them, and
        among the characters that it covers there.
    """
    spans = list(spans_of(text))
    often = Counter(word for _, _, word in spans)
    parts = {word: np.array(features.columns_of(word), dtype=np.int64).reshape(-1, 3) for word in often}
    repeated = [np.repeat(own[:, 2], often[word]) for word, own in parts.items()]
    times = np.bincount(np.concatenate([*repeated, np.empty(0, np.int64)]), minlength=len(worth))
    each = {word: worth[own[:, 2]] / times[own[:, 2], None] for word, own in parts.items()}
    whole = {word: values.sum(axis=0) for word, values in each.items()}
    found: list[Mark] = []
    for start, end, word in spans:
        pieces = [piece.span() for piece in _PIECE.finditer(text, start, end)]
        if len(pieces) == 1 or len(word) != end - start:  # or normalising changed the word's length
            found.append(Mark(start, end, whole[word]))
        else:
            along = _along(parts[word], each[word], len(word))
            found += [Mark(a, b, along[a - start : b - start].sum(axis=0)) for a, b in pieces]
    return found


def _along(parts: np.ndarray, each: FloatArray, length: int) -> FloatArray:
    """Return the worth (length, k) of each character: its share of every part that covers it."""
    along = np.zeros((length, each.shape[1]))
    for (start, end, _), worth in zip(parts.tolist(), each, strict=True):
        along[start:end] += worth / (end - start)
    return along
