"""The encoder. Only the worker and the limited process that encodes searched words import this module."""

import numpy as np
from sklearn.feature_extraction.text import HashingVectorizer

HASHED = HashingVectorizer(analyzer="char_wb", ngram_range=(3, 3), n_features=512)


def trigrams(texts: list[str]) -> np.ndarray:
    """Return (n, 512): counts of the three-letter sequences of each text, by their hashes."""
    return np.asarray(HASHED.transform(texts).toarray())
