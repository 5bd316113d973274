"""How well the map layouts preserve neighbourhoods, and what they cost: two principal axes against t-SNE.

Trustworthiness (Venna and Kaski, 2006): 1 if the rows nearest on the map are those nearest by the features, about
0.5 by
chance.
"""

from __future__ import annotations

import numpy as np
from sklearn.manifold import trustworthiness
from sklearn.neighbors import NearestNeighbors

from benchmarks.data import REAL, exact_set, partial_set
from benchmarks.harness import Table, benchmark, clocked, page, sized
from workflow.rows.instance_map import MOST, ROUNDS, beside_neighbors, principal_axes, rows_on_map

SETS = sized(("digits", "pendigits", "satimage", "birdsong", "usps"), tiny=("iris",))
NEAREST = 10


def load(name: str) -> tuple[np.ndarray, np.ndarray]:
    """Return features of the rows that a map draws, scaled to [0, 1] as in a project, and their true
    classes."""
    X, *_, y = partial_set(name) if name in REAL else exact_set(name)
    rows = rows_on_map(len(X))
    X, y = X[rows], y[rows]
    span = np.ptp(X, axis=0)
    return (X - X.min(axis=0)) / np.where(span > 0, span, 1.0), y


def same_class(places: np.ndarray, y: np.ndarray) -> float:
    """Return the share of rows whose nearest neighbour on the map has their class."""
    nearest = NearestNeighbors(n_neighbors=1).fit(places).kneighbors(return_distance=False)[:, 0]
    return float((y[nearest] == y).mean())


@benchmark("Layouts of the map")
def maps() -> str:
    table = Table(
        "set | rows x features | variance in two axes | trustworthiness, axes | t-SNE | of twice as many rounds | "
        "same class, axes | t-SNE | s, axes | s, t-SNE"
    )
    for name in SETS:
        X, y = load(name)
        (axes, share), seconds = clocked(lambda X=X: principal_axes(X))  # type: ignore[misc]
        laid, laid_seconds = clocked(lambda X=X: beside_neighbors(X))  # type: ignore[misc]
        twice = beside_neighbors(X, 2 * ROUNDS)
        kept = [f"{trustworthiness(X, one, n_neighbors=NEAREST):.3f}" for one in (axes, laid, twice)]
        same = [f"{same_class(one, y):.0%}" for one in (axes, laid)]
        size = f"{len(X):,} x {X.shape[1]}"
        table.add(name, size, f"{share:.0%}", *kept, *same, f"{seconds:.2f}", f"{laid_seconds:.1f}")
    return page(
        f"""At most {MOST:,} rows, as the map draws them; features from 0 to 1. *Trustworthiness* of the {NEAREST}
nearest, 1 is the best; *same class*: rows whose nearest neighbour on the map is of their true class, which no layout
sees. Seconds of one core.""",
        table,
    )
