"""Texts -> sparse rows of length 1 from words and runs of characters; and back: which pieces of a text count."""

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
from sklearn.exceptions import NotFittedError
from sklearn.utils.extmath import randomized_svd
from sklearn.utils.sparsefuncs_fast import inplace_csr_row_normalize_l2

from plcore.arrays.threads import one_thread
from plcore.arrays.types import FloatArray

_PLANE = 0x10000  # beyond it there are marks of a few scripts that no one writes texts in any more


def compared(text: str) -> str:
    """The text as words are compared: in small letters, forms of one letter (ﬁ, full width, accents apart) made one."""
    return unicodedata.normalize("NFKC", text).lower()


def words_of(text: str) -> list[str]:
    """Its words in order, as they are compared."""
    return word_pattern().findall(compared(text))


def spans_of(text: str) -> Iterator[tuple[int, int, str]]:
    """(start, end, word) of each word of the text as it is written; the word as it is compared."""
    for found in word_pattern().finditer(text):
        yield found.start(), found.end(), compared(found.group())


@cache
def word_pattern() -> re.Pattern[str]:
    """Letters and digits with the marks that belong to them. Without vowel signs and accents, which are not `\\w`,
    words of Hindi or pointed Hebrew would be cut to pieces."""
    marks = "".join(chr(code) for code in range(_PLANE) if unicodedata.category(chr(code)).startswith("M"))
    return re.compile(rf"\w[\w{marks}]*")


MOST_WORDS = 50_000
MOST_GRAMS = 50_000
SHORTEST, LONGEST = 2, 4
"""Characters of an n-gram."""
WORDS_SHARE = 0.25
"""Share of a row's squared length that comes from words; the rest comes from n-grams. With a half each, rare words
separate rows that n-grams bring together."""
COMMON_SHARE, COMMON = 0.2, 100
"""N-grams in more than this share of the texts, and in more than so many, are left out: they tell least, and cost most
of the time in which neighbours are found."""
MOST_CHARACTERS = 3_000_000
"""For different words, from which n-grams are chosen. Texts without spaces can have more: then every second word is
looked at, or every third, so that what is found fits into memory."""
_AT_ONCE = 2**20


class TextFeatures:
    """TF-IDF of words and of their n-grams, side by side.

    Counts enter as 1 + log(count), with inverse document frequencies ln((1 + n) / (1 + df)) + 1, as in scikit-learn's
    `TfidfVectorizer`. A row has length 1, a quarter of its square from words; where one part is empty the other is the
    row, and a text of which nothing is known is all zeros. Of very many words and n-grams the most frequent 50,000 each
    are kept, ties by alphabet; n-grams that stand nearly everywhere are not (`COMMON_SHARE`).

    words, grams : the parts there are; both by default, one alone to compare with

    Attributes
    ----------
    names_ : one for each column: the words as they are compared, then the n-grams in quotation marks, with the spaces
        at the beginning and end of a word; none where the texts hold no word at all.
    """

    names_: tuple[str, ...]

    def __init__(self, *, words: bool = True, grams: bool = True) -> None:
        self._sides: list[_Side] = []
        if words:
            self._sides.append(_Side(_whole, "{}", MOST_WORDS, 1.0, WORDS_SHARE))
        if grams:
            self._sides.append(_Side(grams_of, "“{}”", MOST_GRAMS, COMMON_SHARE, 1 - WORDS_SHARE))

    def fit(self, texts: Iterable[str]) -> TextFeatures:
        """Learn words, n-grams and how frequent each is."""
        words, counts = _count(texts)
        self.names_ = tuple(name for side in self._sides for name in side.fit(words, counts))
        return self

    def transform(self, texts: Iterable[str]) -> sp.csr_matrix:
        """(n, len(names_)) float64. Raises NotFittedError before `fit`."""
        if not hasattr(self, "names_"):
            raise NotFittedError("These TextFeatures are not fitted yet. Call 'fit' first.")
        words, counts = _count(texts)
        sides = sp.hstack([side.transform(words, counts) for side in self._sides], format="csr")
        inplace_csr_row_normalize_l2(sides)
        sides.sort_indices()  # anyone who needs them sorted would copy it
        return sides

    def columns_of(self, word: str) -> list[tuple[int, int, int]]:
        """(start, end, column) of every part of a word that has a column; its characters from start to before end."""
        found, first = [], 0
        for side in self._sides:
            found += [(start, end, first + column) for start, end, column in side.columns_of(word)]
            first += side.width
        return found


DIRECTIONS = 128
"""Columns of `LatentText`. Next to MiniLM's vectors of 20 intents of banking77, 256 and 400 are no better, and random
projections to 512 and 1,024 are worse."""
_SAMPLE, _ROUNDS = 20_000, 4


class LatentText:
    """Rows of `TextFeatures` as few dense numbers: latent semantic analysis (Deerwester et al., JASIS 1990).

    Next to vectors, tens of thousands of sparse columns make all features sparse: neighbours of 10,000 rows then take
    50 s instead of 2, and models have no kernel but a linear one.

    Attributes
    ----------
    directions_ : (width, k) the first right singular vectors of up to 20,000 training rows, k = 128 or the number of
        rows, if that is less; None if there are at most 128 columns, which are taken as they are.
    """

    def fit(self, X: sp.csr_matrix) -> LatentText:
        """X (n, width), n > 0."""
        self.directions_: FloatArray | None = None
        if X.shape[1] > DIRECTIONS:
            if X.shape[0] > _SAMPLE:
                X = X[np.sort(np.random.default_rng(0).choice(X.shape[0], _SAMPLE, replace=False))]
            with one_thread():  # with several, the last bits would depend on how many
                _, _, found = randomized_svd(X, min(DIRECTIONS, X.shape[0]), n_iter=_ROUNDS, random_state=0)
            self.directions_ = found.T
        return self

    def transform(self, X: sp.csr_matrix) -> FloatArray:
        """(n, k) of X (n, width)."""
        return np.asarray(X.toarray() if self.directions_ is None else X @ self.directions_)


Part = tuple[str, int, int]
"""A word or an n-gram, and where it is in its word: from start to before end, its outer spaces left out."""


def grams_of(word: str) -> Iterator[Part]:
    """The n-grams of a word with a space at either end; so how it begins and ends tells, too."""
    padded, size = f" {word} ", len(word)
    for n in range(SHORTEST, LONGEST + 1):
        for at in range(size + 3 - n):
            yield padded[at : at + n], max(at - 1, 0), min(at + n - 1, size)


def _whole(word: str) -> Iterator[Part]:
    yield word, 0, len(word)


class _Side:
    """The words, or their n-grams: rows of one length, or empty ones.

    The n-grams of a text are those of its words. So each word is taken apart once, however often it comes, and what a
    text holds is a product of two sparse matrices: (texts, words) times (words, parts).

    parts_of : a word taken apart      named : how a column is called      most : parts that are kept
    common : share of the texts beyond which a part is left out      share : of the squared length of a row
    """

    def __init__(
        self, parts_of: Callable[[str], Iterator[Part]], named: str, most: int, common: float, share: float
    ) -> None:
        self._parts_of, self._named, self._most, self._common = parts_of, named, most, common
        self._length = share**0.5

    @property
    def width(self) -> int:
        """Columns."""
        return len(self._places)

    def fit(self, words: Sequence[str], counts: sp.csr_matrix) -> list[str]:
        """Choose the parts that are kept; they are the columns, by alphabet. The names of the columns."""
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
        for first in range(0, held.nnz, _AT_ONCE):  # all at once they would be copied as int64
            holding += np.bincount(held.indices[first : first + _AT_ONCE], minlength=len(frequent))
        rare = holding <= max(COMMON, self._common * n)
        kept = [part for part, is_rare in zip(frequent, rare.tolist(), strict=True) if is_rare]
        self._places = {part: place for place, part in enumerate(kept)}
        self._idf = np.log((n + 1) / (holding[rare] + 1)) + 1
        return [self._named.format(part) for part in kept]

    def transform(self, words: Sequence[str], counts: sp.csr_matrix) -> sp.csr_matrix:
        """TF-IDF of the parts that are kept.

        As `TfidfTransformer(sublinear_tf=True)` has it, whose checks take longer than one text does.
        """
        held = self._held(words, counts)
        np.log(held.data, out=held.data)
        held.data += 1.0
        held.data *= self._idf[held.indices]
        inplace_csr_row_normalize_l2(held)
        held.data *= self._length
        return held

    def columns_of(self, word: str) -> list[tuple[int, int, int]]:
        """As `TextFeatures.columns_of`, of these columns."""
        places = self._places
        return [(start, end, places[part]) for part, start, end in self._parts_of(word) if part in places]

    def _held(self, words: Sequence[str], counts: sp.csr_matrix) -> sp.csr_matrix:
        """(n, parts) how often each text holds each part that is kept."""
        apart = (Counter(column for _, _, column in self.columns_of(word)) for word in words)
        return sp.csr_matrix(counts @ _matrix(apart, self._places))


def _count(texts: Iterable[str]) -> tuple[list[str], sp.csr_matrix]:
    """The words of these texts in the order in which they come, and (n, words) how often each text holds each."""
    places: dict[str, int] = {}
    counted = (
        {places.setdefault(word, len(places)): times for word, times in Counter(words_of(text)).items()}
        for text in texts
    )
    made = _matrix(counted, places)
    return list(places), made


def _matrix(rows: Iterable[Mapping[int, int]], places: Sized) -> sp.csr_matrix:
    """The rows, each {column: value}, as float64. places : as many as there are columns, once all rows are made"""
    ends, columns, values = [0], array("i"), array("d")
    for row in rows:
        columns.extend(row.keys())
        values.extend(row.values())
        ends.append(len(columns))
    made = (np.array(values), np.array(columns, dtype=np.int32), np.array(ends))
    return sp.csr_matrix(made, shape=(len(ends) - 1, len(places)))


# Thai and Lao, Myanmar, Khmer, kana, Han: their words stand side by side without a space.
_UNSPACED = (
    "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
)
_PIECE = re.compile(rf"[{_UNSPACED}]\W*|[^{_UNSPACED}]+")  # a sign has its marks with it


class Mark(NamedTuple):
    """A piece of a text, from start to before end. worth : (k,) by each of k measures"""

    start: int
    end: int
    worth: FloatArray


def marks_of(features: TextFeatures, text: str, worth: FloatArray) -> list[Mark]:
    """The pieces of the text in order, each worth what its features are worth.

    worth : (d, k) of each column of `features`. A column that is in several places is shared evenly among them, and
    among the characters it covers there.
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
        if (
            len(pieces) == 1 or len(word) != end - start
        ):  # or it is compared in another form than it is written in
            found.append(Mark(start, end, whole[word]))
        else:
            along = _along(parts[word], each[word], len(word))
            found += [Mark(a, b, along[a - start : b - start].sum(axis=0)) for a, b in pieces]
    return found


def _along(parts: np.ndarray, each: FloatArray, length: int) -> FloatArray:
    """(length, k) what each character is worth: its share of every part that covers it."""
    along = np.zeros((length, each.shape[1]))
    for (start, end, _), worth in zip(parts.tolist(), each, strict=True):
        along[start:end] += worth / (end - start)
    return along
