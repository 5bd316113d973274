"""The multi-label sets of the sensing benchmarks, as the spec prepares them: rows of length 1; dense ones z-scored."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from scipy import sparse
from sklearn.preprocessing import StandardScaler, normalize

from tests.conftest import DATA

SETS = ("cal500", "rcv1_subset1", "corel5k", "emotions", "scene")


class Split(NamedTuple):
    """Features and 0/1 label vectors, for training and for testing."""

    X: Any
    Y: np.ndarray
    X_test: Any
    Y_test: np.ndarray


def load(name: str, n_test: int | None = None) -> Split:
    """One set; n_test: at most so many test rows, a seeded sample. CAL500 has no split of its own: a seeded fifth."""
    stored = np.load(DATA / f"{name}.npz")
    Y = stored["Y"].astype(np.int8)
    if "X" in stored.files:
        X = stored["X"].astype(float)
    else:
        shape = tuple(stored["shape"])
        X = sparse.csr_matrix(
            (stored["data"].astype(float), stored["indices"], stored["indptr"]), shape=shape
        )
    rng = np.random.default_rng(0)
    if "n_train" in stored.files:
        n = int(stored["n_train"])
        train, test = np.arange(n), np.arange(n, len(Y))
    else:
        order = rng.permutation(len(Y))
        train, test = order[: len(Y) * 4 // 5], order[len(Y) * 4 // 5 :]
    if not sparse.issparse(X):
        X = StandardScaler().fit(X[train]).transform(X)
    if n_test is not None and n_test < len(test):
        test = np.sort(rng.choice(test, n_test, replace=False))
    X = normalize(X)
    return Split(X[train], Y[train], X[test], Y[test])


def hidden(Y: np.ndarray, share: float, seed: int) -> np.ndarray:
    """Label vectors in which a share of the cells, chosen uniformly, is not asked (-1)."""
    return np.where(np.random.default_rng(seed).random(Y.shape) < share, -1, Y).astype(np.int8)
