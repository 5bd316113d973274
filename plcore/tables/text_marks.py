"""From what each feature of a text is worth to pieces of the text: words, or signs where a script writes no spaces."""

from __future__ import annotations

import re
from collections import Counter
from typing import NamedTuple

import numpy as np

from plcore.common.types import FloatArray
from plcore.tables.text_features import TextFeatures
from plcore.tables.text_words import spans_of

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

    worth : (d, k) of each column of `features`. A column that stands in several places is shared evenly among them, and
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
