"""A minimal in-memory table for ActiveLearner."""

from __future__ import annotations

import numpy as np
from sklearn.preprocessing import MinMaxScaler


class FakeFeatures:
    """Min-max scaling, fitted on the rows it is given; remembers them."""

    blocks_ = ()

    def fit(self, table, rows):
        self.fitted_rows = np.array(rows)
        self.scaler = MinMaxScaler().fit(table.X[rows])
        return self

    def transform(self, table, rows):
        return self.scaler.transform(table.X[rows])


class FakeTable:
    def __init__(self, X, candidates, truth=None, classes=None, candidate_weights=None, sources=None):
        self.X = np.asarray(X, dtype=float)
        self.candidates = np.asarray(candidates, dtype=bool)
        self.candidates.flags.writeable = False  # as LabelTable's
        self.truth = truth
        self.candidate_weights = candidate_weights
        self.sources = sources
        self.classes = tuple(classes or (f"c{number}" for number in range(self.candidates.shape[1])))
        self.made = []

    def features(self):
        self.made.append(FakeFeatures())
        return self.made[-1]


def blobs(n=90, m=4, seed=0, truth="all", q=0.4):
    """Rows around m centres with contaminated labels. truth: "all", "none", or the share that is known."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, m, n)
    X = 3 * np.eye(m)[y][:, :3] + rng.normal(size=(n, min(m, 3)))
    sets = rng.random((n, m)) < q
    sets[np.arange(n), y] = True
    known = None if truth == "none" else y if truth == "all" else np.where(rng.random(n) < truth, y, -1)
    return FakeTable(X, sets, known), y


def pictures(n=60, m=6, seed=0, named=True, truth=False):
    """n pictures of two to four rows around m centres, named by a caption: the table and y."""
    rng = np.random.default_rng(seed)
    of = np.repeat(np.arange(n), rng.integers(2, 5, size=n))
    y = rng.integers(0, m, len(of))
    X = 2 * np.eye(m)[y] + rng.normal(size=(len(of), m))
    sets = np.zeros((n, m), dtype=bool)
    sets[of, y] = True
    return FakeTable(X, sets[of], y if truth else None, sources=of if named else None), y
