"""How well the layouts of the map keep neighbours together, and what they cost: two principal axes against t-SNE.

Trustworthiness (Venna and Kaski, 2006): 1 where the rows that lie nearest on the map are those nearest by the features,
about .5 where it is chance. And the share of rows whose nearest neighbour on the map is of their class, which says how
well classes can be drawn round.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.datasets import load_digits
from sklearn.manifold import trustworthiness
from sklearn.neighbors import NearestNeighbors
from threadpoolctl import threadpool_limits

from benchmarks import report
from benchmarks.margin_data import exact_set, partial_set
from workflow.common.map_places import MOST, ROUNDS, beside_neighbors, principal_axes, rows_on_map

SETS = ("digits", "pendigits", "satimage", "birdsong", "usps")
NEAREST = 10


def load(name: str) -> tuple[np.ndarray, np.ndarray]:
    """Features (k, d) of the rows that a map draws, from 0 to 1 as a project has them, and their true classes (k,)."""
    if name == "birdsong":
        X, _, y = partial_set(name)
    else:
        X, y = load_digits(return_X_y=True) if name == "digits" else exact_set(name)
    rows = rows_on_map(len(X))
    X, y = X[rows], y[rows]
    span = np.ptp(X, axis=0)
    return (X - X.min(axis=0)) / np.where(span > 0, span, 1.0), y


def same_class(places: np.ndarray, y: np.ndarray) -> float:
    """The share of rows whose nearest neighbour on the map is of their class."""
    nearest = NearestNeighbors(n_neighbors=1).fit(places).kneighbors(return_distance=False)[:, 0]
    return float((y[nearest] == y).mean())


def measure(make: Callable[[], Any]) -> tuple[np.ndarray, float]:
    """What it makes, and its CPU seconds."""
    begun = time.process_time()
    return make(), time.process_time() - begun


def main() -> None:
    lines = []
    for name in SETS:
        X, y = load(name)
        with threadpool_limits(1):
            (axes, share), seconds = measure(lambda X=X: principal_axes(X))  # type: ignore[misc]
            laid, laid_seconds = measure(lambda X=X: beside_neighbors(X))  # type: ignore[misc]
            twice = beside_neighbors(X, 2 * ROUNDS)
        kept = [trustworthiness(X, places, n_neighbors=NEAREST) for places in (axes, laid, twice)]
        same = [same_class(places, y) for places in (axes, laid)]
        lines.append(
            f"| {name} | {len(X):,} x {X.shape[1]} | {share:.0%} | {kept[0]:.3f} | {kept[1]:.3f} | {kept[2]:.3f} "
            f"| {same[0]:.0%} | {same[1]:.0%} | {seconds:.2f} | {laid_seconds:.1f} |"
        )
    body = (
        f"At most {MOST:,} rows, as the map draws them; features from 0 to 1. *Trustworthiness* of the {NEAREST} "
        "nearest, 1 is the best; *same class*: rows whose nearest neighbour on the map is of their true class, which "
        "no layout sees. Seconds of one core.\n\n"
        "| set | rows x features | variance in two axes | trustworthiness, axes | t-SNE | of twice as many rounds "
        "| same class, axes | t-SNE | s, axes | s, t-SNE |\n|---|---|---|---|---|---|---|---|---|---|\n"
        + "\n".join(lines)
    )
    report.write("maps", "Layouts of the map", body, ("scikit-learn", "numpy", "scipy"))


if __name__ == "__main__":
    main()
