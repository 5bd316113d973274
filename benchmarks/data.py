"""The data sets of the benchmarks: public ones of `WINNOW_DATA`, and Gaussian classes of any size; all seeded."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from scipy import sparse
from sklearn.datasets import load_digits, load_iris, load_wine
from sklearn.preprocessing import StandardScaler, normalize

from benchmarks.harness import data_folder
from plcore.evaluation import contaminate

BUNDLED = {"digits": load_digits, "iris": load_iris, "wine": load_wine}
REAL = ("lost", "msrcv2", "birdsong")
"""Data sets with their own candidates."""


def exact_set(name: str, *, fill: Any = None) -> tuple[np.ndarray, np.ndarray]:
    """Return features (n, d) and class numbers (n,). fill : computes the value of a column's empty cells, such as
    np.nanmean"""
    if name in BUNDLED:
        return BUNDLED[name](return_X_y=True)
    frame = pd.read_csv(data_folder() / f"{name}.csv.gz")
    X = frame.iloc[:, :-1].to_numpy(float)
    if fill is not None:
        X = np.where(np.isnan(X), fill(X, axis=0), X)
    return X, pd.factorize(frame["label"], sort=True)[0]


def partial_set(name: str) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return features (n, d), candidates (n, m) and true classes (n,) of a real partial-label set."""
    stored = np.load(data_folder() / f"{name}.npz")
    return stored["X"].astype(float), stored["S"].astype(bool), stored["y"]


def any_set(
    name: str, contamination: tuple[str, float, float], random_state: Any
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return features, candidates and true classes; sets without their own candidates get random ones."""
    if name in REAL:
        return partial_set(name)
    X, y = exact_set(name)
    kind, p, q = contamination
    rng = np.random.default_rng(random_state)
    return X, contaminate(y, kind, p, q, random_state=rng, classes=range(int(y.max()) + 1)), y


def gaussian_classes(n: int, seed: int, d: int = 64, m: int = 10) -> tuple[np.ndarray, np.ndarray]:
    """Return n rows of m round Gaussian classes, the same for every `seed`; a linear rule gets about 0.93."""
    centres = np.random.default_rng(7).normal(size=(m, d)) * 0.47
    rng = np.random.default_rng(seed)
    y = rng.integers(m, size=n)
    return rng.normal(size=(n, d)) + centres[y], y


class Split(NamedTuple):
    """Features and 0/1 label vectors, for training and for testing."""

    X: Any
    Y: np.ndarray
    X_test: Any
    Y_test: np.ndarray


def label_vectors(name: str, n_test: int | None = None, n_train: int | None = None) -> Split:
    """Return a multi-label set: rows of length 1, dense ones z-scored before; CAL500's test rows are a seeded fifth.

    n_test : at most this many test rows, a seeded sample      n_train : at most this many training rows, the first
    """
    stored = np.load(data_folder() / f"{name}.npz")
    Y = stored["Y"].astype(np.int8)
    if "X" in stored.files:
        X = stored["X"].astype(float)
    else:
        parts = stored["data"].astype(float), stored["indices"], stored["indptr"]
        X = sparse.csr_matrix(parts, shape=tuple(stored["shape"]))
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
    X, train = normalize(X), train[:n_train]
    return Split(X[train], Y[train], X[test], Y[test])


def hidden(Y: np.ndarray, share: float, seed: int) -> np.ndarray:
    """Return label vectors in which a share of the cells, chosen uniformly, is hidden (-1)."""
    return np.where(np.random.default_rng(seed).random(Y.shape) < share, -1, Y).astype(np.int8)
