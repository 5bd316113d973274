"""Data of the margin benchmarks: the public sets, and Gaussian classes of any size; all seeded."""

from __future__ import annotations

import numpy as np
import pandas as pd

from tests.conftest import DATA


def exact_set(name: str) -> tuple[np.ndarray, np.ndarray]:
    """Features (n, d) and class numbers (n,) of a single-label set."""
    frame = pd.read_csv(DATA / f"{name}.csv.gz")
    return frame.iloc[:, :-1].to_numpy(float), pd.factorize(frame["label"], sort=True)[0]


def partial_set(name: str) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Features (n, d), candidates (n, m) and true classes (n,) of a real partial-label set."""
    stored = np.load(DATA / f"{name}.npz")
    return stored["X"].astype(float), stored["S"].astype(bool), stored["y"]


def z_scored(X: np.ndarray) -> np.ndarray:
    """Mean 0, variance 1 in every column; constant columns become 0."""
    deviation = X.std(axis=0)
    return (X - X.mean(axis=0)) / np.where(deviation > 0, deviation, 1.0)


def gaussian_classes(n: int, seed: int, d: int = 64, m: int = 10) -> tuple[np.ndarray, np.ndarray]:
    """n rows of m round Gaussian classes whose centres do not depend on `seed`; a linear rule gets about .93."""
    centres = np.random.default_rng(7).normal(size=(m, d)) * 0.47
    rng = np.random.default_rng(seed)
    y = rng.integers(m, size=n)
    X = rng.normal(size=(n, d))
    X += centres[y]
    return X, y
